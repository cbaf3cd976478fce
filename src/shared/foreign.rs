//! Caches that Rust code implements: a trait behind the same function table that C fills.

mod batch;
mod storage;
mod table;

use super::handle::CacheRef;
use crate::batch::{CellStep, Move, Shift, Span};
use crate::error::Error;
use crate::plan::SeqPlan;
pub use storage::ExternalStorage;

/// A cache of another make, to stand in a registry beside the built-in ones. The calls follow the rules of
/// [`CacheRef`]'s: nothing changed on failure. They run without any lock, from any thread, behind C's calling
/// convention: a panic aborts.
///
/// ```
/// use kvcore::{Error, ExternalCache, ExternalStorage};
///
/// struct Fixed;
///
/// impl ExternalCache for Fixed {
///     fn capacity(&self) -> Result<u32, Error> {
///         Ok(1234)
///     }
/// }
///
/// let storage = ExternalStorage::new();
/// let cache = storage.init(&Fixed)?;
/// assert_eq!(cache.capacity()?, 1234);
/// assert_eq!(cache.length(), Err(Error::WrongKind)); // not offered
/// # Ok::<(), Error>(())
/// ```
pub trait ExternalCache: Sync {
    /// The family that it plays.
    const KIND: u32 = super::sequence::KIND_SEQUENCE;

    /// As [`CacheRef::capacity`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn capacity(&self) -> Result<u32, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::clear`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn clear(&self) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::can_extend`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn can_extend(&self, _n: u32) -> Result<bool, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::length`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn length(&self) -> Result<u32, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::rewind`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn rewind(&self, _length: u32) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::rewind_floor`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn rewind_floor(&self) -> Result<u32, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::plan`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn plan(&self, _layer: u32, _position: u32, _n: u32) -> Result<SeqPlan, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::plan_step`]: how many groups, whether or not the slice holds them; plans are written only
    /// if it does.
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn plan_step(&self, _position: u32, _n: u32, _plans: &mut [SeqPlan]) -> Result<usize, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::commit`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn commit(&self, _plan: &SeqPlan, _accepted: u32) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::declare_step`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn declare_step(&self, _seq_ids: &[u32]) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::can_admit`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn can_admit(&self, _seq: u32, _n: u32) -> Result<bool, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::seq_new`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn seq_new(&self) -> Result<u32, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::seq_clone`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn seq_clone(&self, _src: u32, _upto: u32) -> Result<u32, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::seq_remove`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn seq_remove(&self, _seq: u32, _from: u32, _to: u32) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::seq_release`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn seq_release(&self, _seq: u32) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::seq_keep`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn seq_keep(&self, _seq: u32) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::seq_shift`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn seq_shift(&self, _seq: u32, _from: u32, _to: u32, _delta: i32) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::batch_rewind`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn batch_rewind(&self, _seq: u32, _new_len: u32) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::seq_len`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn seq_len(&self, _seq: u32) -> Result<u32, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::next_pos`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn next_pos(&self, _seq: u32) -> Result<u32, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::first_pos`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn first_pos(&self, _seq: u32) -> Result<u32, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::free_rows`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn free_rows(&self) -> Result<u32, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::place_cells`]; there are as many cells as positions.
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn place_cells(&self, _layer: u32, _positions: &[u32], _cells: &mut [u32]) -> Result<CellStep, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::cell_mask_bytes`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn cell_mask_bytes(&self, _layer: u32, _out: &mut [u8], _row_stride: usize) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::cell_mask_bits`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn cell_mask_bits(&self, _layer: u32, _out: &mut [u32], _row_words: usize) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::cell_shifts`]: how many there are, whether or not the slice holds them; written only if it
    /// does.
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn cell_shifts(&self, _layer: u32, _out: &mut [Shift]) -> Result<usize, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::shifts_done`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn shifts_done(&self) -> Result<(), Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::defrag`].
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn defrag(&self, _layer: u32, _out: &mut [Move]) -> Result<usize, Error> {
        Err(Error::WrongKind)
    }

    /// As [`CacheRef::place_rows`]: how many spans, whether or not the slice holds them; placed only if it does.
    ///
    /// # Errors
    /// `WrongKind` unless implemented.
    fn place_rows(&self, _layer: u32, _positions: &[u32], _out: &mut [Span]) -> Result<usize, Error> {
        Err(Error::WrongKind)
    }
}
