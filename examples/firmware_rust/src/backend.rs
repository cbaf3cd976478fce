//! The backend: pools of rows, and a cache that it found by a key. It has no arithmetic of a model; what it
//! keeps of a token is who it is, so that every row that a plan says to read can be checked.

use kvcore::limits::MAX_GROUPS;
use kvcore::{CacheRef, Error, LAYER_FLAT, Layer, LayerInfo, Registry, SeqPlan};

use crate::report::Report;

pub(crate) const CAPACITY: usize = 32;
pub(crate) const LAYERS: usize = 4;

/// K and V of one token, if one wants: its position and what it says.
type Row = u32;
/// No position comes near this.
const UNWRITTEN: Row = Row::MAX;

fn row(position: u32, token: u8) -> Row {
    position << 8 | Row::from(token)
}

pub(crate) struct Backend {
    cache: CacheRef<'static>,
    layers: [LayerInfo; LAYERS],
    pools: [[Row; CAPACITY]; LAYERS],
    /// What the newest forward over each position was given.
    tokens: [u8; CAPACITY],
}

impl Backend {
    /// Finds its cache, and how each layer's pool is laid out.
    pub(crate) fn load(key: &str) -> Result<Self, Error> {
        let cache = Registry::global().get(key)?;
        let mut layers = [LayerInfo::default(); LAYERS];
        for (index, layer) in (0..).zip(&mut layers) {
            *layer = cache.layer(index)?;
        }
        Ok(Self { cache, layers, pools: [[UNWRITTEN; CAPACITY]; LAYERS], tokens: [0; CAPACITY] })
    }

    /// One step over all layers; answers a plan to commit.
    pub(crate) fn forward(
        &mut self,
        report: &mut Report,
        position: u32,
        tokens: &[u8],
    ) -> Result<SeqPlan, Error> {
        let mut plans = [SeqPlan::EMPTY; MAX_GROUPS];
        self.cache.plan_step(position, tokens.len() as u32, &mut plans)?;
        self.tokens[position as usize..][..tokens.len()].copy_from_slice(tokens);
        for (layer, pool) in self.layers.iter().zip(&mut self.pools) {
            let plan = &plans[layer.group as usize];
            write(plan, pool, &self.tokens);
            report.check(
                "the plan reads what attention sees",
                reads_well(plan, &layer.layer, pool, &self.tokens),
            );
        }
        Ok(plans[0])
    }
}

fn write(plan: &SeqPlan, pool: &mut [Row], tokens: &[u8]) {
    for run in plan.writes() {
        let rows = &mut pool[run.start as usize..][..run.len as usize];
        for (position, slot) in (run.pos..).zip(rows) {
            *slot = row(position, tokens[position as usize]);
        }
    }
}

/// Whether the rows to read are those of all positions that any query of the step sees, oldest first, and
/// hold the tokens of the sequence as it is now.
fn reads_well(plan: &SeqPlan, layer: &Layer, pool: &[Row], tokens: &[u8]) -> bool {
    let seen = |position: &u32| {
        layer.kind == LAYER_FLAT || *position < layer.sinks || position + layer.window > plan.position
    };
    let wanted = (0..plan.position + plan.n_tokens).filter(seen);
    let wanted = wanted.map(|position| (position, row(position, tokens[position as usize])));
    let found = plan.reads().iter().flat_map(|run| {
        let rows = &pool[run.start as usize..][..run.len as usize];
        (run.pos..).zip(rows.iter().copied())
    });
    wanted.eq(found)
}
