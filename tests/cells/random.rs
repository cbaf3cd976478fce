//! Random operations on random caches, each beside the model and the shadow.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small caches

use kvcore::config::{KEEP_CELLS, SPLIT_POOLS};
use kvcore::{Error, Layer, MASK_CAUSAL, MASK_EXPLICIT, MASK_NONE, UNBOUNDED};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};

use crate::pair::{Pair, Tally};
use crate::setup::Setup;

fn layout() -> impl Strategy<Value = Layer> {
    prop_oneof![
        2 => Just(Layer::flat()),
        5 => (1..=9_u32, 0..=3_u32).prop_map(|(window, sinks)| Layer::ring(window).with_sinks(sinks)),
    ]
}

/// One to five layers of at most three layouts; some use the rows of an earlier one of the same layout.
fn layers() -> impl Strategy<Value = Vec<Layer>> {
    (vec(layout(), 1..=3), vec((0..3_usize, any::<bool>()), 1..=5)).prop_map(|(layouts, choices)| {
        let mut layers: Vec<Layer> = Vec::new();
        for (choice, shares) in choices {
            let layer = layouts[choice % layouts.len()];
            let donor = layers.iter().rposition(|earlier| Layer { shares_with: 0, ..*earlier } == layer);
            layers.push(match donor {
                Some(donor) if shares => layer.sharing(donor as u32),
                _ => layer,
            });
        }
        layers
    })
}

fn setup() -> impl Strategy<Value = Setup> {
    let capacity = prop_oneof![3 => 1..=12_u32, 3 => 13..=70_u32, 1 => 71..=200_u32];
    let max_seqs = prop_oneof![4 => 1..=5_u32, 1 => 6..=64_u32];
    let max_write = prop_oneof![1 => Just(0), 1 => 1..=12_u32];
    let max_context = prop_oneof![3 => Just(0), 1 => 1..=60_u32];
    let flags = prop_oneof![4 => Just(0), 4 => Just(SPLIT_POOLS), 1 => Just(KEEP_CELLS), 1 => Just(SPLIT_POOLS | KEEP_CELLS)];
    let bounds = (max_write, 0..=3_u32, max_context, flags);
    (layers(), capacity, max_seqs, bounds).prop_map(|(layers, capacity, max_seqs, bounds)| {
        let sinks = layers.iter().map(|layer| layer.sinks).max().unwrap_or(0);
        let (max_write, rollback, max_context, flags) = bounds;
        Setup {
            max_write,
            rollback,
            max_context,
            flags,
            ..Setup::new(capacity.max(sinks + 1), max_seqs, &layers)
        }
    })
}

/// Something that an application or a backend does. A sequence is one of the live ones, counted round; positions are
/// counted back from its next one.
#[derive(Clone, Debug)]
enum Op {
    /// A whole step: for each token its sequence and how many positions it leaves out.
    Step(Vec<(u32, u32)>),
    /// So many tokens of one sequence.
    Append(u32, u32),
    /// The same, then every sequence goes back to where it was.
    Cancel(u32, u32),
    /// Only declared, one of the ids as it stands.
    Declare(Vec<u32>, Option<u32>),
    /// A declared step whose backend gets one position wrong by so much, then none.
    Corrected(Vec<(u32, u32)>, usize, i32),
    /// The declared step, with one position wrong by so much, or so many positions, on any layer.
    Place {
        layer: u32,
        wrong: Option<(usize, i32)>,
        n: Option<usize>,
    },
    New,
    Clone(u32, u32),
    CloneAll(u32),
    Remove(u32, u32, u32),
    Release(u32),
    Keep(u32),
    Shift(u32, u32, u32, i32),
    /// Keep so many positions, drop so many behind them, close the gap.
    ContextShift(u32, u32, u32),
    Rewind(u32, i32),
    Clear,
    Defrag(u32, usize),
    ReadShifts(u32),
    ApplyShifts,
    /// A shift that a step's backend has begun to apply.
    Freeze(u32, i32),
    /// An id that may not be live.
    Wild(u32),
}

fn op() -> impl Strategy<Value = Op> {
    let seq = || 0..64_u32;
    let gap = || prop_oneof![12 => Just(0), 1 => 1..=12_u32];
    let back = || prop_oneof![4 => 0..=8_u32, 1 => 0..=60_u32];
    let wrong = (0..8_usize, prop_oneof![4 => -3..=3_i32, 1 => Just(-100), 1 => Just(70)]);
    prop_oneof![
        8 => vec((prop_oneof![seq(), 0..2_u32], gap()), 1..=10).prop_map(Op::Step),
        8 => (seq(), prop_oneof![3 => 1..=9_u32, 1 => 1..=40_u32]).prop_map(|(seq, n)| Op::Append(seq, n)),
        1 => (seq(), 1..=5_u32).prop_map(|(seq, n)| Op::Cancel(seq, n)),
        2 => (vec(seq(), 0..=14), prop_oneof![6 => Just(None), 1 => seq().prop_map(Some)])
            .prop_map(|(seqs, raw)| Op::Declare(seqs, raw)),
        2 => (vec((seq(), gap()), 1..=6), wrong.clone())
            .prop_map(|(tokens, (at, by))| Op::Corrected(tokens, at, by)),
        3 => (0..6_u32, prop::option::of(wrong), prop_oneof![6 => Just(None), 1 => (0..9_usize).prop_map(Some)])
            .prop_map(|(layer, wrong, n)| Op::Place { layer, wrong, n }),
        4 => Just(Op::New),
        3 => (seq(), back()).prop_map(|(seq, back)| Op::Clone(seq, back)),
        2 => seq().prop_map(Op::CloneAll),
        4 => (seq(), back(), back()).prop_map(|(seq, back, len)| Op::Remove(seq, back, len)),
        2 => seq().prop_map(Op::Release),
        1 => prop_oneof![1 => seq().prop_map(Op::Keep), 1 => Just(Op::Clear), 2 => Just(Op::New)],
        3 => (seq(), back(), back(), prop_oneof![3 => -9..=9_i32, 1 => Just(i32::MAX), 1 => Just(i32::MIN)])
            .prop_map(|(seq, back, len, delta)| Op::Shift(seq, back, len, delta)),
        2 => (seq(), 0..=4_u32, 1..=12_u32).prop_map(|(seq, keep, drop)| Op::ContextShift(seq, keep, drop)),
        4 => (seq(), prop_oneof![6 => 0..=9_i32, 1 => 0..=60_i32, 1 => Just(-1)]).prop_map(|(seq, back)| Op::Rewind(seq, back)),
        3 => (0..6_u32, prop_oneof![0..=3_usize, Just(300)]).prop_map(|(layer, cap)| Op::Defrag(layer, cap)),
        2 => (0..6_u32).prop_map(Op::ReadShifts),
        2 => Just(Op::ApplyShifts),
        1 => (seq(), 1..=5_i32).prop_map(|(seq, delta)| Op::Freeze(seq, delta)),
        1 => prop_oneof![seq(), 60..=70_u32, Just(u32::MAX)].prop_map(Op::Wild),
    ]
}

impl Pair<'_> {
    /// A live sequence, if there is one.
    fn pick(&self, at: u32) -> u32 {
        let live = self.model.live();
        if live.is_empty() { 0 } else { live[at as usize % live.len()] }
    }

    /// Does it; what is answered is compared inside, refusals too.
    fn apply(&mut self, op: &Op) {
        match op {
            Op::Step(tokens) => {
                let (seqs, positions) = self.tokens(tokens);
                let _ = self.step(&seqs, &positions);
            }
            Op::Append(seq, n) => _ = self.append(self.pick(*seq), *n),
            Op::Cancel(seq, n) => self.cancel(self.pick(*seq), *n),
            Op::Declare(seqs, raw) => {
                let seqs: Vec<u32> = seqs.iter().map(|seq| self.pick(*seq)).chain(*raw).collect();
                let _ = self.declare(&seqs);
            }
            Op::Corrected(tokens, at, by) => {
                let (seqs, right) = self.tokens(tokens);
                let (mut wrong, at) = (right.clone(), at % right.len());
                wrong[at] = wrong[at].wrapping_add_signed(*by);
                if self.declare(&seqs).is_ok() && self.place(0, &wrong).is_err() {
                    let _ = self.place(0, &right);
                }
            }
            Op::Place { layer, wrong, n } => self.any_place(*layer, *wrong, *n),
            Op::New => _ = self.seq_new(),
            Op::Clone(seq, back) => {
                let (seq, next) = self.end(*seq);
                let _ = self.seq_clone(seq, next.saturating_sub(*back));
            }
            Op::CloneAll(seq) => _ = self.seq_clone(self.pick(*seq), UNBOUNDED),
            Op::Remove(seq, back, len) => {
                let (seq, next) = self.end(*seq);
                let from = next.saturating_sub(*back);
                // Now and then a range that ends before it begins.
                let to = if *len == 7 { from.wrapping_sub(1) } else { from.saturating_add(*len) };
                let _ = self.seq_remove(seq, from, to);
            }
            Op::Release(seq) => _ = self.seq_release(self.pick(*seq)),
            Op::Keep(seq) => _ = self.seq_keep(self.pick(*seq)),
            Op::Shift(seq, back, len, delta) => {
                let (seq, next) = self.end(*seq);
                let from = next.saturating_sub(*back);
                let to = if *len == 8 { UNBOUNDED } else { from.saturating_add(*len) };
                let _ = self.seq_shift(seq, from, to, *delta);
            }
            Op::ContextShift(seq, keep, drop) => {
                let (seq, first) = (self.pick(*seq), self.model.first_pos(self.pick(*seq)).unwrap_or(0));
                let from = first.saturating_add(*keep);
                let end = from.saturating_add(*drop);
                let _ = self.seq_remove(seq, from, end);
                let _ = self.seq_shift(seq, end, UNBOUNDED, -(*drop as i32));
            }
            Op::Rewind(seq, back) => {
                let (seq, next) = self.end(*seq);
                let _ = self.rewind(seq, next.saturating_add_signed(-back));
            }
            Op::Clear => self.clear(),
            Op::Defrag(layer, cap) => _ = self.defrag(*layer, *cap),
            Op::ReadShifts(layer) => self.read_and_drop(*layer),
            Op::ApplyShifts => self.apply_shifts(),
            Op::Freeze(seq, delta) => {
                let (seq, next) = self.end(*seq);
                let _ = self.seq_shift(seq, next.saturating_sub(1), UNBOUNDED, *delta);
                let _ = self.append(seq, 1);
                self.read_and_drop(0);
            }
            Op::Wild(seq) => self.wild(*seq),
        }
    }

    fn end(&self, at: u32) -> (u32, u32) {
        let seq = self.pick(at);
        (seq, self.model.next_pos(seq).unwrap_or(0))
    }

    /// Positions for a step of these sequences, each behind its last with such gaps.
    fn positions(&self, seqs: &[u32], gaps: &[u32]) -> Vec<u32> {
        let mut positions: Vec<u32> = Vec::new();
        for (at, (seq, gap)) in seqs.iter().zip(gaps).enumerate() {
            let before = (0..at).rev().find(|before| seqs[*before] == *seq);
            let next = before
                .map_or(self.model.next_pos(*seq).unwrap_or(0), |before| positions[before].saturating_add(1));
            positions.push(next.saturating_add(*gap));
        }
        positions
    }

    /// Sequences and positions of a step.
    fn tokens(&self, tokens: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
        let seqs: Vec<u32> = tokens.iter().map(|(seq, _)| self.pick(*seq)).collect();
        let gaps: Vec<u32> = tokens.iter().map(|(_, gap)| *gap).collect();
        let positions = self.positions(&seqs, &gaps);
        (seqs, positions)
    }

    fn any_place(&mut self, layer: u32, wrong: Option<(usize, i32)>, n: Option<usize>) {
        let step = self.model.state.step.clone();
        let seqs = step.as_ref().map_or(vec![0], |step| step.seqs.clone());
        let mut positions = match step.and_then(|step| step.placed) {
            Some(placed) => placed.positions,
            None => self.positions(&seqs, &vec![0; seqs.len()]),
        };
        if let Some((at, by)) = wrong {
            let at = at % positions.len();
            positions[at] = positions[at].wrapping_add_signed(by);
        }
        positions.resize(n.unwrap_or(positions.len()), 5);
        let _ = self.place(layer, &positions);
    }

    /// A step whose forward failed: nothing of it stays.
    fn cancel(&mut self, seq: u32, n: u32) {
        let Ok(next) = self.model.next_pos(seq) else { return };
        let whole = self.model.check_window(seq).is_ok();
        if self.append(seq, n).is_ok() {
            let answer = self.rewind(seq, next);
            assert!(answer.is_ok() || !whole, "not back to where it was");
        }
    }

    /// A layer reads the shifts but does not say that it is done.
    fn read_and_drop(&mut self, layer: u32) {
        let _ = self.read_shifts(layer);
        self.audit();
    }

    fn wild(&mut self, seq: u32) {
        if self.model.is_live(seq) {
            return;
        }
        let refused = Err(Error::BadSequence);
        assert_eq!(self.declare(&[seq]), refused);
        assert_eq!(self.seq_clone(seq, 0), Err(Error::BadSequence));
        assert_eq!(self.seq_remove(seq, 0, 1), refused);
        assert_eq!(self.seq_release(seq), refused);
        assert_eq!(self.seq_keep(seq), refused);
        assert_eq!(self.seq_shift(seq, 0, 1, 1), refused);
        assert_eq!(self.rewind(seq, 0), refused);
    }
}

/// The same cases every time; `KVC_CASES` asks for more.
fn runner(cases: u32) -> TestRunner {
    let cases = std::env::var("KVC_CASES").map_or(cases, |cases| cases.parse().expect("a number"));
    let runs = Runs { cases, failure_persistence: None, ..Runs::default() };
    TestRunner::new_with_rng(runs, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn a_cell_cache_is_what_the_model_is() {
    let cases = (setup(), vec(op(), 1..=60));
    let tally = Tally::default();
    let reads = std::cell::Cell::new(0);
    let run = |(setup, ops): (Setup, Vec<Op>)| {
        let mut words = Vec::new();
        let mut pair = Pair::new(&mut words, &setup, &tally);
        for seq in 0..setup.max_seqs.min(3) {
            assert_eq!(pair.seq_new(), Ok(seq));
        }
        for op in &ops {
            pair.apply(op);
        }
        reads.set(reads.get() + pair.shadow.reads);
        Ok(())
    };
    runner(600).run(&cases, run).unwrap_or_else(|error| panic!("{error}"));
    println!("{} rows were read under masks", reads.get());
    let (shift, place, declare) = ("seq_shift", "place_step", "declare_step");
    let rare = [
        (declare, Error::InvalidArgument),
        (declare, Error::BadSequence),
        (declare, Error::StepTooLarge),
        (declare, Error::NeverFits),
        (declare, Error::OutOfCapacity),
        (place, Error::BadLayer),
        (place, Error::NoStep),
        (place, Error::BadPosition),
        (place, Error::OutOfCapacity),
        ("seq_new", Error::TableFull),
        ("seq_clone", Error::TableFull),
        ("seq_clone", Error::Evicted),
        ("seq_remove", Error::InvalidArgument),
        ("seq_remove", Error::Evicted),
        (shift, Error::Shared),
        (shift, Error::BadPosition),
        (shift, Error::Unsupported),
        ("rewind", Error::CannotGrow),
        ("rewind", Error::Evicted),
        ("shifts", Error::BadLayer),
        ("shifts", Error::BufferTooSmall),
        ("defrag", Error::BadLayer),
        ("defrag", Error::Unsupported),
    ];
    let rare = rare.map(|(call, error)| (call, error.code())).into_iter();
    let kinds = [MASK_NONE, MASK_CAUSAL, MASK_EXPLICIT].map(|mask| ("mask", mask as i32));
    for seen in rare.chain(kinds).chain([(shift, 0), ("defrag", 0), ("seq_clone", 0)]) {
        let times = tally.borrow().get(&seen).copied().unwrap_or(0);
        println!("{times} times {seen:?}");
        assert!(times >= 10, "the cases are too tame: {times} times {seen:?}");
    }
}
