//! The four models: the same weights, with other windows.

use kvcore::{Config, Layer};

use crate::drafts::DEEPEST;
use crate::model::{DONOR, HEAD_DIM, KV_HEADS, LAYERS};

pub(crate) const WINDOW: u32 = 24;
const SINKS: u32 = 4;
/// The only layer of the mixed model that sees everything.
const FULL: usize = 5;
const MAX_WRITE: u32 = 8;
/// As many tokens of a ring can be taken back for sure.
pub(crate) const ROLLBACK: u32 = 24;
/// Positions of the whole chat.
pub(crate) const CONTEXT: u32 = 8192;
/// Small, so that the pools have to grow.
pub(crate) const INITIAL_ROWS: u32 = 16;

/// Cells of a pool, and positions of each conversation in it: too few for what is said.
const POOL_CELLS: u32 = 178;
const POOL_CONTEXT: u32 = 128;
/// Most tokens of a step, of all conversations together.
const POOL_MAX_WRITE: u32 = 24;
/// The system prompt, and two conversations with three branches each.
const POOL_SEQS: u32 = 7;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Flat,
    Ring,
    Sinks,
    Mixed,
}

impl Mode {
    pub(crate) const ALL: [Self; 4] = [Self::Flat, Self::Ring, Self::Sinks, Self::Mixed];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Ring => "ring",
            Self::Sinks => "sinks",
            Self::Mixed => "mixed",
        }
    }

    /// Five sliding layers to a full one in the mixed model, as in Gemma. The last layer shares the K and V
    /// of its donor.
    pub(crate) fn layers(self) -> Vec<Layer> {
        let flat = Layer::flat().with_heads(KV_HEADS as u32, HEAD_DIM as u32);
        let ring = Layer { kind: kvcore::LAYER_RING, window: WINDOW, ..flat };
        let kind = |layer| match self {
            Self::Flat => flat,
            Self::Sinks => ring.with_sinks(SINKS),
            Self::Mixed if layer == FULL => flat,
            Self::Ring | Self::Mixed => ring,
        };
        let mut layers: Vec<Layer> = (0..LAYERS).map(kind).collect();
        layers[LAYERS - 1] = layers[DONOR].sharing(DONOR as u32);
        layers
    }

    pub(crate) fn config(layers: &[Layer]) -> Config<'_> {
        Config {
            max_write: MAX_WRITE,
            rollback: ROLLBACK,
            initial_capacity: INITIAL_ROWS,
            ..Config::new(CONTEXT, LAYERS as u32, layers)
        }
    }

    /// Of the same model in a pool of cells: one for all layers, or one for each layer group.
    pub(crate) fn pool_config(layers: &[Layer], split: bool) -> Config<'_> {
        Config {
            max_write: POOL_MAX_WRITE,
            max_context: POOL_CONTEXT,
            max_seqs: POOL_SEQS,
            rollback: DEEPEST as u32,
            initial_capacity: INITIAL_ROWS,
            flags: if split { kvcore::config::SPLIT_POOLS } else { 0 },
            ..Config::new(POOL_CELLS, LAYERS as u32, layers)
        }
    }
}
