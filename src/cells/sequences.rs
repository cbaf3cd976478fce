//! Sequences: made, cloned, cut, let go; and what they hold.

use super::CellInner;
use super::pool::{Held, Pool};
use crate::error::Error;
use crate::limits::UNBOUNDED;

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> CellInner<W> {
    /// A new, empty sequence: the lowest free id. O(1).
    ///
    /// # Errors
    /// `TableFull` when `max_seqs` are in use.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Error, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// assert_eq!((cache.seq_new()?, cache.seq_new()?), (0, 1));
    /// assert_eq!(cache.seq_new(), Err(Error::TableFull));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn seq_new(&mut self) -> Result<u32, Error> {
        let seq = self.free_id()?;
        self.live |= 1 << seq;
        self.set_next(seq, 0);
        self.end_step();
        Ok(seq)
    }

    fn free_id(&self) -> Result<u32, Error> {
        let seq = (!self.live).trailing_zeros();
        if seq < self.max_seqs { Ok(seq) } else { Err(Error::TableFull) }
    }

    /// A new sequence that shares the cells of `src` at positions below `upto` ([`UNBOUNDED`]: all); nothing is copied. O(words of the
    /// sequence).
    ///
    /// # Errors
    /// `BadSequence`; `Evicted` when a window has dropped what a token at `upto` would see; `TableFull`.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.declare_step(&[a; 4])?;
    /// cache.place_step(0, &[0, 1, 2, 3], &mut [0; 4])?;
    /// let b = cache.seq_clone(a, 3)?;
    /// cache.seq_release(a)?;
    /// assert_eq!((cache.seq_len(b)?, cache.free_rows()), (3, 13));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[inline(never)]
    pub fn seq_clone(&mut self, src: u32, upto: u32) -> Result<u32, Error> {
        self.check_seq(src)?;
        let whole = upto >= self.next_of(src);
        if !whole && !self.may_cut(src, upto) {
            return Err(Error::Evicted);
        }
        let seq = self.free_id()?;
        let (pools, _, words) = self.parts();
        for pool in pools {
            pool.copy_owned(words, src, seq, if whole { UNBOUNDED } else { upto });
            pool.copy_held(words, src, seq);
            if !whole {
                pool.recover(words, seq, upto);
                pool.survey(words, seq);
            }
        }
        self.live |= 1 << seq;
        let next = if whole { self.next_of(src) } else { self.behind(seq) };
        self.set_next(seq, next);
        self.end_step();
        Ok(seq)
    }

    /// The position behind all that a sequence holds.
    pub(super) fn behind(&self, seq: u32) -> u32 {
        self.pools.iter().map(|pool| pool.next_position(self.words.as_ref(), seq)).max().unwrap_or(0)
    }

    /// Lets go of a sequence's positions `from..to`; cells without another owner are free. The id stays in use. O(words of the sequence).
    ///
    /// # Errors
    /// `InvalidArgument` for `from > to`; `BadSequence`; `Evicted` when the end is taken off and a window has dropped what the next token
    /// would see.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.declare_step(&[a; 4])?;
    /// cache.place_step(0, &[0, 1, 2, 3], &mut [0; 4])?;
    /// cache.seq_remove(a, 1, 3)?;
    /// assert_eq!((cache.seq_len(a)?, cache.next_pos(a)?), (2, 4));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[inline(never)]
    pub fn seq_remove(&mut self, seq: u32, from: u32, to: u32) -> Result<(), Error> {
        if from > to {
            return Err(Error::InvalidArgument);
        }
        self.check_seq(seq)?;
        let next = self.next_of(seq);
        if from < next && to >= next {
            // Without its end the sequence goes on at `from`, without anything at 0.
            let len = if from <= self.first_of(seq) { 0 } else { from };
            return self.rewind(seq, len);
        }
        self.cut(seq, from, to);
        Ok(())
    }

    /// Lets go of the positions from `new_len` on. O(words of the sequence).
    ///
    /// # Errors
    /// `BadSequence`; `CannotGrow` beyond `next_pos`; `Evicted` when a window has dropped what the next token would see.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Error, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.declare_step(&[a; 4])?;
    /// cache.place_step(0, &[0, 1, 2, 3], &mut [0; 4])?;
    /// cache.rewind(a, 2)?;
    /// assert_eq!((cache.next_pos(a)?, cache.rewind(a, 3)), (2, Err(Error::CannotGrow)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn rewind(&mut self, seq: u32, new_len: u32) -> Result<(), Error> {
        self.check_seq(seq)?;
        if new_len > self.next_of(seq) {
            return Err(Error::CannotGrow);
        }
        if !self.may_cut(seq, new_len) {
            return Err(Error::Evicted);
        }
        let (pools, _, words) = self.parts();
        for pool in pools {
            pool.recover(words, seq, new_len);
        }
        self.cut(seq, new_len, UNBOUNDED);
        Ok(())
    }

    /// Lets go of positions, in every pool.
    #[inline(never)]
    fn cut(&mut self, seq: u32, from: u32, to: u32) {
        let (pools, _, words) = self.parts();
        for pool in pools {
            pool.release_range(words, seq, from, to);
            pool.survey(words, seq);
        }
        let behind = self.behind(seq);
        self.set_next(seq, behind);
        self.end_step();
    }

    /// Lets go of all that a sequence holds, and of its id. O(words of the sequence).
    ///
    /// # Errors
    /// `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Error, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.seq_release(a)?;
    /// assert_eq!(cache.seq_release(a), Err(Error::BadSequence));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn seq_release(&mut self, seq: u32) -> Result<(), Error> {
        self.check_seq(seq)?;
        self.let_go(1 << seq);
        Ok(())
    }

    /// Releases sequences, a bit each.
    #[inline(never)]
    fn let_go(&mut self, seqs: u64) {
        let (pools, common, words) = self.parts();
        for seq in (0..common.max_seqs as u32).filter(|seq| seqs >> seq & 1 == 1) {
            for pool in &mut *pools {
                pool.release_range(words, seq, 0, UNBOUNDED);
                pool.put_held(words, seq, Held::EMPTY);
            }
        }
        self.live &= !seqs;
        self.end_step();
    }

    /// Releases every other sequence. O(words of theirs).
    ///
    /// # Errors
    /// `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 3, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let (a, b) = (cache.seq_new()?, cache.seq_new()?);
    /// cache.seq_keep(b)?;
    /// assert_eq!(cache.seq_new()?, a); // free again
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_keep(&mut self, seq: u32) -> Result<(), Error> {
        self.check_seq(seq)?;
        self.let_go(self.live & !(1 << seq));
        Ok(())
    }

    /// Tokens that a sequence holds; with a pool for each group those of the pool that keeps most. O(pools).
    ///
    /// # Errors
    /// `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// assert_eq!(cache.seq_len(a)?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[inline(never)]
    pub fn seq_len(&self, seq: u32) -> Result<u32, Error> {
        self.check_seq(seq)?;
        Ok(self.pools.iter().map(|pool| pool.held(self.words.as_ref(), seq).len).max().unwrap_or(0))
    }

    /// Highest position of a sequence + 1; 0 when it is empty. What a window dropped counts. O(1).
    ///
    /// # Errors
    /// `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.declare_step(&[a])?;
    /// cache.place_step(0, &[7], &mut [0])?; // gaps are legal
    /// assert_eq!(cache.next_pos(a)?, 8);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn next_pos(&self, seq: u32) -> Result<u32, Error> {
        self.check_seq(seq)?;
        Ok(self.next_of(seq))
    }

    /// Lowest position that a sequence holds in any pool; [`UNBOUNDED`] when it is empty. O(pools).
    ///
    /// # Errors
    /// `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer, UNBOUNDED};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// assert_eq!(cache.first_pos(a)?, UNBOUNDED);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[inline(never)]
    pub fn first_pos(&self, seq: u32) -> Result<u32, Error> {
        self.check_seq(seq)?;
        Ok(self.first_of(seq))
    }

    fn first_of(&self, seq: u32) -> u32 {
        let first = self.pools.iter().map(|pool| pool.held(self.words.as_ref(), seq).first);
        first.min().unwrap_or(UNBOUNDED)
    }

    /// Free cells, of the pool that has fewest. Cells that a window has passed are free after the next [`Self::declare_step`]. O(pools).
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// assert_eq!(CellCache::new(&mut words, &config)?.free_rows(), 16);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn free_rows(&self) -> u32 {
        self.pools.iter().map(Pool::n_free).min().unwrap_or(0)
    }

    /// Whether `n` more tokens of a sequence fit now, with the cells that every window has passed. O(pools), at worst O(words x sequences).
    ///
    /// # Errors
    /// `InvalidArgument` for no tokens; `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// assert!(cache.can_admit(a, 16)? && !cache.can_admit(a, 17)?);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[inline(never)]
    pub fn can_admit(&self, seq: u32, n: u32) -> Result<bool, Error> {
        if n == 0 {
            return Err(Error::InvalidArgument);
        }
        self.check_seq(seq)?;
        Ok(n <= self.context() - self.next_of(seq) && self.has_room(n))
    }

    /// Position and owners (bit `s`: sequence `s`) of a cell in a layer's pool; position [`UNBOUNDED`] and no owner when it is free. For
    /// diagnosis. O(sequences).
    ///
    /// # Errors
    /// `BadLayer`; `InvalidArgument` for a cell beyond the pool.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer, UNBOUNDED};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.declare_step(&[a])?;
    /// cache.place_step(0, &[7], &mut [0])?;
    /// assert_eq!((cache.owners(0, 0)?, cache.owners(0, 1)?), ((7, 1 << a), (UNBOUNDED, 0)));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn owners(&self, layer: u32, cell: u32) -> Result<(u32, u64), Error> {
        let pool = self.pool_of(self.group_of(layer)?.1)?;
        if cell >= pool.cells() {
            return Err(Error::InvalidArgument);
        }
        let words = self.words.as_ref();
        let owns = |seq: &u32| pool.shape.owned_by(*seq).contains(words, cell);
        let owners = (0..self.max_seqs).filter(owns).fold(0, |owners, seq| owners | 1 << seq);
        Ok((if owners == 0 { UNBOUNDED } else { pool.position(words, cell) }, owners))
    }
}

impl Pool {
    /// A new sequence owns what another one owns at positions below `upto`.
    #[inline(never)]
    fn copy_owned(&mut self, words: &mut [u32], src: u32, seq: u32, upto: u32) {
        let mut cursor = self.shape.owned_by(src).cursor();
        while let Some((at, bits)) = cursor.next(words) {
            let inside = self.within(words, at, bits, 0, upto);
            if inside != 0 {
                self.share(words, seq, at, inside);
            }
        }
    }

    /// What is known about a sequence, but for its length, is known about its clone.
    fn copy_held(&self, words: &mut [u32], src: u32, seq: u32) {
        let held = Held { len: self.held(words, seq).len, ..self.held(words, src) };
        self.put_held(words, seq, held);
    }
}
