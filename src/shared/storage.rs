//! Storage for shared caches, as Rust has it.

pub(crate) mod batch;

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::count::Flag;
use super::handle::CacheRef;
use super::header::ALIGN;
use super::sequence::{self, SharedSequence};
use crate::config::Config;
use crate::error::Error;
use crate::event::observe;
use crate::sequence::LayerSlot;

/// Bytes of storage that a shared one-sequence cache of this config wants. O(layers).
///
/// # Errors
/// As [`Config::check`].
///
/// ```
/// use kvcore::{Config, Layer};
/// let bytes = kvcore::sequence_size(&Config::new(4096, 34, &[Layer::flat()]))?;
/// assert!(bytes <= 512);
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn sequence_size(config: &Config<'_>) -> Result<usize, Error> {
    config.check()?;
    Ok(sequence::bytes(config.n_layers as usize))
}

/// Builds a shared one-sequence cache in borrowed words; it has one reference, the one answered. O(layers).
///
/// # Errors
/// As [`Config::check`]; `BufferTooSmall` below [`sequence_size`].
///
/// ```
/// use core::mem::MaybeUninit;
/// use kvcore::{Config, Layer};
/// let mut words = [MaybeUninit::uninit(); 64];
/// let cache = kvcore::sequence_in(&mut words, &Config::new(64, 2, &[Layer::flat()]))?;
/// assert_eq!(cache.length()?, 0);
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn sequence_in<'a>(
    words: &'a mut [MaybeUninit<u64>],
    config: &Config<'_>,
) -> Result<CacheRef<'a>, Error> {
    observe(sequence_in_quietly(words, config))
}

/// The same without an event, for the builder, whose caller reports what it answers.
pub(crate) fn sequence_in_quietly<'a>(
    words: &'a mut [MaybeUninit<u64>],
    config: &Config<'_>,
) -> Result<CacheRef<'a>, Error> {
    let size = words.len() * ALIGN;
    // SAFETY: the words are borrowed for `'a`, and every reference to the cache has that lifetime.
    unsafe {
        sequence::init(NonNull::from(words).cast(), size, config).map(|cache| CacheRef::from_raw(cache))
    }
}

/// Storage for a shared one-sequence cache of at most `N` layers, which can be a static. When the last
/// reference went it can be used again.
///
/// ```
/// use kvcore::{Config, Error, Layer, SequenceStorage};
/// static STORAGE: SequenceStorage<26> = SequenceStorage::new();
/// let layers = [Layer::ring(512)];
/// let config = Config::new(1024, 26, &layers);
/// let cache = STORAGE.init(&config)?;
/// assert_eq!(STORAGE.init(&config).err(), Some(Error::AlreadyExists));
/// drop(cache);
/// STORAGE.init(&config)?;
/// # Ok::<(), Error>(())
/// ```
#[repr(C, align(8))]
pub struct SequenceStorage<const N: usize> {
    cache: UnsafeCell<MaybeUninit<SharedSequence<[LayerSlot; N]>>>,
    in_use: Flag,
}

// SAFETY: the flag lets one cache at a time into the storage, and a shared cache is `Sync`.
unsafe impl<const N: usize> Sync for SequenceStorage<N> {}
// SAFETY: a storage that is not borrowed holds no cache that anyone could call.
unsafe impl<const N: usize> Send for SequenceStorage<N> {}

impl<const N: usize> SequenceStorage<N> {
    /// Empty storage.
    ///
    /// ```
    /// let storage = kvcore::SequenceStorage::<4>::new();
    /// # let _ = storage;
    /// ```
    #[must_use]
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self { cache: UnsafeCell::new(MaybeUninit::uninit()), in_use: Flag::new() }
    }

    /// Empty storage.
    #[must_use]
    #[cfg(loom)]
    pub fn new() -> Self {
        Self { cache: UnsafeCell::new(MaybeUninit::uninit()), in_use: Flag::new() }
    }

    /// Builds a cache, with one reference: the one answered. O(layers).
    ///
    /// # Errors
    /// As [`Config::check`]; `BufferTooSmall` for more than `N` layers; `AlreadyExists` while a cache stands
    /// here.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// let storage = SequenceStorage::<2>::new();
    /// let cache = storage.init(&Config::new(64, 2, &[Layer::flat()]))?;
    /// assert_eq!(cache.capacity()?, 64);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn init<'a>(&'a self, config: &Config<'_>) -> Result<CacheRef<'a>, Error> {
        observe(self.init_quietly(config))
    }

    fn init_quietly(&self, config: &Config<'_>) -> Result<CacheRef<'_>, Error> {
        config.check()?;
        // The padding at the end has room for more, on some machines.
        if config.n_layers as usize > N {
            return Err(Error::BufferTooSmall);
        }
        self.in_use.take()?;
        self.init_taken(config)
    }

    fn init_taken(&self, config: &Config<'_>) -> Result<CacheRef<'_>, Error> {
        let at = NonNull::from(&self.cache).cast();
        let size = size_of::<SharedSequence<[LayerSlot; N]>>();
        // SAFETY: the flag was taken, so the storage is this call's; it is shared for as long as any
        // reference, by the lifetime. The callback gives the flag back when the last one is gone.
        unsafe {
            let cache = match sequence::init(at, size, config) {
                Ok(cache) => CacheRef::from_raw(cache),
                Err(error) => {
                    self.in_use.give_back();
                    return Err(error);
                }
            };
            let flag = (&raw const self.in_use).cast_mut().cast();
            // Nobody else knows the cache yet: the lock is free and no callback is set.
            cache.object().header().on_release(give_back, flag)?;
            Ok(cache)
        }
    }
}

impl<const N: usize> Default for SequenceStorage<N> {
    fn default() -> Self {
        Self::new()
    }
}

pub(super) unsafe extern "C" fn give_back(flag: *mut c_void, _storage: *mut c_void) {
    // SAFETY: `init_taken` set the flag of its storage, which outlives the cache.
    unsafe { (*flag.cast::<Flag>()).give_back() };
}
