//! Token trees as functions of their parents: positions, intervals and moves against the nodes' paths, and what is
//! refused.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)] // small trees

use kvcore::{Error, Move, tree};
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};

#[path = "support/trees.rs"]
mod trees;

use trees::{carry_out, path};

/// The same cases every time.
fn runner(cases: u32) -> TestRunner {
    let runs = Runs { cases, failure_persistence: None, ..Runs::default() };
    TestRunner::new_with_rng(runs, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

const NO_MOVE: Move = Move { from: 77, to: 77, len: 77 };

fn moves_of(rows: &[u32], parents: &[i32], leaf: i32) -> (Vec<Move>, u32) {
    let mut moves = vec![NO_MOVE; parents.len() + 1];
    let (n, accepted) = tree::moves(rows, parents, leaf, &mut moves).expect("a tree and one of its nodes");
    assert!(moves[n..].iter().all(|after| *after == NO_MOVE), "written beyond the last move");
    assert_eq!(tree::n_moves(rows, parents, leaf), Ok(n));
    moves.truncate(n);
    (moves, accepted)
}

/// The moves to a leaf over distinct rows: they bring the path together, and could not be fewer.
fn assert_moves(rows: &[u32], parents: &[i32], leaf: i32) {
    let (moves, accepted) = moves_of(rows, parents, leaf);
    let path = path(parents, leaf);
    assert_eq!(accepted as usize, path.len());
    let mut pool: Vec<Option<usize>> = vec![None; *rows.iter().max().expect("a row") as usize + 1];
    for (node, &row) in rows.iter().enumerate() {
        pool[row as usize] = Some(node);
    }
    let before = pool.clone();
    carry_out(&moves, &mut pool);
    for (row, (after, before)) in pool.iter().zip(&before).enumerate() {
        let place = rows[..path.len()].iter().position(|target| *target as usize == row);
        assert_eq!(*after, place.map_or(*before, |place| Some(path[place])), "row {row}: {moves:?}");
    }
    let displaced = path.iter().enumerate().filter(|(place, node)| place != *node).count();
    assert_eq!(moves.iter().map(|step| step.len as usize).sum::<usize>(), displaced, "{moves:?}");
    for pair in moves.windows(2) {
        let joins = pair[0].from + pair[0].len == pair[1].from && pair[0].to + pair[0].len == pair[1].to;
        assert!(!joins, "neighbours that were not merged: {moves:?}");
    }
    for short in 0..moves.len() {
        let mut out = vec![NO_MOVE; short];
        assert_eq!(tree::moves(rows, parents, leaf, &mut out), Err(Error::BufferTooSmall));
        assert_eq!(out, vec![NO_MOVE; short], "a refusal wrote moves");
    }
}

/// Positions and intervals of a tree.
fn assert_shape(parents: &[i32], base: u32) {
    let n = parents.len();
    let (mut positions, mut pre, mut end) = (vec![7; n + 1], vec![7; n + 2], vec![7; n + 1]);
    tree::positions(parents, base, &mut positions).expect("positions of 32 bits");
    tree::intervals(parents, &mut pre, &mut end).expect("room for the intervals");
    assert_eq!((positions[n], &pre[n..], end[n]), (7, &[7, 7][..], 7), "written beyond the last node");
    let mut numbers = pre[..n].to_vec();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(0..n as u16), "pre numbers the nodes");
    for i in 0..n {
        let branch = path(parents, i as i32);
        assert_eq!(positions[i] as usize, base as usize + branch.len() - 1);
        let seen: Vec<usize> = (0..n).filter(|&j| pre[j] <= pre[i] && pre[i] < end[j]).collect();
        assert_eq!(seen, branch, "node {i} of {parents:?}");
    }
    // Siblings, and roots, by their index.
    for j in 0..n {
        let earlier = (0..j).filter(|&i| parents[i] == parents[j]);
        assert!(earlier.into_iter().all(|i| pre[i] < pre[j]), "{parents:?}: {pre:?}");
    }
}

/// Distinct rows of several kinds: flat, round the end of a ring, backwards, scattered.
fn arrangements(n: u32) -> impl Iterator<Item = Vec<u32>> {
    let flat = (0..n).map(|row| row + 5).collect();
    let rings =
        (0..=n.min(6)).map(move |wrap| (0..n).map(|row| 2 + (row + n + 1 - wrap) % (n + 1)).collect());
    let backwards = (0..n).rev().collect();
    let scattered = (0..n).map(|row| row % 3 * n + row).collect();
    rings.chain([flat, backwards, scattered])
}

#[test]
fn t1_the_path_becomes_contiguous() {
    let rows = [20, 21, 22, 23];
    let (moves, accepted) = moves_of(&rows, &[-1, 0, 0, 1], 3);
    assert_eq!((moves, accepted), (vec![Move { from: 23, to: 22, len: 1 }], 3));
    // A path that is where it belongs already.
    assert_eq!(moves_of(&rows, &[-1, 0, 0, 1], 1), (vec![], 2));
    // Nodes 2 and 3, two rows down, are one move; its source and target overlap with a third.
    assert_eq!(moves_of(&rows, &[-1, -1, 1, 2], 3), (vec![Move { from: 21, to: 20, len: 3 }], 3));
}

#[test]
fn t2_nothing_is_accepted() {
    assert_eq!(moves_of(&[0, 1, 2], &[-1, 0, 0], -1), (vec![], 0));
    assert_eq!(tree::moves(&[0], &[-1], -1, &mut []), Ok((0, 0)));
}

#[test]
fn t3_two_roots_see_themselves_only() {
    let (mut positions, mut pre, mut end) = ([0; 2], [0; 2], [0; 2]);
    tree::positions(&[-1, -1], 9, &mut positions).expect("room");
    tree::intervals(&[-1, -1], &mut pre, &mut end).expect("room");
    assert_eq!((positions, pre, end), ([9, 9], [0, 1], [1, 2]));
}

/// All three functions refuse, and write nothing.
fn assert_no_tree(parents: &[i32]) {
    let n = parents.len();
    let rows: Vec<u32> = (0..n as u32).collect();
    let (mut positions, mut pre, mut end) = (vec![7; n], vec![7; n], vec![7; n]);
    let mut moves = vec![NO_MOVE; n];
    let refused = Error::InvalidArgument;
    assert_eq!(tree::positions(parents, 0, &mut positions), Err(refused), "{parents:?}");
    assert_eq!(tree::intervals(parents, &mut pre, &mut end), Err(refused), "{parents:?}");
    for leaf in [-1, 0, n as i32 - 1] {
        assert_eq!(tree::moves(&rows, parents, leaf, &mut moves), Err(refused), "{parents:?}");
        assert_eq!(tree::n_moves(&rows, parents, leaf), Err(refused), "{parents:?}");
    }
    assert_eq!((positions, pre, end, moves), (vec![7; n], vec![7; n], vec![7; n], vec![NO_MOVE; n]));
}

#[test]
fn t4_what_is_no_tree_is_refused() {
    assert_no_tree(&[]);
    assert_no_tree(&trees::chain(257));
    assert_no_tree(&trees::roots(300));
    for wrong in [0, 1, 2, 3, i32::MAX, -2, i32::MIN] {
        assert_no_tree(&[wrong, 0, 0]);
    }
    for wrong in [2, 3, i32::MAX, -2, i32::MIN] {
        assert_no_tree(&[-1, 0, wrong]);
        assert_no_tree(&[-1, 0, wrong, 1]);
    }
}

#[test]
fn leaves_and_rows_that_are_not_the_trees() {
    let parents = [-1, 0, 0, 1];
    for leaf in [-2, 4, 5, 256, i32::MIN, i32::MAX] {
        let mut out = [NO_MOVE; 4];
        assert_eq!(tree::moves(&[0, 1, 2, 3], &parents, leaf, &mut out), Err(Error::InvalidArgument));
        assert_eq!(tree::n_moves(&[0, 1, 2, 3], &parents, leaf), Err(Error::InvalidArgument));
        assert_eq!(out, [NO_MOVE; 4]);
    }
    for rows in [&[][..], &[0, 1, 2], &[0, 1, 2, 3, 4]] {
        assert_eq!(tree::moves(rows, &parents, 3, &mut [NO_MOVE; 4]), Err(Error::InvalidArgument));
        assert_eq!(tree::n_moves(rows, &parents, -1), Err(Error::InvalidArgument));
    }
}

#[test]
fn positions_end_with_32_bits() {
    let mut out = [7; 4];
    let parents = [-1, 0, 0, 1];
    assert_eq!(tree::positions(&parents, u32::MAX - 1, &mut out), Err(Error::InvalidArgument));
    assert_eq!(out, [7; 4]);
    // Four rows, but only three levels.
    assert_eq!(tree::positions(&parents, u32::MAX - 2, &mut out), Ok(()));
    assert_eq!(out, [u32::MAX - 2, u32::MAX - 1, u32::MAX - 1, u32::MAX]);
    assert_eq!(
        tree::positions(&trees::chain(256), u32::MAX - 254, &mut [0; 256]),
        Err(Error::InvalidArgument)
    );
    assert_eq!(tree::positions(&trees::chain(256), u32::MAX - 255, &mut [0; 256]), Ok(()));
}

#[test]
fn buffers_that_are_too_small_stay_as_they_were() {
    let parents = [-1, 0, 0];
    for short in 0..3 {
        let (mut positions, mut pre, mut end) = (vec![7; short], vec![7; short], vec![7; 3]);
        assert_eq!(tree::positions(&parents, 0, &mut positions), Err(Error::BufferTooSmall));
        assert_eq!(tree::intervals(&parents, &mut pre, &mut end), Err(Error::BufferTooSmall));
        assert_eq!(tree::intervals(&parents, &mut end, &mut pre), Err(Error::BufferTooSmall));
        assert_eq!((positions, pre, end), (vec![7; short], vec![7; short], vec![7; 3]));
    }
}

/// Rows at the very end of 32 bits, and rows that wrap there, are not taken for neighbours.
#[test]
fn rows_near_the_end_of_32_bits() {
    let max = u32::MAX;
    let (moves, accepted) = moves_of(&[max - 2, max - 1, max, 0, 1], &[-1, -1, 1, 2, 3], 4);
    let expected = [(max - 1, max - 2, 2), (0, max, 1), (1, 0, 1)];
    assert_eq!(moves, expected.map(|(from, to, len)| Move { from, to, len }));
    assert_eq!(accepted, 4);
}

/// Rows that repeat break the contract; the answer is as long as ever, and nothing panics.
#[test]
fn rows_that_repeat_are_harmless() {
    let (moves, accepted) = moves_of(&[3; 6], &[-1, -1, 1, 2, 0, 3], 5);
    assert_eq!((moves.len(), accepted), (0, 4));
    let (moves, accepted) = moves_of(&[3, 4, 3, 4, 5, 4], &[-1, -1, 1, 2, 0, 3], 5);
    assert_eq!((moves.iter().map(|step| step.len).sum::<u32>(), accepted), (3, 4));
}

/// Every tree of up to 6 nodes, every leaf, many arrangements of the rows; and every arrangement of 4.
#[test]
fn every_small_tree() {
    for n in 1..=6 {
        for parents in trees::every(n) {
            assert_shape(&parents, 40);
            for rows in arrangements(n as u32) {
                (-1..n).for_each(|leaf| assert_moves(&rows, &parents, leaf));
            }
        }
    }
    let four = 0..4_u32.pow(4);
    let permutations = four.map(|code| (0..4).map(|at| code >> (2 * at) & 3).collect::<Vec<u32>>());
    for rows in permutations.filter(|rows| (0..4).all(|row| rows.contains(&row))) {
        for parents in trees::every(4) {
            (-1..4).for_each(|leaf| assert_moves(&rows, &parents, leaf));
        }
    }
}

#[test]
fn known_trees() {
    assert_eq!((trees::medusa(true).len(), trees::eagle(true).len()), (64, 26));
    for parents in trees::known() {
        let n = parents.len();
        assert_shape(&parents, 1000);
        for rows in arrangements(n as u32) {
            // Every leaf where that is quick, else some.
            (-1..n as i32).step_by(n.div_ceil(64)).for_each(|leaf| assert_moves(&rows, &parents, leaf));
        }
    }
    // Rows that are depth first are numbered as they stand.
    let (mut pre, mut end) = ([0; 64], [0; 64]);
    tree::intervals(&trees::medusa(false), &mut pre, &mut end).expect("room");
    assert!(pre.into_iter().eq(0..64));
}

#[test]
fn random_trees() {
    // A random order of the rows is a random choice of keys.
    let cases =
        (trees::random(1..=256), any::<prop::sample::Index>(), prop::collection::vec(any::<u32>(), 256));
    let run = |(parents, leaf, keys): (Vec<i32>, prop::sample::Index, Vec<u32>)| {
        let n = parents.len();
        assert_shape(&parents, keys[0] / 2);
        let leaf = leaf.index(n + 1) as i32 - 1;
        let mut rows: Vec<u32> = (0..n as u32).collect();
        assert_moves(&rows, &parents, leaf);
        rows.rotate_left(keys[1] as usize % n);
        assert_moves(&rows, &parents, leaf);
        rows.sort_by_key(|row| keys[*row as usize]);
        assert_moves(&rows, &parents, leaf);
        Ok(())
    };
    runner(200).run(&cases, run).unwrap_or_else(|error| panic!("{error}"));
}
