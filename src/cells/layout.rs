//! A config as the cell cache reads it: how many pools of how many cells, and where all words stand.

use super::pool::Pool;
use crate::config::{Config, KEEP_CELLS, SPLIT_POOLS};
use crate::error::Error;
use crate::layer::{LAYER_FLAT, Layer};
use crate::limits::{MAX_GROUPS, MAX_SEQS, UNBOUNDED};

/// Where the words that belong to no pool stand: layers, next positions, marks, then the tokens of the step.
#[derive(Clone, Copy)]
pub(super) struct Common {
    pub(super) n_layers: usize,
    pub(super) max_seqs: usize,
    pub(super) max_step: usize,
}

impl Common {
    pub(super) const fn next(self, seq: u32) -> usize {
        self.n_layers + seq as usize
    }

    /// A number for each sequence that a call uses while it runs, 0 between calls.
    pub(super) const fn mark(self, seq: u32) -> usize {
        self.next(seq) + self.max_seqs
    }

    pub(super) const fn token_seq(self, token: usize) -> usize {
        self.n_layers + 2 * self.max_seqs + token
    }

    pub(super) const fn token_position(self, token: usize) -> usize {
        self.token_seq(token) + self.max_step
    }

    /// Words in all.
    pub(super) const fn words(self) -> usize {
        self.n_layers + 2 * self.max_seqs + 2 * self.max_step
    }
}

/// 32-bit words of state that a cell cache of this config wants. O(layers).
///
/// With `C` cells, `S` sequences and steps of `T` tokens: about `C * (3 + (S + 12) / 32)` for a pool (one more a cell where a window
/// evicts), and `T` tokens of 3 words.
///
/// # Errors
/// As [`super::CellCache::new`], but for `BufferTooSmall`.
///
/// ```
/// use kvcore::{Config, Layer};
/// let layers = [Layer::flat()];
/// let config = Config { max_seqs: 8, max_write: 32, ..Config::new(4096, 26, &layers) };
/// assert!(kvcore::cell_words(&config)? < 4 * 4096);
/// # Ok::<(), kvcore::Error>(())
/// ```
#[inline(never)]
pub fn cell_words(config: &Config<'_>) -> Result<usize, Error> {
    check(config)?;
    let mut kinds = Kinds::new();
    push_kinds(&mut kinds, config)?;
    let mut pool = Pool::BLANK;
    let mut n_words = Common::new(config).words();
    for layers in kinds.chunks(layers_of_a_pool(config)) {
        n_words = pool.configure(config, layers, n_words)?;
    }
    Ok(n_words)
}

/// The layers of a config, one for each group, in order.
pub(super) type Kinds<'l> = heapless::Vec<&'l Layer, MAX_GROUPS, u8>;

/// Refuses a config that no cell cache has.
#[inline(never)]
pub(super) fn check(config: &Config<'_>) -> Result<(), Error> {
    let seqs = 1..=MAX_SEQS as u32;
    if config.capacity == UNBOUNDED || !seqs.contains(&config.max_seqs) {
        return Err(Error::InvalidConfig);
    }
    config.check()
}

pub(super) fn push_kinds<'l>(kinds: &mut Kinds<'l>, config: &Config<'l>) -> Result<(), Error> {
    for layer in config.layers {
        if !kinds.iter().any(|kind| kind.same_group(layer)) {
            kinds.push(layer).map_err(|_| Error::InvalidConfig)?;
        }
    }
    Ok(())
}

/// Layer groups that share a pool, at most.
pub(super) const fn layers_of_a_pool(config: &Config<'_>) -> usize {
    if config.flags & SPLIT_POOLS == 0 { MAX_GROUPS } else { 1 }
}

/// A word for each layer: its group, and whose rows it uses.
#[inline(never)]
pub(super) fn write_layers(words: &mut [u32], config: &Config<'_>, kinds: &[&Layer]) {
    for (word, layer) in words.iter_mut().zip(config.each_layer()) {
        let group = kinds.iter().position(|kind| kind.same_group(layer)).unwrap_or(0);
        *word = group as u32 | layer.shares_with << 8;
    }
}

impl Common {
    pub(super) const fn new(config: &Config<'_>) -> Self {
        let asked = if config.max_write == 0 { UNBOUNDED } else { config.max_write };
        let max_step = if asked < config.capacity { asked } else { config.capacity };
        Self {
            n_layers: config.n_layers as usize,
            max_seqs: config.max_seqs as usize,
            max_step: max_step as usize,
        }
    }
}

impl Pool {
    /// The pool of some layers, whose words begin at `base`; answers where the next one's do.
    #[inline(never)]
    pub(super) fn configure(
        &mut self,
        config: &Config<'_>,
        layers: &[&Layer],
        base: usize,
    ) -> Result<usize, Error> {
        let (mut flat, mut window, mut sinks) = (false, 0, 0);
        for layer in layers {
            flat |= layer.kind == LAYER_FLAT;
            window = layer.window.max(window);
            sinks = layer.sinks.max(sinks);
        }
        let chained = !flat && config.flags & KEEP_CELLS == 0;
        let kept =
            if chained { window.checked_add(config.rollback).ok_or(Error::InvalidConfig)? } else { 0 };
        let (mut cells, max_step) = (config.capacity, Common::new(config).max_step as u32);
        if chained && config.flags & SPLIT_POOLS != 0 {
            // Where a product or a sum is more than 32 bits, so is the capacity less.
            let each = kept.saturating_add(sinks);
            cells = cells.min(config.max_seqs.saturating_mul(each).saturating_add(max_step));
        }
        (self.window, self.sinks, self.kept) = (window, sinks, kept);
        self.shape.configure(base, cells, config.max_seqs, max_step, chained)
    }
}
