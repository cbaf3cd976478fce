//! The bytes that a backend owns: K and V of each layer, in rows. What goes where is decided elsewhere.

use kvcore::pool::grow_rows;
use kvcore::{LayerInfo, Move};

use crate::Outcome;
use crate::model::{DIM, HEAD_DIM, HEADS, KV_DIM, KV_HEADS, Row, State, rotate};

/// K and V of one layer, a row for each position held.
pub(crate) struct Pool {
    keys: Vec<f32>,
    values: Vec<f32>,
    /// Position and token of what each row really holds: what a real backend would not keep. It lets the
    /// demo check every row it reads.
    held: Vec<Option<(u32, u8)>>,
    most_rows: u32,
}

impl Pool {
    fn new(rows: u32, most_rows: u32) -> Self {
        let mut pool = Self { keys: Vec::new(), values: Vec::new(), held: Vec::new(), most_rows };
        pool.resize(rows);
        pool
    }

    pub(crate) fn rows(&self) -> u32 {
        self.held.len() as u32
    }

    /// New rows hold poison: one that is read before it was written spoils all that comes after.
    fn resize(&mut self, rows: u32) {
        self.keys.resize(rows as usize * KV_DIM, f32::NAN);
        self.values.resize(rows as usize * KV_DIM, f32::NAN);
        self.held.resize(rows as usize, None);
    }

    /// Doubles until the rows fit. Those that are there keep their places.
    pub(crate) fn make_room(&mut self, needed: u32) -> Outcome<()> {
        if needed <= self.rows() {
            return Ok(());
        }
        match grow_rows(self.rows(), needed, self.most_rows) {
            0 => Err(format!("a step needs {needed} rows of {}", self.most_rows).into()),
            rows => {
                self.resize(rows);
                Ok(())
            }
        }
    }

    pub(crate) fn write(&mut self, row: usize, position: u32, token: u8, (key, value): &(Row, Row)) {
        self.keys[row * KV_DIM..][..KV_DIM].copy_from_slice(key);
        self.values[row * KV_DIM..][..KV_DIM].copy_from_slice(value);
        self.held[row] = Some((position, token));
    }

    pub(crate) fn held(&self, row: usize) -> Option<(u32, u8)> {
        self.held[row]
    }

    /// The row is known under another position from now on. Its bytes stay.
    pub(crate) fn rename(&mut self, row: usize, position: u32) {
        self.held[row] = self.held[row].map(|(_, token)| (position, token));
    }

    /// Moves a row to a position that is `delta` away: its key turns by the difference.
    pub(crate) fn turn(&mut self, row: usize, delta: i32) {
        rotate(&mut self.keys[row * KV_DIM..][..KV_DIM], delta as f32);
        self.held[row] = self.held[row].map(|(position, token)| (position.wrapping_add_signed(delta), token));
    }

    pub(crate) fn move_rows(&mut self, &Move { from, to, len }: &Move) {
        let [from, to, len] = [from, to, len].map(|rows| rows as usize);
        self.keys.copy_within(from * KV_DIM..(from + len) * KV_DIM, to * KV_DIM);
        self.values.copy_within(from * KV_DIM..(from + len) * KV_DIM, to * KV_DIM);
        self.held.copy_within(from..from + len, to);
    }

    /// Attention of one token over the rows that it sees.
    pub(crate) fn attend(&self, queries: &State, seen: &[usize]) -> State {
        let mut gathered = [0.0; DIM];
        for (head, out) in gathered.chunks_exact_mut(HEAD_DIM).enumerate() {
            let at = head / (HEADS / KV_HEADS) * HEAD_DIM;
            let query = &queries[head * HEAD_DIM..][..HEAD_DIM];
            let score = |row: &usize| {
                let mut sum = 0.0;
                for (q, k) in query.iter().zip(&self.keys[row * KV_DIM + at..]) {
                    sum += q * k;
                }
                sum / (HEAD_DIM as f32).sqrt()
            };
            let scores: Vec<f32> = seen.iter().map(score).collect();
            let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let mut total = 0.0;
            for (score, row) in scores.iter().zip(seen) {
                let weight = (score - highest).exp();
                total += weight;
                for (sum, value) in out.iter_mut().zip(&self.values[row * KV_DIM + at..]) {
                    *sum += weight * value;
                }
            }
            for sum in out {
                *sum /= total;
            }
        }
        gathered
    }
}

/// A layer, and the pool that it uses: its own, or its donor's.
pub(crate) struct LayerSlot {
    pub(crate) info: LayerInfo,
    pub(crate) pool: usize,
    /// Whether the pool is its own, so that what is done to a pool is done once.
    pub(crate) own: bool,
}

/// The layers of a model and their pools, which begin with at most `first_rows`.
pub(crate) fn lay_out(infos: &[LayerInfo], first_rows: u32) -> (Vec<LayerSlot>, Vec<Pool>) {
    let (mut layers, mut pools) = (Vec::<LayerSlot>::new(), Vec::new());
    for &info in infos {
        let donor = (info.layer.shares_with as usize).checked_sub(1);
        let pool = donor.map_or(pools.len(), |donor| layers[donor].pool);
        if donor.is_none() {
            pools.push(Pool::new(first_rows.min(info.rows), info.rows));
        }
        layers.push(LayerSlot { info, pool, own: donor.is_none() });
    }
    (layers, pools)
}
