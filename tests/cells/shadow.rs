//! The shadow of the tensors: for every layer a pool whose rows remember which token was written to them and to which
//! position its key is rotated, and for every sequence the tokens it consists of. It knows nothing of cells: a backend
//! writes, rotates and moves rows as the cache says, and every row that a mask lets through must be the right one.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small caches

use std::collections::{BTreeMap, BTreeSet};

use kvcore::{Move, Shift};

use crate::model::Model;

/// What a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    /// No two writes have the same.
    token: u64,
    rotated: i64,
}

/// The tokens of a sequence.
#[derive(Clone, Debug, Default)]
struct History {
    /// For each pool by position, whether they still have a cell or a window let go of them.
    tokens: Vec<BTreeMap<u32, u64>>,
    /// It was shifted, or is a clone of one that was: its windows may reach what was let go of.
    shifted: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    layers: Vec<Vec<Option<Row>>>,
    /// The layer whose rows each layer uses.
    donor: Vec<usize>,
    sequences: BTreeMap<u32, History>,
    next_token: u64,
    /// Rows read under masks so far.
    pub(crate) reads: u64,
    /// Positions within a window that a shift brought there after they were let go of.
    pub(crate) excused: u64,
}

impl Shadow {
    pub(crate) fn new(model: &Model) -> Self {
        let mut donor: Vec<usize> = Vec::new();
        for (layer, config) in model.setup.layers.iter().enumerate() {
            donor.push(if config.shares_with == 0 { layer } else { donor[config.shares_with as usize - 1] });
        }
        let rows = |layer: usize| vec![None; model.state.pools[model.pool[layer]].cells.len()];
        let layers = (0..donor.len()).map(rows).collect();
        Self { layers, donor, sequences: BTreeMap::new(), next_token: 0, reads: 0, excused: 0 }
    }

    fn of(&mut self, seq: u32) -> &mut History {
        self.sequences.get_mut(&seq).expect("a live sequence")
    }

    pub(crate) fn clear(&mut self) {
        self.sequences.clear();
    }

    pub(crate) fn seq_new(&mut self, model: &Model, seq: u32) {
        let tokens = vec![BTreeMap::new(); model.state.pools.len()];
        let before = self.sequences.insert(seq, History { tokens, shifted: false });
        assert!(before.is_none(), "id {seq} was in use");
    }

    pub(crate) fn seq_clone(&mut self, src: u32, upto: u32, seq: u32) {
        let history = self.of(src).clone();
        let before = self.sequences.insert(seq, history);
        assert!(before.is_none(), "id {seq} was in use");
        self.seq_remove(seq, upto, u32::MAX);
    }

    pub(crate) fn seq_remove(&mut self, seq: u32, from: u32, to: u32) {
        for tokens in &mut self.of(seq).tokens {
            tokens.retain(|position, _| !(from..to).contains(position));
        }
    }

    pub(crate) fn seq_release(&mut self, seq: u32) {
        self.sequences.remove(&seq).expect("a live sequence");
    }

    pub(crate) fn seq_keep(&mut self, seq: u32) {
        self.sequences.retain(|other, _| *other == seq);
    }

    /// `before`: the model before the shift.
    pub(crate) fn seq_shift(&mut self, before: &Model, seq: u32, from: u32, to: u32, delta: i32) {
        let history = self.of(seq);
        history.shifted |= delta != 0;
        for (tokens, pool) in history.tokens.iter_mut().zip(&before.state.pools) {
            let held: BTreeSet<u32> = pool.held(seq).map(|(_, cell)| cell.position).collect();
            let within = |position: &u32| (from..to).contains(position);
            let (moved, stay): (BTreeMap<_, _>, BTreeMap<_, _>) =
                std::mem::take(tokens).into_iter().partition(|(position, _)| within(position));
            let moved = moved.into_iter().filter_map(|(position, token)| {
                Some((position.checked_add_signed(delta)?, token, held.contains(&position)))
            });
            let stay = stay.into_iter().map(|(position, token)| (position, token, held.contains(&position)));
            // Two at one position: only one of them still has a cell.
            for (position, token, held) in moved.chain(stay) {
                if held {
                    tokens.insert(position, token);
                } else {
                    tokens.entry(position).or_insert(token);
                }
            }
        }
    }

    /// Every layer writes the placed step into its rows.
    pub(crate) fn write(&mut self, model: &Model) {
        let (seqs, positions, _) = model.placed(0).expect("a placed step");
        for (at, (&seq, &position)) in seqs.iter().zip(positions).enumerate() {
            let token = self.next_token;
            self.next_token += 1;
            for tokens in &mut self.of(seq).tokens {
                tokens.insert(position, token);
            }
            for layer in 0..self.layers.len() {
                let row = model.placed(layer as u32).expect("a placed step").2[at];
                self.layers[layer][row as usize] = Some(Row { token, rotated: position.into() });
            }
        }
    }

    /// A layer rotates the keys that the list of its pool names.
    pub(crate) fn rotate(&mut self, layer: u32, shifts: &[Shift]) {
        for shift in shifts {
            for row in shift.row..shift.row + shift.len {
                let row = &mut self.layers[layer as usize][row as usize];
                row.as_mut().expect("a row that was written").rotated += i64::from(shift.delta);
            }
        }
    }

    /// Every layer of a pool moves rows, in the order of the list.
    pub(crate) fn carry_out(&mut self, model: &Model, layer: u32, moves: &[Move]) {
        for other in 0..self.layers.len() {
            if model.pool[other] == model.pool[layer as usize] {
                for Move { from, to, len } in moves {
                    for at in 0..*len {
                        let rows = &mut self.layers[other];
                        rows[(to + at) as usize] = rows[(from + at) as usize].take();
                    }
                }
            }
        }
    }

    /// Reads a layer's rows under the mask that the cache made: each must hold the query's own token at the position it
    /// stands at now, and none that the window reaches may be missing.
    pub(crate) fn read(&mut self, model: &Model, layer: u32, mask: &[Vec<bool>]) {
        let (seqs, positions, _) = model.placed(layer).expect("a placed step");
        let cells = &model.state.pools[model.pool[layer as usize]].cells;
        let config = model.setup.layers[layer as usize];
        let rows = &self.layers[self.donor[layer as usize]];
        for ((seq, query), columns) in seqs.iter().zip(positions).zip(mask) {
            let history = &self.sequences[seq];
            let in_window = |position: u32| {
                config.window == 0 || position < config.sinks || query - position < config.window
            };
            let tokens = history.tokens[model.pool[layer as usize]].range(..=query);
            let mut visible: BTreeMap<u32, u64> = tokens
                .filter(|(position, _)| in_window(**position))
                .map(|(at, token)| (*at, *token))
                .collect();
            for (row, _) in columns.iter().enumerate().filter(|(_, seen)| **seen) {
                let content = rows[row].expect("a row that was written");
                let pending = cells[row].expect("an occupied cell").delta;
                let position = u32::try_from(content.rotated + pending).expect("a position");
                let token = visible.remove(&position);
                assert_eq!(
                    token,
                    Some(content.token),
                    "layer {layer}, sequence {seq} at {query}: row {row} is wrong"
                );
                self.reads += 1;
            }
            let missing: Vec<u32> = visible.into_keys().collect();
            let pool = model.layer_pool(layer).expect("a layer");
            let held = |position: &u32| pool.held(*seq).any(|(_, cell)| cell.position == *position);
            let excused = history.shifted && !missing.iter().any(held);
            assert!(
                missing.is_empty() || excused,
                "layer {layer}, sequence {seq} at {query}: {missing:?} are not seen"
            );
            self.excused += missing.len() as u64;
        }
    }
}
