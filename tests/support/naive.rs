//! The formulas of a layer's pool and of its masks, row by row, in 64 bits, and written from the design and
//! not from the source: what the library answers in a few runs is spelt out here in lists.
#![allow(dead_code)] // each test binary uses its own part

use kvcore::{LAYER_FLAT, Layer, MASK_CAUSAL, MASK_NONE, MASK_WINDOW, Run, SeqPlan};

/// The layout of a layer, by the design's arithmetic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Naive {
    pub(crate) flat: bool,
    pub(crate) window: u64,
    pub(crate) sinks: u64,
    pub(crate) rows: u64,
    /// Most tokens of a step by this layer alone.
    pub(crate) limit: u64,
}

impl Naive {
    pub(crate) fn new(layer: &Layer, max_write: u32, rollback: u32, capacity: u32) -> Self {
        let (window, sinks) = (u64::from(layer.window), u64::from(layer.sinks));
        let capacity = u64::from(capacity);
        if layer.kind == LAYER_FLAT {
            let limit = if max_write == 0 { u64::MAX } else { u64::from(max_write) };
            return Self { flat: true, window: 0, sinks: 0, rows: capacity, limit };
        }
        let limit = if max_write == 0 { window } else { u64::from(max_write) };
        let ring = window + limit - 1 + u64::from(rollback);
        Self { flat: false, window, sinks, rows: (sinks + ring).min(capacity), limit }
    }

    pub(crate) fn row(&self, position: u64) -> u64 {
        if self.flat || position < self.sinks {
            position
        } else {
            self.sinks + (position - self.sinks) % (self.rows - self.sinks)
        }
    }

    /// Whether a query at `query` sees position `key`.
    pub(crate) fn sees(&self, query: u64, key: u64) -> bool {
        key <= query && (self.flat || key < self.sinks || query - key < self.window)
    }

    /// The positions that a step reads, oldest first.
    pub(crate) fn reads(&self, position: u64, n: u64) -> impl Iterator<Item = u64> + use<> {
        let end = position + n;
        let sinks = if self.flat { 0 } else { self.sinks.min(end) };
        let from = if self.flat { 0 } else { (position + 1).saturating_sub(self.window).max(self.sinks) };
        (0..sinks).chain(from..end)
    }

    /// What every read position of every query would have to look like for each kind of mask.
    pub(crate) fn mask_kind(&self, position: u64, n: u64) -> u32 {
        let causal = |query: u64| self.reads(position, n).all(|key| self.sees(query, key) == (key <= query));
        match n {
            1 => MASK_NONE,
            _ if (position..position + n).all(causal) => MASK_CAUSAL,
            _ => MASK_WINDOW,
        }
    }
}

/// Rows and positions of runs, one by one.
pub(crate) fn expand(runs: &[Run]) -> impl Iterator<Item = (u64, u64)> + '_ {
    runs.iter().flat_map(|run| {
        (0..u64::from(run.len)).map(move |at| (u64::from(run.start) + at, u64::from(run.pos) + at))
    })
}

/// Runs that could be one are one, and none is empty.
fn assert_merged(runs: &[Run], context: &str) {
    assert!(runs.iter().all(|run| run.len > 0), "an empty run: {context}");
    for pair in runs.windows(2) {
        let joins = pair[0].start + pair[0].len == pair[1].start && pair[0].pos + pair[0].len == pair[1].pos;
        assert!(!joins, "neighbours that were not merged: {context}");
    }
}

/// The whole plan of the step `position .. position + n`, but for group and epoch.
pub(crate) fn assert_plan(naive: &Naive, plan: &SeqPlan, position: u32, n: u32) {
    let context = || format!("{naive:?}, {n} tokens at {position}: {plan:?}");
    let (at, tokens) = (u64::from(position), u64::from(n));
    assert_eq!((plan.position, plan.n_tokens), (position, n));
    assert_eq!((u64::from(plan.window), u64::from(plan.sinks)), (naive.window, naive.sinks), "{}", context());
    let with_row = |position: u64| (naive.row(position), position);
    assert!(expand(plan.writes()).eq((at..at + tokens).map(with_row)), "writes: {}", context());
    assert!(expand(plan.reads()).eq(naive.reads(at, tokens).map(with_row)), "reads: {}", context());
    assert_merged(plan.writes(), &context());
    assert_merged(plan.reads(), &context());
    assert_eq!((plan.n_write as usize, plan.n_read as usize), (plan.writes().len(), plan.reads().len()));
    assert_eq!(u64::from(plan.read_len), naive.reads(at, tokens).count() as u64, "{}", context());
    let touched = expand(plan.writes()).chain(expand(plan.reads())).map(|(row, _)| row);
    assert_eq!(Some(u64::from(plan.rows_needed)), touched.max().map(|row| row + 1), "{}", context());
    assert!(u64::from(plan.rows_needed) <= naive.rows, "beyond the pool: {}", context());
    assert_eq!(plan.mask, naive.mask_kind(at, tokens), "{}", context());
}

/// The mask of a plan: for each query a list of columns, `width` of them, in order of the read rows or of
/// the pool. `parents` makes the step a token tree.
pub(crate) fn mask(
    naive: &Naive,
    plan: &SeqPlan,
    parents: Option<&[i32]>,
    pool: bool,
    width: usize,
) -> Vec<Vec<bool>> {
    let base = u64::from(plan.position);
    let columns: Vec<(u64, u64)> = expand(plan.reads()).collect();
    let mut mask = Vec::new();
    for query in 0..plan.n_tokens as usize {
        let mut row = vec![false; width];
        for (column, &(pool_row, key)) in columns.iter().enumerate() {
            let sees = match parents {
                None => naive.sees(base + query as u64, key),
                Some(parents) => tree_sees(naive, parents, base, query, key),
            };
            let column = if pool { usize::try_from(pool_row).expect("a small pool") } else { column };
            row[column] |= sees;
        }
        mask.push(row);
    }
    mask
}

/// The committed prefix by position; of the step's rows the node's own branch only, where row `key - base`
/// of the step belongs to that node, whose position is `base` and its depth.
fn tree_sees(naive: &Naive, parents: &[i32], base: u64, query: usize, key: u64) -> bool {
    let depth = |node: usize| branch(parents, node).len() as u64 - 1;
    let at = base + depth(query);
    if key < base {
        return naive.sees(at, key);
    }
    let node = usize::try_from(key - base).expect("a small tree");
    branch(parents, query).contains(&node) && naive.sees(at, base + depth(node))
}

/// A node and its ancestors.
fn branch(parents: &[i32], node: usize) -> Vec<usize> {
    let mut nodes = vec![node];
    while let Ok(parent) = usize::try_from(parents[nodes[nodes.len() - 1]]) {
        nodes.push(parent);
    }
    nodes
}
