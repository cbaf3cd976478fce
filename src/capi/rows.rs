//! The private-row cache: many sequences, each planned like the one-sequence cache.

use core::ffi::c_void;
use core::ptr::NonNull;

use super::{
    RawConfig, input, kvc_cache_t, kvc_registry_t, kvc_status_t, object, output, overlap, pointer, put,
    put_count, registry_at, status,
};
use crate::batch::Span;
use crate::error::Error;
use crate::plan::Run;
use crate::shared::rows::RowsView;
use crate::shared::storage::batch::rows_size;
use crate::shared::words;

/// Bytes of storage that a private-row cache of this config wants. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_INVALID_CONFIG` (as `kvc_config_check`, and: `capacity` is `KVC_UNBOUNDED`; `max_seqs` is not 1 to 4096).
/// Any thread. O(layers).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_rows_size(config: *const RawConfig, out: *mut usize) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || RawConfig::read(config).and_then(|config| rows_size(&config))) }
}

/// Builds a private-row cache in `size` bytes of storage aligned to `KVC_ALIGN`, with one reference for the caller.
/// `capacity`: rows that all sequences together may hold; `max_write`, `rollback` and `max_context` are each
/// sequence's. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_INVALID_CONFIG`, `KVC_ERR_BUFFER_TOO_SMALL`. Any thread. O(size).
///
/// # Safety
/// Pointers are NULL or valid; the storage stays, used by nobody else, until the cache ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_rows_init(
    storage: *mut c_void,
    size: usize,
    config: *const RawConfig,
    out: *mut *mut kvc_cache_t,
) -> kvc_status_t {
    let build = || {
        let storage = pointer(storage.cast::<u64>())?.cast();
        // SAFETY: by contract.
        unsafe { RawConfig::read(config).and_then(|config| words::init::<RowsView>(storage, size, &config)) }
            .map(NonNull::as_ptr)
    };
    // SAFETY: by contract.
    unsafe { put(out, build) }
}

/// Places the declared step and plans it for a layer: one span for each run of tokens of the same sequence, in the
/// order of the tokens. Rows of a span's plan are those of that sequence's own pool of the layer. The first call counts
/// for all layers; every further one with the same positions gets the plans of its own layer. There is no commit. Rows
/// that the step writes over are given up now (event `KVC_EVENT_EVICTED`). All spans may be written before any is read.
/// `*n_spans`: how many there are. `positions` has `n` elements; the arrays must not overlap and are used during the
/// call only; `out` may be NULL with `cap` 0. `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens, and arrays that overlap),
/// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_LAYER`, `KVC_ERR_NO_STEP` (nothing declared,
/// another number of tokens, or other positions than those placed), `KVC_ERR_BAD_POSITION` unless positions go on from
/// each sequence's length, `KVC_ERR_BUFFER_TOO_SMALL` for `cap` below the number of spans, which `*n_spans` then tells
/// (nothing is placed), `KVC_ERR_BUSY`. Any thread. O(tokens), with the lock held.
///
/// # Safety
/// Pointers are NULL or valid; `positions` for `n` elements, `out` for `cap`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_rows_place_step(
    cache: *mut kvc_cache_t,
    layer: u32,
    positions: *const u32,
    n: u32,
    out: *mut Span,
    cap: u32,
    n_spans: *mut u32,
) -> kvc_status_t {
    let place = |n_spans: &mut u32| {
        if overlap(positions, n, out, cap) {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: by contract; the arrays are apart.
        let (positions, out) = unsafe { (input(positions, n)?, output(out, cap)?) };
        // SAFETY: by contract.
        unsafe { object(cache)? }.place_rows(layer, positions, out, n_spans)
    };
    // SAFETY: by contract.
    unsafe { put_count(n_spans, place) }
}

/// Lists the rows of a sequence's own pool of a layer that hold what its next token can see, at most 3 runs, oldest
/// first. After `kvc_batch_seq_clone`, and before the source's next step, this is what to copy to the clone: each row to the
/// row of the same index.
/// `*n`: how many runs. `out` may be NULL with `cap` 0. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_WRONG_KIND` (also for an external cache), `KVC_ERR_BAD_LAYER`, `KVC_ERR_BAD_SEQUENCE`,
/// `KVC_ERR_BUFFER_TOO_SMALL` for `cap` below the number, which `*n` then tells, `KVC_ERR_BUSY`. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid; `out` for `cap` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_rows_held(
    cache: *const kvc_cache_t,
    layer: u32,
    seq: u32,
    out: *mut Run,
    cap: u32,
    n: *mut u32,
) -> kvc_status_t {
    let list = |n: &mut u32| {
        // SAFETY: by contract.
        let (out, cache) = unsafe { (output(out, cap)?, object(cache)?) };
        cache.rows_held(layer, seq, out, n)
    };
    // SAFETY: by contract.
    unsafe { put_count(n, list) }
}

/// Registers the built-in private-row cache: backend id "kvcore", kind "rows". Statuses of `kvc_builder_register`. Any
/// thread. O(builders).
///
/// # Safety
/// The registry is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_rows_register(registry: *mut kvc_registry_t) -> kvc_status_t {
    // SAFETY: by contract.
    status(unsafe { registry_at(registry) }.and_then(kvc_registry_t::add_rows))
}
