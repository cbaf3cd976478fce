//! Registries and sessions.

use core::ffi::{c_char, c_void};
use core::mem::ManuallyDrop;

use super::{
    KVC_KEY_BYTES, copy_key, kvc_cache_t, kvc_registry_t, kvc_status_t, object, pointer, put, read_key,
    registry_at, status,
};
use crate::error::Error;
use crate::event::{Event, emit};
use crate::name::Key;
use crate::registry::Registry;
use crate::session;
use crate::shared::count::unique;
use crate::shared::handle::CacheRef;

/// The registry of the process: shared by all that link this library once. A constant, never NULL. An application
/// and a delegate that are two shared objects, each with kvcore inside, have two of them. Any thread. O(1).
#[unsafe(no_mangle)]
pub extern "C" fn kvc_registry_global() -> *mut kvc_registry_t {
    core::ptr::from_ref(Registry::global()).cast_mut()
}

/// Bytes of storage of a registry; depends on the limits of the build. Any thread. O(1).
#[unsafe(no_mangle)]
pub extern "C" fn kvc_registry_size() -> usize {
    size_of::<kvc_registry_t>()
}

/// Builds an empty registry in `size` bytes of storage aligned to `KVC_ALIGN`. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_BUFFER_TOO_SMALL`. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid; the storage stays, used by nobody else, until the registry was deinitialised and no
/// session struct of it is used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_registry_init(
    storage: *mut c_void,
    size: usize,
    out: *mut *mut kvc_registry_t,
) -> kvc_status_t {
    let build = || {
        let registry = pointer(storage.cast::<kvc_registry_t>())?;
        if size < size_of::<kvc_registry_t>() {
            return Err(Error::BufferTooSmall);
        }
        // Another registry in the same memory must not take an old session's entry for its own.
        let life = unique::take(|_| true).map_or(u64::MAX, u64::from);
        // SAFETY: valid by contract, aligned and large enough as checked.
        unsafe { Registry::write(registry, life << 32) };
        Ok(registry.as_ptr())
    };
    // SAFETY: by contract.
    unsafe { put(out, build) }
}

/// Closes a registry: every other call answers `KVC_ERR_STALE` from now on, builders are forgotten, and the entries'
/// references are let go one by one, outside the lock. Close sessions first. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_CORRUPT`, `KVC_ERR_STALE` when it is closed, `KVC_ERR_UNSUPPORTED` for the global one, `KVC_ERR_BUSY`: call
/// again. Any thread. O(entries).
///
/// # Safety
/// The registry is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_registry_deinit(registry: *mut kvc_registry_t) -> kvc_status_t {
    let close = || {
        // SAFETY: by contract.
        let registry = unsafe { registry_at(registry)? };
        if core::ptr::eq(registry, Registry::global()) { Err(Error::Unsupported) } else { registry.close() }
    };
    status(close())
}

/// Puts a cache under a key (copied, 1 to `KVC_MAX_NAME` bytes); the entry holds a reference of its own.
/// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_ALREADY_EXISTS`,
/// `KVC_ERR_TABLE_FULL`, `KVC_ERR_OUT_OF_CAPACITY` for a cache with 2^32 - 1 references, `KVC_ERR_BUSY`. Any thread.
/// O(entries).
///
/// # Safety
/// Pointers are NULL or valid; the cache's storage outlives its last reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_registry_install(
    registry: *mut kvc_registry_t,
    key: *const c_char,
    cache: *mut kvc_cache_t,
) -> kvc_status_t {
    let install = || {
        // SAFETY: by contract.
        unsafe {
            pointer(registry)?;
            let mut own = Key::BLANK;
            read_key(key, &mut own)?;
            let cache = borrowed(cache)?;
            registry_at(registry)?.install_key(&own, &cache).map(|_| ())
        }
    };
    status(install())
}

/// The cache under a key, with a reference that the caller releases. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND`, `KVC_ERR_OUT_OF_CAPACITY` for a
/// cache with 2^32 - 1 references, `KVC_ERR_BUSY`. Any thread. O(entries).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_registry_get(
    registry: *mut kvc_registry_t,
    key: *const c_char,
    out: *mut *mut kvc_cache_t,
) -> kvc_status_t {
    let find = || {
        let mut own = Key::BLANK;
        // SAFETY: by contract.
        let registry = unsafe { registry_and_key(registry, key, &mut own)? };
        registry.get_key(&own).map(|cache| cache.into_raw().as_ptr())
    };
    // SAFETY: by contract.
    unsafe { put(out, find) }
}

/// Takes an entry out and lets go of its reference; whoever else holds one goes on. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND`, `KVC_ERR_BUSY`. Any thread.
/// O(entries).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_registry_erase(
    registry: *mut kvc_registry_t,
    key: *const c_char,
) -> kvc_status_t {
    let erase = || {
        let mut own = Key::BLANK;
        // SAFETY: by contract.
        let registry = unsafe { registry_and_key(registry, key, &mut own)? };
        registry.erase_key(&own)
    };
    status(erase())
}

/// Caches installed. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_BUSY`. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_registry_count(registry: *mut kvc_registry_t, out: *mut u32) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || registry_at(registry)?.with(|tables| Ok(tables.entries.len() as u32))) }
}

/// Copies the key at an index below the count, with its NUL, into `size` bytes; `KVC_KEY_BYTES` are always enough.
/// The order changes when entries go. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_NOT_FOUND`, `KVC_ERR_BUFFER_TOO_SMALL`, `KVC_ERR_BUSY`. Any thread. O(index).
///
/// # Safety
/// Pointers are NULL or valid; `out` for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_registry_key_at(
    registry: *mut kvc_registry_t,
    index: u32,
    out: *mut c_char,
    size: usize,
) -> kvc_status_t {
    let copy = || {
        let out = pointer(out)?;
        // SAFETY: by contract.
        unsafe { registry_at(registry)?.with(|tables| copy_key(tables.key_at(index as usize)?, out, size)) }
    };
    status(copy())
}

/// Writes a key that no other call in this process ever gets: "cache-N". `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_BUFFER_TOO_SMALL` (`KVC_KEY_BYTES` are always enough), `KVC_ERR_OUT_OF_CAPACITY` when all numbers were
/// given. Never `KVC_ERR_BUSY`. Any thread. O(1).
///
/// # Safety
/// `out` is NULL or valid for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_unique_key(out: *mut c_char, size: usize) -> kvc_status_t {
    let write = || {
        let out = pointer(out)?;
        // A number is only used up by a caller who gets it.
        let fits = |number| Key::numbered(number).as_bytes().len() < size;
        match unique::take(fits) {
            // SAFETY: by contract.
            Some(number) => unsafe { copy_key(&Key::numbered(number), out, size) },
            None if size < KVC_KEY_BYTES => Err(Error::BufferTooSmall),
            None => Err(Error::OutOfCapacity),
        }
    };
    status(write())
}

/// `kvc_session_t`: an entry in a registry for as long as the application works with a cache. Plain data that holds
/// no reference: copies are harmless.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RawSession {
    /// Where the entry stands.
    pub registry: *mut kvc_registry_t,
    /// Which entry it is; 0 when closed.
    pub id: u64,
    /// Its key, for the backend.
    pub key: [c_char; KVC_KEY_BYTES],
}

/// Installs a cache under a key of the caller's, or with NULL under a generated one that nobody took. The entry holds
/// a reference of its own. `out` is written over: close what it held before. Statuses of `kvc_registry_install`. Any
/// thread. O(entries).
///
/// # Safety
/// Pointers are NULL or valid; the cache's storage outlives its last reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_session_open(
    out: *mut RawSession,
    registry: *mut kvc_registry_t,
    key_or_null: *const c_char,
    cache: *mut kvc_cache_t,
) -> kvc_status_t {
    let open = || {
        let out = pointer(out)?.as_ptr();
        pointer(registry)?;
        // SAFETY: by contract; `out` is aligned and not null as checked.
        unsafe {
            let mut key = Key::BLANK;
            if !key_or_null.is_null() {
                read_key(key_or_null, &mut key)?;
            }
            let (cache, tables) = (borrowed(cache)?, registry_at(registry)?);
            let id = if key_or_null.is_null() {
                tables.install_unique(&mut key, &cache)?
            } else {
                tables.install_key(&key, &cache)?
            };
            (&raw mut (*out).registry).write(registry);
            (&raw mut (*out).id).write(id);
            (&raw mut (*out).key).cast::<[u8; KVC_KEY_BYTES]>().write(*key.as_padded());
        }
        Ok(())
    };
    status(open())
}

/// Erases the entry that the session made, if it is still that one, and marks this struct closed. Closing twice, or
/// closing a copy, is fine; so is a zeroed struct. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE` when the registry is
/// closed, `KVC_ERR_CORRUPT`, `KVC_ERR_BUSY`: still open, call again. One struct is for one thread at a time.
/// O(entries).
///
/// # Safety
/// The session is NULL or valid, and so is its registry unless its id is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_session_close(session: *mut RawSession) -> kvc_status_t {
    let close = || {
        // SAFETY: by contract.
        let session = unsafe { pointer(session)?.as_mut() };
        if session.id == 0 {
            return Ok(());
        }
        // SAFETY: by contract.
        session::close(unsafe { registry_at(session.registry)? }, &mut session.id)
    };
    status(close())
}

/// `kvc_session_close` for a guard, which cannot answer: if the lock stays held, the entry is left in its registry and
/// reported as `KVC_EVENT_LEAKED`. The struct is closed in any case. One struct is for one thread at a time. O(entries).
///
/// # Safety
/// As `kvc_session_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_session_drop(session: *mut RawSession) {
    // SAFETY: by contract.
    let closed = unsafe { kvc_session_close(session) };
    let Ok(mut session) = pointer(session) else { return };
    // SAFETY: by contract.
    let session = unsafe { session.as_mut() };
    if closed == Error::Busy.code() {
        let mut key = Key::BLANK;
        // SAFETY: the struct's own array, read up to its end at most.
        let read = unsafe { read_key(session.key.as_ptr(), &mut key) };
        emit(Event::Leaked, None, read.is_ok().then_some(&key));
    }
    session.id = 0;
}

/// Both arguments are checked before the registry is looked at; the key is copied into a blank one.
///
/// # Safety
/// As [`registry_at`] and [`read_key`].
unsafe fn registry_and_key<'r>(
    registry: *const kvc_registry_t,
    key: *const c_char,
    own: &mut Key,
) -> Result<&'r kvc_registry_t, Error> {
    pointer(registry)?;
    // SAFETY: by contract.
    unsafe {
        read_key(key, own)?;
        registry_at(registry)
    }
}

/// The cache behind a pointer, by the caller's reference, which is not let go.
///
/// # Safety
/// As [`object`]; the cache's storage outlives its last reference.
unsafe fn borrowed(cache: *const kvc_cache_t) -> Result<ManuallyDrop<CacheRef<'static>>, Error> {
    // SAFETY: by contract.
    unsafe { object(cache).map(|cache| ManuallyDrop::new(CacheRef::from_raw(cache.as_ptr()))) }
}
