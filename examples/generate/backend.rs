//! The backend's side: owns the K/V pools, found the cache by its key, and does exactly what its plans say.
//! It never works out a row itself.

use kvcore::limits::MAX_GROUPS;
use kvcore::{CacheRef, Columns, LayerInfo, Move, Registry, Run, SeqPlan, tree};

use crate::Outcome;
use crate::bytes::{LayerSlot, Pool, lay_out};
use crate::model::{LAYERS, Logits, Model, State};

/// The promise of the library: a row that a plan reads holds the position that the plan says.
fn check(pool: &Pool, plan: &SeqPlan, text: &[u8]) -> Outcome<()> {
    for (row, position) in each_row(plan.reads()) {
        let (held, planned) = (pool.held(row), Some((position, text[position as usize])));
        if held != planned {
            return Err(format!("row {row} holds {held:?}, the plan reads {planned:?} there").into());
        }
    }
    Ok(())
}

/// Each row of the runs, with its position, in order.
fn each_row(runs: &[Run]) -> impl Iterator<Item = (usize, u32)> + '_ {
    runs.iter().flat_map(|run| (0..run.len).map(|i| ((run.start + i) as usize, run.pos + i)))
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
        let infos = (0..LAYERS as u32).map(|layer| cache.layer(layer)).collect::<Result<Vec<_>, _>>()?;
        let (layers, pools) = lay_out(&infos, cache.config()?.initial_capacity);
        Ok(Self { model, cache, layers, pools, plans: [SeqPlan::EMPTY; MAX_GROUPS] })
    }

    /// One step: the last `n` tokens of `text` are new. With `parents` they are a tree of drafts. Answers the
    /// logits of each.
    pub(crate) fn forward(&mut self, text: &[u8], n: usize, parents: Option<&[i32]>) -> Outcome<Vec<Logits>> {
        let (_, tokens) = text.split_at(text.len() - n);
        let first = (text.len() - n) as u32;
        self.cache.plan_step(first, n as u32, &mut self.plans)?;
        let mut positions: Vec<u32> = (first..).take(n).collect();
        if let Some(parents) = parents {
            tree::positions(parents, first, &mut positions)?;
        }
        let mut states: Vec<State> = tokens.iter().map(|&token| self.model.embed(token)).collect();
        for layer in 0..LAYERS {
            self.forward_layer(layer, text, &positions, parents, &mut states)?;
        }
        Ok(states.iter().map(|state| self.model.logits(state)).collect())
    }

    fn forward_layer(
        &mut self,
        layer: usize,
        text: &[u8],
        positions: &[u32],
        parents: Option<&[i32]>,
        states: &mut [State],
    ) -> Outcome<()> {
        let slot = &self.layers[layer];
        let plan = &self.plans[slot.info.group as usize];
        let pool = &mut self.pools[slot.pool];
        pool.make_room(plan.rows_needed)?;
        let mut queries = Vec::with_capacity(states.len());
        for ((state, &position), (row, place)) in states.iter().zip(positions).zip(each_row(plan.writes())) {
            let projection = self.model.project(layer, state, position as usize);
            queries.push(projection.queries);
            if let Some(rows) = &projection.key_value {
                // In a tree a token's place in the text is not its position.
                pool.write(row, place, text[place as usize], rows);
            }
        }
        check(pool, plan, text)?;
        let columns = plan.read_len as usize;
        let mut mask = vec![0; states.len() * columns];
        plan.mask_bytes(parents, Columns::Read, &mut mask, columns)?;
        let rows: Vec<usize> = each_row(plan.reads()).map(|(row, _)| row).collect();
        for ((state, queries), mask) in states.iter_mut().zip(&queries).zip(mask.chunks_exact(columns)) {
            let seen = rows.iter().zip(mask).filter(|(_, on)| **on == 1).map(|(row, _)| *row);
            let gathered = pool.attend(queries, &seen.collect::<Vec<_>>());
            self.model.finish(layer, state, &gathered);
        }
        Ok(())
    }

    /// Closes a step of a tree: the path to `leaf` stays, moved to the step's first rows. Answers its length.
    pub(crate) fn accept(&mut self, parents: &[i32], leaf: i32) -> Outcome<usize> {
        let mut moves = vec![Move::default(); parents.len()];
        let mut accepted = 0;
        for slot in self.layers.iter().filter(|slot| slot.own) {
            let written: Vec<_> = each_row(self.plans[slot.info.group as usize].writes()).collect();
            let rows: Vec<u32> = written.iter().map(|(row, _)| *row as u32).collect();
            let count;
            (count, accepted) = tree::moves(&rows, parents, leaf, &mut moves)?;
            let pool = &mut self.pools[slot.pool];
            for step in &moves[..count] {
                pool.move_rows(step);
            }
            for &(row, place) in &written[..accepted as usize] {
                pool.rename(row, place);
            }
        }
        self.commit(accepted as usize)?;
        Ok(accepted as usize)
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
