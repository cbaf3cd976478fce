//! The life of a cache of any kind, its faces, external caches, and the config.

use core::ffi::{c_char, c_void};
use core::ptr::NonNull;

use super::{ExternalTable, RawConfig, kvc_cache_t, kvc_status_t, name_at, object, pointer, put, status};
use crate::error::Error;
use crate::layer::LayerInfo;
use crate::shared::external;
use crate::shared::header::Header;

/// Runs once, when the last reference of a cache went: the storage is the owner's again, and may be freed here.
pub type kvc_release_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, storage: *mut c_void)>;

/// Runs on the object of a face when the face is dropped or its cache ends. May be NULL.
pub type kvc_drop_fn = Option<unsafe extern "C" fn(object: *mut c_void)>;

/// Checks a config without building anything. Any thread. O(layers).
/// `KVC_ERR_INVALID_ARGUMENT`: NULL or misaligned pointer (also `layers`), wrong `struct_size`.
/// `KVC_ERR_INVALID_CONFIG`: no capacity; no layer, or more than `KVC_MAX_LAYERS`; a number of entries that is
/// neither 1 nor `n_layers`; an unknown layer kind; a ring without a window; a flat layer with a window or sinks,
/// or without a capacity; sinks that fill the capacity; a donor that does not stand before its sharer or has
/// another layout; more than `KVC_MAX_GROUPS` layer groups; an unknown flag. The many-sequence kinds refuse more: see
/// `kvc_cells_size` and `kvc_rows_size`.
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_config_check(config: *const RawConfig) -> kvc_status_t {
    // SAFETY: by contract.
    status(unsafe { RawConfig::read(config) }.and_then(|config| config.check()))
}

/// Calls `release(ctx, storage)` when the last reference goes, after the faces were dropped. Once: a second call is
/// `KVC_ERR_ALREADY_EXISTS`. Else `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_BUSY`.
/// Any thread. O(1).
///
/// # Safety
/// The cache is NULL or valid; `release` accepts `ctx`, from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cache_on_release(
    cache: *mut kvc_cache_t,
    release: kvc_release_fn,
    ctx: *mut c_void,
) -> kvc_status_t {
    let Some(release) = release else { return status(Err(Error::InvalidArgument)) };
    // SAFETY: by contract.
    status(unsafe { object(cache) }.and_then(|cache| cache.header().on_release(release, ctx)))
}

/// One more reference. Never `KVC_ERR_BUSY`. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_OUT_OF_CAPACITY` at 2^32 - 1 references. Any thread. O(1).
///
/// # Safety
/// The cache is NULL or valid; the caller holds a reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cache_retain(cache: *mut kvc_cache_t) -> kvc_status_t {
    // SAFETY: by contract.
    status(unsafe { object(cache) }.and_then(|cache| cache.header().retain()))
}

/// Lets go of one reference. The last one ends the cache: its faces are dropped, newest first, then the release
/// callback runs, and the storage is not touched any more. Never `KVC_ERR_BUSY`. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`. Any thread. O(faces).
///
/// # Safety
/// The cache is NULL or valid; the caller gives up a reference that it holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cache_release(cache: *mut kvc_cache_t) -> kvc_status_t {
    // SAFETY: by contract.
    status(unsafe { object(cache) }.and_then(|cache| unsafe { Header::release(cache.as_ptr()) }))
}

/// Family of a cache: `KVC_KIND_…`; of an external cache the one that it claims. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cache_kind(cache: *const kvc_cache_t, out: *mut u32) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || Ok(object(cache)?.header().kind())) }
}

/// The resolved config: `max_write` is what a step may really have, `initial_capacity` at most the largest pool,
/// fields of other kinds are 0, `layers` and `user` are NULL and `n_layer_entries` is 0 (`kvc_cache_layer` answers
/// for each layer). `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_BUSY`,
/// `KVC_ERR_WRONG_KIND` for an external cache. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cache_config(cache: *const kvc_cache_t, out: *mut RawConfig) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || object(cache)?.config().map(|config| RawConfig::from(&config))) }
}

/// A layer, its group, the rows of its pool at most, and the most tokens that its layout allows in a step.
/// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_BUSY`, `KVC_ERR_WRONG_KIND` for an
/// external cache, `KVC_ERR_BAD_LAYER`. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cache_layer(
    cache: *const kvc_cache_t,
    layer: u32,
    out: *mut LayerInfo,
) -> kvc_status_t {
    let tell = || {
        let mut out = pointer(out)?.cast();
        // SAFETY: by contract.
        unsafe { object(cache)?.layer(layer, out.as_mut()) }
    };
    status(tell())
}

/// Attaches an object under a name (a string constant, 1 to `KVC_MAX_NAME` bytes), to be found from every reference
/// to the cache. `drop(object)`, if not NULL, runs when the face is dropped or the cache ends.
/// `KVC_ERR_INVALID_ARGUMENT` (also a NULL object), `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_ALREADY_EXISTS`, `KVC_ERR_TABLE_FULL` beyond `KVC_MAX_FACES`, `KVC_ERR_BUSY`. Any thread. O(faces).
///
/// # Safety
/// Pointers are NULL or valid; the object lives until it is dropped; the name stays for good.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cache_set_face(
    cache: *mut kvc_cache_t,
    name: *const c_char,
    face: *mut c_void,
    drop: kvc_drop_fn,
) -> kvc_status_t {
    let Some(face) = NonNull::new(face) else { return status(Err(Error::InvalidArgument)) };
    // SAFETY: by contract.
    let attach = unsafe {
        || {
            let name = name_at(name)?;
            object(cache)?.header().set_face(name, face, drop)
        }
    };
    status(attach())
}

/// Takes a face off and drops its object. Only the party that set a face drops it, when nobody uses it.
/// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND`,
/// `KVC_ERR_BUSY`. Any thread. O(faces).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cache_drop_face(cache: *mut kvc_cache_t, name: *const c_char) -> kvc_status_t {
    // SAFETY: by contract.
    let detach = unsafe {
        || {
            let name = name_at(name)?;
            object(cache)?.header().drop_face(name)
        }
    };
    status(detach())
}

/// The object attached under a name; borrowed for as long as the caller holds a reference and the face is not
/// dropped. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_NOT_FOUND`, `KVC_ERR_BUSY`. Any thread. O(faces).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cache_face(
    cache: *const kvc_cache_t,
    name: *const c_char,
    out: *mut *mut c_void,
) -> kvc_status_t {
    let find = || {
        // SAFETY: by contract.
        unsafe {
            let name = name_at(name)?;
            object(cache)?.header().face(name).map(NonNull::as_ptr)
        }
    };
    // SAFETY: by contract.
    unsafe { put(out, find) }
}

/// Builds a cache that the functions of `table` implement over `object`, in `KVC_EXTERNAL_BYTES` of storage aligned to
/// `KVC_ALIGN`, with one reference for the caller. `KVC_ERR_INVALID_ARGUMENT` (NULL or misaligned pointers, wrong
/// `struct_size`, a kind that is none), `KVC_ERR_BUFFER_TOO_SMALL`. A number that is no status, from one of the
/// functions, reaches their callers as `KVC_ERR_CORRUPT`. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid; storage, table and object stay until the cache ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_external_init(
    storage: *mut c_void,
    size: usize,
    table: *const ExternalTable,
    object: *mut c_void,
    out: *mut *mut kvc_cache_t,
) -> kvc_status_t {
    let build = || {
        let storage = pointer(storage.cast::<u8>())?;
        let object = pointer(object.cast::<u8>())?.cast();
        // SAFETY: by contract.
        unsafe { external::init(storage, size, table, object) }.map(NonNull::as_ptr)
    };
    // SAFETY: by contract.
    unsafe { put(out, build) }
}

/// Empties a cache of any kind. Plans made before are stale, and all sequence ids are free. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND` for an external cache without it, `KVC_ERR_BUSY`. Any thread.
/// O(groups); many-sequence kinds O(rows + sequences), with the lock held.
///
/// # Safety
/// The cache is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_clear(cache: *mut kvc_cache_t) -> kvc_status_t {
    // SAFETY: by contract.
    status(unsafe { object(cache) }.and_then(super::Object::clear))
}

/// Positions, cells or rows that a cache can hold, as configured (`max_context` may end a sequence earlier);
/// `KVC_UNBOUNDED` where only windows bound it.
/// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND` for an external cache without
/// it, `KVC_ERR_BUSY`. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_capacity(cache: *const kvc_cache_t, out: *mut u32) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || object(cache)?.capacity()) }
}
