//! The arithmetic: plans without a cache, positions and masks of a plan, pool sizes.

use super::{kvc_status_t, pointer, put, slice, status};
use crate::error::Error;
use crate::layer::Layer;
use crate::layout;
use crate::mask::Columns;
use crate::plan::SeqPlan;
use crate::pool;

/// Plans a step by arithmetic alone: any position, no cache, no end to the pool. `max_write` 0: the layer's window.
/// `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens, or positions over 32 bits), `KVC_ERR_INVALID_CONFIG` for a layer that
/// contradicts itself, `KVC_ERR_STEP_TOO_LARGE`. `group` and `epoch` are 0. Any thread. O(1).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_layout_plan(
    layer: *const Layer,
    max_write: u32,
    rollback: u32,
    position: u32,
    n: u32,
    out: *mut SeqPlan,
) -> kvc_status_t {
    let plan = || {
        // SAFETY: by contract.
        let layer = unsafe { pointer(layer)?.as_ref() };
        layout::plan(layer, max_write, rollback, position, n)
    };
    // SAFETY: by contract.
    unsafe { put(out, plan) }
}

/// Writes the position of each read row, in the order of the mask's columns: `plan->read_len` of them. (The step's own
/// rows count on from `plan->position`; the nodes of a token tree have positions of their own, `plan->position` and
/// their depth.)
/// `KVC_ERR_INVALID_ARGUMENT` (also a plan that contradicts itself), `KVC_ERR_BUFFER_TOO_SMALL` for `cap` below that.
/// Any thread. O(`read_len`).
///
/// # Safety
/// Pointers are NULL or valid; `out` for `cap` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_plan_positions(plan: *const SeqPlan, out: *mut u32, cap: usize) -> kvc_status_t {
    let write = || {
        // SAFETY: by contract.
        let (plan, out) = unsafe { (pointer(plan)?.as_ref(), slice(out, cap)?) };
        plan.positions(out).map(|_| ())
    };
    status(write())
}

/// Writes the attention mask of a plan, one byte a column (1: attend), `plan->n_tokens` rows of `row_stride` bytes;
/// columns beyond the mask are 0. `columns`: `KVC_COLUMNS_READ` (`read_len` columns) or `KVC_COLUMNS_POOL` (up to the
/// highest read row). With `parents` (`n_tokens` of them, at most 256) the step is a token tree: `parents[i] < i`, or -1
/// for a child of the committed prefix. A node sees the prefix within its window, its ancestors less than `window` levels
/// up, and itself. `KVC_ERR_INVALID_ARGUMENT` (also a plan or parents that contradict themselves),
/// `KVC_ERR_BUFFER_TOO_SMALL` for a stride below the columns or `size` below `n_tokens * row_stride`. Any thread.
/// O(`n_tokens` * `row_stride`).
///
/// # Safety
/// Pointers are NULL or valid; `out` for `size` bytes, `parents` for `plan->n_tokens` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_plan_mask_bytes(
    plan: *const SeqPlan,
    parents_or_null: *const i32,
    columns: u32,
    out: *mut u8,
    size: usize,
    row_stride: usize,
) -> kvc_status_t {
    let write = || {
        // SAFETY: by contract.
        let (plan, parents, columns) = unsafe { mask_arguments(plan, parents_or_null, columns)? };
        // SAFETY: by contract.
        plan.mask_bytes(parents, columns, unsafe { slice(out, size)? }, row_stride)
    };
    status(write())
}

/// Writes the attention mask of a plan, one bit a column: column `j` is bit `j % 32` of word `j / 32` of its row;
/// `plan->n_tokens` rows of `row_words` words. Otherwise as `kvc_plan_mask_bytes`, with words in place of bytes.
///
/// # Safety
/// Pointers are NULL or valid; `out` for `words` words, `parents` for `plan->n_tokens` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_plan_mask_bits(
    plan: *const SeqPlan,
    parents_or_null: *const i32,
    columns: u32,
    out: *mut u32,
    words: usize,
    row_words: usize,
) -> kvc_status_t {
    let write = || {
        // SAFETY: by contract.
        let (plan, parents, columns) = unsafe { mask_arguments(plan, parents_or_null, columns)? };
        // SAFETY: by contract.
        plan.mask_bits(parents, columns, unsafe { slice(out, words)? }, row_words)
    };
    status(write())
}

/// The next size of a growing pool: `current` doubled (from at least 1) until it holds `needed` rows, at most `max`;
/// 0 if `needed` is over `max`. A pool that is large enough keeps its size. Any thread. O(log(needed / current)).
#[unsafe(no_mangle)]
pub extern "C" fn kvc_grow_rows(current: u32, needed: u32, max: u32) -> u32 {
    pool::grow_rows(current, needed, max)
}

/// Bytes of K or of V alone: `rows * n_kv_heads * head_dim` elements of `bits` bits, packed. `KVC_ERR_INVALID_ARGUMENT`
/// (also 0 heads, dimension or bits, more than 64 bits an element, or more elements or bytes than 64 bits count). Any thread. O(1).
///
/// # Safety
/// `out` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_pool_bytes(
    rows: u32,
    n_kv_heads: u32,
    head_dim: u32,
    bits: u32,
    out: *mut u64,
) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || pool::pool_bytes(rows, n_kv_heads, head_dim, bits)) }
}

/// # Safety
/// Pointers are null or valid, `parents` for as many elements as the plan has tokens.
unsafe fn mask_arguments<'p>(
    plan: *const SeqPlan,
    parents: *const i32,
    columns: u32,
) -> Result<(&'p SeqPlan, Option<&'p [i32]>, Columns), Error> {
    // SAFETY: by contract.
    let plan = unsafe { pointer(plan)?.as_ref() };
    let Some(columns) = Columns::from_code(columns) else { return Err(Error::InvalidArgument) };
    // A tree of more nodes is refused before anything is read.
    let parents = match parents.is_null() {
        true => None,
        false if plan.n_tokens as usize > crate::limits::MAX_TREE => return Err(Error::InvalidArgument),
        // SAFETY: by contract.
        false => Some(unsafe {
            pointer(parents)?;
            core::slice::from_raw_parts(parents, plan.n_tokens as usize)
        }),
    };
    Ok((plan, parents, columns))
}
