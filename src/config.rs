//! What a cache is built from, and which configs contradict themselves.

use core::ffi::c_void;

use crate::error::Error;
use crate::layer::{LAYER_FLAT, Layer};
use crate::layout::Layout;
use crate::limits::{MAX_GROUPS, MAX_LAYERS, UNBOUNDED};

/// Rows a growing pool starts with, if the config does not say.
pub const DEFAULT_INITIAL_CAPACITY: u32 = 512;

/// Flag: a pool of cells for each layer group, so that a full layer does not keep a windowed layer's cells.
pub const SPLIT_POOLS: u32 = 1;
/// Flag: cells that every window has passed stay until they are removed.
pub const KEEP_CELLS: u32 = 2;

/// One config for every kind of cache; a kind ignores what is not its own.
///
/// ```
/// use kvcore::{Config, Layer};
/// let layers = [Layer::ring(512), Layer::ring(512), Layer::flat()];
/// let config = Config { max_write: 128, rollback: 8, ..Config::new(4096, 3, &layers) };
/// assert_eq!(config.check(), Ok(()));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Config<'l> {
    /// Positions (one sequence), cells, rows shared, or blocks times `block_size` (paged);
    /// [`UNBOUNDED`] where only windows bound a one-sequence cache.
    pub capacity: u32,
    /// Layers of the model, 1 to [`MAX_LAYERS`].
    pub n_layers: u32,
    /// One entry for all layers, or one each.
    pub layers: &'l [Layer],
    /// Most tokens of one step; 0: each ring layer's own window, no bound for flat layers.
    pub max_write: u32,
    /// Extra ring rows, so that up to that many rejected tokens can be taken back.
    pub rollback: u32,
    /// Positions that a sequence may reach; 0: no bound of its own.
    pub max_context: u32,
    /// Rows that a growing pool starts with.
    pub initial_capacity: u32,
    /// Element type of the tensors, opaque here.
    pub kv_dtype: i32,
    /// Most sequences (many-sequence kinds).
    pub max_seqs: u32,
    /// Rows of a block (paged).
    pub block_size: u32,
    /// Most blocks of a sequence (paged).
    pub max_blocks_per_seq: u32,
    /// Blocks kept free at admission (paged).
    pub watermark: u32,
    /// [`SPLIT_POOLS`], [`KEEP_CELLS`] (cells).
    pub flags: u32,
    /// Handed to a builder untouched.
    pub user: *const c_void,
}

impl<'l> Config<'l> {
    /// A config with every optional field at its default.
    ///
    /// ```
    /// use kvcore::{Config, Layer};
    /// let layers = [Layer::flat()];
    /// let config = Config::new(1024, 26, &layers);
    /// assert_eq!((config.initial_capacity, config.max_write), (512, 0));
    /// ```
    #[must_use]
    pub const fn new(capacity: u32, n_layers: u32, layers: &'l [Layer]) -> Self {
        Self {
            capacity,
            n_layers,
            layers,
            max_write: 0,
            rollback: 0,
            max_context: 0,
            initial_capacity: DEFAULT_INITIAL_CAPACITY,
            kv_dtype: 0,
            max_seqs: 0,
            block_size: 0,
            max_blocks_per_seq: 0,
            watermark: 0,
            flags: 0,
            user: core::ptr::null(),
        }
    }

    /// Refuses a config that contradicts itself. O(layers).
    ///
    /// # Errors
    /// `InvalidConfig` for: no capacity, no layer or more than [`MAX_LAYERS`], a number of entries that is
    /// neither 1 nor the number of layers, an unknown layer kind, a ring without a window, a flat layer
    /// with one or without a capacity, sinks that fill the capacity, a donor that does not stand before
    /// its sharer or has another layout, more than [`MAX_GROUPS`] layer groups, an unknown flag. The many-sequence
    /// kinds refuse more: see [`crate::cell_words`] and [`crate::rows_words`].
    ///
    /// ```
    /// use kvcore::{Config, Error, Layer, UNBOUNDED};
    /// assert_eq!(Config::new(UNBOUNDED, 1, &[Layer::ring(8)]).check(), Ok(()));
    /// assert_eq!(Config::new(UNBOUNDED, 1, &[Layer::flat()]).check(), Err(Error::InvalidConfig));
    /// ```
    pub fn check(&self) -> Result<(), Error> {
        let layers = 1..=MAX_LAYERS;
        let n_layers = self.n_layers as usize;
        let entries = self.layers.len();
        let counted = layers.contains(&n_layers) && (entries == 1 || entries == n_layers);
        let unknown = self.flags & !(SPLIT_POOLS | KEEP_CELLS);
        if self.capacity == 0 || !counted || unknown != 0 {
            return Err(Error::InvalidConfig);
        }
        for (index, layer) in self.layers.iter().enumerate() {
            self.check_layer(index, layer)?;
        }
        self.check_groups()
    }

    fn check_layer(&self, index: usize, layer: &Layer) -> Result<(), Error> {
        self.layout(layer)?;
        if layer.kind == LAYER_FLAT && self.capacity == UNBOUNDED {
            return Err(Error::InvalidConfig);
        }
        let Some(donor) = (layer.shares_with as usize).checked_sub(1) else { return Ok(()) };
        match self.layers.get(donor) {
            Some(donor_layer) if donor < index && donor_layer.same_group(layer) => Ok(()),
            _ => Err(Error::InvalidConfig),
        }
    }

    /// The layout of one of this config's layers.
    pub(crate) fn layout(&self, layer: &Layer) -> Result<Layout, Error> {
        Layout::new(layer, self.max_write, self.rollback, self.capacity)
    }

    /// The entry of each layer.
    pub(crate) fn each_layer(&self) -> impl Iterator<Item = &'l Layer> {
        let (layers, last) = (self.layers, self.layers.len().saturating_sub(1));
        (0..self.n_layers as usize).filter_map(move |layer| layers.get(layer.min(last)))
    }

    fn check_groups(&self) -> Result<(), Error> {
        let mut groups = heapless::Vec::<&Layer, MAX_GROUPS, u8>::new();
        for layer in self.layers {
            if !groups.iter().any(|first| first.same_group(layer)) {
                groups.push(layer).map_err(|_| Error::InvalidConfig)?;
            }
        }
        Ok(())
    }
}
