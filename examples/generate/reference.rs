//! The same model without any cache: one forward over the whole history, for comparison. Nothing here comes
//! from plans; the attention rule is written out, and attention runs in `f64` with an algorithm of its own.
//!
//! A history may contain context shifts. What a layer kept of a token was worked out when the token was read,
//! with all that it could see then. A shift forgets some of that and moves the rest, and nothing is read again: so
//! a forward over the tokens that are left would be another computation. Hence the whole past is gone through,
//! shifts included, from the first token on. Keys are kept as they were before any turn, and after a shift
//! turned from there to where they stand: never turned twice, as the cache's are.

use kvcore::Layer;

use crate::model::{HEAD_DIM, HEADS, KV_HEADS, Model, Row, State, rotate};

/// A text in the course of being read.
#[derive(Clone)]
pub(crate) struct Reading<'m> {
    model: &'m Model,
    layers: &'m [Layer],
    /// Where each token stands.
    positions: Vec<usize>,
    /// What each layer keeps of each of them.
    kept: Vec<Vec<Kept>>,
}

#[derive(Clone, Copy)]
struct Kept {
    /// As the layer made it, not turned.
    plain: Row,
    key: Row,
    value: Row,
}

impl Kept {
    fn stand_at(&mut self, position: usize) {
        self.key = self.plain;
        rotate(&mut self.key, position as f32);
    }
}

impl<'m> Reading<'m> {
    pub(crate) fn new(model: &'m Model, layers: &'m [Layer]) -> Self {
        Self { model, layers, positions: Vec::new(), kept: vec![Vec::new(); layers.len()] }
    }

    /// Reads on, layer by layer; answers what comes out of the last for each token.
    pub(crate) fn read(&mut self, tokens: &[u8]) -> Vec<State> {
        let model = self.model;
        let (old, first) = (self.positions.len(), self.positions.last().map_or(0, |last| last + 1));
        self.positions.extend(first..first + tokens.len());
        let mut states: Vec<State> = tokens.iter().map(|&token| model.embed(token)).collect();
        for (layer, rule) in self.layers.iter().enumerate() {
            let mut queries = Vec::with_capacity(states.len());
            for (state, &position) in states.iter().zip(&self.positions[old..]) {
                // At position 0 nothing is turned.
                let mut projection = model.project(layer, state, 0);
                rotate(&mut projection.queries, position as f32);
                queries.push(projection.queries);
                if let Some((plain, value)) = projection.key_value {
                    let mut kept = Kept { plain, key: plain, value };
                    kept.stand_at(position);
                    self.kept[layer].push(kept);
                }
            }
            let rows = &self.kept[rule.shares_with.checked_sub(1).map_or(layer, |donor| donor as usize)];
            for ((state, queries), &position) in states.iter_mut().zip(&queries).zip(&self.positions[old..]) {
                let visible = |key: usize| sees(rule, position, key);
                let seen = self.positions.iter().zip(rows).filter(|(key, _)| visible(**key));
                let gathered = attend(queries, &seen.map(|(_, kept)| kept).collect::<Vec<_>>());
                model.finish(layer, state, &gathered);
            }
        }
        states
    }

    /// A context shift: forgets the positions `from..from + len`; what stands behind them moves up.
    pub(crate) fn shift(&mut self, from: usize, len: usize) {
        let dropped = from..from + len;
        let old = std::mem::take(&mut self.positions);
        let left: Vec<usize> = (0..old.len()).filter(|&index| !dropped.contains(&old[index])).collect();
        self.positions = left
            .iter()
            .map(|&index| old[index])
            .map(|position| if position < from { position } else { position - len })
            .collect();
        for kept in self.kept.iter_mut().filter(|kept| !kept.is_empty()) {
            *kept = left.iter().map(|&index| kept[index]).collect();
            for (kept, &position) in kept.iter_mut().zip(&self.positions) {
                kept.stand_at(position);
            }
        }
    }
}

/// Query `q` sees position `k` iff `k <= q` and (`k < sinks` or `q - k < window`).
pub(crate) fn sees(rule: &Layer, query: usize, key: usize) -> bool {
    let (window, sinks) = (rule.window as usize, rule.sinks as usize);
    key <= query && (window == 0 || key < sinks || query - key < window)
}

fn attend(queries: &State, seen: &[&Kept]) -> State {
    let mut gathered = [0.0; HEADS * HEAD_DIM];
    for (head, out) in gathered.chunks_exact_mut(HEAD_DIM).enumerate() {
        let at = head / (HEADS / KV_HEADS) * HEAD_DIM;
        let query = &queries[head * HEAD_DIM..][..HEAD_DIM];
        let mut sums = [0.0_f64; HEAD_DIM];
        let (mut highest, mut total) = (f64::NEG_INFINITY, 0.0);
        for kept in seen {
            let score = dot(query, &kept.key[at..][..HEAD_DIM]) / (HEAD_DIM as f64).sqrt();
            // A running softmax: what was gathered so far shrinks when a higher score comes.
            if score > highest {
                let shrink = (highest - score).exp();
                total *= shrink;
                sums = sums.map(|sum| sum * shrink);
                highest = score;
            }
            let weight = (score - highest).exp();
            total += weight;
            for (sum, &value) in sums.iter_mut().zip(&kept.value[at..]) {
                *sum += weight * f64::from(value);
            }
        }
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = (sum / total) as f32;
        }
    }
    gathered
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}
