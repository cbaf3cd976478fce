//! Every sequence of a small alphabet of operations to a small depth, in small caches, each beside the model and the
//! shadow. Sequences that lead to the same state go on alike, so that each state is left only once; how many sequences
//! that makes is counted and printed. `KVC_CELL_DEPTH` goes deeper.
#![allow(clippy::cast_possible_truncation)] // small caches

use std::collections::HashMap;

use kvcore::config::{KEEP_CELLS, SPLIT_POOLS};
use kvcore::{Layer, UNBOUNDED};

use crate::model::State;
use crate::pair::{Pair, Tally};
use crate::setup::Setup;

/// An operation; the pair compares whatever is answered, so that one which is refused is one as well.
type Op = fn(&mut Pair<'_>);

/// Where a sequence goes on, less so many.
fn behind(pair: &Pair<'_>, seq: u32, by: u32) -> u32 {
    pair.model.next_pos(seq).map_or(0, |next| next.saturating_sub(by))
}

const OPS: [Op; 28] = [
    |pair| _ = pair.append(0, 1),
    |pair| _ = pair.append(0, 2),
    |pair| _ = pair.append(1, 1),
    |pair| _ = pair.step(&[0, 1], &[behind(pair, 0, 0), behind(pair, 1, 0)]),
    |pair| _ = pair.step(&[1, 0, 1], &[behind(pair, 1, 0), behind(pair, 0, 0), behind(pair, 1, 0) + 1]),
    |pair| _ = pair.step(&[0], &[behind(pair, 0, 0) + 2]),
    |pair| _ = pair.declare(&[0]),
    |pair| _ = pair.place(0, &[behind(pair, 0, 1)]),
    |pair| _ = pair.seq_new(),
    |pair| _ = pair.seq_clone(0, UNBOUNDED),
    |pair| _ = pair.seq_clone(0, behind(pair, 0, 1)),
    |pair| _ = pair.seq_clone(1, behind(pair, 1, 2)),
    |pair| _ = pair.seq_remove(0, 0, 1),
    |pair| _ = pair.seq_remove(0, 1, 3),
    |pair| _ = pair.seq_remove(1, 0, 2),
    |pair| _ = pair.rewind(0, behind(pair, 0, 1)),
    |pair| _ = pair.rewind(0, behind(pair, 0, 2)),
    |pair| _ = pair.rewind(1, behind(pair, 1, 1)),
    |pair| _ = pair.seq_release(0),
    |pair| _ = pair.seq_release(1),
    |pair| _ = pair.seq_keep(1),
    |pair| _ = pair.seq_shift(0, 0, UNBOUNDED, 1),
    |pair| _ = pair.seq_shift(0, 1, UNBOUNDED, -1),
    |pair| _ = pair.seq_shift(1, 1, 3, 2),
    |pair| _ = pair.read_shifts(0),
    |pair| pair.apply_shifts(),
    |pair| _ = pair.defrag(0, 1),
    |pair| _ = pair.defrag(0, 9),
];

/// The states within reach of a config, and where each operation leads from each.
struct Graph {
    index: HashMap<State, usize>,
    next: Vec<Vec<usize>>,
}

/// The state behind a path. Only the last operation is compared in full: the others were before.
fn state_behind(setup: &Setup, tally: &Tally, path: &[usize]) -> State {
    let mut words = Vec::new();
    let mut pair = Pair::new(&mut words, setup, tally);
    pair.audits = false;
    for seq in 0..2 {
        assert_eq!(pair.seq_new(), Ok(seq));
    }
    for (at, op) in path.iter().enumerate() {
        pair.audits = at + 1 == path.len();
        OPS[*op](&mut pair);
    }
    pair.model.state
}

impl Graph {
    fn of(setup: &Setup, tally: &Tally, depth: usize) -> Self {
        let mut graph = Self { index: HashMap::new(), next: vec![vec![]] };
        graph.index.insert(state_behind(setup, tally, &[]), 0);
        let mut frontier = vec![(0, vec![])];
        for _ in 0..depth {
            let mut found = Vec::new();
            for (from, path) in frontier {
                for op in 0..OPS.len() {
                    let path: Vec<usize> = path.iter().copied().chain([op]).collect();
                    let new = graph.next.len();
                    let at = *graph.index.entry(state_behind(setup, tally, &path)).or_insert(new);
                    graph.next[from].push(at);
                    if at == new {
                        graph.next.push(Vec::new());
                        found.push((at, path));
                    }
                }
            }
            frontier = found;
        }
        graph
    }

    /// Sequences of 1 to `depth` operations from the first state.
    fn sequences(&self, depth: usize) -> u128 {
        let (mut ways, mut total) = (HashMap::from([(0, 1_u128)]), 0);
        for _ in 0..depth {
            let mut after = HashMap::new();
            for (at, ways) in ways {
                for next in &self.next[at] {
                    *after.entry(*next).or_default() += ways;
                }
            }
            total += after.values().sum::<u128>();
            ways = after;
        }
        total
    }
}

/// Three to six cells, two or three sequences, each layout that windows and flags make.
fn setups() -> Vec<Setup> {
    let (flat, window) = (Layer::flat(), Layer::ring(2));
    let sinks = Layer::ring(2).with_sinks(1);
    let mixed = [Layer::ring(1), flat];
    vec![
        Setup::new(4, 3, &[flat]),
        Setup { rollback: 1, ..Setup::new(5, 2, &[window]) },
        Setup { max_context: 4, ..Setup::new(6, 3, &[sinks]) },
        Setup { max_write: 2, flags: SPLIT_POOLS, ..Setup::new(6, 2, &mixed) },
        Setup { max_write: 2, flags: KEEP_CELLS, ..Setup::new(3, 2, &[window]) },
    ]
}

#[test]
fn every_small_sequence_of_operations() {
    let depth = std::env::var("KVC_CELL_DEPTH").map_or(4, |depth| depth.parse().expect("a number"));
    let tally = Tally::default();
    let (mut states, mut sequences) = (0, 0);
    for setup in setups() {
        let graph = Graph::of(&setup, &tally, depth);
        states += graph.next.len();
        sequences += graph.sequences(depth);
    }
    let of_each = (1..=depth as u32).map(|depth| (OPS.len() as u128).pow(depth)).sum::<u128>();
    println!("{sequences} sequences of up to {depth} of {} operations, {states} states", OPS.len());
    assert_eq!(sequences, of_each * setups().len() as u128, "each operation follows each");
}
