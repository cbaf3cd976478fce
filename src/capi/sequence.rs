//! The one-sequence cache.

use core::ffi::c_void;
use core::ptr::NonNull;

use super::{RawConfig, kvc_cache_t, kvc_status_t, object, pointer, put, status};
use crate::error::Error;
use crate::plan::SeqPlan;
use crate::shared::sequence;
use crate::shared::storage::sequence_size;

/// Bytes of storage that a one-sequence cache of this config wants. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_INVALID_CONFIG`. Any thread. O(layers).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_sequence_size(config: *const RawConfig, out: *mut usize) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || RawConfig::read(config).and_then(|config| sequence_size(&config))) }
}

/// Builds a one-sequence cache in `size` bytes of storage aligned to `KVC_ALIGN`, with one reference for the caller.
/// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_INVALID_CONFIG`, `KVC_ERR_BUFFER_TOO_SMALL`. Any thread. O(layers).
///
/// # Safety
/// Pointers are NULL or valid; the storage stays, used by nobody else, until the cache ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_sequence_init(
    storage: *mut c_void,
    size: usize,
    config: *const RawConfig,
    out: *mut *mut kvc_cache_t,
) -> kvc_status_t {
    let build = || {
        let storage = pointer(storage.cast::<u64>())?.cast();
        // SAFETY: by contract.
        unsafe { RawConfig::read(config).and_then(|config| sequence::init(storage, size, &config)) }
            .map(NonNull::as_ptr)
    };
    // SAFETY: by contract.
    unsafe { put(out, build) }
}

/// Whether `n` more tokens, in steps of at most `max_write`, fit. `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens),
/// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BUSY`. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_can_extend(cache: *const kvc_cache_t, n: u32, out: *mut bool) -> kvc_status_t {
    if n == 0 {
        return status(Err(Error::InvalidArgument));
    }
    // SAFETY: by contract.
    unsafe { put(out, || object(cache)?.can_extend(n)) }
}

/// Tokens held: the position of the next one. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_WRONG_KIND`, `KVC_ERR_BUSY`. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_length(cache: *const kvc_cache_t, out: *mut u32) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || object(cache)?.length()) }
}

/// Takes the length back to `new_len`, if everything that the next token would see is still in its rows. Plans made
/// before are stale afterwards. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`,
/// `KVC_ERR_CANNOT_GROW` beyond the length, `KVC_ERR_EVICTED` when a window has dropped what the target needs,
/// `KVC_ERR_BUSY`. Any thread. O(groups).
///
/// # Safety
/// The cache is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_rewind(cache: *mut kvc_cache_t, new_len: u32) -> kvc_status_t {
    // SAFETY: by contract.
    status(unsafe { object(cache) }.and_then(|cache| cache.rewind(new_len)))
}

/// The smallest length such that a rewind to every length from there to the present one is allowed now; 0 when all
/// are. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BUSY`. Any
/// thread. O(groups).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_rewind_floor(cache: *const kvc_cache_t, out: *mut u32) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || object(cache)?.rewind_floor()) }
}

/// Plans a step of `n` tokens at `position`, which is the length, for one layer. The same step may be planned again,
/// for every layer and in any order, until it is partly committed or another begins. The rows of the step count as
/// overwritten from now on. `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_LAYER`, `KVC_ERR_BAD_POSITION`, `KVC_ERR_STEP_TOO_LARGE`, `KVC_ERR_NEVER_FITS`,
/// `KVC_ERR_OUT_OF_CAPACITY`, `KVC_ERR_BUSY`. A step that any layer would refuse is refused. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_seq_plan(
    cache: *mut kvc_cache_t,
    layer: u32,
    position: u32,
    n: u32,
    out: *mut SeqPlan,
) -> kvc_status_t {
    if n == 0 {
        return status(Err(Error::InvalidArgument));
    }
    let plan = || {
        let out = pointer(out)?;
        // SAFETY: by contract.
        unsafe { object(cache)?.plan(layer, position, n, out.as_ptr()) }
    };
    status(plan())
}

/// Plans a step for all layer groups at once: `plans[g]` for group `g`, `*n_groups` of them. The same as
/// `kvc_seq_plan` of a layer of each group. Statuses of `kvc_seq_plan`, without `KVC_ERR_BAD_LAYER`;
/// `KVC_ERR_BUFFER_TOO_SMALL` for `cap` below the number of groups, which `*n_groups` then tells (`plans` may be NULL
/// with `cap` 0). Any thread. O(groups).
///
/// # Safety
/// Pointers are NULL or valid; `plans` for `cap` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_seq_plan_step(
    cache: *mut kvc_cache_t,
    position: u32,
    n: u32,
    plans: *mut SeqPlan,
    cap: u32,
    n_groups: *mut u32,
) -> kvc_status_t {
    let plan = || {
        let n_groups = pointer(n_groups)?;
        if cap > 0 {
            pointer(plans)?;
        }
        if n == 0 {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: by contract.
        unsafe { object(cache)?.plan_step(position, n, plans, cap, n_groups.as_ptr()) }
    };
    status(plan())
}

/// Keeps the first `accepted` tokens of the newest step: the length becomes `plan->position + accepted`. Reads only
/// `position`, `n_tokens` and `epoch`. Once per step or once per layer, the result is the same. A partial commit
/// closes the step: plan every layer before it. `accepted` 0 closes a step that failed. `KVC_ERR_INVALID_ARGUMENT`
/// (also more tokens than the step has), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`,
/// `KVC_ERR_STALE_PLAN` for a plan older than the newest step, rewind or clear, and for another `accepted` than
/// before, `KVC_ERR_BUSY`. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_seq_commit(
    cache: *mut kvc_cache_t,
    plan: *const SeqPlan,
    accepted: u32,
) -> kvc_status_t {
    let commit = || {
        // SAFETY: by contract.
        let plan = unsafe { pointer(plan)?.as_ref() };
        plan.check_accepted(accepted)?;
        // SAFETY: by contract.
        unsafe { object(cache)? }.commit(plan, accepted)
    };
    status(commit())
}
