//! Random configs and random operations for proptest. Most numbers are cut to what there is; some are left wild.

use kvcore::{Config, LAYER_FLAT, Layer, UNBOUNDED};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::shadow::{Shadow, Tally};

/// A config that owns its layers.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    layers: Vec<Layer>,
    capacity: u32,
    max_write: u32,
    rollback: u32,
    max_context: u32,
    max_seqs: u32,
}

impl Setup {
    pub(crate) fn config(&self) -> Config<'_> {
        Config {
            max_write: self.max_write,
            rollback: self.rollback,
            max_context: self.max_context,
            max_seqs: self.max_seqs,
            ..Config::new(self.capacity, self.layers.len() as u32, &self.layers)
        }
    }
}

fn layout() -> impl Strategy<Value = Layer> {
    prop_oneof![
        1 => Just(Layer::flat()),
        4 => (1..=6_u32, 0..=3_u32).prop_map(|(window, sinks)| Layer::ring(window).with_sinks(sinks)),
    ]
}

/// One to four layers of at most three layouts; some use the rows of an earlier one of the same layout.
fn layers() -> impl Strategy<Value = Vec<Layer>> {
    (vec(layout(), 1..=3), vec((0..3_usize, any::<bool>()), 1..=4)).prop_map(|(layouts, choices)| {
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
    let max_context = prop_oneof![4 => Just(0), 1 => 1..=30_u32];
    let max_write = prop_oneof![1 => Just(0), 2 => 1..=6_u32];
    (layers(), 1..=64_u32, max_write, 0..=4_u32, max_context, 1..=5_u32).prop_map(
        |(layers, capacity, max_write, rollback, max_context, max_seqs)| {
            let sinks = layers.iter().map(|layer| layer.sinks).max().unwrap_or(0);
            let flat = layers.iter().any(|layer| layer.kind == LAYER_FLAT);
            let capacity = if flat { capacity * 2 } else { capacity }.max(sinks + 1);
            Setup { layers, capacity, max_write, rollback, max_context, max_seqs }
        },
    )
}

/// Something that an application or a backend does. A sequence is a number into those that live.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    New,
    /// A new sequence and its prompt, in whole steps.
    Prompt {
        n: u32,
    },
    /// A whole step of these sequences and tokens each, for every layer from `first` on.
    Step {
        parts: Vec<(usize, u32)>,
        first: u32,
    },
    Declare {
        parts: Vec<(usize, u32)>,
    },
    /// The declared or placed step for one layer.
    Place {
        layer: u32,
    },
    /// The same with something wrong in it, or perhaps of a step that is declared just now.
    Wrong {
        parts: Vec<(usize, u32)>,
        layer: u32,
        token: usize,
        by: u32,
        fewer: usize,
        room: usize,
    },
    Clone {
        src: usize,
        back: u32,
    },
    Back {
        seq: usize,
        by: u32,
    },
    To {
        seq: usize,
        length: u32,
    },
    Release {
        seq: usize,
    },
    Keep {
        seq: usize,
    },
    Clear,
    CanAdmit {
        seq: usize,
        n: u32,
    },
    /// Any id, any number.
    Wild {
        ids: Vec<u32>,
        n: u32,
    },
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    let parts = || vec((0..6_usize, 1..=5_u32), 1..=4);
    prop_oneof![
        3 => Just(Op::New),
        3 => (1..=20_u32).prop_map(|n| Op::Prompt { n }),
        20 => (parts(), prop_oneof![4 => Just(0), 1 => 0..4_u32])
            .prop_map(|(parts, first)| Op::Step { parts, first }),
        3 => parts().prop_map(|parts| Op::Declare { parts }),
        4 => (0..5_u32).prop_map(|layer| Op::Place { layer }),
        4 => (vec((0..6_usize, 1..=3_u32), 0..=3), 0..5_u32, 0..5_usize, 0..=2_u32, 0..=1_usize, 0..6_usize)
            .prop_map(|(parts, layer, token, by, fewer, room)| Op::Wrong { parts, layer, token, by, fewer, room }),
        4 => (0..6_usize, prop_oneof![1 => Just(0), 2 => 0..=8_u32])
            .prop_map(|(src, back)| Op::Clone { src, back }),
        4 => (0..6_usize, 0..=6_u32).prop_map(|(seq, by)| Op::Back { seq, by }),
        2 => (0..6_usize, 0..=40_u32).prop_map(|(seq, length)| Op::To { seq, length }),
        2 => (0..6_usize).prop_map(|seq| Op::Release { seq }),
        1 => (0..6_usize).prop_map(|seq| Op::Keep { seq }),
        1 => Just(Op::Clear),
        1 => (0..6_usize, 0..=70_u32).prop_map(|(seq, n)| Op::CanAdmit { seq, n }),
        1 => (vec(prop_oneof![4 => 0..6_u32, 1 => any::<u32>()], 0..=3), any::<u32>())
            .prop_map(|(ids, n)| Op::Wild { ids, n }),
    ]
}

/// A shadowed cache that random operations are done to.
pub(crate) struct Driver(Shadow);

impl Driver {
    pub(crate) fn new(config: &Config<'_>, tally: &Tally) -> Self {
        Self(Shadow::new(config, tally))
    }

    /// A live id, or one that is not if there is none.
    fn id(&self, choice: usize) -> u32 {
        let live = self.0.model.live();
        live.get(choice % live.len().max(1)).copied().unwrap_or(choice as u32)
    }

    fn length(&self, seq: u32) -> u32 {
        self.0.model.length(seq).unwrap_or(0)
    }

    fn ids(&self, parts: &[(usize, u32)]) -> Vec<u32> {
        parts.iter().flat_map(|&(seq, n)| vec![self.id(seq); n as usize]).collect()
    }

    /// Does it; the shadow checks whatever is answered.
    pub(crate) fn apply(&mut self, op: &Op) {
        let n_layers = self.0.model.fixed.layers.len() as u32;
        match op {
            Op::New => _ = self.0.seq_new(),
            Op::Prompt { n } => self.prompt(*n),
            Op::Step { parts, first } => self.step(parts, *first),
            Op::Declare { parts } => _ = self.0.declare(&self.ids(parts)),
            Op::Place { layer } => _ = self.0.place_right(layer % (n_layers + 1)),
            Op::Wrong { parts, layer, token, by, fewer, room } => {
                if !parts.is_empty() {
                    let _ = self.0.declare(&self.ids(parts));
                }
                let mut positions = self.0.model.positions();
                if let Some(position) = positions.get_mut(*token) {
                    *position = position.wrapping_add(*by).wrapping_sub(1);
                }
                positions.truncate(positions.len().saturating_sub(*fewer));
                let _ = self.0.place(layer % (n_layers + 1), &positions, *room);
            }
            Op::Clone { src, back } => {
                let src = self.id(*src);
                let upto = match back {
                    0 => UNBOUNDED,
                    some => self.length(src).saturating_sub(some - 1),
                };
                let _ = self.0.seq_clone(src, upto);
            }
            Op::Back { seq, by } => {
                let seq = self.id(*seq);
                let _ = self.0.rewind(seq, self.length(seq).saturating_sub(*by));
            }
            Op::To { seq, length } => {
                let seq = self.id(*seq);
                let _ = self.0.rewind(seq, length % (self.length(seq) + 2));
            }
            Op::Release { seq } => _ = self.0.seq_release(self.id(*seq)),
            Op::Keep { seq } => _ = self.0.seq_keep(self.id(*seq)),
            Op::Clear => self.0.clear(),
            Op::CanAdmit { seq, n } => self.0.can_admit(self.id(*seq), *n),
            Op::Wild { ids, n } => self.wild(ids, *n),
        }
    }

    fn prompt(&mut self, n: u32) {
        let Ok(seq) = self.0.seq_new() else { return };
        let limit = self.0.model.fixed.step_limit.min(n.into()) as usize;
        while self.length(seq) < n {
            let tokens = limit.min((n - self.length(seq)) as usize);
            if self.0.declare(&vec![seq; tokens]).is_err() {
                return;
            }
            for layer in 0..self.0.model.fixed.layers.len() as u32 {
                self.0.place_right(layer).expect("a declared step");
            }
        }
    }

    fn step(&mut self, parts: &[(usize, u32)], first: u32) {
        // Fewer tokens each, as long as it is too large.
        let mut parts = parts.to_vec();
        loop {
            match self.0.declare(&self.ids(&parts)) {
                Err(kvcore::Error::StepTooLarge) if parts.iter().any(|&(_, n)| n > 1) => {
                    for (_, n) in &mut parts {
                        *n = n.div_ceil(2);
                    }
                }
                Err(_) => return,
                Ok(()) => break,
            }
        }
        let n_layers = self.0.model.fixed.layers.len() as u32;
        for layer in (first % n_layers..n_layers).rev() {
            self.0.place_right(layer).expect("a declared step");
        }
    }

    fn wild(&mut self, ids: &[u32], n: u32) {
        let _ = self.0.declare(ids);
        let Some(&seq) = ids.first() else { return };
        self.0.can_admit(seq, n);
        let _ = self.0.rewind(seq, n);
        let _ = self.0.seq_release(seq);
    }
}
