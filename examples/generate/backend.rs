//! The backend's side: owns the K/V pools, found the cache by its key, and does exactly what its plans say.
//! It never works out a row itself.

use kvcore::limits::MAX_GROUPS;
use kvcore::pool::grow_rows;
use kvcore::{CacheRef, Columns, LayerInfo, Registry, Run, SeqPlan};

use crate::Outcome;
use crate::model::{DIM, HEAD_DIM, HEADS, KV_DIM, KV_HEADS, LAYERS, Logits, Model, Row, State};

/// K and V of one layer, a row for each position held.
struct Pool {
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

    fn rows(&self) -> u32 {
        self.held.len() as u32
    }

    /// New rows hold poison: one that is read before it was written spoils all that comes after.
    fn resize(&mut self, rows: u32) {
        self.keys.resize(rows as usize * KV_DIM, f32::NAN);
        self.values.resize(rows as usize * KV_DIM, f32::NAN);
        self.held.resize(rows as usize, None);
    }

    /// Doubles until the plan's rows fit. Rows keep their places.
    fn make_room(&mut self, plan: &SeqPlan) -> Outcome<()> {
        if plan.rows_needed <= self.rows() {
            return Ok(());
        }
        match grow_rows(self.rows(), plan.rows_needed, self.most_rows) {
            0 => Err(format!("a plan needs {} rows of {}", plan.rows_needed, self.most_rows).into()),
            rows => {
                self.resize(rows);
                Ok(())
            }
        }
    }

    fn write(&mut self, row: usize, position: u32, token: u8, (key, value): &(Row, Row)) {
        self.keys[row * KV_DIM..][..KV_DIM].copy_from_slice(key);
        self.values[row * KV_DIM..][..KV_DIM].copy_from_slice(value);
        self.held[row] = Some((position, token));
    }

    /// The promise of the library: a row that a plan reads holds the position that the plan says.
    fn check(&self, plan: &SeqPlan, history: &[u8]) -> Outcome<()> {
        for (row, position) in each_row(plan.reads()) {
            let planned = Some((position, history[position as usize]));
            if self.held[row] != planned {
                let held = self.held[row];
                return Err(format!("row {row} holds {held:?}, the plan reads {planned:?} there").into());
            }
        }
        Ok(())
    }

    /// Attention of one token over the read rows that its mask lets through.
    fn attend(&self, queries: &State, plan: &SeqPlan, mask: &[u8]) -> State {
        let seen = || each_row(plan.reads()).zip(mask).filter(|(_, on)| **on == 1).map(|((row, _), _)| row);
        let mut gathered = [0.0; DIM];
        for (head, out) in gathered.chunks_exact_mut(HEAD_DIM).enumerate() {
            let at = head / (HEADS / KV_HEADS) * HEAD_DIM;
            let query = &queries[head * HEAD_DIM..][..HEAD_DIM];
            let score = |row: usize| {
                let mut sum = 0.0;
                for (q, k) in query.iter().zip(&self.keys[row * KV_DIM + at..]) {
                    sum += q * k;
                }
                sum / (HEAD_DIM as f32).sqrt()
            };
            let scores: Vec<f32> = seen().map(score).collect();
            let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let mut total = 0.0;
            for (score, row) in scores.iter().zip(seen()) {
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

/// Each row of the runs, with its position, in order.
fn each_row(runs: &[Run]) -> impl Iterator<Item = (usize, u32)> + '_ {
    runs.iter().flat_map(|run| (0..run.len).map(|i| ((run.start + i) as usize, run.pos + i)))
}

/// A layer, and the pool that it uses: its own, or its donor's.
struct LayerSlot {
    info: LayerInfo,
    pool: usize,
}

pub(crate) struct Backend<'a, 'm> {
    model: &'m Model,
    cache: CacheRef<'a>,
    layers: Vec<LayerSlot>,
    pools: Vec<Pool>,
    /// The newest step, a plan for each layer group.
    plans: [SeqPlan; MAX_GROUPS],
}

impl<'a, 'm> Backend<'a, 'm> {
    /// Finds the cache under its key, as a delegate does that was handed nothing but a string.
    pub(crate) fn attach(registry: &Registry<'a>, key: &str, model: &'m Model) -> Outcome<Self> {
        let cache = registry.get(key)?;
        let first_rows = cache.config()?.initial_capacity;
        let (mut layers, mut pools) = (Vec::<LayerSlot>::new(), Vec::new());
        for layer in 0..LAYERS {
            let info = cache.layer(layer as u32)?;
            let pool = match (info.layer.shares_with as usize).checked_sub(1) {
                Some(donor) => layers[donor].pool,
                None => pools.len(),
            };
            if pool == pools.len() {
                pools.push(Pool::new(first_rows.min(info.rows), info.rows));
            }
            layers.push(LayerSlot { info, pool });
        }
        Ok(Self { model, cache, layers, pools, plans: [SeqPlan::EMPTY; MAX_GROUPS] })
    }

    /// One step: the last `n` tokens of `history` are new. Answers the logits of each.
    pub(crate) fn forward(&mut self, history: &[u8], n: usize) -> Outcome<Vec<Logits>> {
        let (_, tokens) = history.split_at(history.len() - n);
        let position = (history.len() - n) as u32;
        self.cache.plan_step(position, n as u32, &mut self.plans)?;
        let mut states: Vec<State> = tokens.iter().map(|&token| self.model.embed(token)).collect();
        for layer in 0..LAYERS {
            self.forward_layer(layer, history, &mut states)?;
        }
        Ok(states.iter().map(|state| self.model.logits(state)).collect())
    }

    fn forward_layer(&mut self, layer: usize, history: &[u8], states: &mut [State]) -> Outcome<()> {
        let slot = &self.layers[layer];
        let plan = &self.plans[slot.info.group as usize];
        let pool = &mut self.pools[slot.pool];
        pool.make_room(plan)?;
        let mut queries = Vec::with_capacity(states.len());
        for (state, (row, position)) in states.iter().zip(each_row(plan.writes())) {
            let projection = self.model.project(layer, state, position as usize);
            queries.push(projection.queries);
            if let Some(rows) = &projection.key_value {
                pool.write(row, position, history[position as usize], rows);
            }
        }
        pool.check(plan, history)?;
        let columns = plan.read_len as usize;
        let mut mask = vec![0; states.len() * columns];
        plan.mask_bytes(None, Columns::Read, &mut mask, columns)?;
        for ((state, queries), mask) in states.iter_mut().zip(&queries).zip(mask.chunks_exact(columns)) {
            let gathered = pool.attend(queries, plan, mask);
            self.model.finish(layer, state, &gathered);
        }
        Ok(())
    }

    /// Closes the step: its first `accepted` tokens stay.
    pub(crate) fn commit(&self, accepted: usize) -> Outcome<()> {
        // The plan of any group speaks for the whole model.
        Ok(self.cache.commit(&self.plans[0], accepted as u32)?)
    }

    /// The newest step as a layer sees it.
    pub(crate) fn plan_of(&self, layer: usize) -> &SeqPlan {
        &self.plans[self.layers[layer].info.group as usize]
    }

    pub(crate) fn layer(&self, layer: usize) -> &LayerInfo {
        &self.layers[layer].info
    }

    /// Rows of each pool by now.
    pub(crate) fn pool_rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.pools.iter().map(Pool::rows)
    }
}
