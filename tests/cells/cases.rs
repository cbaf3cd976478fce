//! The cases of the cell cache, C1 to C10, each with its neighbours; those of shifts are in `cases_shifts.rs`. Beside what is said here the pair compares every
//! answer with the model, and every row that is read with the shadow.

use kvcore::config::SPLIT_POOLS;
use kvcore::{Error, Layer, MASK_CAUSAL, MASK_EXPLICIT, MASK_NONE, UNBOUNDED};

use crate::pair::{Pair, on};
use crate::setup::Setup;

pub(crate) fn flat(cells: u32, seqs: u32) -> Setup {
    Setup::new(cells, seqs, &[Layer::flat()])
}

/// Positions of the cells in use, by row; the layer's whole pool.
pub(crate) fn positions(pair: &Pair<'_>, layer: u32) -> Vec<Option<u32>> {
    let rows = pair.cache.layer(layer).expect("a layer").rows;
    let position = |row| pair.cache.owners(layer, row).expect("a row").0;
    (0..rows).map(|row| Some(position(row)).filter(|position| *position != UNBOUNDED)).collect()
}

/// The columns that each query of the placed step sees.
fn seen(pair: &Pair<'_>, layer: u32, n: usize) -> Vec<u32> {
    let mut words = vec![0; n];
    pair.cache.mask_bits(layer, &mut words, 1).expect("a placed step and at most 32 cells");
    words
}

/// C1: a cell lives as long as one owner does.
#[test]
fn c1_a_clone_keeps_what_its_parent_lets_go_of() {
    let let_go: [fn(&mut Pair<'_>, u32); 3] = [
        |pair, seq| pair.seq_release(seq).expect("it is live"),
        |pair, seq| pair.seq_remove(seq, 0, UNBOUNDED).expect("it is live"),
        |pair, seq| pair.rewind(seq, 0).expect("to nothing is always possible"),
    ];
    for let_go in let_go {
        on(&flat(8, 2), |pair| {
            let a = pair.seq_new().expect("an id");
            pair.append(a, 4).expect("room");
            let b = pair.seq_clone(a, UNBOUNDED).expect("an id");
            assert_eq!(pair.cache.free_rows(), 4, "a clone copies nothing");
            let_go(pair, a);
            assert_eq!((pair.cache.free_rows(), pair.cache.seq_len(b)), (4, Ok(4)));
            let step = pair.append(b, 1).expect("room");
            assert_eq!((step.mask, step.read_len, seen(pair, 0, 1)), (MASK_NONE, 5, vec![0b1_1111]));
            let_go(pair, b);
            assert_eq!(pair.cache.free_rows(), 8);
        });
    }
}

/// C1, a part of it: a clone of the first tokens, and a parent that loses some of what is shared.
#[test]
fn c1_a_clone_of_a_part_shares_that_part() {
    on(&flat(8, 3), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 4).expect("room");
        let b = pair.seq_clone(a, 2).expect("an id");
        assert_eq!((pair.cache.seq_len(b), pair.cache.next_pos(b)), (Ok(2), Ok(2)));
        let nothing = pair.seq_clone(a, 0).expect("an id");
        assert_eq!((pair.cache.seq_len(nothing), pair.cache.first_pos(nothing)), (Ok(0), Ok(UNBOUNDED)));
        pair.seq_remove(a, 1, 3).expect("it is live");
        assert_eq!(positions(pair, 0)[..4], [Some(0), Some(1), None, Some(3)]);
        // Each goes on at its own end, b at a position that a has let go of.
        pair.step(&[a, b], &[4, 2]).expect("room");
        assert_eq!(seen(pair, 0, 2), [0b0_1101, 0b1_0011]);
        assert_eq!(pair.seq_clone(a, 9), Err(Error::TableFull));
    });
}

/// C2: the order in which a family goes does not matter.
#[test]
fn c2_a_family_leaves_an_empty_pool_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for grows in [false, true] {
            on(&flat(12, 3), |pair| {
                let a = pair.seq_new().expect("an id");
                pair.append(a, 3).expect("room");
                let b = pair.seq_clone(a, UNBOUNDED).expect("an id");
                if grows {
                    pair.append(b, 2).expect("room");
                }
                let c = pair.seq_clone(b, UNBOUNDED).expect("an id");
                if grows {
                    pair.step(&[a, c, b], &[3, 5, 5]).expect("room");
                }
                for seq in order {
                    pair.seq_release([a, b, c][seq]).expect("it is live");
                }
                assert_eq!(pair.cache.free_rows(), 12);
                assert_eq!(pair.seq_new(), Ok(0), "the lowest free id");
            });
        }
    }
}

/// C3: in holes, cells no longer ascend with the positions.
#[test]
fn c3_tokens_in_holes_need_an_explicit_mask() {
    on(&flat(8, 1), |pair| {
        let a = pair.seq_new().expect("an id");
        let step = pair.append(a, 5).expect("room");
        assert_eq!((step.mask, step.write_start), (MASK_CAUSAL, 0));
        pair.seq_remove(a, 0, 2).expect("it is live");
        let step = pair.append(a, 2).expect("room");
        assert_eq!(positions(pair, 0)[..5], [Some(5), Some(6), Some(2), Some(3), Some(4)]);
        assert_eq!((step.mask, step.read_len, step.write_start), (MASK_EXPLICIT, 5, 0));
        assert_eq!(seen(pair, 0, 2), [0b1_1101, 0b1_1111]);
        // One token alone is no better: a hole does not have to be read, but the order is wrong.
        assert_eq!(pair.append(a, 1).expect("room").mask, MASK_EXPLICIT);
    });
}

/// C3, the other ways in which a window is not one run of one sequence.
#[test]
fn c3_only_the_tail_of_a_window_owned_alone_and_in_order_is_causal() {
    on(&flat(16, 2), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 3).expect("room");
        // A gap in the positions is no hole in the rows.
        let step = pair.step(&[a, a], &[7, 9]).expect("room");
        assert_eq!((step.mask, step.write_start, step.read_len), (MASK_CAUSAL, 3, 5));
        // A hole is.
        pair.seq_remove(a, 1, 2).expect("it is live");
        let step = pair.step(&[a, a], &[10, 11]).expect("room");
        assert_eq!((step.mask, step.write_start), (MASK_EXPLICIT, UNBOUNDED));
        // A shared row, until it is shared no longer.
        pair.clear();
        let a = pair.seq_new().expect("an id");
        pair.append(a, 3).expect("room");
        let b = pair.seq_clone(a, 1).expect("an id");
        assert_eq!(pair.append(a, 1).expect("room").mask, MASK_EXPLICIT);
        pair.seq_release(b).expect("it is live");
        assert_eq!(pair.append(a, 1).expect("room").mask, MASK_NONE);
        assert_eq!(pair.append(a, 2).expect("room").mask, MASK_CAUSAL);
        // Somebody else's row in between, then behind.
        let b = pair.seq_new().expect("an id");
        assert_eq!(pair.step(&[a, b], &[7, 0]).expect("room").mask, MASK_EXPLICIT);
        assert_eq!(pair.append(a, 1).expect("room").mask, MASK_EXPLICIT);
    });
    // A window that does not reach the first row.
    on(&Setup::new(16, 1, &[Layer::ring(4), Layer::flat()]), |pair| {
        let a = pair.seq_new().expect("an id");
        assert_eq!(pair.append(a, 4).expect("room").mask, MASK_CAUSAL);
        assert_eq!(pair.append(a, 1).expect("room").mask, MASK_EXPLICIT);
        let step = pair.place(1, &[4]).expect("placed before");
        assert_eq!(step.mask, MASK_NONE);
    });
}

/// C3: what disorders the rows may bring them into order again.
#[test]
fn c3_rows_in_order_again_are_causal_again() {
    on(&flat(8, 2), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 5).expect("room");
        pair.seq_shift(a, 3, 4, 9).expect("a free position");
        assert_eq!(pair.append(a, 1).expect("room").mask, MASK_EXPLICIT);
        pair.rewind(a, 13).expect("nothing was dropped");
        pair.seq_shift(a, 12, 13, -9).expect("a free position");
        assert_eq!(pair.append(a, 1).expect("room").mask, MASK_NONE);
    });
    on(&flat(8, 2), |pair| {
        let (a, b) = (pair.seq_new().expect("an id"), pair.seq_new().expect("an id"));
        // The positions of a's rows: 0 1 . 9 5, with b's row in the hole, then with 5 in it.
        pair.step(&[a, a, b, b, a], &[0, 1, 0, 1, 5]).expect("room");
        pair.seq_remove(b, 1, 2).expect("it is live");
        pair.step(&[a], &[9]).expect("room");
        pair.seq_release(b).expect("it is live");
        assert_eq!(positions(pair, 0)[..5], [Some(0), Some(1), None, Some(9), Some(5)]);
        assert_eq!(pair.defrag(0, 1), Ok(1));
        assert_eq!(pair.append(a, 2).expect("room").mask, MASK_CAUSAL);
    });
}

/// C4: a step continues its sequence.
#[test]
fn c4_a_position_that_is_held_is_refused_and_nothing_placed() {
    on(&flat(16, 2), |pair| {
        let (a, b) = (pair.seq_new().expect("an id"), pair.seq_new().expect("an id"));
        pair.append(a, 4).expect("room");
        pair.append(b, 2).expect("room");
        pair.declare(&[a, b, a]).expect("room");
        let wrong: [[u32; 3]; 7] =
            [[3, 2, 4], [0, 2, 4], [4, 1, 5], [4, 2, 4], [5, 2, 4], [4, 2, UNBOUNDED], [UNBOUNDED, 2, 5]];
        for positions in wrong {
            assert_eq!(pair.place(0, &positions), Err(Error::BadPosition), "{positions:?}");
            assert_eq!((pair.cache.free_rows(), pair.cache.next_pos(a)), (10, Ok(4)));
        }
        // The declaration stands; gaps are legal.
        pair.place(0, &[6, 2, UNBOUNDED - 1]).expect("positions that rise");
        assert_eq!((pair.cache.next_pos(a), pair.cache.seq_len(a)), (Ok(UNBOUNDED), Ok(6)));
        assert_eq!(pair.declare(&[a]), Err(Error::OutOfCapacity), "no position is left");
        assert_eq!(pair.cache.can_admit(a, 1), Ok(false));
        // What was removed below the end is not free again, the end is.
        pair.seq_remove(a, 1, 3).expect("it is live");
        pair.rewind(a, 7).expect("nothing was dropped");
        pair.declare(&[a]).expect("room");
        assert_eq!(pair.place(0, &[2]), Err(Error::BadPosition));
        pair.place(0, &[7]).expect("the end");
    });
}

/// C5: what comes back is used again.
#[test]
fn c5_the_holes_of_a_sequence_take_another_of_its_length() {
    on(&flat(256, 4), |pair| {
        let seqs = [0, 1, 2].map(|_| pair.seq_new().expect("an id"));
        pair.audits = false;
        for position in 0..85 {
            for seq in seqs {
                pair.step(&[seq], &[position]).expect("room");
            }
        }
        pair.audits = true;
        assert_eq!(pair.cache.free_rows(), 1);
        pair.seq_release(seqs[1]).expect("it is live");
        let new = pair.seq_new().expect("an id");
        let step = pair.append(new, 85).expect("the holes");
        assert_eq!((step.mask, step.write_start, step.read_len), (MASK_EXPLICIT, UNBOUNDED, 255));
        assert!((0..85).all(|at| pair.cache.owners(0, 3 * at + 1) == Ok((at, 1 << new))));
        assert_eq!(pair.declare(&[new, new]), Err(Error::OutOfCapacity));
        pair.append(new, 1).expect("the last cell");
    });
}

/// C9: one placement, a mask for each layer.
#[test]
fn c9_layers_with_and_without_a_window_share_a_placement() {
    let layers = [Layer::flat(), Layer::ring(3), Layer::ring(2).with_sinks(1)];
    for flags in [0, SPLIT_POOLS] {
        on(&Setup { flags, ..Setup::new(16, 2, &layers) }, |pair| {
            let a = pair.seq_new().expect("an id");
            pair.append(a, 5).expect("room");
            let masks = [
                [0b0_0001, 0b0_0011, 0b0_0111, 0b0_1111, 0b1_1111],
                [0b0_0001, 0b0_0011, 0b0_0111, 0b0_1110, 0b1_1100],
                [0b0_0001, 0b0_0011, 0b0_0111, 0b0_1101, 0b1_1001],
            ];
            for (layer, mask) in (0..).zip(masks) {
                let step = pair.place(layer, &[0, 1, 2, 3, 4]).expect("placed before");
                assert_eq!((step.read_len, step.write_start), (5, 0), "placed once");
                assert_eq!(step.mask, if layer == 0 { MASK_CAUSAL } else { MASK_EXPLICIT });
                assert_eq!(seen(pair, layer, 5), mask, "layer {layer}");
            }
            assert_eq!(pair.cache.free_rows(), 11);
        });
    }
}

/// C10: no placement without its declaration.
#[test]
fn c10_a_placement_that_was_not_declared_is_refused() {
    on(&flat(8, 2), |pair| {
        let a = pair.seq_new().expect("an id");
        assert_eq!(pair.place(0, &[0]), Err(Error::NoStep));
        pair.declare(&[a, a]).expect("room");
        for n in [1, 3] {
            assert_eq!(pair.place(0, &[0, 1, 2][..n]), Err(Error::NoStep), "{n} tokens");
            assert_eq!(pair.cache.free_rows(), 8);
        }
        // A later declaration replaces it; a refused one does not.
        pair.declare(&[a; 4]).expect("room");
        assert_eq!(pair.declare(&[a; 9]), Err(Error::NeverFits));
        assert_eq!(pair.declare(&[a, 1]), Err(Error::BadSequence));
        assert_eq!(pair.place(0, &[0, 1]), Err(Error::NoStep));
        pair.place(0, &[0, 1, 2, 3]).expect("four were declared");
        // The same again is served, another is not, nor anything after a verb.
        pair.place(0, &[0, 1, 2, 3]).expect("the same step");
        assert_eq!(pair.place(0, &[4, 5, 6, 7]), Err(Error::NoStep));
        assert_eq!(pair.place(0, &[0, 1, 2, 4]), Err(Error::NoStep));
        assert_eq!(pair.declare(&[a; 5]), Err(Error::OutOfCapacity));
        pair.place(0, &[0, 1, 2, 3]).expect("the refusal left it");
        pair.seq_new().expect("an id");
        assert_eq!(pair.place(0, &[0, 1, 2, 3]), Err(Error::NoStep));
        assert_eq!(pair.cache.seq_len(a), Ok(4), "what was placed stays");
        pair.declare(&[a; 4]).expect("room");
        pair.place(0, &[4, 5, 6, 7]).expect("room");
    });
}

/// C10: every verb ends the step when it succeeds, no query does.
#[test]
fn c10_a_verb_ends_the_step_and_a_refused_one_does_not() {
    let verbs: [fn(&mut Pair<'_>); 10] = [
        |pair| _ = pair.seq_new().expect("an id"),
        |pair| _ = pair.seq_clone(0, 1).expect("an id"),
        |pair| pair.seq_remove(0, 7, 9).expect("nothing is there"),
        |pair| pair.seq_release(1).expect("it is live"),
        |pair| pair.seq_keep(0).expect("it is live"),
        |pair| pair.seq_shift(0, 0, 9, 0).expect("by nothing"),
        |pair| pair.rewind(0, 2).expect("to where it is"),
        |pair| _ = pair.defrag(0, 0).expect("no move"),
        |pair| _ = pair.defrag(0, 9).expect("compact"),
        |pair| pair.clear(),
    ];
    for verb in verbs {
        for placed in [false, true] {
            on(&flat(8, 3), |pair| {
                let (a, _) = (pair.seq_new().expect("an id"), pair.seq_new().expect("an id"));
                pair.append(a, 1).expect("room");
                pair.declare(&[a]).expect("room");
                if placed {
                    pair.place(0, &[1]).expect("declared");
                } else {
                    pair.rewind(a, 0).expect("to nothing");
                    pair.append(a, 2).expect("room");
                    pair.declare(&[a]).expect("room");
                }
                // Neither queries nor refusals matter.
                assert_eq!(pair.rewind(a, 9), Err(Error::CannotGrow));
                assert_eq!(pair.seq_release(2), Err(Error::BadSequence));
                assert_eq!(pair.seq_remove(a, 2, 1), Err(Error::InvalidArgument));
                pair.apply_shifts();
                assert_eq!(pair.place(1, &[1]), Err(Error::BadLayer));
                assert_eq!(pair.cache.can_admit(a, 1), Ok(true));
                assert!(pair.model.state.step.is_some());
                verb(pair);
                let position = if placed { 1 } else { 2 };
                assert_eq!(pair.place(0, &[position]), Err(Error::NoStep));
                assert_eq!(pair.cache.mask_bytes(0, &mut [0; 64], 8), Err(Error::NoStep));
            });
        }
    }
}
