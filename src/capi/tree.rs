//! Token trees: positions, intervals and moves from the parents of a step's rows.

use super::{input, kvc_status_t, output, overlap, pointer, put_count, slice, status};
use crate::batch::Move;
use crate::error::Error;
use crate::limits::MAX_TREE;
use crate::tree;

/// Writes the position of each node of a token tree: `base`, the position of the step's first row, and the node's depth.
/// `parents[i]` is the node that node `i` continues, one before it, or -1 for a child of the committed prefix; a tree has
/// 1 to 256 nodes. `KVC_ERR_INVALID_ARGUMENT` (also parents that are no tree, a position over 32 bits, and arrays that
/// overlap). Any thread. O(`n`); where `base + n` passes 32 bits, O(`n` * depth).
///
/// # Safety
/// Pointers are NULL or valid for `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_tree_positions(
    parents: *const i32,
    n: u32,
    base: u32,
    out: *mut u32,
) -> kvc_status_t {
    let write = || {
        if overlap(parents, n, out, n) {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: by contract; the arrays are apart.
        let (parents, out) = unsafe { (tree_at(parents, n)?, slice(out, n as usize)?) };
        tree::positions(parents, base, out)
    };
    status(write())
}

/// Writes the interval of each node of a token tree, for kernels that take intervals in place of a mask: node `i` sees
/// node `j` of the same step iff `pre[j] <= pre[i] < end[j]`. `pre` numbers the nodes depth first, siblings by their
/// index; `end` is the number behind the last descendant. A window is not in it: one that is smaller than the tree is
/// deep hides ancestors that lie `window` levels up or more. `parents` as for `kvc_tree_positions`.
/// `KVC_ERR_INVALID_ARGUMENT` (also parents that are no tree, and arrays that overlap). Any thread. O(`n`).
///
/// # Safety
/// Pointers are NULL or valid for `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_tree_intervals(
    parents: *const i32,
    n: u32,
    pre: *mut u16,
    end: *mut u16,
) -> kvc_status_t {
    let write = || {
        if overlap(parents, n, pre, n) || overlap(parents, n, end, n) || overlap(pre, n, end, n) {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: by contract; the arrays are apart.
        let parents = unsafe { tree_at(parents, n)? };
        // SAFETY: by contract; the arrays are apart.
        let (pre, end) = unsafe { (slice(pre, n as usize)?, slice(end, n as usize)?) };
        tree::intervals(parents, pre, end)
    };
    status(write())
}

/// Lists the moves of rows that make the accepted path of a token tree contiguous: the path to `leaf`, its `k`-th node
/// moved to `rows[k]`. `rows` are the `n` rows that the step wrote in a pool, in order, no row twice (that is not
/// checked); `parents` as for `kvc_tree_positions`. Carry the moves out in the given order, once in every pool (a layer
/// that shares rows has none of its own), then commit `*accepted` tokens (private rows: rewind to that many tokens of
/// the step): the leaf's depth + 1, or 0, and no moves, with `leaf` -1. No row is overwritten before it was read.
/// Source and target of a move may overlap, and then the target lies below the source: copy row by row in ascending
/// order, or with `memmove`. `*n_moves`: how many moves there are, never more than tokens accepted. `out` may be NULL
/// with `cap` 0. `KVC_ERR_INVALID_ARGUMENT` (also parents that are no tree, a leaf that is neither -1 nor a node, and
/// arrays that overlap), `KVC_ERR_BUFFER_TOO_SMALL` for `cap` below the number of moves, which `*n_moves` then tells.
/// Any thread. O(`n`).
///
/// # Safety
/// Pointers are NULL or valid; `rows` and `parents` for `n` elements, `out` for `cap`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_tree_moves(
    rows: *const u32,
    parents: *const i32,
    n: u32,
    leaf: i32,
    out: *mut Move,
    cap: u32,
    n_moves: *mut u32,
    accepted: *mut u32,
) -> kvc_status_t {
    let list = |n_moves: &mut u32| {
        let accepted = pointer(accepted)?;
        if overlap(rows, n, out, cap) || overlap(parents, n, out, cap) {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: by contract; what is written is apart.
        let (parents, rows, out) = unsafe { (tree_at(parents, n)?, input(rows, n)?, output(out, cap)?) };
        let mut count = 0;
        let tokens = tree::list_moves(rows, parents, leaf, out, &mut count);
        *n_moves = count as u32;
        // SAFETY: by contract; aligned and not null as checked.
        tokens.map(|tokens| unsafe { accepted.write(tokens) })
    };
    // SAFETY: by contract.
    unsafe { put_count(n_moves, list) }
}

/// The parents of a tree; of more nodes than a tree has, none is read.
///
/// # Safety
/// As [`input`].
unsafe fn tree_at<'p>(parents: *const i32, n: u32) -> Result<&'p [i32], Error> {
    if n as usize > MAX_TREE {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: by contract.
    unsafe { input(parents, n) }
}
