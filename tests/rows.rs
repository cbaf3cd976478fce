//! Many sequences with rows of their own: no plan reads a row that does not hold the position it says, no safe rewind or
//! clone is refused, the shared capacity is kept, and a refusal changes nothing.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small caches

use proptest::collection::vec;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};

#[path = "rows/exhaustive.rs"]
mod exhaustive;
#[path = "rows/model.rs"]
mod model;
#[path = "support/naive.rs"]
mod naive;
#[path = "rows/random.rs"]
mod random;
#[path = "rows/shadow.rs"]
mod shadow;

use kvcore::rows::MAX_SEQS;
use kvcore::{
    Config, Error, Layer, RowsCache, RowsInner, Run, SeqPlan, SequenceCache, Span, UNBOUNDED, rows_words,
};
use random::{Driver, Op, Setup, op, setup};
use shadow::Tally;

/// The same cases every time; `KVC_CASES` asks for more.
fn runner(cases: u32) -> TestRunner {
    let cases = std::env::var("KVC_CASES").map_or(cases, |cases| cases.parse().expect("a number"));
    let runs = Runs { cases, failure_persistence: None, ..Runs::default() };
    TestRunner::new_with_rng(runs, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn rows_hold_what_plans_say() {
    let cases = (setup(), vec(op(), 1..=50));
    let tally = Tally::default();
    let run = |(setup, ops): (Setup, Vec<Op>)| {
        let mut driver = Driver::new(&setup.config(), &tally);
        for op in &ops {
            driver.apply(op);
        }
        Ok(())
    };
    runner(400).run(&cases, run).unwrap_or_else(|error| panic!("{error}"));
    let refused = [
        ("declare", Error::InvalidArgument),
        ("declare", Error::BadSequence),
        ("declare", Error::StepTooLarge),
        ("declare", Error::NeverFits),
        ("declare", Error::OutOfCapacity),
        ("place", Error::BadLayer),
        ("place", Error::NoStep),
        ("place", Error::BadPosition),
        ("place", Error::BufferTooSmall),
        ("new", Error::TableFull),
        ("clone", Error::BadSequence),
        ("clone", Error::Evicted),
        ("clone", Error::OutOfCapacity),
        ("clone", Error::TableFull),
        ("rewind", Error::BadSequence),
        ("rewind", Error::CannotGrow),
        ("rewind", Error::Evicted),
        ("release", Error::BadSequence),
        ("keep", Error::BadSequence),
    ];
    let refused = refused.map(|(what, error)| (what, error.code()));
    let done = ["declare", "place", "new", "clone", "rewind", "release", "keep", "clear", "again", "twice"];
    let shapes = [("write runs", 2), ("read runs", 3), ("mask", 2), ("sequences", 3)];
    for seen in refused.into_iter().chain(done.map(|what| (what, 0))).chain(shapes) {
        let times = tally.borrow().get(&seen).copied().unwrap_or(0);
        assert!(times >= 10, "the cases are too tame: {times} times {seen:?}");
    }
}

/// One sequence alone is planned as the one-sequence cache plans it.
#[test]
fn one_sequence_is_the_one_sequence_cache() {
    let layers = [Layer::ring(5).with_sinks(2), Layer::flat(), Layer::ring(3)];
    let config = Config { max_write: 4, rollback: 2, max_seqs: 3, ..Config::new(200, 3, &layers) };
    let mut rows = RowsInner::new(vec![0; rows_words(&config).unwrap()], &config).unwrap();
    let mut one = SequenceCache::<3>::new(&config).unwrap();
    rows.seq_new().unwrap();
    let seq = rows.seq_new().unwrap();
    for round in 0..200_u32 {
        let (length, n) = (one.length(), round * 7 % 4 + 1);
        let positions: Vec<u32> = (length..length + n).collect();
        rows.declare_step(&vec![seq; n as usize]).unwrap();
        for layer in [2, 0, 1] {
            let mut spans = [Span::default()];
            rows.place_step(layer, &positions, &mut spans).unwrap();
            let plan = one.plan(layer, length, n).unwrap();
            assert_eq!(SeqPlan { epoch: 0, ..spans[0].plan }, SeqPlan { epoch: 0, ..plan });
        }
        let plan = one.plan(0, length, n).unwrap();
        one.commit(&plan, n).unwrap();
        for target in 0..=one.length() + 1 {
            let (mut ours, mut theirs) = (rows.clone(), one.clone());
            assert_eq!(ours.rewind(seq, target), theirs.rewind(target), "from {} to {target}", one.length());
        }
        let target = one.length().saturating_sub(round * 5 % 6);
        assert_eq!(rows.rewind(seq, target), one.rewind(target));
        if one.length() > 190 {
            rows.rewind(seq, 0).unwrap();
            one.rewind(0).unwrap();
        }
    }
}

fn cache(words: &mut Vec<u32>, config: &Config<'_>) -> Result<(), Error> {
    words.resize(rows_words(config)?, 0);
    RowsCache::new(words, config).map(|_| ())
}

#[test]
fn configs_that_contradict_themselves() {
    let flat = [Layer::flat()];
    let ring = [Layer::ring(4)];
    let good = Config { max_seqs: 2, ..Config::new(16, 1, &flat) };
    let words = &mut Vec::new();
    assert_eq!(cache(words, &good), Ok(()));
    let bad = [
        Config { max_seqs: 0, ..good },
        Config { max_seqs: MAX_SEQS + 1, ..good },
        Config { capacity: 0, ..good },
        Config { capacity: UNBOUNDED, layers: &ring, ..good },
        Config { n_layers: 0, ..good },
        Config { layers: &[], ..good },
    ];
    for config in bad {
        assert_eq!(rows_words(&config), Err(Error::InvalidConfig), "{config:?}");
        assert_eq!(RowsCache::new(&mut [0; 512], &config).err(), Some(Error::InvalidConfig));
    }
    assert_eq!(cache(words, &Config { max_seqs: MAX_SEQS, ..good }), Ok(()));
    let mut few = vec![0; rows_words(&good).unwrap() - 1];
    assert_eq!(RowsCache::new(&mut few, &good).err(), Some(Error::BufferTooSmall));
    assert_eq!(RowsInner::new([0; 0], &good).err(), Some(Error::BufferTooSmall));
}

/// The longest step that there can be, in as many spans as tokens, fits into the words that were asked for.
#[test]
fn the_words_are_exact() {
    let layers = [Layer::ring(6), Layer::ring(3).with_sinks(1)];
    for (capacity, max_write, tokens) in [(64, 0, 4 * 3_usize), (64, 5, 4 * 5), (11, 5, 11)] {
        let config = Config { max_seqs: 4, max_write, ..Config::new(capacity, 2, &layers) };
        let n_words = rows_words(&config).unwrap();
        assert_eq!(n_words, 1 + 4 * (4 + 2) + tokens.div_ceil(2));
        let mut words = vec![0; n_words + 1];
        words[n_words] = 0xABCD;
        let mut cache = RowsCache::new(&mut words, &config).unwrap();
        let seqs = [(); 4].map(|()| cache.seq_new().unwrap());
        let ids: Vec<u32> = seqs.into_iter().cycle().take(tokens).collect();
        cache.declare_step(&ids).unwrap();
        assert_eq!(cache.n_spans(), Ok(tokens));
        let positions: Vec<u32> = (0..tokens as u32).map(|token| token / 4).collect();
        let mut spans = vec![Span::default(); tokens];
        assert_eq!(cache.place_step(1, &positions, &mut spans), Ok(tokens));
        assert!(spans.iter().zip(ids).all(|(span, seq)| span.seq == seq && span.n_tokens == 1));
        let tokens_of_last = cache.seq_len(3).unwrap();
        assert_eq!(tokens_of_last as usize, tokens / 4);
        assert_eq!(words[n_words], 0xABCD);
    }
}

#[test]
fn the_capacity_is_shared() {
    let layers = [Layer::flat()];
    let config = Config { max_seqs: 3, ..Config::new(10, 1, &layers) };
    let mut cache = RowsInner::new(vec![0; rows_words(&config).unwrap()], &config).unwrap();
    let (a, b) = (cache.seq_new().unwrap(), cache.seq_new().unwrap());
    assert_eq!(cache.declare_step(&[a; 11]), Err(Error::NeverFits));
    assert_eq!(cache.declare_step(&[[a; 6], [b; 6]].concat()), Err(Error::NeverFits));
    cache.declare_step(&[a; 6]).unwrap();
    // Nothing counts before it is placed.
    assert_eq!((cache.free_rows(), cache.can_admit(b, 10)), (10, Ok(true)));
    cache.place_step(0, &[0, 1, 2, 3, 4, 5], &mut [Span::default()]).unwrap();
    assert_eq!(cache.free_rows(), 4);
    assert_eq!((cache.can_admit(a, 4), cache.can_admit(b, 5)), (Ok(true), Ok(false)));
    assert_eq!(cache.declare_step(&[b; 5]), Err(Error::OutOfCapacity));
    assert_eq!(cache.seq_clone(a, UNBOUNDED), Err(Error::OutOfCapacity));
    assert_eq!(cache.seq_clone(a, 4), Ok(2));
    assert_eq!(cache.seq_clone(a, 0), Err(Error::TableFull));
    assert_eq!(cache.free_rows(), 0);
    cache.seq_release(a).unwrap();
    assert_eq!(cache.free_rows(), 6);
    cache.seq_keep(b).unwrap();
    assert_eq!(cache.free_rows(), 10);
}

/// Rings alone take what they have, however long a sequence gets; a ring that the capacity cuts short never comes round.
#[test]
fn rings_stop_at_their_rows() {
    let layers = [Layer::ring(3), Layer::ring(4)];
    let config = Config { max_seqs: 2, max_write: 1, ..Config::new(6, 2, &layers) };
    let mut cache = RowsInner::new(vec![0; rows_words(&config).unwrap()], &config).unwrap();
    let (a, b) = (cache.seq_new().unwrap(), cache.seq_new().unwrap());
    let mut step = |seq: u32, position: u32| {
        cache.declare_step(&[seq])?;
        cache.place_step(0, &[position], &mut [Span::default()])?;
        Ok(cache.free_rows())
    };
    for position in 0..50 {
        assert_eq!(step(a, position), Ok(6 - (position + 1).min(4)));
    }
    assert_eq!((step(b, 0), step(b, 1), step(b, 2)), (Ok(1), Ok(0), Err(Error::OutOfCapacity)));
    assert_eq!(step(a, 50), Ok(0)); // takes no row more

    let layers = [Layer::ring(8)];
    let config = Config { max_seqs: 1, max_write: 1, ..Config::new(6, 1, &layers) };
    let mut cache = RowsInner::new(vec![0; rows_words(&config).unwrap()], &config).unwrap();
    let a = cache.seq_new().unwrap();
    for position in 0..6 {
        cache.declare_step(&[a]).unwrap();
        cache.place_step(0, &[position], &mut [Span::default()]).unwrap();
    }
    assert_eq!(cache.declare_step(&[a]), Err(Error::OutOfCapacity));
}

#[test]
fn the_context_bounds_each_sequence() {
    let layers = [Layer::flat()];
    let config = Config { max_seqs: 2, max_context: 3, ..Config::new(10, 1, &layers) };
    let mut cache = RowsInner::new(vec![0; rows_words(&config).unwrap()], &config).unwrap();
    let (a, b) = (cache.seq_new().unwrap(), cache.seq_new().unwrap());
    assert_eq!(cache.declare_step(&[a; 4]), Err(Error::NeverFits));
    cache.declare_step(&[a, b, a]).unwrap();
    cache.place_step(0, &[0, 0, 1], &mut [Span::default(); 3]).unwrap();
    assert_eq!((cache.can_admit(a, 1), cache.can_admit(a, 2)), (Ok(true), Ok(false)));
    assert_eq!(cache.declare_step(&[a, a]), Err(Error::OutOfCapacity));
    assert_eq!(cache.declare_step(&[b, b]), Ok(()));
    assert_eq!(cache.can_admit(a, u32::MAX), Ok(false));
}

/// A refused declaration leaves the earlier one standing; a good one replaces it, placed or not.
#[test]
fn declarations_replace_each_other() {
    let layers = [Layer::ring(2)];
    let config = Config { max_seqs: 2, ..Config::new(20, 1, &layers) };
    let mut cache = RowsInner::new(vec![0; rows_words(&config).unwrap()], &config).unwrap();
    let (a, b) = (cache.seq_new().unwrap(), cache.seq_new().unwrap());
    let mut spans = [Span::default(); 2];
    assert_eq!(cache.place_step(0, &[0], &mut spans), Err(Error::NoStep));
    cache.declare_step(&[a, b]).unwrap();
    for (ids, error) in [
        (vec![], Error::InvalidArgument),
        (vec![a, 2], Error::BadSequence),
        (vec![b, b, b], Error::StepTooLarge),
    ] {
        assert_eq!(cache.declare_step(&ids), Err(error));
    }
    assert_eq!(cache.place_step(0, &[0, 0], &mut spans[..1]), Err(Error::BufferTooSmall));
    assert_eq!(cache.seq_len(a), Ok(0));
    assert_eq!(cache.place_step(0, &[0, 0], &mut spans), Ok(2));
    let first = spans;
    assert_eq!(cache.declare_step(&[2]), Err(Error::BadSequence));
    assert_eq!(cache.place_step(0, &[0, 0], &mut spans), Ok(2));
    assert_eq!(spans, first, "the same step, the same plans");
    assert_eq!(cache.place_step(0, &[1, 1], &mut spans), Err(Error::NoStep));
    cache.declare_step(&[b, b]).unwrap();
    assert_eq!(cache.place_step(0, &[0, 0], &mut spans), Err(Error::BadPosition));
    cache.declare_step(&[b, a]).unwrap();
    assert_eq!(cache.place_step(0, &[1, 1], &mut spans), Ok(2));
    assert_ne!(spans[0].plan.epoch, first[0].plan.epoch);
    // Cancelled.
    for seq in [a, b] {
        cache.rewind(seq, 1).unwrap();
    }
    assert_eq!((cache.next_pos(a), cache.next_pos(b)), (Ok(1), Ok(1)));
    assert_eq!(cache.n_spans(), Err(Error::NoStep));
}

/// What a clone holds is what the list says: it can go on, but not back to where a row is missing.
#[test]
fn a_clone_holds_what_it_was_given() {
    let layers = [Layer::ring(4).with_sinks(1)];
    let config = Config { max_seqs: 4, max_write: 3, rollback: 2, ..Config::new(64, 1, &layers) };
    let mut cache = RowsInner::new(vec![0; rows_words(&config).unwrap()], &config).unwrap();
    let a = cache.seq_new().unwrap();
    for start in (0..12).step_by(3) {
        cache.declare_step(&[a; 3]).unwrap();
        cache.place_step(0, &[start, start + 1, start + 2], &mut [Span::default()]).unwrap();
    }
    // A ring of 8 rows behind the sink: 4 to 11 are in their rows.
    assert_eq!(cache.seq_clone(a, 6), Err(Error::Evicted));
    let b = cache.seq_clone(a, 10).unwrap();
    let mut runs = [Run::default(); 3];
    assert_eq!(cache.held(0, b, &mut runs), Ok(3));
    let rows = [
        Run { start: 0, len: 1, pos: 0 },
        Run { start: 7, len: 2, pos: 7 },
        Run { start: 1, len: 1, pos: 9 },
    ];
    assert_eq!(runs, rows);
    assert_eq!((cache.first_pos(a), cache.first_pos(b)), (Ok(0), Ok(0)));
    assert_eq!((cache.rewind(a, 9), cache.rewind(b, 9)), (Ok(()), Err(Error::Evicted)));
    assert_eq!((cache.seq_len(a), cache.seq_len(b)), (Ok(9), Ok(10)));
    cache.seq_clone(b, 0).unwrap();
    assert_eq!((cache.first_pos(2), cache.held(0, 2, &mut runs)), (Ok(UNBOUNDED), Ok(0)));
    cache.rewind(b, 0).unwrap();
}
