//! Masks, against the formulas: every small step of every small layout, every small tree, both kinds of
//! columns, bytes and bits; buffers of every wrong size; plans that contradict themselves.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small trees and layouts

use std::cell::Cell;

use kvcore::{Columns, Error, Layer, MASK_CAUSAL, MASK_NONE, MASK_WINDOW, Run, SeqPlan, UNBOUNDED, layout};
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};

#[path = "support/naive.rs"]
mod naive;

use naive::Naive;

/// What a buffer holds before: no value of a mask.
const DIRT: u8 = 0xA5;
const WORD_OF_DIRT: u32 = 0xA5A5_A5A5;

/// Columns of the mask of a plan.
fn width(plan: &SeqPlan, columns: Columns) -> usize {
    match columns {
        Columns::Read => plan.read_len as usize,
        Columns::Pool => naive::expand(plan.reads()).map(|(row, _)| row as usize + 1).max().expect("a row"),
    }
}

/// Bytes and bits of a plan, with a stride that is as narrow as it may be and with a wider one.
fn assert_masks(naive: &Naive, plan: &SeqPlan, parents: Option<&[i32]>) {
    for columns in [Columns::Read, Columns::Pool] {
        let (rows, width) = (plan.n_tokens as usize, width(plan, columns));
        for stride in [width, width + 3] {
            let expected = naive::mask(naive, plan, parents, columns == Columns::Pool, stride);
            let mut bytes = vec![DIRT; rows * stride + 2];
            plan.mask_bytes(parents, columns, &mut bytes, stride).expect("room for the mask");
            let flat: Vec<u8> = expected.iter().flatten().map(|&on| u8::from(on)).collect();
            assert_eq!(bytes[..rows * stride], flat, "{columns:?} {stride} {parents:?} {plan:?}");
            assert_eq!(bytes[rows * stride..], [DIRT; 2], "beyond the last row");
            assert_bits(plan, parents, columns, &expected, stride.div_ceil(32));
        }
        let narrow = naive::mask(naive, plan, parents, columns == Columns::Pool, width);
        assert_bits(plan, parents, columns, &narrow, width.div_ceil(32) + 1);
    }
}

fn assert_bits(
    plan: &SeqPlan,
    parents: Option<&[i32]>,
    columns: Columns,
    expected: &[Vec<bool>],
    words: usize,
) {
    let mut bits = vec![WORD_OF_DIRT; expected.len() * words + 1];
    plan.mask_bits(parents, columns, &mut bits, words).expect("room for the mask");
    for (query, row) in expected.iter().enumerate() {
        for column in 0..32 * words {
            let bit = bits[query * words + column / 32] >> (column % 32) & 1 == 1;
            assert_eq!(bit, row.get(column) == Some(&true), "{query}, {column}: {columns:?} {plan:?}");
        }
    }
    assert_eq!(bits.last(), Some(&WORD_OF_DIRT), "beyond the last row");
}

/// A layer of every shape.
fn layers() -> impl Iterator<Item = Layer> {
    let rings = (1..=4).flat_map(|window| (0..=2).map(move |sinks| Layer::ring(window).with_sinks(sinks)));
    rings.chain([Layer::flat()])
}

#[test]
fn every_small_mask_is_what_the_formulas_say() {
    let mut kinds = [0; 3];
    for layer in layers() {
        for max_write in [1, 2, 4] {
            let naive = Naive::new(&layer, max_write, 1, UNBOUNDED);
            for position in (0..16).chain([40]) {
                for n in 1..=max_write {
                    let plan = layout::plan(&layer, max_write, 1, position, n).expect("a sound step");
                    assert_masks(&naive, &plan, None);
                    kinds[plan.mask as usize] += 1;
                }
            }
        }
    }
    assert!([MASK_NONE, MASK_CAUSAL, MASK_WINDOW].iter().all(|&kind| kinds[kind as usize] > 50), "{kinds:?}");
}

/// A window of many words.
#[test]
fn wide_masks() {
    for layer in [Layer::ring(70).with_sinks(33), Layer::ring(64), Layer::flat()] {
        let naive = Naive::new(&layer, 40, 5, UNBOUNDED);
        for (position, n) in [(0, 40), (31, 2), (32, 33), (100, 40), (141, 1), (1000, 40), (1063, 32)] {
            let plan = layout::plan(&layer, 40, 5, position, n).expect("a sound step");
            assert_masks(&naive, &plan, None);
        }
    }
}

/// Every tree of `n` nodes.
fn trees(n: usize) -> Vec<Vec<i32>> {
    let mut trees = vec![vec![]];
    for node in 0..n as i32 {
        let grown =
            |tree: &Vec<i32>| (-1..node).map(|parent| [&tree[..], &[parent]].concat()).collect::<Vec<_>>();
        trees = trees.iter().flat_map(grown).collect();
    }
    trees
}

#[test]
fn every_small_tree_sees_its_own_branch() {
    for layer in layers() {
        let naive = Naive::new(&layer, 4, 0, UNBOUNDED);
        for position in [0, 1, 3, 6, 7, 8, 11, 13] {
            for n in 1..=4 {
                let plan = layout::plan(&layer, 4, 0, position, n).expect("a sound step");
                for tree in trees(n as usize) {
                    assert_masks(&naive, &plan, Some(&tree));
                }
            }
        }
    }
    // A chain is a plain step.
    let plan = layout::plan(&Layer::ring(4), 4, 0, 9, 4).expect("a sound step");
    let (mut chain, mut step) = ([0; 4], [0; 4]);
    plan.mask_bits(Some(&[-1, 0, 1, 2]), Columns::Read, &mut chain, 1).expect("room for the mask");
    plan.mask_bits(None, Columns::Read, &mut step, 1).expect("room for the mask");
    assert_eq!(chain, step);
}

#[test]
fn large_trees_up_to_256_nodes() {
    let layer = Layer::ring(5).with_sinks(2);
    for n in [255, 256, 257] {
        let plan = layout::plan(&layer, 257, 0, 900, n).expect("a sound step");
        let binary: Vec<i32> = (0..n as i32).map(|node| (node + 1) / 2 - 1).collect();
        let width = plan.read_len as usize;
        let mut bytes = vec![DIRT; width * n as usize];
        let answer = plan.mask_bytes(Some(&binary), Columns::Read, &mut bytes, width);
        if n > 256 {
            assert_eq!(answer, Err(Error::InvalidArgument));
            assert!(bytes.iter().all(|&byte| byte == DIRT));
        } else {
            assert_eq!(answer, Ok(()));
            let naive = Naive::new(&layer, 257, 0, UNBOUNDED);
            let expected = naive::mask(&naive, &plan, Some(&binary), false, width);
            assert!(bytes.iter().map(|&byte| byte == 1).eq(expected.into_iter().flatten()));
        }
    }
}

#[test]
fn parents_that_are_no_tree_of_the_step() {
    let plan = layout::plan(&Layer::flat(), 0, 0, 4, 3).expect("a sound step");
    let wrong: [&[i32]; 9] = [
        &[],
        &[-1, 0],
        &[-1, 0, 1, 2],
        &[0, 0, 0],
        &[-1, 1, 0],
        &[-1, 0, 3],
        &[-2, 0, 0],
        &[-1, i32::MIN, 0],
        &[-1, 0, i32::MAX],
    ];
    for parents in wrong {
        let (mut bytes, mut bits) = ([DIRT; 21], [WORD_OF_DIRT; 3]);
        let refused = Err(Error::InvalidArgument);
        assert_eq!(plan.mask_bytes(Some(parents), Columns::Read, &mut bytes, 7), refused, "{parents:?}");
        assert_eq!(plan.mask_bits(Some(parents), Columns::Pool, &mut bits, 1), refused, "{parents:?}");
        assert_eq!((bytes, bits), ([DIRT; 21], [WORD_OF_DIRT; 3]));
    }
}

#[test]
fn buffers_that_are_too_small_stay_as_they_were() {
    // Rows 0, 1 and 5..7, then 2, 3: read_len 8, of a pool whose highest read row is 7.
    let plan = layout::plan(&Layer::ring(4).with_sinks(2), 4, 0, 10, 3).expect("a sound step");
    assert_eq!((plan.read_len, width(&plan, Columns::Pool)), (8, 9));
    for (columns, width) in [(Columns::Read, 8), (Columns::Pool, 9)] {
        let wrong = [(3 * width, width - 1), (3 * width - 1, width), (0, width), (3 * width, 0), (0, 0)];
        let huge = [(100, usize::MAX), (100, usize::MAX / 3), (100, usize::MAX / 2 + 1)];
        for (size, stride) in wrong.into_iter().chain(huge) {
            let mut bytes = vec![DIRT; size];
            let answer = plan.mask_bytes(None, columns, &mut bytes, stride);
            assert_eq!(answer, Err(Error::BufferTooSmall), "{size} bytes, stride {stride}");
            assert!(bytes.iter().all(|&byte| byte == DIRT));
        }
        for (words, stride) in [(2, 1), (3, 0), (0, 1), (5, 2), (100, usize::MAX), (100, usize::MAX / 3)] {
            let mut bits = vec![WORD_OF_DIRT; words];
            let answer = plan.mask_bits(None, columns, &mut bits, stride);
            assert_eq!(answer, Err(Error::BufferTooSmall), "{words} words, stride {stride}");
            assert!(bits.iter().all(|&word| word == WORD_OF_DIRT));
        }
    }
    // 33 columns are two words.
    let plan = layout::plan(&Layer::flat(), 0, 0, 32, 1).expect("a sound step");
    assert_eq!(plan.mask_bits(None, Columns::Read, &mut [0; 2], 1), Err(Error::BufferTooSmall));
    assert_eq!(plan.mask_bits(None, Columns::Read, &mut [0; 2], 2), Ok(()));
    let mut positions = [77; 33];
    assert_eq!(plan.positions(&mut positions[..32]), Err(Error::BufferTooSmall));
    assert_eq!(positions, [77; 33]);
    assert_eq!(plan.positions(&mut positions), Ok(33));
}

/// A plan that came back through C with a field changed: refused, or at least harmless.
#[test]
fn contradictory_plans_are_refused() {
    let plan = layout::plan(&Layer::ring(4).with_sinks(2), 4, 0, 10, 3).expect("a sound step");
    let run = |at: usize, run: Run| {
        let mut plan = plan;
        plan.read[at] = run;
        plan
    };
    let [first, second, third] = plan.read;
    let mut bad_write = plan;
    bad_write.write[0].pos += 1;
    let wrong = [
        SeqPlan::EMPTY,
        SeqPlan { n_tokens: 0, ..plan },
        SeqPlan { n_tokens: 4, ..plan },
        SeqPlan { position: 11, ..plan },
        SeqPlan { position: u32::MAX, ..plan },
        SeqPlan { n_read: 0, ..plan },
        SeqPlan { n_read: 2, ..plan },
        SeqPlan { n_read: 4, ..plan },
        SeqPlan { n_read: u32::MAX, ..plan },
        SeqPlan { n_write: 0, ..plan },
        SeqPlan { n_write: 3, ..plan },
        SeqPlan { read_len: 7, ..plan },
        SeqPlan { read_len: u32::MAX, ..plan },
        bad_write,
        run(0, Run { len: 0, ..first }),
        run(0, Run { len: u32::MAX, ..first }),
        run(1, Run { pos: 0, ..second }),
        run(1, Run { start: u32::MAX, ..second }),
        run(2, Run { pos: u32::MAX, ..third }),
        run(2, Run { len: third.len + 1, ..third }),
    ];
    for plan in wrong {
        let refused = Err(Error::InvalidArgument);
        assert_eq!(plan.mask_bytes(None, Columns::Read, &mut [0; 99], 33), refused, "{plan:?}");
        assert_eq!(plan.mask_bits(Some(&[-1, 0, 0]), Columns::Pool, &mut [0; 99], 33), refused, "{plan:?}");
        assert_eq!(plan.positions(&mut [0; 99]), Err(Error::InvalidArgument), "{plan:?}");
    }
}

/// Puts a number into one of a plan's fields.
fn edit(plan: &mut SeqPlan, field: usize, number: u32) {
    let run = match field % 5 {
        at @ 0..2 => &mut plan.write[at],
        at => &mut plan.read[at - 2],
    };
    match field / 5 {
        0 => run.start = number,
        1 => run.len = number,
        2 => run.pos = number,
        _ => match field % 7 {
            0 => plan.n_write = number,
            1 => plan.n_read = number,
            2 => plan.position = number,
            3 => plan.n_tokens = number,
            4 => plan.read_len = number,
            5 => plan.window = number,
            _ => plan.sinks = number,
        },
    }
}

/// Whatever stands in a plan: no overflow, no panic, an answer.
#[test]
fn any_numbers_in_a_plan_are_harmless() {
    let number = prop_oneof![4 => 0..16_u32, 1 => Just(u32::MAX), 1 => any::<u32>()];
    let edits = proptest::collection::vec((0..22_usize, number), 0..=4);
    let refused = Cell::new(0);
    let run = |(window, position, n, edits): (u32, u32, u32, Vec<(usize, u32)>)| {
        let layer = Layer::ring(window).with_sinks(1);
        let mut plan = layout::plan(&layer, 4, 0, position, n).expect("a sound step");
        for (field, number) in edits {
            edit(&mut plan, field, number);
        }
        let (mut bytes, mut bits, mut positions) = ([DIRT; 80], [WORD_OF_DIRT; 9], [7; 30]);
        let answers = [
            plan.positions(&mut positions).map(|_| ()),
            plan.mask_bytes(None, Columns::Read, &mut bytes, 20),
            plan.mask_bytes(None, Columns::Pool, &mut bytes, 20),
            plan.mask_bits(None, Columns::Pool, &mut bits, 2),
            plan.mask_bits(Some(&[-1, 0, -1][..n as usize]), Columns::Read, &mut bits, 2),
        ];
        refused.set(refused.get() + answers.iter().filter(|answer| answer.is_err()).count());
        for answer in answers {
            prop_assert!(matches!(answer, Ok(()) | Err(Error::InvalidArgument | Error::BufferTooSmall)));
        }
        Ok(())
    };
    let runs = Runs { cases: 8000, failure_persistence: None, ..Runs::default() };
    let mut runner = TestRunner::new_with_rng(runs, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let plans = (1..5_u32, 0..20_u32, 1..4_u32, edits);
    runner.run(&plans, run).unwrap_or_else(|error| panic!("{error}"));
    assert!((8000..32_000).contains(&refused.get()), "too many or too few were sound: {}", refused.get());
}
