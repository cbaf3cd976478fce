//! The calls that many-sequence caches share, as Rust has them.

use super::CacheRef;
use crate::error::Error;
use crate::event::observe;
use crate::shared::batch::Call;

impl CacheRef<'_> {
    /// Declares the next step: the sequence of each of its tokens. As [`crate::CellInner::declare_step`] and
    /// [`crate::RowsInner::declare_step`].
    ///
    /// # Errors
    /// `InvalidArgument` for zero tokens, `WrongKind`, `BadSequence`, `StepTooLarge`, `NeverFits`, `OutOfCapacity`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.declare_step(&[seq; 3])?;
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn declare_step(&self, seq_ids: &[u32]) -> Result<(), Error> {
        observe(match seq_ids {
            [] => Err(Error::InvalidArgument),
            _ => self.object().declare_step(seq_ids),
        })
    }

    /// Whether `n` more tokens of a sequence fit now.
    ///
    /// # Errors
    /// `InvalidArgument` for zero tokens, `WrongKind`, `BadSequence`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// assert_eq!((cache.can_admit(seq, 16)?, cache.can_admit(seq, 17)?), (true, false));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn can_admit(&self, seq: u32, n: u32) -> Result<bool, Error> {
        self.ask(Call::CanAdmit { seq, n }).map(|answer| answer != 0)
    }

    /// A new, empty sequence under the lowest free id.
    ///
    /// # Errors
    /// `WrongKind`, `TableFull`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// assert_eq!((cache.seq_new()?, cache.seq_new()?), (0, 1));
    /// assert_eq!(cache.seq_new(), Err(kvcore::Error::TableFull));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_new(&self) -> Result<u32, Error> {
        self.ask(Call::SeqNew)
    }

    /// A new sequence with the positions of `src` below `upto` ([`crate::UNBOUNDED`]: all of them). Cells are shared; of
    /// private rows the backend copies what [`Self::rows_held`] lists.
    ///
    /// # Errors
    /// `WrongKind`, `BadSequence`, `Evicted`, `OutOfCapacity` (private rows), `TableFull`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// let clone = cache.seq_clone(seq, kvcore::UNBOUNDED)?;
    /// assert_eq!(cache.seq_len(clone)?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_clone(&self, src: u32, upto: u32) -> Result<u32, Error> {
        self.ask(Call::SeqClone { src, upto })
    }

    /// Takes positions `from .. to` out of a sequence. Cells only.
    ///
    /// # Errors
    /// `InvalidArgument` for `from` above `to`, `WrongKind`, `BadSequence`, `Evicted`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.seq_remove(seq, 0, 4)?; // none there: fine
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_remove(&self, seq: u32, from: u32, to: u32) -> Result<(), Error> {
        self.tell(Call::SeqRemove { seq, from, to })
    }

    /// Ends a sequence: all of it and its id.
    ///
    /// # Errors
    /// `WrongKind`, `BadSequence`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.seq_release(seq)?;
    /// assert_eq!(cache.seq_len(seq), Err(kvcore::Error::BadSequence));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_release(&self, seq: u32) -> Result<(), Error> {
        self.tell(Call::SeqRelease { seq })
    }

    /// Ends every other sequence.
    ///
    /// # Errors
    /// `WrongKind`, `BadSequence`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let (a, b) = (cache.seq_new()?, cache.seq_new()?);
    /// cache.seq_keep(b)?;
    /// assert_eq!(cache.seq_len(a), Err(kvcore::Error::BadSequence));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_keep(&self, seq: u32) -> Result<(), Error> {
        self.tell(Call::SeqKeep { seq })
    }

    /// Moves positions `from .. to` of a sequence by `delta`. Cells only; see [`Self::cell_shifts`].
    ///
    /// # Errors
    /// `InvalidArgument` for `from` above `to`, `WrongKind`, `BadSequence`, `Shared`, `BadPosition`, `Unsupported` while a
    /// step's shifts are being applied, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.seq_shift(seq, 4, 8, -4)?; // none there: fine
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_shift(&self, seq: u32, from: u32, to: u32, delta: i32) -> Result<(), Error> {
        self.tell(Call::SeqShift { seq, from, to, delta })
    }

    /// Drops the positions of a sequence from `new_len` on.
    ///
    /// # Errors
    /// `WrongKind`, `BadSequence`, `Evicted`, `CannotGrow`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// assert_eq!(cache.batch_rewind(seq, 1), Err(kvcore::Error::CannotGrow));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn batch_rewind(&self, seq: u32, new_len: u32) -> Result<(), Error> {
        self.tell(Call::Rewind { seq, new_len })
    }

    /// Tokens that a sequence holds now.
    ///
    /// # Errors
    /// `WrongKind`, `BadSequence`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// assert_eq!(cache.seq_len(seq)?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_len(&self, seq: u32) -> Result<u32, Error> {
        self.ask(Call::SeqLen { seq })
    }

    /// The position that a sequence goes on from: its highest one + 1, or 0.
    ///
    /// # Errors
    /// `WrongKind`, `BadSequence`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// assert_eq!(cache.next_pos(seq)?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn next_pos(&self, seq: u32) -> Result<u32, Error> {
        self.ask(Call::NextPos { seq })
    }

    /// The lowest position that a sequence holds now; [`crate::UNBOUNDED`] when it is empty.
    ///
    /// # Errors
    /// `WrongKind`, `BadSequence`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// assert_eq!(cache.first_pos(seq)?, kvcore::UNBOUNDED);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn first_pos(&self, seq: u32) -> Result<u32, Error> {
        self.ask(Call::FirstPos { seq })
    }

    /// Rows that are free now; with split pools, in the fullest of them.
    ///
    /// # Errors
    /// `WrongKind`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// assert_eq!(cache.free_rows()?, 16);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn free_rows(&self) -> Result<u32, Error> {
        self.ask(Call::FreeRows)
    }

    fn ask(&self, call: Call) -> Result<u32, Error> {
        observe(call.check().and_then(|()| self.object().batch(call)))
    }

    fn tell(&self, call: Call) -> Result<(), Error> {
        self.ask(call).map(|_| ())
    }
}
