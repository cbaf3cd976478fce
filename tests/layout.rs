//! The arithmetic alone, against the formulas written out row by row: every small layout, and the far end of
//! the numbers.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small numbers, or ones that were compared in 64 bits

use kvcore::layout::{self, Layout};
use kvcore::{Config, Error, Layer, Run, SeqPlan, SequenceCache, UNBOUNDED, pool};

#[path = "support/naive.rs"]
mod naive;

use naive::Naive;

/// Every small ring: window, sinks, `max_write`, rollback.
fn rings() -> impl Iterator<Item = (Layer, u32, u32)> {
    (1..=5).flat_map(|window| {
        (0..=3).flat_map(move |sinks| {
            (0..=5).flat_map(move |max_write| {
                (0..=3).map(move |rollback| (Layer::ring(window).with_sinks(sinks), max_write, rollback))
            })
        })
    })
}

#[test]
fn every_small_plan_is_what_the_formulas_say() {
    for (layer, max_write, rollback) in rings().chain([(Layer::flat(), 0, 0), (Layer::flat(), 3, 2)]) {
        let naive = Naive::new(&layer, max_write, rollback, UNBOUNDED);
        let limit = naive.limit.min(6) as u32;
        for position in 0..3 * naive.rows.min(12) as u32 {
            for n in 1..=limit {
                let plan = layout::plan(&layer, max_write, rollback, position, n).expect("a sound step");
                naive::assert_plan(&naive, &plan, position, n);
                assert_eq!((plan.group, plan.epoch), (0, 0), "no cache made it");
            }
        }
        if naive.limit < u64::from(u32::MAX) {
            let over = naive.limit as u32 + 1;
            for n in [over, u32::MAX] {
                assert_eq!(layout::plan(&layer, max_write, rollback, 0, n), Err(Error::StepTooLarge));
            }
        }
    }
}

/// Layouts with a capacity: rows and the row of every position.
#[test]
fn every_small_layout_has_the_rows_of_the_formulas() {
    for (layer, max_write, rollback) in rings() {
        for capacity in [1, 2, 3, 4, 7, 12, 40, UNBOUNDED] {
            let layout = Layout::new(&layer, max_write, rollback, capacity);
            if layer.sinks >= capacity {
                assert_eq!(layout, Err(Error::InvalidConfig), "{layer:?} in {capacity}");
                continue;
            }
            let (layout, naive) = (layout.expect("sound"), Naive::new(&layer, max_write, rollback, capacity));
            assert_eq!(u64::from(layout.rows()), naive.rows);
            for position in (0..capacity.min(50)).chain([u32::MAX - 1, u32::MAX]) {
                assert_eq!(
                    u64::from(layout.row(position)),
                    naive.row(position.into()),
                    "{layer:?} {position}"
                );
            }
        }
    }
    let flat = Layout::new(&Layer::flat(), 9, 9, 1000).expect("sound");
    assert_eq!((flat.rows(), flat.row(0), flat.row(999)), (1000, 0, 999));
}

/// A cache plans what the arithmetic alone says, but for a capacity that cuts the ring.
#[test]
fn a_cache_plans_the_same() {
    for (layer, max_write, rollback) in rings() {
        let layers = [layer];
        let config = Config { max_write, rollback, ..Config::new(UNBOUNDED, 1, &layers) };
        let mut cache = SequenceCache::<1>::new(&config).expect("sound");
        let limit = cache.layer(0).expect("a layer").max_write;
        for n in (1..=limit).cycle().take(14) {
            let plan = cache.plan(0, cache.length(), n).expect("room");
            let alone = layout::plan(&layer, max_write, rollback, cache.length(), n);
            assert_eq!(alone, Ok(SeqPlan { epoch: 0, ..plan }));
            cache.commit(&plan, n).expect("the newest step");
        }
    }
}

#[test]
fn what_is_no_step_is_refused() {
    let ring = Layer::ring(4);
    let refused = |layer: &Layer, position, n| layout::plan(layer, 2, 0, position, n).expect_err("no step");
    for (position, n) in [(0, 0), (u32::MAX, 0), (u32::MAX, 1), (u32::MAX - 1, 2), (1, u32::MAX)] {
        assert_eq!(refused(&ring, position, n), Error::InvalidArgument, "{n} at {position}");
        assert_eq!(refused(&Layer::flat(), position, n), Error::InvalidArgument, "{n} at {position}");
    }
    assert_eq!(refused(&ring, 7, 3), Error::StepTooLarge);
    assert_eq!(refused(&Layer::flat(), 7, 3), Error::StepTooLarge, "max_write bounds flat layers too");
    for bad in [
        Layer { kind: 2, ..ring },
        Layer { kind: u32::MAX, ..ring },
        Layer { window: 0, ..ring },
        Layer { window: 3, ..Layer::flat() },
        Layer { sinks: 3, ..Layer::flat() },
        ring.with_sinks(UNBOUNDED),
    ] {
        assert_eq!(refused(&bad, 0, 1), Error::InvalidConfig, "{bad:?}");
        assert_eq!(Layout::new(&bad, 2, 0, UNBOUNDED), Err(Error::InvalidConfig));
    }
}

/// The runs of some positions, in 64 bits: cut where the row jumps.
fn runs(naive: &Naive, spans: &[(u64, u64)]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for &(mut from, to) in spans {
        while from < to {
            // Rows follow each other up to the end of the sinks and up to the end of the pool.
            let row = naive.row(from);
            let here = if naive.flat || from >= naive.sinks { naive.rows - row } else { naive.sinks - from };
            let len = here.min(to - from);
            let run = Run { start: row as u32, len: len as u32, pos: from as u32 };
            match runs.last_mut() {
                Some(last) if last.start + last.len == run.start && last.pos + last.len == run.pos => {
                    last.len += run.len;
                }
                _ => runs.push(run),
            }
            from += len;
        }
    }
    runs
}

/// Windows, sinks, steps and positions anywhere in 32 bits.
#[test]
fn plans_at_the_far_end_of_the_numbers() {
    let far = [1, 2, 3, 5, 1 << 16, (1 << 31) - 1, 1 << 31, u32::MAX - 2, u32::MAX - 1, u32::MAX];
    let mut plans = 0;
    for window in far {
        for sinks in [0, 1, 5, 1 << 31, u32::MAX - 9] {
            for (max_write, rollback) in [(0, 0), (1, 0), (2, 1), (1 << 31, 1 << 31), (u32::MAX, u32::MAX)] {
                let layer = Layer::ring(window).with_sinks(sinks);
                plans += far_plans(&layer, max_write, rollback, &far);
            }
        }
    }
    for max_write in [0, 2, u32::MAX] {
        plans += far_plans(&Layer::flat(), max_write, 0, &far);
    }
    assert!(plans > 5000, "{plans} plans");
}

fn far_plans(layer: &Layer, max_write: u32, rollback: u32, far: &[u32]) -> u32 {
    let naive = Naive::new(layer, max_write, rollback, UNBOUNDED);
    let mut plans = 0;
    for &position in far.iter().chain(&[0, layer.sinks, layer.window]) {
        for &n in far {
            let answer = layout::plan(layer, max_write, rollback, position, n);
            let (at, end) = (u64::from(position), u64::from(position) + u64::from(n));
            if end > u64::from(u32::MAX) {
                assert_eq!(answer, Err(Error::InvalidArgument));
            } else if u64::from(n) > naive.limit {
                assert_eq!(answer, Err(Error::StepTooLarge));
            } else {
                let plan = answer.expect("a sound step");
                let oldest = if naive.flat { 0 } else { (at + 1).saturating_sub(naive.window) };
                let reads = runs(&naive, &[(0, naive.sinks.min(end)), (oldest.max(naive.sinks), end)]);
                assert_eq!(plan.writes(), runs(&naive, &[(at, end)]), "{naive:?} {n} at {position}");
                assert_eq!(plan.reads(), reads, "{naive:?} {n} at {position}");
                assert_eq!(plan.read_len, reads.iter().map(|run| run.len).sum::<u32>());
                assert_eq!(Some(plan.rows_needed), reads.iter().map(|run| run.start + run.len).max());
                plans += 1;
            }
        }
    }
    plans
}

#[test]
fn growth_doubles_until_it_fits() {
    for max in (0..70).chain([u32::MAX - 1, u32::MAX]) {
        for current in (0..70).chain([1 << 31, u32::MAX]) {
            for needed in (0..70).chain([(1 << 31) - 1, 1 << 31, (1 << 31) + 1, u32::MAX - 1, u32::MAX]) {
                let mut rows = u64::from(current.max(1));
                while rows < u64::from(needed) {
                    rows *= 2;
                }
                let expected = if needed > max { 0 } else { rows.min(max.into()) };
                assert_eq!(u64::from(pool::grow_rows(current, needed, max)), expected);
            }
        }
    }
}

#[test]
fn pool_bytes_are_exact_in_64_bits() {
    let numbers = [0, 1, 2, 3, 7, 8, 9, 128, 65_535, 65_537, 1 << 31, u32::MAX - 1, u32::MAX];
    for rows in numbers {
        for heads in numbers {
            for dim in numbers {
                for bits in [0, 1, 2, 3, 4, 6, 8, 16, 31, 32, 63, 64, 65, u32::MAX] {
                    let elements = [rows, heads, dim].map(u128::from).iter().product::<u128>();
                    // More than 64 bits of elements are refused too, even where a bit each is fewer bytes.
                    let is_number = heads > 0 && dim > 0 && (1..=64).contains(&bits);
                    let elements = u64::try_from(elements).ok().filter(|_| is_number);
                    let bytes = |elements: u64| (u128::from(elements) * u128::from(bits)).div_ceil(8);
                    let expected = elements.and_then(|elements| u64::try_from(bytes(elements)).ok());
                    let answer = pool::pool_bytes(rows, heads, dim, bits);
                    assert_eq!(answer, expected.ok_or(Error::InvalidArgument), "{rows} {heads} {dim} {bits}");
                }
            }
        }
    }
}
