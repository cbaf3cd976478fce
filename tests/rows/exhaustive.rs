//! Every sequence of operations to a small depth, over small configs, each beside a shadow. What leads to the same state goes
//! on alike: each state is left only once.

use std::collections::HashSet;
use std::fmt::Write;

use kvcore::{Config, Layer};

use crate::shadow::{Shadow, Tally};

/// What is done from each state: which sequences a step has, in this order.
const STEPS: [&[u32]; 7] = [&[0], &[1], &[0, 0], &[0, 1], &[1, 1, 0], &[0, 1, 0], &[2, 0]];

/// Calls `visit` with the outcome of every operation that may change something.
fn each(shadow: &Shadow, mut visit: impl FnMut(Shadow)) {
    let mut after = |operation: &dyn Fn(&mut Shadow)| {
        let mut next = shadow.clone();
        operation(&mut next);
        visit(next);
    };
    after(&|next| _ = next.seq_new());
    for ids in STEPS {
        after(&|next| {
            if next.declare(ids).is_ok() {
                for layer in 0..next.model.fixed.layers.len() as u32 {
                    next.place_right(layer).expect("a declared step");
                }
            }
        });
    }
    after(&|next| _ = next.declare(&[0, 0]));
    // Whatever stands there: declared, placed, or nothing.
    after(&|next| _ = next.place_right(0));
    for seq in shadow.model.live() {
        let length = shadow.model.length(seq).expect("a live sequence");
        for target in 0..=length {
            after(&|next| _ = next.rewind(seq, target));
            after(&|next| _ = next.seq_clone(seq, target));
        }
        after(&|next| _ = next.seq_release(seq));
        after(&|next| _ = next.seq_keep(seq));
    }
}

/// A state, without the numbers that only ever grow: the cache's own, and which position each row holds that is still good.
fn state(shadow: &Shadow) -> String {
    let model = &shadow.model;
    let cache = format!("{:?}", shadow.cache);
    let mut key: String = cache.split(", ").filter(|field| !field.starts_with("epoch: ")).collect();
    for sequence in &model.sequences {
        let Some(sequence) = sequence else {
            key.push('-');
            continue;
        };
        write!(key, "[{}", sequence.tokens.len()).expect("a string grows");
        for pool in &sequence.pools {
            let good = |token: &Option<_>| token.filter(|token| sequence.tokens.contains(token));
            let rows: Vec<_> = pool.iter().map(|row| good(row).map(|token| token.position)).collect();
            write!(key, "{rows:?}").expect("a string grows");
        }
    }
    let step = model.step.as_ref().map(|step| (&step.ids, step.placed.is_some()));
    write!(key, "{step:?}").expect("a string grows");
    key
}

/// Sequences of at most `depth` operations from an empty cache.
fn explore(config: &Config<'_>, depth: usize, tally: &Tally) -> usize {
    let mut seen = HashSet::new();
    let mut states = vec![Shadow::new(config, tally)];
    let mut sequences = 0;
    for _ in 0..depth {
        let mut reached = Vec::new();
        for shadow in &states {
            each(shadow, |next| {
                sequences += 1;
                if seen.insert(state(&next)) {
                    reached.push(next);
                }
            });
        }
        states = reached;
    }
    sequences
}

#[test]
fn every_short_sequence_of_operations() {
    let (flat, rings) = ([Layer::flat()], [Layer::ring(2)]);
    let sinks = [Layer::ring(2).with_sinks(1)];
    let mixed = [Layer::ring(2), Layer::flat()];
    let two = [Layer::ring(1), Layer::ring(3).with_sinks(1)];
    let configs = [
        Config { max_seqs: 2, ..Config::new(4, 1, &flat) },
        Config { max_seqs: 2, max_write: 2, ..Config::new(6, 1, &rings) },
        Config { max_seqs: 3, max_write: 1, rollback: 1, ..Config::new(7, 1, &rings) },
        Config { max_seqs: 2, max_write: 2, ..Config::new(7, 1, &sinks) },
        Config { max_seqs: 2, max_write: 2, max_context: 5, ..Config::new(8, 2, &mixed) },
        Config { max_seqs: 2, max_write: 2, rollback: 1, ..Config::new(9, 2, &two) },
    ];
    let tally = Tally::default();
    for config in &configs {
        let sequences = explore(config, 6, &tally);
        assert!(sequences > 3000, "{sequences} sequences of {config:?}");
    }
}
