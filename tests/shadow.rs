//! No plan ever reads a row that does not hold the position it says, no safe rewind is refused, and a refusal
//! changes nothing: random operations on random caches, each beside a shadow of its pools.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small caches

use proptest::collection::vec;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};

#[path = "support/both.rs"]
mod both;
#[path = "support/naive.rs"]
mod naive;
#[path = "support/random.rs"]
mod random;
#[path = "support/shadow.rs"]
mod shadow;

use both::OneSequence;
use kvcore::{Error, SeqPlan, SequenceCache, SequenceStorage};
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
    let cases = (setup(), vec(op(), 1..=60));
    let tally = Tally::default();
    let run = |(setup, ops): (Setup, Vec<Op>)| {
        let mut driver = Driver::new(&setup.config(), &tally);
        for op in &ops {
            driver.apply(op);
        }
        Ok(())
    };
    runner(800).run(&cases, run).unwrap_or_else(|error| panic!("{error}"));
    let rare =
        [Error::StepTooLarge, Error::NeverFits, Error::OutOfCapacity, Error::BadPosition, Error::BadLayer];
    let rare = rare.map(|error| ("plan", error.code()));
    for seen in rare.into_iter().chain([
        ("rewind", 0),
        ("rewind", Error::Evicted.code()),
        ("commit", Error::StalePlan.code()),
        ("write runs", 2),
        ("read runs", 3),
        ("mask", 2),
    ]) {
        let times = tally.borrow().get(&seen).copied().unwrap_or(0);
        println!("{times} times {seen:?}");
        assert!(times >= 10, "the cases are too tame: {times} times {seen:?}");
    }
}

/// What a cache answers to an operation, in words. `plans` are those of before, of the same cache.
fn answer(cache: &mut dyn OneSequence, op: &Op, plans: &mut Vec<SeqPlan>) -> String {
    let length = cache.length();
    let mut groups = [SeqPlan::EMPTY; 3];
    let answer = match op {
        Op::Step { n, accepted } => {
            let planned = cache.plan_step(length, *n, &mut groups);
            let committed = planned.and_then(|_| cache.commit(&groups[0], *accepted));
            format!("{planned:?} {groups:?} {committed:?}")
        }
        Op::Layers { n, layers } => {
            let planned: Vec<_> = layers.iter().map(|layer| cache.plan(*layer, length, *n)).collect();
            plans.extend(planned.iter().flatten());
            format!("{planned:?}")
        }
        Op::Groups { n } => {
            let planned = cache.plan_step(length, *n, &mut groups[..2]);
            plans.extend(planned.map(|_| groups[0]));
            format!("{planned:?} {groups:?}")
        }
        Op::Again { layer } => {
            let newest = plans.last().copied().unwrap_or(SeqPlan::EMPTY);
            format!("{:?}", cache.plan(*layer, newest.position, newest.n_tokens))
        }
        Op::Commit { back, accepted } => {
            let plan = plans.iter().rev().nth(*back).copied().unwrap_or(SeqPlan::EMPTY);
            format!("{:?}", cache.commit(&plan, *accepted))
        }
        Op::Back { by } => format!("{:?}", cache.rewind(length.saturating_sub(*by))),
        Op::To { length } => format!("{:?}", cache.rewind(*length)),
        Op::Clear => {
            cache.clear();
            String::new()
        }
        Op::Wild { layer, ahead, n } => format!("{:?}", cache.plan(*layer, length.wrapping_add(*ahead), *n)),
        Op::Fill { n } => format!("{:?} {:?}", cache.can_extend(*n), cache.layer(*n)),
    };
    format!("{answer} {} {}", cache.length(), cache.floor())
}

/// The shared form of a cache answers as the owned one, to anything.
#[test]
fn a_shared_cache_answers_as_an_owned_one() {
    let cases = (setup(), vec(op(), 1..=40));
    let run = |(setup, ops): (Setup, Vec<Op>)| {
        let storage = SequenceStorage::<{ both::LAYERS }>::new();
        let mut shared = storage.init(&setup.config()).expect("a sound config");
        let mut owned = SequenceCache::<{ both::LAYERS }>::new(&setup.config()).expect("a sound config");
        let mut plans = (Vec::new(), Vec::new());
        for op in &ops {
            let answers = (answer(&mut owned, op, &mut plans.0), answer(&mut shared, op, &mut plans.1));
            assert_eq!(answers.0, answers.1, "{op:?}");
        }
        Ok(())
    };
    runner(200).run(&cases, run).unwrap_or_else(|error| panic!("{error}"));
}
