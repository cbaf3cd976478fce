//! The same model without any cache: one forward over the whole history, for comparison. Nothing here comes
//! from plans; the attention rule is written out, and attention runs in `f64` with an algorithm of its own.

use kvcore::Layer;

use crate::model::{HEAD_DIM, HEADS, KV_HEADS, Logits, Model, Row, State};

/// The logits of every token of `history` from index `from` on.
pub(crate) fn forward(model: &Model, layers: &[Layer], history: &[u8], from: usize) -> Vec<Logits> {
    let mut states: Vec<State> = history.iter().map(|&token| model.embed(token)).collect();
    let mut kept = Vec::<Vec<(Row, Row)>>::new();
    for (layer, rule) in layers.iter().enumerate() {
        let mut queries = Vec::with_capacity(states.len());
        let mut rows = Vec::with_capacity(states.len());
        for (position, state) in states.iter().enumerate() {
            let projection = model.project(layer, state, position);
            queries.push(projection.queries);
            rows.extend(projection.key_value);
        }
        if let Some(donor) = rule.shares_with.checked_sub(1) {
            rows.clone_from(&kept[donor as usize]);
        }
        for (position, state) in states.iter_mut().enumerate() {
            let gathered = attend(&queries[position], &rows, position, rule);
            model.finish(layer, state, &gathered);
        }
        kept.push(rows);
    }
    states[from..].iter().map(|state| model.logits(state)).collect()
}

/// Query `q` sees position `k` iff `k <= q` and (`k < sinks` or `q - k < window`).
fn sees(rule: &Layer, query: usize, key: usize) -> bool {
    let (window, sinks) = (rule.window as usize, rule.sinks as usize);
    key <= query && (window == 0 || key < sinks || query - key < window)
}

fn attend(queries: &State, rows: &[(Row, Row)], position: usize, rule: &Layer) -> State {
    let mut gathered = [0.0; HEADS * HEAD_DIM];
    let seen: Vec<&(Row, Row)> =
        rows.iter().enumerate().filter(|(key, _)| sees(rule, position, *key)).map(|(_, row)| row).collect();
    for (head, out) in gathered.chunks_exact_mut(HEAD_DIM).enumerate() {
        let at = head / (HEADS / KV_HEADS) * HEAD_DIM;
        let query = &queries[head * HEAD_DIM..][..HEAD_DIM];
        let mut sums = [0.0_f64; HEAD_DIM];
        let (mut highest, mut total) = (f64::NEG_INFINITY, 0.0);
        for (key, value) in &seen {
            let score = dot(query, &key[at..][..HEAD_DIM]) / (HEAD_DIM as f64).sqrt();
            // A running softmax: what was gathered so far shrinks when a higher score comes.
            if score > highest {
                let shrink = (highest - score).exp();
                total *= shrink;
                sums = sums.map(|sum| sum * shrink);
                highest = score;
            }
            let weight = (score - highest).exp();
            total += weight;
            for (sum, &value) in sums.iter_mut().zip(&value[at..]) {
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
