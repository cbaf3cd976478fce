//! Sequences: made, cloned, cut, let go; and what they hold.

use super::CellInner;
use super::pool::{Edit, Known, Pool, View};
use crate::bitset::{bit, put};
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
        self.begin(seq, 0);
        Ok(seq)
    }

    fn free_id(&self) -> Result<u32, Error> {
        let [low, high] = self.live.map(u32::trailing_ones);
        let seq = if low < u32::BITS { low } else { low + high };
        if seq < self.max_seqs { Ok(seq) } else { Err(Error::TableFull) }
    }

    /// An id is in use, and its sequence goes on at `next`.
    fn begin(&mut self, seq: u32, next: u32) {
        if let Some(live) = self.live.get_mut(seq as usize / 32) {
            *live |= bit(seq);
        }
        self.go_on(seq, next);
    }

    /// A verb is done, after which a sequence goes on at `next`.
    pub(super) fn go_on(&mut self, seq: u32, next: u32) {
        let at = self.common().next(seq);
        put(self.words.as_mut(), at, next);
        self.end_step();
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
        for pool in &mut self.pools {
            let mut pool = pool.edit(self.words.as_mut());
            pool.copy(src, seq, if whole { UNBOUNDED } else { upto });
            if !whole {
                pool.recover(seq, upto);
                pool.survey(seq);
            }
        }
        self.begin(seq, if whole { self.next_of(src) } else { self.behind(seq) });
        Ok(seq)
    }

    /// The position behind all that a sequence holds.
    pub(super) fn behind(&self, seq: u32) -> u32 {
        self.most(|view| view.next_position(seq))
    }

    /// Of what the pools know of a sequence the largest number.
    fn most(&self, number: impl Fn(View<'_>) -> u32) -> u32 {
        self.views().map(number).max().unwrap_or(0)
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
        for pool in &mut self.pools {
            pool.edit(self.words.as_mut()).recover(seq, new_len);
        }
        self.cut(seq, new_len, UNBOUNDED);
        Ok(())
    }

    /// Lets go of positions, in every pool.
    #[inline(never)]
    fn cut(&mut self, seq: u32, from: u32, to: u32) {
        for pool in &mut self.pools {
            let mut pool = pool.edit(self.words.as_mut());
            pool.release_range(seq, &(from..to));
            pool.survey(seq);
        }
        self.go_on(seq, self.behind(seq));
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
        self.let_go(seq, false);
        Ok(())
    }

    /// Releases sequences, a bit each.
    #[inline(never)]
    fn let_go(&mut self, seq: u32, others: bool) {
        let some = if others { 0..self.max_seqs } else { seq..seq + 1 };
        for other in some {
            if others && (other == seq || !self.is_live(other)) {
                continue;
            }
            for pool in &mut self.pools {
                let mut pool = pool.edit(self.words.as_mut());
                pool.release_range(other, &(0..UNBOUNDED));
                pool.forget(other);
            }
            if let Some(live) = self.live.get_mut(other as usize / 32) {
                *live &= !bit(other);
            }
        }
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
        self.let_go(seq, true);
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
        Ok(self.most(|view| view.known(seq, Known::Len)))
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
        // The least number is the one whose complement is the most.
        !self.most(|view| !view.known(seq, Known::First))
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
        let pool = pool.view(self.words.as_ref());
        let owns = |seq: &u32| pool.owns(*seq, cell);
        let owners = (0..self.max_seqs).filter(owns).fold(0, |owners, seq| owners | 1 << seq);
        Ok((if owners == 0 { UNBOUNDED } else { pool.position(cell) }, owners))
    }
}

impl Edit<'_> {
    /// A new sequence owns the cells of `src` at positions below `upto` as well. O(words of the sequence).
    #[inline(never)]
    fn copy(&mut self, src: u32, seq: u32, upto: u32) {
        let mut begin = 0;
        loop {
            let (at, inside) = self.read().next_within(src, begin, &(0..upto));
            if inside == 0 {
                break;
            }
            self.share(seq, at, inside, inside.count_ones());
            begin = at + 1;
        }
        let (from, to) = (self.pool.shape.known(src), self.pool.shape.known(seq));
        for what in Known::Len as usize + 1..Known::WORDS {
            let value = self.sets.get(from + what);
            self.sets.put(to + what, value);
        }
    }
}
