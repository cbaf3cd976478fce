//! The cases of the one-sequence cache, S1 to S13, each with its neighbours, on an owned cache and on a shared
//! one: what has gone wrong in programs that do this job.

#[path = "support/both.rs"]
mod both;
#[path = "support/naive.rs"]
mod naive;

use both::on_both;
use kvcore::{Columns, Config, Error, Layer, MASK_CAUSAL, MASK_NONE, MASK_WINDOW, SeqPlan, UNBOUNDED, pool};
use naive::Naive;

fn ring(layers: &[Layer], max_write: u32, rollback: u32) -> Config<'_> {
    let n_layers = u32::try_from(layers.len()).expect("few layers");
    Config { max_write, rollback, ..Config::new(UNBOUNDED, n_layers, layers) }
}

/// The plan of the step at the length reads what the formulas say.
fn assert_reads(config: &Config<'_>, plan: &SeqPlan, layer: usize) {
    let naive = Naive::new(&config.layers[layer], config.max_write, config.rollback, config.capacity);
    naive::assert_plan(&naive, plan, plan.position, plan.n_tokens);
}

/// S1: a ring without spare rows gives up a position with every step.
#[test]
fn s1_a_window_that_went_on_cannot_be_rewound() {
    on_both(&ring(&[Layer::ring(4)], 1, 0), |cache| {
        cache.steps(&[1; 10]);
        for length in 1..9 {
            assert_eq!(cache.rewind(length), Err(Error::Evicted), "to {length}");
            assert_eq!((cache.length(), cache.floor()), (10, 9));
        }
        assert_eq!(cache.rewind(11), Err(Error::CannotGrow));
        assert_eq!(cache.rewind(10), Ok(()));
        assert_eq!(cache.rewind(9), Ok(()));
        assert_eq!((cache.length(), cache.floor()), (9, 9));
        assert_eq!(cache.rewind(8), Err(Error::Evicted));
    });
}

/// S2: rewinding twice does not bring rows back.
#[test]
fn s2_a_second_rewind_finds_no_more_than_the_first() {
    on_both(&ring(&[Layer::ring(4)], 4, 0), |cache| {
        cache.steps(&[4, 4, 2]);
        assert_eq!(cache.floor(), 6);
        assert_eq!(cache.rewind(6), Ok(()));
        for length in 1..6 {
            assert_eq!(cache.rewind(length), Err(Error::Evicted), "to {length}");
        }
        assert_eq!((cache.length(), cache.floor()), (6, 6));
        // What is written again is resident again.
        cache.steps(&[4]);
        assert_eq!(cache.floor(), 6);
        assert_eq!(cache.rewind(6), Ok(()));
    });
}

/// S3: one layer's limit is the limit of all.
#[test]
fn s3_a_step_that_one_layer_refuses_is_refused_for_all() {
    let layers = [Layer::flat(), Layer::ring(4)];
    on_both(&Config { max_write: 4, ..Config::new(64, 2, &layers) }, |cache| {
        for layer in [0, 1] {
            assert_eq!(cache.plan(layer, 0, 5), Err(Error::StepTooLarge));
        }
        assert_eq!(cache.plan_step(0, 5, &mut [SeqPlan::EMPTY; 2]), Err(Error::StepTooLarge));
        assert_eq!(cache.length(), 0);
        assert_eq!(cache.plan(0, 0, 4).map(|plan| plan.n_tokens), Ok(4));
    });
    // Without max_write the windows bound the step: the smallest of them.
    let layers = [Layer::flat(), Layer::ring(8), Layer::ring(3)];
    on_both(&Config::new(64, 3, &layers), |cache| {
        for layer in 0..3 {
            assert_eq!(cache.plan(layer, 0, 4), Err(Error::StepTooLarge));
        }
        assert!(cache.can_extend(64).expect("tokens"), "in pieces");
        assert!(cache.plan(0, 0, 3).is_ok());
    });
    // The capacity is checked for all at once as well, whichever layer asks.
    on_both(&Config { max_context: 6, ..Config::new(8, 3, &layers) }, |cache| {
        cache.steps(&[3, 2]);
        for layer in 0..3 {
            assert_eq!(cache.plan(layer, 5, 2), Err(Error::OutOfCapacity));
            assert!(cache.plan(layer, 5, 1).is_ok());
        }
    });
}

/// S4: after a rewind into the window every row holds what the plan says.
#[test]
fn s4_a_step_after_a_rewind_reads_the_rows_that_hold_its_window() {
    let layers = [Layer::ring(8)];
    let config = ring(&layers, 4, 0);
    on_both(&config, |cache| {
        cache.steps(&[1; 20]);
        assert_eq!(cache.rewind(17), Ok(()));
        let plan = cache.step(1);
        let mut positions = [0; 8];
        assert_eq!(plan.positions(&mut positions), Ok(8));
        assert_eq!(positions, [10, 11, 12, 13, 14, 15, 16, 17]);
        assert_reads(&config, &plan, 0);
        // Further back would need position 8, whose row position 19 took.
        assert_eq!((cache.rewind(15), cache.length(), cache.floor()), (Err(Error::Evicted), 18, 16));
        assert_eq!(cache.rewind(16), Ok(()));
    });
}

/// S5: what one layer refuses moves no layer.
#[test]
fn s5_a_refused_rewind_moves_no_layer() {
    let layers = [Layer::flat(), Layer::ring(4)];
    on_both(&Config { max_write: 1, ..Config::new(64, 2, &layers) }, |cache| {
        cache.steps(&[1; 10]);
        assert_eq!(cache.rewind(7), Err(Error::Evicted));
        assert_eq!((cache.length(), cache.floor()), (10, 9));
        for layer in [0, 1] {
            assert_eq!(cache.plan(layer, 7, 1), Err(Error::BadPosition));
            assert_eq!(cache.plan(layer, 10, 1).map(|plan| plan.position), Ok(10));
        }
    });
    // The flat layer alone goes back to anywhere.
    on_both(&Config { max_write: 1, ..Config::new(64, 1, &layers[..1]) }, |cache| {
        cache.steps(&[1; 10]);
        assert_eq!((cache.floor(), cache.rewind(7)), (0, Ok(())));
    });
}

/// S6: a window counts the query itself.
#[test]
fn s6_no_query_sees_more_than_its_window() {
    let layers = [Layer::ring(128)];
    on_both(&ring(&layers, 0, 0), |cache| {
        let mut fullest = 0;
        for n in [100, 128, 1, 1, 7, 128, 1, 1] {
            let plan = cache.step(n);
            let width = plan.read_len as usize;
            let mut mask = vec![0; width * n as usize];
            plan.mask_bytes(None, Columns::Read, &mut mask, width).expect("room for the mask");
            for (query, row) in mask.chunks_exact(width).enumerate() {
                let seen: usize = row.iter().map(|&byte| usize::from(byte)).sum();
                assert_eq!(seen, 128.min(plan.position as usize + query + 1));
                fullest = fullest.max(seen);
            }
        }
        assert_eq!(fullest, 128);
    });
}

/// S7: a step continues its sequence.
#[test]
fn s7_a_step_starts_at_the_length() {
    let layers = [Layer::ring(4)];
    on_both(&ring(&layers, 4, 0), |cache| {
        cache.steps(&[4, 3]);
        for layer in [0, 9] {
            // Arguments are looked at before the layer, the layer before the position.
            assert_eq!(cache.plan(layer, 8, 0), Err(Error::InvalidArgument));
        }
        assert_eq!(cache.plan(9, 8, 1), Err(Error::BadLayer));
        for (position, n) in [(8, 1), (6, 1), (u32::MAX, 1), (u32::MAX, u32::MAX), (0, 1), (u32::MAX - 1, 4)]
        {
            assert_eq!(cache.plan(0, position, n), Err(Error::BadPosition), "{n} at {position}");
            assert_eq!(cache.plan_step(position, n, &mut [SeqPlan::EMPTY]), Err(Error::BadPosition));
        }
        assert_eq!(cache.plan(0, 7, 5), Err(Error::StepTooLarge));
        assert_eq!(cache.plan(0, 7, u32::MAX), Err(Error::StepTooLarge));
        assert_eq!(cache.plan_step(7, 0, &mut [SeqPlan::EMPTY]), Err(Error::InvalidArgument));
        assert_eq!((cache.length(), cache.can_extend(u32::MAX - 7)), (7, Ok(true)));
        assert_eq!(cache.can_extend(u32::MAX - 6), Ok(false));
        // The step that was committed may be planned again, until the next one.
        assert_eq!(cache.plan(0, 4, 3).map(|plan| plan.n_tokens), Ok(3));
        assert_eq!(cache.plan(0, 4, 2), Err(Error::BadPosition));
        cache.steps(&[1]);
        assert_eq!(cache.plan(0, 4, 3), Err(Error::BadPosition));
    });
}

/// S8: a plan of before is no plan.
#[test]
fn s8_an_old_plan_is_stale() {
    on_both(&Config::new(64, 1, &[Layer::flat()]), |cache| {
        cache.steps(&[5]);
        // Every way to move the length, to where it was included.
        let old = cache.plan(0, 5, 2).expect("room");
        assert_eq!(cache.rewind(5), Ok(()));
        assert_eq!((cache.commit(&old, 2), cache.length()), (Err(Error::StalePlan), 5));
        let old = cache.plan(0, 5, 2).expect("room");
        cache.clear();
        assert_eq!((cache.commit(&old, 2), cache.length()), (Err(Error::StalePlan), 0));
        let old = cache.plan(0, 0, 2).expect("room");
        let new = cache.plan(0, 0, 3).expect("room");
        assert_eq!((cache.commit(&old, 2), cache.length()), (Err(Error::StalePlan), 0));
        assert_eq!((cache.commit(&new, 3), cache.length()), (Ok(()), 3));
    });
    on_both(&Config::new(64, 1, &[Layer::flat()]), |cache| {
        let first = cache.plan(0, 0, 4).expect("room");
        assert_eq!(cache.commit(&first, 1), Ok(()));
        let second = cache.plan(0, 1, 4).expect("room");
        assert_eq!(cache.commit(&second, 4), Ok(()));
        for accepted in 0..=4 {
            assert_eq!((cache.commit(&first, accepted), cache.length()), (Err(Error::StalePlan), 5));
        }
        // The newest one may be committed again, the same way only.
        for accepted in 0..4 {
            assert_eq!((cache.commit(&second, accepted), cache.length()), (Err(Error::StalePlan), 5));
        }
        assert_eq!((cache.commit(&second, 4), cache.length()), (Ok(()), 5));
        assert_eq!(cache.commit(&second, 5), Err(Error::InvalidArgument));
        assert_eq!(cache.commit(&SeqPlan::EMPTY, 0), Err(Error::InvalidArgument));
        // A plan that no cache made, of the same step.
        assert_eq!(cache.commit(&SeqPlan { epoch: 0, ..second }, 4), Err(Error::StalePlan));
        assert_eq!(cache.commit(&SeqPlan { position: 0, ..second }, 4), Err(Error::StalePlan));
        assert_eq!(cache.commit(&SeqPlan { n_tokens: 5, ..second }, 4), Err(Error::StalePlan));
    });
}

/// S8b: a step that failed may have overwritten its rows.
#[test]
fn s8b_a_step_that_failed_has_taken_its_rows() {
    let layers = [Layer::ring(4), Layer::ring(4)];
    on_both(&ring(&layers, 4, 0), |cache| {
        cache.steps(&[4, 4, 2]);
        assert_eq!(cache.floor(), 6);
        // The second layer fails before it is planned.
        let plan = cache.plan(0, 10, 4).expect("room");
        assert_eq!((cache.floor(), cache.rewind(7)), (10, Err(Error::Evicted)));
        assert_eq!(cache.commit(&plan, 0), Ok(()));
        assert_eq!((cache.floor(), cache.length()), (10, 10));
        assert_eq!(cache.rewind(7), Err(Error::Evicted));
        // Closing it again is fine, taking it up again is not: the step is planned anew.
        assert_eq!(cache.commit(&plan, 0), Ok(()));
        assert_eq!(cache.commit(&plan, 4), Err(Error::StalePlan));
        let again = cache.plan(1, 10, 4).expect("room");
        assert_ne!(again.epoch, plan.epoch);
        assert_eq!(cache.commit(&plan, 0), Err(Error::StalePlan));
        // A smaller step in its place gives nothing back.
        cache.plan(0, 10, 1).expect("room");
        assert_eq!(cache.floor(), 10);
        assert_eq!(cache.commit(&again, 4), Err(Error::StalePlan));
    });
}

/// S9: in a burst each query has a lower bound of its own.
#[test]
fn s9_each_query_has_its_own_window() {
    on_both(&ring(&[Layer::ring(4)], 4, 0), |cache| {
        cache.steps(&[4]);
        let plan = cache.step(4);
        assert_eq!((plan.mask, plan.read_len), (MASK_WINDOW, 7));
        let mut mask = [9; 4 * 7];
        plan.mask_bytes(None, Columns::Read, &mut mask, 7).expect("room for the mask");
        let rows =
            [[1, 1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1]];
        assert_eq!(mask, rows.as_flattened());
        let mut bits = [u32::MAX; 4];
        plan.mask_bits(None, Columns::Read, &mut bits, 1).expect("room for the mask");
        assert_eq!(bits, [0b000_1111, 0b001_1110, 0b011_1100, 0b111_1000]);
    });
    // Sinks stay on for all of them.
    on_both(&ring(&[Layer::ring(3).with_sinks(2)], 3, 0), |cache| {
        cache.steps(&[3, 3, 3]);
        let plan = cache.step(3);
        let mut bits = [0; 3];
        plan.mask_bits(None, Columns::Read, &mut bits, 1).expect("room for the mask");
        assert_eq!(bits, [0b001_1111, 0b011_1011, 0b111_0011]); // positions 0, 1, 7, 8, 9, 10, 11
    });
}

/// S10: a pool that grows needs one call, however long the step is.
#[test]
fn s10_growth_covers_a_long_step() {
    on_both(&Config { initial_capacity: 1, ..Config::new(4096, 1, &[Layer::flat()]) }, |cache| {
        assert_eq!(cache.step(1).rows_needed, 1);
        let plan = cache.step(256);
        assert_eq!(plan.rows_needed, 257);
        assert_eq!(pool::grow_rows(1, plan.rows_needed, cache.layer(0).expect("a layer").rows), 512);
    });
    // A ring never asks for more than its rows, and for all of them once it came round.
    on_both(&ring(&[Layer::ring(4).with_sinks(1)], 4, 1), |cache| {
        let rows = cache.layer(0).expect("a layer").rows;
        assert_eq!(rows, 1 + 4 + 4 - 1 + 1);
        let needed: Vec<u32> = (0..6).map(|_| cache.step(3).rows_needed).collect();
        assert_eq!(needed, [3, 6, 9, 9, 7, 9]);
        assert_eq!(needed.iter().max(), Some(&rows));
    });
}

/// S11: bursts of drafts, of which some are kept.
#[test]
fn s11_drafts_on_a_window() {
    let layers = [Layer::ring(8)];
    let config = ring(&layers, 4, 4);
    on_both(&config, |cache| {
        cache.steps(&[4; 25]);
        for (round, accepted) in [1, 0, 4, 3, 2, 0, 0, 1, 4, 4, 0].into_iter().cycle().take(60).enumerate() {
            let plan = cache.plan(0, cache.length(), 4).expect("room");
            assert_reads(&config, &plan, 0);
            assert_eq!((plan.read_len, plan.mask), (11, MASK_WINDOW), "round {round}");
            let mut mask = [0; 4 * 11];
            let narrow = plan.mask_bytes(None, Columns::Read, &mut mask, 10);
            assert_eq!(narrow, Err(Error::BufferTooSmall), "the mask is read_len wide");
            assert_eq!(plan.mask_bytes(None, Columns::Read, &mut mask, 11), Ok(()));
            assert_eq!(cache.commit(&plan, accepted), Ok(()));
            // Rollback rows let the drafts be taken back after they were committed as well.
            assert!(cache.floor() <= plan.position, "round {round}");
        }
        let length = cache.length();
        cache.steps(&[4]);
        assert_eq!((cache.rewind(length), cache.length()), (Ok(()), length));
    });
    // The same without spare rows: the burst itself can be taken back, nothing before it.
    on_both(&ring(&layers, 4, 0), |cache| {
        cache.steps(&[4; 25]);
        assert_eq!(cache.floor(), 96);
        cache.step(1);
        assert_eq!(cache.floor(), 97);
    });
}

/// S12: nothing needs no rows.
#[test]
fn s12_to_nothing_is_always_possible() {
    let layers = [Layer::ring(4), Layer::ring(2).with_sinks(1), Layer::flat()];
    on_both(&Config { max_write: 2, ..Config::new(64, 3, &layers) }, |cache| {
        for clears in [false, true, false] {
            cache.steps(&[2; 15]);
            assert!(cache.floor() > 20);
            let old = cache.plan(0, 30, 1).expect("room");
            if clears {
                cache.clear();
            } else {
                assert_eq!(cache.rewind(0), Ok(()));
            }
            assert_eq!((cache.length(), cache.floor(), cache.can_extend(64)), (0, 0, Ok(true)));
            assert_eq!(cache.commit(&old, 1), Err(Error::StalePlan));
            let first = cache.plan(0, 0, 1).expect("room");
            assert_eq!((first.reads()[0].start, first.mask), (0, MASK_NONE));
        }
    });
    // Lengths within the sinks need no ring row either.
    on_both(&ring(&[Layer::ring(2).with_sinks(3)], 1, 0), |cache| {
        cache.steps(&[1; 9]);
        assert_eq!(cache.floor(), 8);
        for length in [7, 6, 5, 4] {
            assert_eq!(cache.rewind(length), Err(Error::Evicted), "to {length}");
        }
        assert_eq!(cache.rewind(3), Ok(()));
        assert_eq!((cache.length(), cache.floor()), (3, 0));
        assert_eq!(cache.step(1).mask, MASK_NONE);
    });
}

/// S13: bytes of a pool are exact or refused.
#[test]
fn s13_pool_bytes_never_wrap() {
    on_both(&Config::new(1 << 31, 1, &[Layer::flat().with_heads(8, 128)]), |cache| {
        let info = cache.layer(0).expect("a layer");
        let bytes = pool::pool_bytes(info.rows, info.layer.n_kv_heads, info.layer.head_dim, 16);
        assert_eq!(bytes, Ok(4_398_046_511_104));
        assert_eq!(cache.can_extend(1 << 31), Ok(true));
        assert_eq!(cache.can_extend((1 << 31) + 1), Ok(false));
        let whole = cache.step(1 << 31);
        assert_eq!((whole.read_len, whole.rows_needed, whole.mask), (1 << 31, 1 << 31, MASK_CAUSAL));
        assert_eq!(cache.plan(0, 1 << 31, 1), Err(Error::OutOfCapacity));
    });
}
