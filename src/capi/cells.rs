//! The cell cache: a pool of cells shared by many sequences.

use core::ffi::c_void;
use core::ptr::NonNull;

use super::{
    RawConfig, input, kvc_cache_t, kvc_registry_t, kvc_status_t, object, output, overlap, pointer, put,
    put_count, registry_at, slice, status,
};
use crate::batch::{CellStep, Move, Shift};
use crate::error::Error;
use crate::shared::cells::CellView;
use crate::shared::storage::batch::cells_size;
use crate::shared::words;

/// Bytes of storage that a cell cache of this config wants. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_INVALID_CONFIG` (as
/// `kvc_config_check`, and: `capacity` is `KVC_UNBOUNDED`; `max_seqs` is not 1 to `KVC_MAX_SEQS`; window and `rollback`
/// are over 32 bits together; no memory is that large). With `S` sequences a cell takes about 10 + `S` / 8 bytes (4 more
/// where windows evict), in each pool; a token of the largest step 8 and 4 a pool. Any thread. O(layers).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cells_size(config: *const RawConfig, out: *mut usize) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || RawConfig::read(config).and_then(|config| cells_size(&config))) }
}

/// Builds a cell cache in `size` bytes of storage aligned to `KVC_ALIGN`, with one reference for the caller.
/// `capacity`: cells of a pool; one pool serves all layers, or with `KVC_SPLIT_POOLS` one each layer group.
/// `max_write`: most tokens of a step, all sequences together (0: as many as the capacity). `rollback`: positions kept
/// beyond a window. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_INVALID_CONFIG`, `KVC_ERR_BUFFER_TOO_SMALL`. Any thread.
/// O(size).
///
/// # Safety
/// Pointers are NULL or valid; the storage stays, used by nobody else, until the cache ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cells_init(
    storage: *mut c_void,
    size: usize,
    config: *const RawConfig,
    out: *mut *mut kvc_cache_t,
) -> kvc_status_t {
    let build = || {
        let storage = pointer(storage.cast::<u64>())?.cast();
        // SAFETY: by contract.
        unsafe { RawConfig::read(config).and_then(|config| words::init::<CellView>(storage, size, &config)) }
            .map(NonNull::as_ptr)
    };
    // SAFETY: by contract.
    unsafe { put(out, build) }
}

/// Places the declared step: token `i` at position `positions[i]` of its sequence goes to row `cells[i]` of the layer's
/// pool. The first call places for all layers; every further one, of the same or another layer, with the same positions
/// gets the same placement. From then on the tokens count. Positions rise in each sequence; gaps are legal. The pool of a
/// layer is the only one, or with `KVC_SPLIT_POOLS` that of its group (`kvc_cache_layer`); a layer that shares rows uses
/// its donor's. With mask `KVC_MASK_NONE` or `KVC_MASK_CAUSAL` no mask need be asked for. Both arrays have `n` elements
/// and must not overlap; they are used during the call only.
/// `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens, and arrays that overlap), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_LAYER`, `KVC_ERR_NO_STEP` (nothing declared, another number of tokens, or other
/// positions than those placed), `KVC_ERR_BAD_POSITION` below a sequence's next position and for 2^32 - 1,
/// `KVC_ERR_OUT_OF_CAPACITY` from `max_context` on, `KVC_ERR_BUSY`. Any thread. O(tokens * log(rows)), with the lock held.
///
/// # Safety
/// Pointers are NULL or valid; `positions` and `cells` for `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cells_place_step(
    cache: *mut kvc_cache_t,
    layer: u32,
    positions: *const u32,
    n: u32,
    cells: *mut u32,
    out: *mut CellStep,
) -> kvc_status_t {
    let place = || {
        if overlap(positions, n, cells, n) {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: by contract; the arrays are apart.
        let (positions, cells) = unsafe { (input(positions, n)?, slice(cells, n as usize)?) };
        // SAFETY: by contract.
        unsafe { object(cache)? }.place_cells(layer, positions, cells)
    };
    // SAFETY: by contract.
    unsafe { put(out, place) }
}

/// Writes the attention mask of the placed step for a layer, one byte a column (1: attend): `n_tokens` rows of
/// `row_stride` bytes, column `j` for row `j` of the pool; columns from `read_len` on are 0. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_LAYER`, `KVC_ERR_NO_STEP` before a placement,
/// `KVC_ERR_BUFFER_TOO_SMALL` for a stride below `read_len` or `size` below `n_tokens * row_stride`, `KVC_ERR_BUSY`. Any
/// thread. O(tokens * `row_stride`), with the lock held.
///
/// # Safety
/// Pointers are NULL or valid; `out` for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cells_mask_bytes(
    cache: *mut kvc_cache_t,
    layer: u32,
    out: *mut u8,
    size: usize,
    row_stride: usize,
) -> kvc_status_t {
    let write = || {
        // SAFETY: by contract.
        let (out, cache) = unsafe { (slice(out, size)?, object(cache)?) };
        cache.cell_mask_bytes(layer, out, row_stride)
    };
    status(write())
}

/// Writes the attention mask of the placed step for a layer, one bit a column: column `j` is bit `j % 32` of word
/// `j / 32` of its row; `n_tokens` rows of `row_words` words. Otherwise as `kvc_cells_mask_bytes`, with words in place
/// of bytes.
///
/// # Safety
/// Pointers are NULL or valid; `out` for `words` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cells_mask_bits(
    cache: *mut kvc_cache_t,
    layer: u32,
    out: *mut u32,
    words: usize,
    row_words: usize,
) -> kvc_status_t {
    let write = || {
        // SAFETY: by contract.
        let (out, cache) = unsafe { (slice(out, words)?, object(cache)?) };
        cache.cell_mask_bits(layer, out, row_words)
    };
    status(write())
}

/// Lists the pending shifts of a layer's pool, runs of rows in ascending order: rotate the keys in them by `delta`
/// positions, in every layer with rows of its own, before anything reads them; then call `kvc_cells_shifts_done`. A step
/// that is declared over pending shifts freezes them: from the first time that a list with any is read, shift and
/// defragmentation are refused until they are done, and every layer reads the same. A forward that failed in between
/// lists and rotates the other layers later, or requires `kvc_clear`. Where verbs may come from another thread meanwhile,
/// list, place the step, then rotate: if placing answers `KVC_ERR_NO_STEP`, rotate nothing. `*n`: how many there are. `out`
/// may be NULL with `cap` 0. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`,
/// `KVC_ERR_BAD_LAYER`, `KVC_ERR_BUFFER_TOO_SMALL` for `cap`
/// below the number, which `*n` then tells, `KVC_ERR_BUSY`. Any thread. O(rows), with the lock held.
///
/// # Safety
/// Pointers are NULL or valid; `out` for `cap` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cells_shifts(
    cache: *mut kvc_cache_t,
    layer: u32,
    out: *mut Shift,
    cap: u32,
    n: *mut u32,
) -> kvc_status_t {
    let list = |n: &mut u32| {
        // SAFETY: by contract.
        let (out, cache) = unsafe { (output(out, cap)?, object(cache)?) };
        cache.cell_shifts(layer, out, n)
    };
    // SAFETY: by contract.
    unsafe { put_count(n, list) }
}

/// The pending shifts were applied on every layer: forgets them, but for those of a pool that changed since it was listed.
/// None pending is fine. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BUSY`. Any thread. O(rows), with the lock held.
///
/// # Safety
/// The cache is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cells_shifts_done(cache: *mut kvc_cache_t) -> kvc_status_t {
    // SAFETY: by contract.
    status(unsafe { object(cache) }.and_then(super::Object::shifts_done))
}

/// Moves tokens from the highest rows of a layer's pool into the lowest free ones, at most `cap` moves at a time, and
/// lists the moves: carry them out in the given order, for every layer of the pool with rows of its own, before the next
/// step. Source and
/// target of a move never overlap. `*n` 0: there was nothing to move, the pool is compact (or `cap` is 0, when `out` may
/// be NULL). `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_LAYER`,
/// `KVC_ERR_UNSUPPORTED` while a step's shifts are being applied, `KVC_ERR_BUSY`. A verb. Any thread. O(rows *
/// sequences), with the lock held.
///
/// # Safety
/// Pointers are NULL or valid; `out` for `cap` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cells_defrag(
    cache: *mut kvc_cache_t,
    layer: u32,
    out: *mut Move,
    cap: u32,
    n: *mut u32,
) -> kvc_status_t {
    let moves = || {
        // SAFETY: by contract.
        let (out, cache) = unsafe { (output(out, cap)?, object(cache)?) };
        cache.defrag(layer, out).map(|n| n as u32)
    };
    // SAFETY: by contract.
    unsafe { put(n, moves) }
}

/// Registers the built-in cell cache: backend id "kvcore", kind "cells". Statuses of `kvc_builder_register`. Any thread.
/// O(builders).
///
/// # Safety
/// The registry is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_cells_register(registry: *mut kvc_registry_t) -> kvc_status_t {
    // SAFETY: by contract.
    status(unsafe { registry_at(registry) }.and_then(kvc_registry_t::add_cells))
}
