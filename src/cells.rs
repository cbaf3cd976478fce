//! The cell cache: a pool of cells shared by up to 64 sequences.
//!
//! A cell is a row that belongs to every sequence that owns it. Sequences share cells (a clone copies nothing), a cell is
//! free when its last owner lets go, and new tokens take the lowest free cells. All state lies in words of the caller's:
//!
//! - `layout.rs`: a config as this cache reads it; `pool/shape.rs`: where each array of a pool stands, and how many words that takes;
//! - `pool.rs`, `pool/view.rs`: one pool, to change and to look at; owners as one bit set for each sequence, how many own a
//!   cell as bit planes (a counter of one bit a plane, so that a word of planes counts for 32 cells at once);
//! - `steps.rs`, `masks.rs`: what a backend asks; `sequences.rs`, `shifts.rs`, `defrag.rs`: what an application asks;
//! - `evict.rs`: cells behind every window come back by themselves.
//!
//! No lock and no sharing: calls take `&mut self`. See [`crate::CacheRef`] for the shared form.

mod defrag;
mod evict;
mod layout;
mod masks;
mod pool;
mod sequences;
mod shifts;
mod steps;

use crate::bitset::{bit, get};
use crate::config::Config;
use crate::error::Error;
use crate::layer::{Layer, LayerInfo};
use crate::limits::{MAX_GROUPS, MAX_SEQS};
pub use layout::cell_words;
use layout::{Common, Kinds, check, layers_of_a_pool, push_kinds, write_layers};
use pool::{Pool, View};

/// Layers that see cells alike, and the pool that they use.
#[derive(Clone, Copy, Debug)]
struct Group {
    layer: Layer,
    pool: u8,
}

/// A cell cache over words `W`: `[u32]`, an array, or a borrowed slice ([`CellCache`]).
#[derive(Clone, Debug)]
#[repr(C)]
pub struct CellInner<W: ?Sized> {
    capacity: u32,
    max_context: u32,
    max_write: u32,
    rollback: u32,
    initial_capacity: u32,
    kv_dtype: i32,
    flags: u32,
    n_layers: u32,
    max_seqs: u32,
    /// Most tokens of a step that the pools and `max_write` allow.
    max_step: u32,
    /// Tokens of the declared step; 0: none.
    n_tokens: u32,
    /// The declared step has its cells.
    placed: bool,
    /// A step was declared over the pending shifts.
    frozen: bool,
    /// And somebody has begun to apply them.
    shifting: bool,
    /// Bit `s % 32` of word `s / 32`: sequence `s` is in use.
    live: [u32; MAX_SEQS.div_ceil(32)],
    groups: heapless::Vec<Group, MAX_GROUPS, u8>,
    pools: heapless::Vec<Pool, MAX_GROUPS, u8>,
    /// Words in use behind `words`, as [`cell_words`] counts them.
    pub(crate) n_words: usize,
    pub(crate) words: W,
}

/// A cell cache over borrowed words: places steps, makes masks, clones, shifts, compacts.
///
/// ```
/// use kvcore::{CellCache, Config, Layer, MASK_EXPLICIT};
/// let layers = [Layer::flat()];
/// let config = Config { max_seqs: 2, max_write: 8, ..Config::new(64, 26, &layers) };
/// let mut words = vec![0; kvcore::cell_words(&config)?];
/// let mut cache = CellCache::new(&mut words, &config)?;
///
/// let a = cache.seq_new()?;
/// cache.declare_step(&[a; 4])?; // a prompt of four tokens
/// let mut cells = [0; 4];
/// cache.place_step(0, &[0, 1, 2, 3], &mut cells)?;
/// assert_eq!(cells, [0, 1, 2, 3]);
///
/// let b = cache.seq_clone(a, kvcore::UNBOUNDED)?; // shares the four cells
/// cache.declare_step(&[a, b])?; // one token each
/// let step = cache.place_step(0, &[4, 4], &mut cells[..2])?;
/// assert_eq!((step.mask, step.read_len), (MASK_EXPLICIT, 6));
/// let mut mask = [0; 2];
/// cache.mask_bits(0, &mut mask, 1)?;
/// assert_eq!(mask, [0b01_1111, 0b10_1111]); // the prompt and each its own
/// # Ok::<(), kvcore::Error>(())
/// ```
pub type CellCache<'w> = CellInner<&'w mut [u32]>;

impl<'w> CellCache<'w> {
    /// An empty cache whose state lies in `words`, whatever they hold. O(words).
    ///
    /// # Errors
    /// As [`Config::check`]; `InvalidConfig` also for an unbounded capacity, `max_seqs` outside 1 to 64, and state that no
    /// memory holds; `BufferTooSmall` below [`cell_words`].
    ///
    /// ```
    /// use kvcore::{CellCache, Config, Error, Layer};
    /// let layers = [Layer::flat()];
    /// let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// assert_eq!(CellCache::new(&mut [], &config).err(), Some(Error::BufferTooSmall));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn new(words: &'w mut [u32], config: &Config<'_>) -> Result<Self, Error> {
        let mut cache = Self::blank(words);
        cache.configure(config)?;
        Ok(cache)
    }
}

impl<W> CellInner<W> {
    /// A cache of nothing, to be configured where it stands.
    pub(crate) const fn blank(words: W) -> Self {
        Self {
            capacity: 0,
            max_context: 0,
            max_write: 0,
            rollback: 0,
            initial_capacity: 0,
            kv_dtype: 0,
            flags: 0,
            n_layers: 0,
            max_seqs: 0,
            max_step: 0,
            n_tokens: 0,
            placed: false,
            frozen: false,
            shifting: false,
            live: [0; MAX_SEQS.div_ceil(32)],
            groups: heapless::Vec::new(),
            pools: heapless::Vec::new(),
            n_words: 0,
            words,
        }
    }
}

impl CellInner<[u32; 0]> {
    /// A cache of nothing, in front of words that are still to be written.
    pub(crate) const BLANK: Self = Self::blank([]);
}

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> CellInner<W> {
    /// Builds the cache in place, from a blank one.
    fn configure(&mut self, config: &Config<'_>) -> Result<(), Error> {
        check(config)?;
        self.build(config)
    }

    /// The same, of a config that [`cell_words`] has seen: checks take room on the stack.
    pub(crate) fn build(&mut self, config: &Config<'_>) -> Result<(), Error> {
        let mut kinds = Kinds::new();
        push_kinds(&mut kinds, config)?;
        let common = Common::new(config);
        self.n_words = common.words();
        for layers in kinds.chunks(layers_of_a_pool(config)) {
            self.pools.push(Pool::BLANK).map_err(|_| Error::InvalidConfig)?;
            let pool = self.pools.last_mut().ok_or(Error::InvalidConfig)?;
            self.n_words = pool.configure(config, layers, self.n_words)?;
        }
        let words = self.words.as_mut().get_mut(..self.n_words).ok_or(Error::BufferTooSmall)?;
        words.fill(0);
        write_layers(words, config, &kinds);
        self.push_groups(&kinds)?;
        self.capacity = config.capacity;
        self.max_context = config.max_context;
        self.max_write = config.max_write;
        self.rollback = config.rollback;
        self.initial_capacity = config.initial_capacity.min(config.capacity);
        self.kv_dtype = config.kv_dtype;
        self.flags = config.flags;
        self.n_layers = config.n_layers;
        self.max_seqs = config.max_seqs;
        self.max_step = common.max_step as u32;
        self.clear();
        Ok(())
    }

    /// One group of each kind, in the only pool or in its own.
    #[inline(never)]
    fn push_groups(&mut self, kinds: &[&Layer]) -> Result<(), Error> {
        let last_pool = self.pools.len().saturating_sub(1);
        for (index, layer) in kinds.iter().enumerate() {
            let group =
                Group { layer: Layer { shares_with: 0, ..**layer }, pool: index.min(last_pool) as u8 };
            self.groups.push(group).map_err(|_| Error::InvalidConfig)?;
        }
        Ok(())
    }

    const fn common(&self) -> Common {
        Common {
            n_layers: self.n_layers as usize,
            max_seqs: self.max_seqs as usize,
            max_step: self.max_step as usize,
        }
    }

    fn views(&self) -> impl Iterator<Item = View<'_>> {
        self.pools.iter().map(|pool| pool.view(self.words.as_ref()))
    }

    /// Cells as configured: of the only pool, or of a full layer's. O(1).
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// assert_eq!(CellCache::new(&mut words, &config)?.capacity(), 64);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Layer groups, 1 to [`MAX_GROUPS`]. O(1).
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat(), Layer::ring(8)];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 2, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// assert_eq!(CellCache::new(&mut words, &config)?.n_groups(), 2);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// The config as resolved: `max_write` is what a step may really have; `layers` is empty ([`Self::layer`] answers for
    /// each), fields of other kinds are 0. O(1).
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// assert_eq!(CellCache::new(&mut words, &config)?.config().max_write, 64);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn config(&self) -> Config<'static> {
        Config {
            max_write: self.max_step,
            rollback: self.rollback,
            max_context: self.max_context,
            initial_capacity: self.initial_capacity,
            kv_dtype: self.kv_dtype,
            max_seqs: self.max_seqs,
            flags: self.flags,
            ..Config::new(self.capacity, self.n_layers, &[])
        }
    }

    /// What is known about a layer; `rows` are the cells of its pool. O(1).
    ///
    /// # Errors
    /// `BadLayer`.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer, config::SPLIT_POOLS};
    /// let layers = [Layer::flat(), Layer::ring(8)];
    /// let config = Config { max_seqs: 2, max_write: 4, flags: SPLIT_POOLS, ..Config::new(64, 2, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// let cache = CellCache::new(&mut words, &config)?;
    /// assert_eq!((cache.layer(0)?.rows, cache.layer(1)?.rows), (64, 2 * 8 + 4));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn layer(&self, layer: u32) -> Result<LayerInfo, Error> {
        let (index, group) = self.group_of(layer)?;
        let shares_with = get(self.words.as_ref(), layer as usize) >> 8;
        let layer = Layer { shares_with, ..group.layer };
        Ok(LayerInfo { layer, group: index, rows: self.pool_of(group)?.cells(), max_write: self.max_step })
    }

    fn group_of(&self, layer: u32) -> Result<(u32, &Group), Error> {
        if layer >= self.n_layers {
            return Err(Error::BadLayer);
        }
        let index = get(self.words.as_ref(), layer as usize) & 0xFF;
        self.groups.get(index as usize).map(|group| (index, group)).ok_or(Error::BadLayer)
    }

    fn pool_of(&self, group: &Group) -> Result<&Pool, Error> {
        self.pools.get(group.pool as usize).ok_or(Error::BadLayer)
    }

    /// Forgets all cells and all sequences, and a step and shifts that are pending. O(words).
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Error, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.clear();
    /// assert_eq!(cache.seq_len(seq), Err(Error::BadSequence));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn clear(&mut self) {
        self.end_step();
        (self.frozen, self.shifting) = (false, false);
        self.live.fill(0);
        for pool in &mut self.pools {
            pool.edit(self.words.as_mut()).clear();
        }
    }

    /// Any verb ends the step.
    const fn end_step(&mut self) {
        (self.n_tokens, self.placed) = (0, false);
    }

    /// Refuses an id that nobody was given.
    fn check_seq(&self, seq: u32) -> Result<(), Error> {
        if self.is_live(seq) { Ok(()) } else { Err(Error::BadSequence) }
    }

    fn is_live(&self, seq: u32) -> bool {
        get(&self.live, seq as usize / 32) & bit(seq) != 0
    }

    /// The position that a sequence's next token has at least.
    fn next_of(&self, seq: u32) -> u32 {
        get(self.words.as_ref(), self.common().next(seq))
    }
}
