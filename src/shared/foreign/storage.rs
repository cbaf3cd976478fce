//! Storage for a handle to a cache that Rust code implements.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::table::Table;
use super::{CacheRef, Error, ExternalCache};
use crate::event::observe;
use crate::shared::count::Flag;
use crate::shared::external::{self, EXTERNAL_BYTES};
use crate::shared::storage::give_back;

/// Storage for a handle to an [`ExternalCache`]. When the last reference went it can be used again.
///
/// ```
/// use kvcore::{Error, ExternalCache, ExternalStorage, Registry};
/// struct Mine;
/// impl ExternalCache for Mine {}
/// let (mine, storage) = (Mine, ExternalStorage::new());
/// let registry = Registry::new();
/// registry.install("mine", &storage.init(&mine)?)?;
/// assert_eq!(storage.init(&mine).err(), Some(Error::AlreadyExists));
/// # Ok::<(), Error>(())
/// ```
#[repr(C, align(8))]
pub struct ExternalStorage {
    cache: UnsafeCell<[MaybeUninit<u8>; EXTERNAL_BYTES]>,
    in_use: Flag,
}

// SAFETY: the flag lets one cache at a time into the storage, and a shared cache is `Sync`.
unsafe impl Sync for ExternalStorage {}
// SAFETY: a storage that is not borrowed holds no cache that anyone could call.
unsafe impl Send for ExternalStorage {}

impl ExternalStorage {
    /// Empty storage.
    ///
    /// ```
    /// static STORAGE: kvcore::ExternalStorage = kvcore::ExternalStorage::new();
    /// # let _ = &STORAGE;
    /// ```
    #[must_use]
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self { cache: UnsafeCell::new([MaybeUninit::uninit(); EXTERNAL_BYTES]), in_use: Flag::new() }
    }

    /// Empty storage.
    #[must_use]
    #[cfg(loom)]
    pub fn new() -> Self {
        Self { cache: UnsafeCell::new([MaybeUninit::uninit(); EXTERNAL_BYTES]), in_use: Flag::new() }
    }

    /// Makes a cache of an object, with one reference: the one answered. O(1).
    ///
    /// # Errors
    /// `AlreadyExists` while a cache stands here.
    ///
    /// ```
    /// # use kvcore::{ExternalCache, ExternalStorage};
    /// # struct Mine;
    /// # impl ExternalCache for Mine {}
    /// let storage = ExternalStorage::new();
    /// assert_eq!(storage.init(&Mine)?.kind(), kvcore::KIND_SEQUENCE);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn init<'a, C: ExternalCache>(&'a self, cache: &'a C) -> Result<CacheRef<'a>, Error> {
        observe(self.in_use.take())?;
        let object = NonNull::from(cache).cast();
        let at = NonNull::from(&self.cache).cast();
        // SAFETY: the flag was taken, so the storage is this call's; storage and object are borrowed for as long
        // as any reference, by the lifetime; the table's functions accept a `&C`.
        unsafe {
            let made = external::init(at, EXTERNAL_BYTES, &raw const *Table::<C>::TABLE, object);
            let made = made.inspect_err(|_| self.in_use.give_back());
            let cache = CacheRef::from_raw(observe(made)?);
            let flag = (&raw const self.in_use).cast_mut().cast();
            cache.object().header().on_release(give_back, flag)?;
            Ok(cache)
        }
    }
}

impl Default for ExternalStorage {
    fn default() -> Self {
        Self::new()
    }
}
