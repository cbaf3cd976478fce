//! Caches that Rust code implements: a trait behind the same function table that C fills.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::count::Flag;
use super::external::{self, EXTERNAL_BYTES, ExternalTable};
use super::handle::CacheRef;
use super::storage::give_back;
use crate::error::{Error, status};
use crate::event::observe;
use crate::plan::SeqPlan;

/// A one-sequence cache of another make, to stand in a registry beside the built-in ones. The calls follow the
/// rules of [`CacheRef`]'s: nothing changed on failure. They run without any lock, from any thread, behind C's
/// calling convention: a panic aborts.
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
}

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

/// The function table of a Rust type.
struct Table<C>(core::marker::PhantomData<C>);

impl<C: ExternalCache> Table<C> {
    const TABLE: &'static ExternalTable = &ExternalTable {
        capacity: Some(Self::capacity),
        clear: Some(Self::clear),
        can_extend: Some(Self::can_extend),
        length: Some(Self::length),
        rewind: Some(Self::rewind),
        rewind_floor: Some(Self::rewind_floor),
        seq_plan: Some(Self::plan),
        seq_plan_step: Some(Self::plan_step),
        seq_commit: Some(Self::commit),
        ..ExternalTable::empty(C::KIND)
    };

    /// Calls the object and writes what it answers.
    ///
    /// # Safety
    /// `object` is the `&C` of `ExternalStorage::init`, `out` is valid for writes.
    unsafe fn put<T>(object: *mut c_void, out: *mut T, call: impl FnOnce(&C) -> Result<T, Error>) -> i32 {
        // SAFETY: by contract.
        status(unsafe { call(&*object.cast::<C>()).map(|value| out.write(value)) })
    }

    unsafe extern "C" fn capacity(object: *mut c_void, out: *mut u32) -> i32 {
        // SAFETY: the table is only used with its object.
        unsafe { Self::put(object, out, C::capacity) }
    }

    unsafe extern "C" fn clear(object: *mut c_void) -> i32 {
        // SAFETY: as above.
        status(unsafe { &*object.cast::<C>() }.clear())
    }

    unsafe extern "C" fn can_extend(object: *mut c_void, n: u32, out: *mut bool) -> i32 {
        // SAFETY: as above.
        unsafe { Self::put(object, out, |cache| cache.can_extend(n)) }
    }

    unsafe extern "C" fn length(object: *mut c_void, out: *mut u32) -> i32 {
        // SAFETY: as above.
        unsafe { Self::put(object, out, C::length) }
    }

    unsafe extern "C" fn rewind(object: *mut c_void, length: u32) -> i32 {
        // SAFETY: as above.
        status(unsafe { &*object.cast::<C>() }.rewind(length))
    }

    unsafe extern "C" fn rewind_floor(object: *mut c_void, out: *mut u32) -> i32 {
        // SAFETY: as above.
        unsafe { Self::put(object, out, C::rewind_floor) }
    }

    unsafe extern "C" fn plan(
        object: *mut c_void,
        layer: u32,
        position: u32,
        n: u32,
        out: *mut SeqPlan,
    ) -> i32 {
        // SAFETY: as above.
        unsafe { Self::put(object, out, |cache| cache.plan(layer, position, n)) }
    }

    unsafe extern "C" fn plan_step(
        object: *mut c_void,
        position: u32,
        n: u32,
        plans: *mut SeqPlan,
        cap: u32,
        n_groups: *mut u32,
    ) -> i32 {
        // SAFETY: as above; the plans are valid for `cap` elements, which are plain numbers.
        let groups = unsafe {
            let plans: &mut [SeqPlan] = match cap {
                0 => &mut [],
                _ => core::slice::from_raw_parts_mut(plans, cap as usize),
            };
            (*object.cast::<C>()).plan_step(position, n, plans)
        };
        let Ok(groups) = groups else { return status(groups.map(|_| ())) };
        // SAFETY: the caller's place for the number.
        unsafe { n_groups.write(u32::try_from(groups).unwrap_or(u32::MAX)) };
        if groups > cap as usize { Error::BufferTooSmall.code() } else { 0 }
    }

    unsafe extern "C" fn commit(object: *mut c_void, plan: *const SeqPlan, accepted: u32) -> i32 {
        // SAFETY: as above; the plan is valid for reads.
        status(unsafe { (*object.cast::<C>()).commit(&*plan, accepted) })
    }
}
