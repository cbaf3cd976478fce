//! Every sequence of operations to a small depth, over every small config, each beside a shadow of its pools.
//! Sequences that lead to the same state go on alike, so that each state is left only once; how many
//! sequences that makes is counted and printed. `KVC_DEPTH` goes deeper.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small caches

use std::collections::HashMap;

use kvcore::{Config, Error, Layer, UNBOUNDED};

#[path = "support/naive.rs"]
mod naive;
#[path = "support/shadow.rs"]
mod shadow;

use shadow::{Planned, Shadow, Tally};

/// A cache after some operations, and the plans that were made.
#[derive(Clone)]
struct Node {
    shadow: Shadow,
    plans: Vec<Planned>,
}

impl Node {
    fn plan(&mut self, layer: u32, position: u32, n: u32) {
        self.plans.push(self.shadow.plan(layer, position, n).expect("the shadow admits it"));
    }

    fn commit(&mut self, accepted: u32) {
        let newest = self.plans.last().expect("a plan was made");
        // Refused for another `accepted` than before: the shadow knows.
        let _ = self.shadow.commit(newest, accepted);
    }

    /// What changes nothing.
    fn refusals(&mut self) {
        let (length, room, n_layers) = (self.shadow.length(), self.shadow.room(), self.shadow.n_layers());
        let wrong = [(length, 0), (length + 1, 1), (length, room + 1), (u32::MAX, 1)];
        for (position, n) in wrong {
            self.shadow.plan(0, position, n).expect_err("no step");
        }
        self.shadow.plan(n_layers, length, 1).expect_err("no layer");
        self.shadow.rewind(length + 1).expect_err("beyond the length");
        let newest = self.plans.last();
        let old = newest.and_then(|newest| self.plans.iter().rfind(|plan| !plan.is_of_step_of(newest)));
        if let Some(old) = old.copied() {
            self.shadow.commit(&old, old.plan.n_tokens).expect_err("a stale plan");
        }
    }

    /// Calls `visit` with the outcome of every operation that may change something.
    fn each(&self, mut visit: impl FnMut(Self)) {
        let mut after = |operation: &dyn Fn(&mut Self)| {
            let mut next = self.clone();
            operation(&mut next);
            visit(next);
        };
        let (length, last) = (self.shadow.length(), self.shadow.n_layers() - 1);
        for n in 1..=self.shadow.room() {
            // One layer plans it. The others follow, or are left out.
            after(&|next| next.plan(last, length, n));
            after(&|next| drop(next.shadow.plan_step(length, n)));
        }
        if let Some(step) = self.shadow.step() {
            for accepted in 0..=step.n {
                after(&|next| {
                    // The plan may be of any layer, and made again while the step is good.
                    if step.accepted.is_none_or(|accepted| accepted == step.n) {
                        next.plan(0, step.position, step.n);
                    }
                    next.commit(accepted);
                });
            }
        }
        for target in 0..=length {
            after(&|next| _ = next.shadow.rewind(target));
        }
        after(&|next| next.shadow.clear());
    }
}

/// The states within reach of a config, and where each operation leads from each.
struct Graph {
    index: HashMap<String, usize>,
    next: Vec<Vec<usize>>,
}

impl Graph {
    fn of(config: &Config<'_>, tally: &Tally, depth: usize) -> Self {
        let root = Node { shadow: Shadow::new(config, tally), plans: Vec::new() };
        let mut graph = Self { index: HashMap::from([(root.shadow.state(), 0)]), next: vec![vec![]] };
        let mut frontier = vec![(0, root)];
        for _ in 0..depth {
            let mut found = Vec::new();
            for (at, mut node) in frontier {
                node.refusals();
                node.each(|next| graph.add(at, next, &mut found));
            }
            frontier = found;
        }
        graph
    }

    fn add(&mut self, from: usize, node: Node, found: &mut Vec<(usize, Node)>) {
        let new = self.next.len();
        let at = *self.index.entry(node.shadow.state()).or_insert(new);
        self.next[from].push(at);
        if at == new {
            self.next.push(Vec::new());
            found.push((at, node));
        }
    }

    /// Sequences of 1 to `depth` operations from the first state.
    fn sequences(&self, depth: usize) -> u128 {
        let (mut ways, mut total) = (HashMap::from([(0, 1_u128)]), 0);
        for _ in 0..depth {
            let mut after = HashMap::new();
            for (at, ways) in ways {
                for next in &self.next[at] {
                    *after.entry(*next).or_default() += ways;
                }
            }
            total += after.values().sum::<u128>();
            ways = after;
        }
        total
    }
}

/// Every model of one or two small layers.
fn models() -> Vec<Vec<Layer>> {
    let mut layouts = vec![Layer::flat()];
    for window in 1..=3 {
        layouts.extend([0, 1].map(|sinks| Layer::ring(window).with_sinks(sinks)));
    }
    let mut models: Vec<_> = layouts.iter().map(|layer| vec![*layer]).collect();
    for (at, first) in layouts.iter().enumerate() {
        models.extend(layouts[at + 1..].iter().map(|second| vec![*first, *second]));
        models.push(vec![*first, first.sharing(0)]);
    }
    models
}

#[test]
fn every_small_sequence_of_operations() {
    let depth = std::env::var("KVC_DEPTH").map_or(7, |depth| depth.parse().expect("a number"));
    let tally = Tally::default();
    let (mut configs, mut states, mut sequences) = (0, 0, 0);
    for layers in models() {
        for (max_write, rollback) in [(1, 0), (2, 0), (2, 1), (0, 0)] {
            for (capacity, max_context) in [(5, 0), (UNBOUNDED, 4), (UNBOUNDED, 0)] {
                let bare = Config::new(capacity, layers.len() as u32, &layers);
                let config = Config { max_write, rollback, max_context, ..bare };
                if config.check().is_ok() {
                    let graph = Graph::of(&config, &tally, depth);
                    configs += 1;
                    states += graph.next.len();
                    sequences += graph.sequences(depth);
                }
            }
        }
    }
    let tally = tally.borrow();
    let calls: u64 =
        ["plan", "plan_step", "commit", "rewind"].into_iter().map(|call| tally[&(call, 0)]).sum();
    println!("{configs} configs, {sequences} sequences of up to {depth} operations");
    println!("{states} states, {calls} calls that changed something");
    if depth >= 6 {
        let rare = [("plan", Error::NeverFits.code()), ("rewind", Error::Evicted.code()), ("read runs", 3)];
        for seen in rare {
            assert!(tally[&seen] > 0, "never seen: {seen:?}");
        }
    }
}
