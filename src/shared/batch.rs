//! The calls that several many-sequence kinds answer, and the table by which a cache of such a kind is found.

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::header::Header;
use crate::config::Config;
use crate::error::Error;
use crate::layer::LayerInfo;

/// A call that takes and answers plain numbers; one that answers nothing answers 0. Named like those of C.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    CanAdmit { seq: u32, n: u32 },
    SeqNew,
    SeqClone { src: u32, upto: u32 },
    SeqRemove { seq: u32, from: u32, to: u32 },
    SeqRelease { seq: u32 },
    SeqKeep { seq: u32 },
    SeqShift { seq: u32, from: u32, to: u32, delta: i32 },
    Rewind { seq: u32, new_len: u32 },
    SeqLen { seq: u32 },
    NextPos { seq: u32 },
    FirstPos { seq: u32 },
    FreeRows,
}

impl Call {
    /// Refuses what no cache accepts, before anything is looked at.
    pub(crate) const fn check(self) -> Result<(), Error> {
        match self {
            Self::CanAdmit { n: 0, .. } => Err(Error::InvalidArgument),
            Self::SeqRemove { from, to, .. } | Self::SeqShift { from, to, .. } if from > to => {
                Err(Error::InvalidArgument)
            }
            _ => Ok(()),
        }
    }
}

/// Writes what it tells where it succeeds.
type ConfigOf = unsafe fn(NonNull<Header>, &mut MaybeUninit<Config<'static>>) -> Result<(), Error>;
type LayerOf = unsafe fn(NonNull<Header>, u32, &mut MaybeUninit<LayerInfo>) -> Result<(), Error>;

/// What each of our own many-sequence kinds answers.
pub(crate) struct BatchOps {
    /// Tells whether windows dropped positions.
    pub(crate) declare: unsafe fn(NonNull<Header>, &[u32]) -> Result<bool, Error>,
    pub(crate) answer: unsafe fn(NonNull<Header>, Call) -> Result<u32, Error>,
    pub(crate) config: ConfigOf,
    pub(crate) layer: LayerOf,
}
