//! Random configs, and random operations on a shadowed cache, for proptest.
#![allow(dead_code)] // each test binary uses its own part

use kvcore::{Config, Error, LAYER_FLAT, Layer, UNBOUNDED};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::shadow::{Planned, Shadow, Tally};

/// A config that owns its layers.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) layers: Vec<Layer>,
    pub(crate) capacity: u32,
    pub(crate) max_write: u32,
    pub(crate) rollback: u32,
    pub(crate) max_context: u32,
}

impl Setup {
    pub(crate) fn config(&self) -> Config<'_> {
        Config {
            max_write: self.max_write,
            rollback: self.rollback,
            max_context: self.max_context,
            ..Config::new(self.capacity, self.layers.len() as u32, &self.layers)
        }
    }
}

fn layout() -> impl Strategy<Value = Layer> {
    prop_oneof![
        2 => Just(Layer::flat()),
        5 => (1..=6_u32, 0..=3_u32).prop_map(|(window, sinks)| Layer::ring(window).with_sinks(sinks)),
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

pub(crate) fn setup() -> impl Strategy<Value = Setup> {
    let bound = prop_oneof![4 => Just(0), 1 => 1..=48_u32];
    let max_write = prop_oneof![1 => Just(0), 2 => 1..=6_u32];
    (layers(), 1..=64_u32, any::<bool>(), max_write, 0..=4_u32, bound).prop_map(
        |(layers, capacity, bounded, max_write, rollback, max_context)| {
            let is_bounded = bounded || layers.iter().any(|layer| layer.kind == LAYER_FLAT);
            let sinks = layers.iter().map(|layer| layer.sinks).max().unwrap_or(0);
            let capacity = if is_bounded { capacity.max(sinks + 1) } else { UNBOUNDED };
            Setup { layers, capacity, max_write, rollback, max_context }
        },
    )
}

/// Something that an application or a backend does. But for the wild ones, numbers are cut to what the cache has.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A whole step: `n` tokens, the first `accepted` of them kept.
    Step {
        n: u32,
        accepted: u32,
    },
    /// A step that only some layers plan, in any order and more than once.
    Layers {
        n: u32,
        layers: Vec<u32>,
    },
    /// All groups at once.
    Groups {
        n: u32,
    },
    /// The newest step once more, for one layer.
    Again {
        layer: u32,
    },
    /// A plan of before, 0 for the newest.
    Commit {
        back: usize,
        accepted: u32,
    },
    /// Back by so many tokens.
    Back {
        by: u32,
    },
    /// Back to this length, modulo what there is.
    To {
        length: u32,
    },
    Clear,
    /// A plan of any size, `ahead` of the position before the length (1: where a step starts).
    Wild {
        layer: u32,
        ahead: u32,
        n: u32,
    },
    /// Tokens until no more fit, on a copy.
    Fill {
        n: u32,
    },
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    let n = 1..=7_u32;
    prop_oneof![
        16 => (n.clone(), 0..=9_u32).prop_map(|(n, accepted)| Op::Step { n, accepted }),
        4 => (n.clone(), vec(0..6_u32, 1..=4)).prop_map(|(n, layers)| Op::Layers { n, layers }),
        2 => n.clone().prop_map(|n| Op::Groups { n }),
        2 => (0..6_u32).prop_map(|layer| Op::Again { layer }),
        4 => (0..=2_usize, 0..=8_u32).prop_map(|(back, accepted)| Op::Commit { back, accepted }),
        3 => (0..=8_u32).prop_map(|by| Op::Back { by }),
        2 => (0..=60_u32).prop_map(|length| Op::To { length }),
        1 => Just(Op::Clear),
        3 => (0..7_u32, prop_oneof![4 => Just(1), 1 => 0..=60_u32], prop_oneof![2 => 0..=70_u32, 1 => Just(u32::MAX - 1)])
            .prop_map(|(layer, ahead, n)| Op::Wild { layer, ahead, n }),
        1 => n.prop_map(|n| Op::Fill { n }),
    ]
}

/// A shadowed cache and the plans that were made with it.
pub(crate) struct Driver {
    pub(crate) shadow: Shadow,
    plans: Vec<Planned>,
}

impl Driver {
    pub(crate) fn new(config: &Config<'_>, tally: &Tally) -> Self {
        Self { shadow: Shadow::new(config, tally), plans: Vec::new() }
    }

    /// Does it; the shadow checks whatever is answered.
    pub(crate) fn apply(&mut self, op: &Op) {
        let (length, n_layers) = (self.shadow.length(), self.shadow.n_layers());
        match op {
            Op::Step { n, accepted } => {
                let n = self.fitting(*n);
                if let Ok(plans) = self.shadow.plan_step(length, n) {
                    self.plans.push(plans[0]);
                    self.commit(0, (*accepted).min(n));
                }
            }
            Op::Layers { n, layers } => {
                for layer in layers {
                    let planned = self.shadow.plan(layer % n_layers, length, self.fitting(*n));
                    self.plans.extend(planned);
                }
            }
            Op::Groups { n } => {
                let plans = self.shadow.plan_step(length, self.fitting(*n));
                self.plans.extend(plans.into_iter().flatten());
            }
            Op::Again { layer } => {
                if let Some(step) = self.shadow.step() {
                    let planned = self.shadow.plan(layer % n_layers, step.position, step.n);
                    self.plans.extend(planned);
                }
            }
            Op::Commit { back, accepted } => self.commit(*back, *accepted),
            Op::Back { by } => _ = self.shadow.rewind(length.saturating_sub(*by)),
            Op::To { length: to } => _ = self.shadow.rewind(to % (length + 2)),
            Op::Clear => self.shadow.clear(),
            Op::Wild { layer, ahead, n } => {
                let position = length.wrapping_add(*ahead).wrapping_sub(1);
                self.plans.extend(self.shadow.plan(*layer, position, *n));
            }
            Op::Fill { n } => fill(self.shadow.clone(), *n),
        }
    }

    /// A number of tokens that has room if any has.
    fn fitting(&self, n: u32) -> u32 {
        (n - 1) % self.shadow.room().max(1) + 1
    }

    fn commit(&mut self, back: usize, accepted: u32) {
        if let Some(planned) = self.plans.iter().rev().nth(back) {
            // The shadow knows what to expect, a refusal too.
            let _ = self.shadow.commit(planned, accepted);
        }
    }
}

/// Extends by pieces of at most `n` until no more fit: `can_extend` must have known how many do.
fn fill(mut shadow: Shadow, n: u32) {
    let start = shadow.length();
    let mut fitted = 0;
    while let room @ 1.. = shadow.room() {
        assert_eq!(shadow.cache.can_extend(1), Ok(true));
        let planned = shadow.plan(0, start + fitted, n.min(room)).expect("there is room");
        shadow.commit(&planned, n.min(room)).expect("the newest plan");
        fitted += n.min(room);
        if fitted > 80 {
            return; // windows alone bound it: there is always room
        }
    }
    let refused = shadow.plan(0, start + fitted, 1).err();
    assert_eq!(refused, Some(Error::OutOfCapacity), "full at {}", start + fitted);
}
