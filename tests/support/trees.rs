//! Token trees of many shapes, and what the design says of one, node by node.
#![allow(dead_code)] // each test binary uses its own part

use kvcore::Move;
use proptest::collection::vec;
use proptest::prelude::*;

/// The static tree of Medusa for 7B models ("`mc_sim_7b_63`"): 63 drafts, each the path of choices that leads to it,
/// a digit a head. Written down from memory of the published list and not compared with it since; all that is tested
/// of the list itself is its length, and that no path lacks its parent or stands twice.
const MEDUSA: &str = "0 00 1 01 2 000 10 02 3 03 4 04 20 05 001 5 06 6 07 010 11 7 08 002 30 09 8 9 100 020 12 003 40 21 \
    004 005 0000 011 006 030 50 13 007 008 009 60 040 14 70 012 200 31 22 80 050 15 101 021 90 060 0001 \
    16 070";

/// The static tree of the first EAGLE, of 25 drafts, likewise.
const EAGLE: &str =
    "0 1 2 3 00 01 02 10 11 20 21 30 000 001 002 010 011 020 021 100 0000 0001 0002 00000 00001";

/// The parents of paths, behind a root: the token that the model itself chose last. `by_level` orders the rows as the
/// implementations do, level by level; else they are depth first.
fn from_paths(paths: &str, by_level: bool) -> Vec<i32> {
    let mut paths: Vec<&str> = [""].into_iter().chain(paths.split(' ')).collect();
    paths.sort_by_key(|path| (if by_level { path.len() } else { 0 }, *path));
    assert!(paths.windows(2).all(|pair| pair[0] != pair[1]), "a path stands twice");
    let find =
        |path: &str| paths.iter().position(|other| *other == path).expect("no path without its parent");
    let parent = |path: &&str| path.len().checked_sub(1).map_or(-1, |len| find(&path[..len]) as i32);
    paths.iter().map(parent).collect()
}

/// 64 rows.
pub(crate) fn medusa(by_level: bool) -> Vec<i32> {
    from_paths(MEDUSA, by_level)
}

/// 26 rows.
pub(crate) fn eagle(by_level: bool) -> Vec<i32> {
    from_paths(EAGLE, by_level)
}

pub(crate) fn chain(n: i32) -> Vec<i32> {
    (-1..n - 1).collect()
}

/// `n` drafts for the same place.
pub(crate) fn roots(n: usize) -> Vec<i32> {
    vec![-1; n]
}

pub(crate) fn binary(n: i32) -> Vec<i32> {
    (0..n).map(|node| (node + 1) / 2 - 1).collect()
}

/// Trees of the shapes that are in use, and the extremes.
pub(crate) fn known() -> Vec<Vec<i32>> {
    let mut known: Vec<_> =
        [true, false].into_iter().flat_map(|level| [medusa(level), eagle(level)]).collect();
    known.extend([1, 2, 60, 256].map(chain));
    known.extend([2, 60, 256].map(roots));
    known.extend([60, 256].map(binary));
    known
}

/// Every tree of `n` nodes.
pub(crate) fn every(n: i32) -> Vec<Vec<i32>> {
    let mut trees = vec![vec![]];
    for node in 0..n {
        let grow =
            |tree: &Vec<i32>| (-1..node).map(|parent| [&tree[..], &[parent]].concat()).collect::<Vec<_>>();
        trees = trees.iter().flat_map(grow).collect();
    }
    trees
}

/// A random tree of `nodes`: any parent before the node, or only the nearest, for depth; or 6 levels of at most 10
/// children each, as EAGLE's later, dynamic trees of 60 nodes have.
pub(crate) fn random(nodes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<i32>> {
    let grow = |(choices, shape): (Vec<u32>, u32)| {
        let mut parents: Vec<i32> = Vec::new();
        for choice in choices {
            let n = parents.len() as u32;
            let eligible = |parent: &i32| match shape {
                0 => true,
                1 => n as i32 - parent <= 3,
                _ => {
                    let children = parents.iter().filter(|other| *other == parent).count();
                    path(&parents, *parent).len() < 6 && (children < 10 || *parent == -1)
                }
            };
            let eligible: Vec<i32> = (-1..n as i32).filter(eligible).collect();
            parents.push(eligible[choice as usize % eligible.len()]);
        }
        parents
    };
    (vec(any::<u32>(), nodes), 0..3_u32).prop_map(grow)
}

/// The same tree with its rows in another order: of the nodes whose parent has a row, the one with the lowest key is
/// next. Answers the parents, and which node each row is.
pub(crate) fn reorder(parents: &[i32], keys: &[u32]) -> (Vec<i32>, Vec<usize>) {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < parents.len() {
        let ready = |node: &usize| {
            let parent = usize::try_from(parents[*node]).ok();
            !order.contains(node) && parent.is_none_or(|parent| order.contains(&parent))
        };
        order.extend((0..parents.len()).filter(ready).min_by_key(|node| keys[node % keys.len()]));
    }
    let row =
        |node: usize| order.iter().position(|other| *other == node).expect("every node has a row") as i32;
    (order.iter().map(|node| usize::try_from(parents[*node]).map_or(-1, row)).collect(), order)
}

/// The nodes from the committed prefix to `leaf`; none for -1.
pub(crate) fn path(parents: &[i32], leaf: i32) -> Vec<usize> {
    let (mut path, mut next) = (Vec::new(), leaf);
    while let Ok(node) = usize::try_from(next) {
        path.push(node);
        next = parents[node];
    }
    path.reverse();
    path
}

/// Carries moves out, each row by row in ascending order and again by a copy of its source taken first (what `memmove`
/// does): both must come to the same.
pub(crate) fn carry_out<T: Clone + PartialEq + std::fmt::Debug>(moves: &[Move], pool: &mut [T]) {
    for &Move { from, to, len } in moves {
        let (from, to, len) = (from as usize, to as usize, len as usize);
        let source = pool[from..from + len].to_vec();
        for row in 0..len {
            pool[to + row] = pool[from + row].clone();
        }
        assert_eq!(pool[to..to + len], source, "rows {from}.. to {to}.. overlap the wrong way");
    }
}
