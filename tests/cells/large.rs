//! As many cells and sequences as one would want, so that every level of every set is used: beside the model, by samples.
#![allow(clippy::cast_possible_truncation)] // fewer than 2^17 cells

use kvcore::config::SPLIT_POOLS;
use kvcore::{Error, Layer, UNBOUNDED};

use crate::pair::{Pair, on};
use crate::setup::Setup;

const CELLS: u32 = 131_072;
const SEQS: u32 = 64;

/// Small, deterministic, good enough to pick numbers.
struct Picks(u32);

impl Picks {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % n
    }
}

/// Compares some rows of each pool, some sequences, and the masks if they are asked for.
fn sample(pair: &mut Pair<'_>, picks: &mut Picks, masks: bool) {
    for layer in 0..2 {
        let pool = pair.model.layer_pool(layer).expect("a layer");
        let rows = pool.cells.len() as u32;
        let corners = [0, 31, 32, 1023, 1024, 32_767, 32_768, rows - 1];
        for row in corners.into_iter().chain((0..400).map(|_| picks.below(rows))).filter(|row| *row < rows) {
            let expected =
                pool.cells[row as usize].map_or((UNBOUNDED, 0), |cell| (cell.position, cell.owners));
            assert_eq!(pair.cache.owners(layer, row), Ok(expected), "layer {layer}, row {row}");
        }
        assert_eq!(pair.cache.n_shifts(layer), pair.model.shifts(layer).map(|shifts| shifts.len()));
        if masks {
            pair.audit_masks(layer);
        }
    }
    assert_eq!(pair.cache.free_rows(), pair.model.free_rows());
    for seq in [0, 63, picks.below(SEQS), picks.below(SEQS)] {
        assert_eq!(pair.cache.seq_len(seq), pair.model.seq_len(seq));
        assert_eq!(pair.cache.next_pos(seq), pair.model.next_pos(seq));
        assert_eq!(pair.cache.first_pos(seq), pair.model.first_pos(seq));
    }
    let room = pair.model.room();
    let admits = |n: u32| pair.cache.can_admit(pair.model.live()[0], n);
    assert_eq!((admits(room.max(1)), admits(room + 1)), (Ok(room > 0), Ok(false)));
}

/// Something that happens to one of the sequences.
fn happen(pair: &mut Pair<'_>, picks: &mut Picks) {
    let live = pair.model.live();
    let seq = live[picks.below(live.len() as u32) as usize];
    let next = pair.model.next_pos(seq).expect("it is live");
    let at = picks.below(next + 1);
    match picks.below(9) {
        0 => _ = pair.seq_new(),
        1 => _ = pair.seq_clone(seq, at),
        2 => _ = pair.seq_clone(seq, UNBOUNDED),
        3 => _ = pair.seq_remove(seq, at, at + picks.below(900)),
        4 if live.len() > 20 => _ = pair.seq_release(seq),
        5 => _ = pair.seq_shift(seq, at, UNBOUNDED, picks.below(2000).cast_signed() - 1000),
        6 => _ = pair.rewind(seq, next - picks.below(next.min(700) + 1)),
        7 => _ = pair.defrag(picks.below(2), 1 + picks.below(60) as usize),
        _ => pair.apply_shifts(),
    }
    let live = pair.model.live();
    let seqs: Vec<u32> = (0..3).map(|_| live[picks.below(live.len() as u32) as usize]).collect();
    let mut next = pair.model.next_of_all();
    let positions: Vec<u32> = seqs
        .iter()
        .map(|seq| {
            next[*seq as usize] += 1;
            next[*seq as usize] - 1
        })
        .collect();
    let _ = pair.step(&seqs, &positions);
}

#[test]
fn a_large_cache_of_many_sequences() {
    let layers = [Layer::flat(), Layer::ring(700).with_sinks(4)];
    let setup = Setup { flags: SPLIT_POOLS, max_write: 4096, ..Setup::new(CELLS, SEQS, &layers) };
    on(&setup, |pair| {
        pair.audits = false;
        let mut picks = Picks(2_463_534_242);
        for seq in 0..SEQS {
            assert_eq!(pair.seq_new(), Ok(seq));
        }
        // Full to the last cell: half of it sequence by sequence, half of it token by token.
        for seq in 0..SEQS / 2 {
            pair.append(seq, 2048).expect("room");
        }
        for at in 0..16 {
            let seqs: Vec<u32> = (0..4096).map(|token| 32 + token % 32).collect();
            let positions: Vec<u32> = (0..4096).map(|token| 128 * at + token / 32).collect();
            pair.step(&seqs, &positions).expect("room");
        }
        // Whose masks would be too large to look at.
        pair.rewind(0, 2048).expect("where it is");
        sample(pair, &mut picks, false);
        assert_eq!((pair.cache.free_rows(), pair.declare(&[0])), (0, Err(Error::OutOfCapacity)));
        for seq in (0..SEQS).step_by(3) {
            pair.seq_release(seq).expect("it is live");
        }
        for round in 0..30 {
            happen(pair, &mut picks);
            sample(pair, &mut picks, round % 8 == 0);
        }
        while pair.defrag(0, 4096).expect("nothing is frozen") > 0 {}
        sample(pair, &mut picks, false);
        assert!(pair.shadow.reads > 1000);
    });
}
