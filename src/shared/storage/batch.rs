//! Storage for shared many-sequence caches, as Rust has it.

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::config::Config;
use crate::error::Error;
use crate::event::observe;
use crate::shared::cells::CellView;
use crate::shared::handle::CacheRef;
use crate::shared::header::ALIGN;
use crate::shared::rows::RowsView;
use crate::shared::words::{self, InWords};

/// Bytes of storage that a shared cell cache of this config wants. O(layers).
///
/// # Errors
/// As [`crate::cell_words`].
///
/// ```
/// use kvcore::{Config, Layer};
/// let layers = [Layer::flat()];
/// let config = Config { max_seqs: 8, ..Config::new(1024, 26, &layers) };
/// assert!(kvcore::cells_size(&config)? > 0);
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn cells_size(config: &Config<'_>) -> Result<usize, Error> {
    words::size::<CellView>(config)
}

/// Builds a shared cell cache in borrowed words; it has one reference, the one answered. O(words).
///
/// # Errors
/// As [`crate::cell_words`]; `BufferTooSmall` below [`cells_size`].
///
/// ```
/// use core::mem::MaybeUninit;
/// use kvcore::{Config, Layer};
/// let layers = [Layer::flat()];
/// let config = Config { max_seqs: 4, ..Config::new(64, 2, &layers) };
/// let mut words = vec![MaybeUninit::uninit(); kvcore::cells_size(&config)? / 8];
/// let cache = kvcore::cells_in(&mut words, &config)?;
/// assert_eq!((cache.kind(), cache.free_rows()?), (kvcore::KIND_CELLS, 64));
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn cells_in<'a>(words: &'a mut [MaybeUninit<u64>], config: &Config<'_>) -> Result<CacheRef<'a>, Error> {
    observe(in_quietly::<CellView>(words, config))
}

/// Bytes of storage that a shared private-row cache of this config wants. O(layers).
///
/// # Errors
/// As [`crate::RowsCache::new`].
///
/// ```
/// use kvcore::{Config, Layer};
/// let layers = [Layer::flat()];
/// let config = Config { max_seqs: 8, ..Config::new(1024, 26, &layers) };
/// assert!(kvcore::rows_size(&config)? > 0);
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn rows_size(config: &Config<'_>) -> Result<usize, Error> {
    words::size::<RowsView>(config)
}

/// Builds a shared private-row cache in borrowed words; it has one reference, the one answered. O(words).
///
/// # Errors
/// As [`crate::RowsCache::new`]; `BufferTooSmall` below [`rows_size`].
///
/// ```
/// use core::mem::MaybeUninit;
/// use kvcore::{Config, Layer};
/// let layers = [Layer::flat()];
/// let config = Config { max_seqs: 4, ..Config::new(64, 2, &layers) };
/// let mut words = vec![MaybeUninit::uninit(); kvcore::rows_size(&config)? / 8];
/// let cache = kvcore::rows_in(&mut words, &config)?;
/// assert_eq!((cache.kind(), cache.free_rows()?), (kvcore::KIND_ROWS, 64));
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn rows_in<'a>(words: &'a mut [MaybeUninit<u64>], config: &Config<'_>) -> Result<CacheRef<'a>, Error> {
    observe(in_quietly::<RowsView>(words, config))
}

/// The same for any such kind, without an event: for the builder, whose caller reports what it answers.
pub(crate) fn in_quietly<'a, K: ?Sized + InWords>(
    words: &'a mut [MaybeUninit<u64>],
    config: &Config<'_>,
) -> Result<CacheRef<'a>, Error> {
    let size = words.len() * ALIGN;
    // SAFETY: the words are borrowed for `'a`, and every reference to the cache has that lifetime.
    unsafe {
        words::init::<K>(NonNull::from(words).cast(), size, config).map(|cache| CacheRef::from_raw(cache))
    }
}
