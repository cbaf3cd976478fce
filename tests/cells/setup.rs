//! Configs of cell caches that own their layers.
#![allow(clippy::cast_possible_truncation)] // few layers

use kvcore::{Config, Layer};

/// What a cell cache is built from.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) layers: Vec<Layer>,
    pub(crate) capacity: u32,
    pub(crate) max_seqs: u32,
    pub(crate) max_write: u32,
    pub(crate) rollback: u32,
    pub(crate) max_context: u32,
    pub(crate) flags: u32,
}

impl Setup {
    pub(crate) fn new(capacity: u32, max_seqs: u32, layers: &[Layer]) -> Self {
        let layers = layers.to_vec();
        Self { layers, capacity, max_seqs, max_write: 0, rollback: 0, max_context: 0, flags: 0 }
    }

    pub(crate) fn config(&self) -> Config<'_> {
        Config {
            max_seqs: self.max_seqs,
            max_write: self.max_write,
            rollback: self.rollback,
            max_context: self.max_context,
            flags: self.flags,
            ..Config::new(self.capacity, self.layers.len() as u32, &self.layers)
        }
    }

    pub(crate) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The bound of positions: no token stands here or above.
    pub(crate) fn context(&self) -> u64 {
        if self.max_context == 0 { u64::from(u32::MAX) } else { u64::from(self.max_context) }
    }
}
