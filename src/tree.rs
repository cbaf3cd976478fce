//! Token trees, for speculative decoding: a step of `n` rows whose node `i` continues node `parents[i] < i`, or the
//! committed prefix (-1). The cache stores none of it; these are pure functions of the parents.
//!
//! Plan a step of `n` tokens, give the nodes their [`positions`], attend with the masks of the plan
//! ([`SeqPlan::mask_bytes`](crate::SeqPlan::mask_bytes) with parents) or with [`intervals`], choose a leaf, carry out
//! the [`moves`] once in every pool, then commit as many tokens as they accept. The order of siblings does not matter.
//!
//! ```
//! use kvcore::{Config, Layer, Move, SequenceCache, tree};
//! let mut cache = SequenceCache::<1>::new(&Config::new(64, 1, &[Layer::flat()]))?;
//! let parents = [-1, 0, 0, 1]; // two drafts for the second token, a third token behind the first of them
//! let plan = cache.plan(0, 0, 4)?;
//! let rows = [0, 1, 2, 3]; // as the plan writes them
//! let mut moves = [Move::default(); 4];
//! let (n_moves, accepted) = tree::moves(&rows, &parents, 3, &mut moves)?;
//! assert_eq!(moves[..n_moves], [Move { from: 3, to: 2, len: 1 }]);
//! cache.commit(&plan, accepted)?;
//! assert_eq!(cache.length(), 3);
//! # Ok::<(), kvcore::Error>(())
//! ```

use crate::batch::Move;
use crate::error::Error;
use crate::limits::MAX_TREE;

/// Writes the position of each node: `base`, the position of the step's first row, and the node's depth.
/// O(`n`); where `base + n` passes 32 bits, O(`n` x depth).
///
/// # Errors
/// `InvalidArgument` for parents that are no tree of 1 to 256 nodes, or a position over 32 bits; `BufferTooSmall` for
/// fewer than `n` elements.
///
/// ```
/// let mut positions = [0; 4];
/// kvcore::tree::positions(&[-1, 0, 0, 1], 100, &mut positions)?;
/// assert_eq!(positions, [100, 101, 101, 102]);
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn positions(parents: &[i32], base: u32, out: &mut [u32]) -> Result<(), Error> {
    let n = parents.len() as u32;
    check(parents, n)?;
    let passes = |node| base.checked_add(depth(parents, node)).is_none();
    if base.checked_add(n).is_none() && (0..n).any(passes) {
        return Err(Error::InvalidArgument);
    }
    let out = out.get_mut(..parents.len()).ok_or(Error::BufferTooSmall)?;
    for (node, &parent) in parents.iter().enumerate() {
        let position = before(parent, out).map_or(base, |position| *position + 1);
        set(out, node, position);
    }
    Ok(())
}

/// Writes the interval of each node, for kernels that attend by intervals in place of a mask: node `i` sees node `j` of
/// the same step iff `pre[j] <= pre[i] < end[j]`. `pre` numbers the nodes depth first, siblings by their index; `end` is
/// the number behind the last descendant. A window is not in it: one that is smaller than the tree is deep hides ancestors
/// that lie `window` levels up or more. O(`n`).
///
/// # Errors
/// `InvalidArgument` for parents that are no tree of 1 to 256 nodes; `BufferTooSmall` for fewer than `n` elements in
/// either.
///
/// ```
/// let (mut pre, mut end) = ([0; 4], [0; 4]);
/// kvcore::tree::intervals(&[-1, 0, 0, 1], &mut pre, &mut end)?;
/// assert_eq!((pre, end), ([0, 1, 3, 2], [4, 3, 4, 3]));
/// let sees = |i: usize, j: usize| pre[j] <= pre[i] && pre[i] < end[j];
/// assert!(sees(3, 0) && sees(3, 1) && !sees(3, 2));
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn intervals(parents: &[i32], pre: &mut [u16], end: &mut [u16]) -> Result<(), Error> {
    check(parents, parents.len() as u32)?;
    let pre = pre.get_mut(..parents.len()).ok_or(Error::BufferTooSmall)?;
    let end = end.get_mut(..parents.len()).ok_or(Error::BufferTooSmall)?;
    sizes(parents, end);
    // Every parent hands out its interval from the front: `pre` is where its next child begins.
    let mut next_root = 0;
    for (node, &parent) in parents.iter().enumerate() {
        let size = get(end, node);
        let next = before(parent, pre).unwrap_or(&mut next_root);
        let start = *next;
        *next += size;
        set(pre, node, start + 1);
        set(end, node, start + size);
    }
    // All of it is handed out now, so `pre` has nothing left to tell.
    sizes(parents, pre);
    for (pre, end) in pre.iter_mut().zip(end) {
        *pre = *end - *pre;
    }
    Ok(())
}

/// Lists the moves of rows that make the path to `leaf` contiguous: its `k`-th node ends in `rows[k]`. Answers how many
/// moves there are and how many tokens they accept: the leaf's depth + 1, or none for leaf -1. `rows` are those that the
/// step wrote, in order, in any order of the pool, no row twice.
///
/// Carried out in the given order the moves are safe in place: a row is read before it is written. Nodes that are where
/// they belong are left out, and neighbours in source and target are one move. Its source and target may overlap, and then
/// the target lies below the source: copy row by row in ascending order, or with `memmove`. O(`n`).
///
/// # Errors
/// `InvalidArgument` for parents that are no tree of 1 to 256 nodes, another number of rows, or a leaf that is neither -1
/// nor a node; `BufferTooSmall` for fewer than [`n_moves`] elements (never more than the tokens accepted).
///
/// ```
/// use kvcore::{Move, tree};
/// let rows = [6, 7, 0, 1, 2]; // a ring of 8 rows comes round
/// let parents = [-1, -1, 1, 2, 1];
/// let mut moves = [Move::default(); 4];
/// assert_eq!(tree::moves(&rows, &parents, 3, &mut moves)?, (3, 3));
/// assert_eq!(moves[0], Move { from: 7, to: 6, len: 1 });
/// assert_eq!(moves[1], Move { from: 0, to: 7, len: 1 });
/// assert_eq!(moves[2], Move { from: 1, to: 0, len: 1 });
/// assert_eq!(tree::moves(&rows, &parents, -1, &mut moves)?, (0, 0));
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn moves(rows: &[u32], parents: &[i32], leaf: i32, out: &mut [Move]) -> Result<(usize, u32), Error> {
    let mut n_moves = 0;
    let accepted = list_moves(rows, parents, leaf, out, &mut n_moves)?;
    Ok((n_moves, accepted))
}

/// The same; tells the number of moves beside `BufferTooSmall`, too.
pub(crate) fn list_moves(
    rows: &[u32],
    parents: &[i32],
    leaf: i32,
    out: &mut [Move],
    n_moves: &mut usize,
) -> Result<u32, Error> {
    let path = Path::to(rows, parents, leaf)?;
    *n_moves = path.moves(rows, &mut []);
    if *n_moves > out.len() {
        return Err(Error::BufferTooSmall);
    }
    path.moves(rows, out);
    Ok(path.len())
}

/// How many moves [`moves`] lists. O(`n`).
///
/// # Errors
/// `InvalidArgument` as for [`moves`].
///
/// ```
/// // Two nodes one row down: one move.
/// assert_eq!(kvcore::tree::n_moves(&[0, 1, 2, 3], &[-1, 0, 0, 2], 3)?, 1);
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn n_moves(rows: &[u32], parents: &[i32], leaf: i32) -> Result<usize, Error> {
    Ok(Path::to(rows, parents, leaf)?.moves(rows, &mut []))
}

/// The nodes from the committed prefix to a leaf, a bit each: in ascending order, since a parent stands before its child.
struct Path([u32; MAX_TREE / 32]);

impl Path {
    fn to(rows: &[u32], parents: &[i32], leaf: i32) -> Result<Self, Error> {
        check(parents, parents.len() as u32)?;
        if rows.len() != parents.len() {
            return Err(Error::InvalidArgument);
        }
        let mut next = match u32::try_from(leaf) {
            Ok(leaf) if (leaf as usize) < parents.len() => Some(leaf),
            Err(_) if leaf == -1 => None,
            _ => return Err(Error::InvalidArgument),
        };
        let mut path = Self([0; MAX_TREE / 32]);
        while let Some(node) = next {
            if let Some(word) = path.0.get_mut(node as usize / 32) {
                *word |= 1 << (node % 32);
            }
            next = parent(parents, node);
        }
        Ok(path)
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn has(&self, node: usize) -> bool {
        self.0.get(node / 32).is_some_and(|word| word >> (node % 32) & 1 == 1)
    }

    /// Writes as many moves as fit, and answers how many there are.
    ///
    /// The `k`-th node of the path is `k` or a later one, so what is written to `rows[k]` overwrites a row that no
    /// further node of the path is in. For the same reason a merged move whose target reached from within its source
    /// upwards would have to hold a row twice.
    fn moves(&self, rows: &[u32], out: &mut [Move]) -> usize {
        let mut run = Move { from: 0, to: 0, len: 0 };
        let mut n = 0;
        let sources = rows.iter().enumerate().filter(|(node, _)| self.has(*node));
        for (&to, (_, &from)) in rows.iter().zip(sources).filter(|(to, (_, from))| to != from) {
            let follows = run.len > 0 && run.from.checked_add(run.len) == Some(from);
            if follows && run.to.checked_add(run.len) == Some(to) {
                run.len += 1;
            } else {
                run = Move { from, to, len: 1 };
                n += 1;
            }
            if let Some(slot) = out.get_mut(n - 1) {
                *slot = run;
            }
        }
        n
    }
}

/// Writes how many nodes each node's subtree has, itself included.
fn sizes(parents: &[i32], out: &mut [u16]) {
    // Zeros and a 1 later: a fill with 1 is a call of `memset_pattern16` on Apple's systems.
    out.fill(0);
    for (node, &parent) in parents.iter().enumerate().rev() {
        let size = get(out, node) + 1;
        set(out, node, size);
        if let Some(total) = before(parent, out) {
            *total += size;
        }
    }
}

/// What an array says of a parent, none for the committed prefix.
fn before<T>(parent: i32, of: &mut [T]) -> Option<&mut T> {
    of.get_mut(usize::try_from(parent).ok()?)
}

fn get(numbers: &[u16], node: usize) -> u16 {
    numbers.get(node).copied().unwrap_or_default()
}

fn set<T>(numbers: &mut [T], node: usize, number: T) {
    if let Some(slot) = numbers.get_mut(node) {
        *slot = number;
    }
}

/// Refuses parents that are no tree of `n` nodes.
pub(crate) fn check(parents: &[i32], n: u32) -> Result<(), Error> {
    let sound = |(node, &parent): (usize, &i32)| {
        parent == -1 || usize::try_from(parent).is_ok_and(|parent| parent < node)
    };
    let counts = parents.len() == n as usize && (1..=MAX_TREE).contains(&parents.len());
    if counts && parents.iter().enumerate().all(sound) { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// The parent of a node, none for a child of the committed prefix.
pub(crate) fn parent(parents: &[i32], node: u32) -> Option<u32> {
    u32::try_from(*parents.get(node as usize)?).ok()
}

/// Nodes between `node` and the committed prefix. O(depth).
pub(crate) fn depth(parents: &[i32], node: u32) -> u32 {
    let (mut node, mut depth) = (node, 0);
    while let Some(up) = parent(parents, node) {
        node = up;
        depth += 1;
    }
    depth
}
