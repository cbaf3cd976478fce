//! No plan ever reads a row that does not hold the position it says, no safe rewind is refused, and a refusal
//! changes nothing: random operations on random caches, each beside a shadow of its pools.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small caches

use proptest::collection::vec;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};

#[path = "support/naive.rs"]
mod naive;
#[path = "support/random.rs"]
mod random;
#[path = "support/shadow.rs"]
mod shadow;

use kvcore::Error;
use random::{Driver, op, setup};
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
    let run = |(setup, ops): (random::Setup, Vec<random::Op>)| {
        let mut driver = Driver::new(&setup.config(), &tally);
        for op in &ops {
            driver.apply(op);
        }
        Ok(())
    };
    runner(1000).run(&cases, run).unwrap_or_else(|error| panic!("{error}"));
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
