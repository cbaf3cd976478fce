//! Builders.

use core::ffi::{c_char, c_void};
use core::ptr::NonNull;

use super::{
    RawConfig, kvc_cache_t, kvc_registry_t, kvc_status_t, name_at, pointer, put, registry_at, status,
};
use crate::builders::BuilderId;
use crate::error::Error;
use crate::shared::builder::Builder;

/// Says how many bytes of storage a cache of this config wants.
pub type kvc_builder_size_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, config: *const RawConfig, out: *mut usize) -> kvc_status_t>;

/// Builds a cache in the storage, with one reference for the caller. Runs outside every lock; may call the registry.
pub type kvc_builder_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        config: *const RawConfig,
        storage: *mut c_void,
        size: usize,
        out: *mut *mut kvc_cache_t,
    ) -> kvc_status_t,
>;

/// Registers a builder under (backend id, kind): string constants of 1 to `KVC_MAX_NAME` bytes.
/// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_ALREADY_EXISTS`,
/// `KVC_ERR_TABLE_FULL`, `KVC_ERR_BUSY`. Any thread. O(builders).
///
/// # Safety
/// Pointers are NULL or valid; the functions accept `ctx`, from any thread, while the builder is registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_builder_register(
    registry: *mut kvc_registry_t,
    backend_id: *const c_char,
    kind: *const c_char,
    size: kvc_builder_size_fn,
    build: kvc_builder_fn,
    ctx: *mut c_void,
) -> kvc_status_t {
    let register = || {
        let (Some(size), Some(build)) = (size, build) else { return Err(Error::InvalidArgument) };
        // SAFETY: by contract.
        unsafe {
            let id = builder_id(registry, backend_id, kind)?;
            registry_at(registry)?.add_builder(id, Builder::foreign(size, build, ctx))
        }
    };
    status(register())
}

/// Takes a builder out; a build that has already begun goes on. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`,
/// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND`, `KVC_ERR_BUSY`. Any thread. O(builders).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_builder_unregister(
    registry: *mut kvc_registry_t,
    backend_id: *const c_char,
    kind: *const c_char,
) -> kvc_status_t {
    let unregister = || {
        // SAFETY: by contract.
        unsafe {
            let id = builder_id(registry, backend_id, kind)?;
            registry_at(registry)?.remove_builder(id)
        }
    };
    status(unregister())
}

/// Bytes of storage that a cache of this kind and config wants. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`,
/// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND`, `KVC_ERR_INVALID_CONFIG`, `KVC_ERR_BUSY`, and what the
/// builder answers (`KVC_ERR_CORRUPT` for a number that is no status). Any thread. O(builders), and what the builder does.
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_builder_size(
    registry: *mut kvc_registry_t,
    backend_id: *const c_char,
    kind: *const c_char,
    config: *const RawConfig,
    out: *mut usize,
) -> kvc_status_t {
    let size = || {
        // SAFETY: by contract.
        unsafe { builder_for(registry, backend_id, kind, config)?.size(&*config) }
    };
    // SAFETY: by contract.
    unsafe { put(out, size) }
}

/// Builds a cache in `size` bytes of storage aligned to `KVC_ALIGN`, with one reference for the caller. Statuses of
/// `kvc_builder_size`; `KVC_ERR_CORRUPT` also for a builder that reports success without a cache. Any thread.
/// O(builders), and what the builder does.
///
/// # Safety
/// Pointers are NULL or valid; the storage stays, used by nobody else, until the cache ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_builder_build(
    registry: *mut kvc_registry_t,
    backend_id: *const c_char,
    kind: *const c_char,
    config: *const RawConfig,
    storage: *mut c_void,
    size: usize,
    out: *mut *mut kvc_cache_t,
) -> kvc_status_t {
    let build = || {
        // SAFETY: by contract.
        unsafe {
            pointer(storage.cast::<u64>())?;
            let builder = builder_for(registry, backend_id, kind, config)?;
            builder.build(&*config, storage, size).map(NonNull::as_ptr)
        }
    };
    // SAFETY: by contract.
    unsafe { put(out, build) }
}

/// The kind of the `index`-th builder of a backend: the string that was registered. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND` behind the last one,
/// `KVC_ERR_BUSY`. Any thread. O(builders).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_builder_kind_at(
    registry: *mut kvc_registry_t,
    backend_id: *const c_char,
    index: u32,
    out: *mut *const c_char,
) -> kvc_status_t {
    let find = || {
        // SAFETY: by contract.
        unsafe {
            pointer(registry)?;
            let backend = name_at(backend_id)?;
            let kind = registry_at(registry)?.with(|tables| tables.kind_at(backend, index as usize))?;
            Ok(kind.as_ptr())
        }
    };
    // SAFETY: by contract.
    unsafe { put(out, find) }
}

/// Registers the built-in one-sequence kind: backend id "kvcore", kind "sequence". Statuses of
/// `kvc_builder_register`. Any thread. O(builders).
///
/// # Safety
/// The registry is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_sequence_register(registry: *mut kvc_registry_t) -> kvc_status_t {
    // SAFETY: by contract.
    status(unsafe { registry_at(registry) }.and_then(kvc_registry_t::add_sequence))
}

/// Both names, after the pointer to the registry was checked.
///
/// # Safety
/// As [`name_at`].
unsafe fn builder_id(
    registry: *const kvc_registry_t,
    backend: *const c_char,
    kind: *const c_char,
) -> Result<BuilderId<'static>, Error> {
    pointer(registry)?;
    // SAFETY: by contract.
    unsafe { Ok(BuilderId { backend: name_at(backend)?, kind: name_at(kind)? }) }
}

/// The builder under both names, for a config that was checked. Apart from its callers, so that what this takes on the
/// stack is gone when the builder runs.
///
/// # Safety
/// As [`builder_id`], [`registry_at`] and [`RawConfig::read`].
#[inline(never)]
unsafe fn builder_for(
    registry: *const kvc_registry_t,
    backend: *const c_char,
    kind: *const c_char,
    config: *const RawConfig,
) -> Result<Builder, Error> {
    // SAFETY: by contract.
    unsafe {
        let id = builder_id(registry, backend, kind)?;
        let config = RawConfig::read(config)?;
        registry_at(registry)?.builder(id, &config)
    }
}
