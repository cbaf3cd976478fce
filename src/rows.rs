//! The private-row cache: a history of its own for each sequence, one capacity for all of them.
//!
//! Each sequence is planned as the one-sequence cache plans, over rows of its own: the rows of its plans are indices into
//! the pool that this sequence has of each layer. A declared step is cut into spans of consecutive tokens of one sequence.
//!
//! - `rows/words.rs`: what is kept of each sequence and of the step, and where in the words;
//! - `rows/steps.rs`: what a backend asks;
//! - `rows/sequences.rs`: what an application asks.
//!
//! All that varies in size lies in words of the caller's, [`rows_words`] of them. To place a cache behind a header: write
//! `RowsInner::<[u32; 0]>::BLANK`, lay zeroed words right behind it (`size_of::<RowsInner<[u32; 0]>>()` bytes on, there is no
//! padding), and `build` it as a `RowsInner<[u32]>`; its `n_words` then tells how many there are.
//!
//! No lock and no sharing: calls take `&mut self`. See [`crate::CacheRef`] for the shared form.

mod sequences;
mod steps;
mod words;

use core::mem::offset_of;

use crate::config::Config;
use crate::error::Error;
use crate::layer::{LAYER_FLAT, Layer, LayerInfo};
use crate::layout::{Layout, step_limit};
use crate::limits::{MAX_GROUPS, UNBOUNDED};
use crate::sequence::SequenceInner;
pub(crate) use words::Words;
use words::{Known, Shape};

/// Most sequences of a private-row cache.
pub const MAX_SEQS: u32 = 4096;

/// A private-row cache over words `W`: an array, a borrowed slice ([`RowsCache`]), or a slice behind other fields.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RowsInner<W: ?Sized> {
    /// Words in use, as [`rows_words`] counts them.
    pub(crate) n_words: usize,
    max_seqs: u32,
    /// Positions that a sequence can reach.
    bound: u32,
    /// Most rows that a sequence holds, however long it gets; [`UNBOUNDED`] where a layer is flat.
    most_rows: u32,
    /// Rows that all sequences hold.
    used: u32,
    /// Tokens of the declared step; 0: none.
    n_tokens: u32,
    n_spans: u32,
    /// The step was placed: its tokens count.
    placed: u32,
    epoch: u32,
    /// The layers and the bounds of a sequence, and behind them the words; its own length stays 0.
    model: SequenceInner<Words<W>>,
}

/// A private-row cache over borrowed words: admits, plans, clones, rewinds.
///
/// ```
/// use kvcore::{Config, Layer, RowsCache, Span};
/// let layers = [Layer::flat()];
/// let config = Config { max_seqs: 4, ..Config::new(64, 26, &layers) };
/// let mut words = vec![0; kvcore::rows_words(&config)?];
/// let mut cache = RowsCache::new(&mut words, &config)?;
/// let (a, b) = (cache.seq_new()?, cache.seq_new()?);
///
/// cache.declare_step(&[a, a, a, b])?; // three tokens for one, one for the other
/// let mut spans = [Span::default(); 2];
/// assert_eq!(cache.place_step(0, &[0, 1, 2, 0], &mut spans)?, 2);
/// assert_eq!((spans[0].seq, spans[0].n_tokens), (a, 3));
/// assert_eq!(spans[1].plan.writes()[0].start, 0); // in rows of its own
///
/// cache.rewind(a, 2)?; // one token was rejected
/// assert_eq!((cache.seq_len(a)?, cache.free_rows()), (2, 61));
/// # Ok::<(), kvcore::Error>(())
/// ```
pub type RowsCache<'w> = RowsInner<&'w mut [u32]>;

/// 32-bit words of state that a private-row cache of this config wants: 4 and one a layer group for each sequence, one for
/// two layers, one for two tokens of the longest step there can be (all sequences together). O(layers).
///
/// # Errors
/// As [`RowsInner::new`], but for `BufferTooSmall`.
///
/// ```
/// use kvcore::{Config, Layer};
/// let layers = [Layer::flat()];
/// let config = Config { max_seqs: 8, max_write: 32, ..Config::new(4096, 26, &layers) };
/// assert_eq!(kvcore::rows_words(&config)?, 26 / 2 + 8 * (4 + 1) + 8 * 32 / 2);
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn rows_words(config: &Config<'_>) -> Result<usize, Error> {
    config.check()?;
    if config.capacity == UNBOUNDED || !(1..=MAX_SEQS).contains(&config.max_seqs) {
        return Err(Error::InvalidConfig);
    }
    let mut groups = heapless::Vec::<&Layer, MAX_GROUPS, u8>::new();
    let mut limit = UNBOUNDED;
    for layer in config.layers {
        if !groups.iter().any(|first| first.same_group(layer)) {
            groups.push(layer).map_err(|_| Error::InvalidConfig)?;
            limit = limit.min(step_limit(layer, config.max_write));
        }
    }
    let shape = Shape { n_layers: config.n_layers, n_groups: groups.len(), max_seqs: config.max_seqs };
    // Every token of a step has a row of its own.
    let max_tokens = limit.saturating_mul(config.max_seqs).min(config.capacity);
    shape.words(max_tokens).ok_or(Error::InvalidConfig)
}

impl<W> RowsInner<W> {
    const fn blank(words: W) -> Self {
        Self {
            n_words: 0,
            max_seqs: 0,
            bound: 0,
            most_rows: 0,
            used: 0,
            n_tokens: 0,
            n_spans: 0,
            placed: 0,
            epoch: 0,
            model: SequenceInner::blank(Words(words)),
        }
    }
}

impl RowsInner<[u32; 0]> {
    /// A cache of nothing, to be configured where it stands. All of its bytes are zero or padding.
    pub(crate) const BLANK: Self = Self::blank([]);
}

// Words that are laid behind a blank cache are its own.
const _: () = assert!(
    size_of::<RowsInner<[u32; 0]>>()
        == offset_of!(RowsInner<[u32; 0]>, model) + offset_of!(SequenceInner<Words<[u32; 0]>>, layers)
);

impl<W: AsRef<[u32]> + AsMut<[u32]>> RowsInner<W> {
    /// An empty cache whose state lies in `words`, whatever they hold: borrowed ones, or an array of its own. O(words).
    ///
    /// # Errors
    /// As [`Config::check`]; `InvalidConfig` also for an unbounded capacity, `max_seqs` outside 1 to [`MAX_SEQS`], and
    /// state that no memory holds; `BufferTooSmall` below [`rows_words`].
    ///
    /// ```
    /// use kvcore::{Config, Error, Layer, RowsCache, RowsInner};
    /// let layers = [Layer::flat()];
    /// let config = Config { max_seqs: 2, max_write: 8, ..Config::new(64, 1, &layers) };
    /// assert_eq!(RowsCache::new(&mut [], &config).err(), Some(Error::BufferTooSmall));
    /// let mut cache = RowsInner::new([0; 19], &config)?;
    /// assert_eq!(cache.seq_new()?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn new(words: W, config: &Config<'_>) -> Result<Self, Error> {
        let mut cache = Self::blank(words);
        cache.configure(config)?;
        Ok(cache)
    }
}

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> RowsInner<W> {
    /// Builds the cache in place, from a blank one.
    fn configure(&mut self, config: &Config<'_>) -> Result<(), Error> {
        self.build(config, rows_words(config)?)
    }

    /// The same, of a config that [`rows_words`] has seen, and answered `n_words` for: checks take room on the stack.
    pub(crate) fn build(&mut self, config: &Config<'_>, n_words: usize) -> Result<(), Error> {
        self.words_mut().get_mut(..n_words).ok_or(Error::BufferTooSmall)?.fill(0);
        self.model.configure(config)?;
        self.n_words = n_words;
        self.max_seqs = config.max_seqs;
        // One position less than 32 bits have: the next one is always a number.
        self.bound = match config.max_context {
            0 => UNBOUNDED - 1,
            some => some.min(UNBOUNDED - 1),
        };
        for layer in config.layers {
            self.most_rows = self.most_rows.max(rows_wanted(layer, config)?);
        }
        Ok(())
    }

    /// Where the words of a sequence begin; refuses an id that nobody was given.
    fn find(&self, seq: u32) -> Result<usize, Error> {
        let at = self.place_of(seq);
        let live = seq < self.max_seqs && self.known(at, Known::Reach) != 0;
        if live { Ok(at) } else { Err(Error::BadSequence) }
    }

    /// Rows that a sequence of so many tokens holds in its largest pool.
    fn rows_of(&self, length: u32) -> u32 {
        length.min(self.most_rows)
    }

    /// Rows that all sequences together may hold. O(1).
    ///
    /// ```
    /// # use kvcore::{Config, Layer, RowsCache};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// assert_eq!(RowsCache::new(&mut words, &config)?.capacity(), 64);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn capacity(&self) -> u32 {
        self.model.capacity()
    }

    /// Layer groups, 1 to [`MAX_GROUPS`]. O(1).
    ///
    /// ```
    /// # use kvcore::{Config, Layer, RowsCache};
    /// # let layers = [Layer::flat(), Layer::ring(8)];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 2, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// assert_eq!(RowsCache::new(&mut words, &config)?.n_groups(), 2);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn n_groups(&self) -> usize {
        self.model.n_groups()
    }

    /// The config as resolved: `max_write` is what one sequence may really have in a step; `layers` is empty
    /// ([`Self::layer`] answers for each), fields of other kinds are 0. O(1).
    ///
    /// ```
    /// # use kvcore::{Config, Layer, RowsCache};
    /// # let layers = [Layer::ring(8)];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// let cache = RowsCache::new(&mut words, &config)?;
    /// assert_eq!((cache.config().max_write, cache.config().max_seqs), (8, 2));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn config(&self) -> Config<'static> {
        Config { max_seqs: self.max_seqs, ..self.model.config() }
    }

    /// What is known about a layer; `rows` are those of one sequence's pool, at most. O(1).
    ///
    /// # Errors
    /// `BadLayer`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, RowsCache};
    /// # let layers = [Layer::ring(8)];
    /// # let config = Config { max_seqs: 2, max_write: 1, ..Config::new(64, 2, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// let cache = RowsCache::new(&mut words, &config)?;
    /// assert_eq!(cache.layer(1)?.rows, 8);
    /// assert_eq!(cache.layer(2), Err(Error::BadLayer));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn layer(&self, layer: u32) -> Result<LayerInfo, Error> {
        self.model.layer(layer)
    }
}

/// Rows that a layer's pool would have if no capacity cut it.
///
/// A sequence holds a row of the capacity for each token up to the largest of these numbers. So a pool that the capacity cuts
/// short never comes round: its sequence runs out of capacity first.
fn rows_wanted(layer: &Layer, config: &Config<'_>) -> Result<u32, Error> {
    if layer.kind == LAYER_FLAT {
        return Ok(UNBOUNDED);
    }
    let layout = Layout::new(layer, config.max_write, config.rollback, UNBOUNDED)?;
    Ok(layout.rows())
}
