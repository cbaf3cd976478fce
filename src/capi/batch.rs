//! Many sequences: the calls that cell caches and private-row caches share.

use super::{input, kvc_cache_t, kvc_status_t, object, put, status};
use crate::error::Error;
use crate::shared::batch::Call;

/// Declares the next step, before any compute: the sequence of each of its `n_tokens` tokens. All of it is admitted or
/// nothing. A successful declaration replaces an earlier one, and cells that every window has passed, and no rewind
/// within `rollback` can need, are free (event `KVC_EVENT_EVICTED`); a refused one leaves everything as it is. A verb that
/// succeeds ends the step, even one that changes nothing. Verbs are the calls that change what sequences hold or where:
/// new, clone, remove, release, keep, shift, rewind, clear and defrag. So while a forward runs the application makes none:
/// placing and masks answer `KVC_ERR_NO_STEP` from then on, and the tokens that were placed count until they are rewound.
/// The ids are read during the call only.
/// `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`,
/// `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_STEP_TOO_LARGE` above `max_write`, `KVC_ERR_NEVER_FITS`, `KVC_ERR_OUT_OF_CAPACITY`,
/// `KVC_ERR_BUSY`. Any thread. O(tokens + sequences + cells freed), where only cells that windows have passed make room
/// O(rows / 32 * sequences); with the lock held (feature `critical-section`: interrupts off for as long; so with every
/// call whose cost names tokens, rows or sequences).
///
/// # Safety
/// Pointers are NULL or valid; `seq_ids` for `n_tokens` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_declare_step(
    cache: *mut kvc_cache_t,
    seq_ids: *const u32,
    n_tokens: u32,
) -> kvc_status_t {
    let declare = || {
        // SAFETY: by contract.
        let (seq_ids, cache) = unsafe { (input(seq_ids, n_tokens)?, object(cache)?) };
        cache.declare_step(seq_ids)
    };
    status(declare())
}

/// Whether `n` more tokens of a sequence fit now, in steps of any size: into the free rows and those that windows
/// would let go of, and below `max_context`. `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens), `KVC_ERR_STALE`,
/// `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_BUSY`. Any thread. O(groups), where
/// only cells that windows have passed make room O(rows / 32 * sequences), with the lock held.
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_can_admit(
    cache: *const kvc_cache_t,
    seq: u32,
    n: u32,
    out: *mut bool,
) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || ask(cache, Call::CanAdmit { seq, n }).map(|answer| answer != 0)) }
}

/// A new, empty sequence under the lowest free id. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_WRONG_KIND`, `KVC_ERR_TABLE_FULL` with `max_seqs` sequences, `KVC_ERR_BUSY`. A verb. Any thread.
/// O(sequences), with the lock held.
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_seq_new(cache: *mut kvc_cache_t, out_seq: *mut u32) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out_seq, || ask(cache, Call::SeqNew)) }
}

/// A new sequence with the positions of `src` below `upto` (`KVC_UNBOUNDED`, or any number above the next position: all
/// of them). Cells are shared, nothing is copied; with private rows the backend copies what `kvc_rows_held` lists.
/// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`,
/// `KVC_ERR_EVICTED` when a window has dropped what a sequence of `upto` tokens needs, `KVC_ERR_OUT_OF_CAPACITY`
/// (private rows), `KVC_ERR_TABLE_FULL`, `KVC_ERR_BUSY`. A verb. Any thread. O(rows + sequences), with the lock held.
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_seq_clone(
    cache: *mut kvc_cache_t,
    src: u32,
    upto: u32,
    out_seq: *mut u32,
) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out_seq, || ask(cache, Call::SeqClone { src, upto })) }
}

/// Takes positions `from .. to` out of a sequence (cells only); its id stays, and so do the others' shares of the
/// cells. None in the range is fine. Without anything left the sequence begins at 0 again.
/// `KVC_ERR_INVALID_ARGUMENT` (also `from` above `to`), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`,
/// `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_EVICTED` where something is left and the next token would need what a window has
/// dropped, `KVC_ERR_BUSY`. A verb. Any thread. O(rows), with the lock held.
///
/// # Safety
/// The cache is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_seq_remove(
    cache: *mut kvc_cache_t,
    seq: u32,
    from: u32,
    to: u32,
) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { tell(cache, Call::SeqRemove { seq, from, to }) }
}

/// Ends a sequence: all of it and its id. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_BUSY`. A verb. Any thread. O(rows), with the lock held.
///
/// # Safety
/// The cache is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_seq_release(cache: *mut kvc_cache_t, seq: u32) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { tell(cache, Call::SeqRelease { seq }) }
}

/// Ends every other sequence. Statuses of `kvc_batch_seq_release`. A verb. Any thread. O(rows + sequences), with the
/// lock held.
///
/// # Safety
/// The cache is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_seq_keep(cache: *mut kvc_cache_t, seq: u32) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { tell(cache, Call::SeqKeep { seq }) }
}

/// Moves positions `from .. to` of a sequence by `delta` (cells only). The keys in their rows have to be rotated
/// before the next step: see `kvc_cells_shifts`. None in the range, or `delta` 0, is fine. `KVC_ERR_INVALID_ARGUMENT`
/// (also `from` above `to`), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`,
/// `KVC_ERR_SHARED` when another sequence owns one of the cells too, `KVC_ERR_BAD_POSITION` when one would end below 0,
/// beyond `max_context` or on a position that the sequence holds, or when what is pending for a row would leave 32 bits,
/// `KVC_ERR_EVICTED` where the next token would then miss what a window has dropped (let a window's worth of positions
/// move down together), `KVC_ERR_UNSUPPORTED` while a step's shifts are being applied (until `kvc_cells_shifts_done`),
/// `KVC_ERR_BUSY`. A verb. Any thread. O(rows), with the lock held.
///
/// # Safety
/// The cache is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_seq_shift(
    cache: *mut kvc_cache_t,
    seq: u32,
    from: u32,
    to: u32,
    delta: i32,
) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { tell(cache, Call::SeqShift { seq, from, to, delta }) }
}

/// Drops the positions of a sequence from `new_len` on. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
/// `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_EVICTED` when a window has dropped what the next token would
/// need (never for 0; below the highest position that was dropped all count as dropped), `KVC_ERR_CANNOT_GROW` above the next position, `KVC_ERR_BUSY`. A verb; it also cancels a step:
/// rewind each of its sequences to its old next position. Any thread. O(rows), with the lock held.
///
/// # Safety
/// The cache is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_rewind(cache: *mut kvc_cache_t, seq: u32, new_len: u32) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { tell(cache, Call::Rewind { seq, new_len }) }
}

/// Tokens that a sequence holds now; with split pools, in the pool that holds most of them. `KVC_ERR_INVALID_ARGUMENT`,
/// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_BUSY`. Any thread.
/// O(groups).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_seq_len(
    cache: *const kvc_cache_t,
    seq: u32,
    out: *mut u32,
) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || ask(cache, Call::SeqLen { seq })) }
}

/// The position that a sequence goes on from: its highest one + 1, or 0. What a window dropped counts. Statuses of
/// `kvc_batch_seq_len`. Any thread. O(groups).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_next_pos(
    cache: *const kvc_cache_t,
    seq: u32,
    out: *mut u32,
) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || ask(cache, Call::NextPos { seq })) }
}

/// The lowest position that a sequence holds now, in any pool; `KVC_UNBOUNDED` when it is empty. Statuses of
/// `kvc_batch_seq_len`. Any thread. O(groups).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_first_pos(
    cache: *const kvc_cache_t,
    seq: u32,
    out: *mut u32,
) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || ask(cache, Call::FirstPos { seq })) }
}

/// Rows that are free now; with split pools, in the fullest of them. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`,
/// `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BUSY`. Any thread. O(groups).
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_batch_free_rows(cache: *const kvc_cache_t, out: *mut u32) -> kvc_status_t {
    // SAFETY: by contract.
    unsafe { put(out, || ask(cache, Call::FreeRows)) }
}

/// # Safety
/// As [`object`].
unsafe fn ask(cache: *const kvc_cache_t, call: Call) -> Result<u32, Error> {
    call.check()?;
    // SAFETY: by contract.
    unsafe { object(cache)? }.batch(call)
}

/// A call that answers nothing but its status.
///
/// # Safety
/// As [`object`].
unsafe fn tell(cache: *const kvc_cache_t, call: Call) -> kvc_status_t {
    // SAFETY: by contract.
    status(unsafe { ask(cache, call) }.map(|_| ()))
}
