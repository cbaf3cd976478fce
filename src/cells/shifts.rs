//! Context shift: positions move at once, rows are rotated by the backend later, once for all that was added up.

use core::ops::Range;

use super::CellInner;
use super::pool::Pool;
use crate::batch::Shift;
use crate::bitset::{get, members, put};
use crate::error::Error;
use crate::limits::UNBOUNDED;

/// Positions `from..to` of a sequence move by `delta`.
#[derive(Clone, Copy)]
struct Move {
    seq: u32,
    from: u32,
    to: u32,
    delta: i32,
}

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> CellInner<W> {
    /// Moves a sequence's positions `from..to` by `delta`. The rows keep what they hold, so each gets a pending delta, the sum of all shifts
    /// since [`Self::shifts_done`]. O(words of the sequence).
    ///
    /// # Errors
    /// `InvalidArgument` for `from > to`; `BadSequence`; `Unsupported` while a forward applies the shifts of a declared step; `Shared` when
    /// another sequence owns one of the cells too; `BadPosition` for a result below 0 or beyond `max_context`, and for one that the
    /// sequence holds elsewhere. Nothing has moved then.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer, Shift};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.declare_step(&[a; 6])?;
    /// cache.place_step(0, &[0, 1, 2, 3, 4, 5], &mut [0; 6])?;
    /// cache.seq_remove(a, 1, 4)?; // the context is full: drop the oldest part but the first token
    /// cache.seq_shift(a, 4, 6, -3)?;
    /// assert_eq!(cache.next_pos(a)?, 3);
    /// let mut shifts = [Shift::default(); 4];
    /// assert_eq!(cache.shifts(0, &mut shifts)?, 1);
    /// assert_eq!(shifts[0], Shift { row: 4, len: 2, delta: -3 });
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[inline(never)]
    pub fn seq_shift(&mut self, seq: u32, from: u32, to: u32, delta: i32) -> Result<(), Error> {
        if from > to {
            return Err(Error::InvalidArgument);
        }
        self.check_seq(seq)?;
        if self.shifting {
            return Err(Error::Unsupported);
        }
        if delta == 0 {
            self.end_step();
            return Ok(());
        }
        let shift = Move { seq, from, to, delta };
        self.check_shift(shift)?;
        let (pools, _, words) = self.parts();
        for pool in pools {
            pool.shift(words, shift);
            pool.survey(words, seq);
        }
        let behind = self.behind(seq);
        self.set_next(seq, behind);
        self.end_step();
        Ok(())
    }

    /// Refuses a shift that would move a shared cell, or lead to what is no position or is held elsewhere.
    #[inline(never)]
    fn check_shift(&self, shift: Move) -> Result<(), Error> {
        let (pools, words, context) = (&self.pools, self.words.as_ref(), self.context());
        if pools.iter().any(|pool| pool.shares_any(words, shift)) {
            return Err(Error::Shared);
        }
        let lands = |pool: &Pool| pool.lands(words, shift, context);
        let stands = |pool: &Pool| pool.is_in_the_way(words, shift, pools);
        if pools.iter().all(lands) && !pools.iter().any(stands) { Ok(()) } else { Err(Error::BadPosition) }
    }

    /// Runs of rows with a pending delta in a layer's pool. O(words with one).
    ///
    /// # Errors
    /// `BadLayer`.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// assert_eq!(CellCache::new(&mut words, &config)?.n_shifts(0)?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn n_shifts(&self, layer: u32) -> Result<usize, Error> {
        let pool = self.pool_of(self.group_of(layer)?.1)?;
        let mut n = 0;
        pool.each_shift(self.words.as_ref(), |_| n += 1);
        Ok(n)
    }

    /// Writes the runs of rows with a pending delta in a layer's pool, ascending; answers how many. Rotate the keys of those rows before
    /// anything reads them, in every layer, then call [`Self::shifts_done`]. A forward that fails between has rotated some layers only:
    /// [`Self::clear`] the cache. O(words with one).
    ///
    /// # Errors
    /// `BadLayer`; `BufferTooSmall` for fewer than [`Self::n_shifts`].
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// assert_eq!(CellCache::new(&mut words, &config)?.shifts(0, &mut [])?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn shifts(&mut self, layer: u32, out: &mut [Shift]) -> Result<usize, Error> {
        let n = self.n_shifts(layer)?;
        let mut out = out.get_mut(..n).ok_or(Error::BufferTooSmall)?.iter_mut();
        let pool = self.pool_of(self.group_of(layer)?.1)?;
        pool.each_shift(self.words.as_ref(), |shift| {
            if let Some(out) = out.next() {
                *out = shift;
            }
        });
        self.shifting |= n > 0 && self.n_tokens > 0;
        Ok(n)
    }

    /// All layers have rotated the rows: nothing is pending any more. O(cells / 32).
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// cache.shifts_done();
    /// assert_eq!(cache.n_shifts(0)?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn shifts_done(&mut self) {
        self.shifting = false;
        let (pools, _, words) = self.parts();
        for pool in pools {
            pool.shape.pending().clear(words);
        }
    }
}

impl Move {
    const fn range(self) -> Range<u32> {
        self.from..self.to
    }
}

impl Pool {
    fn shares_any(&self, words: &[u32], shift: Move) -> bool {
        self.find(words, shift.seq, shift.range(), &mut |at, moving| self.shared(words, at, moving))
    }

    /// Whether every result is a position below `context`, and every sum of deltas a delta.
    fn lands(&self, words: &[u32], shift: Move, context: u32) -> bool {
        let lands = |cell: u32| {
            let position = self.position(words, cell).checked_add_signed(shift.delta);
            position.is_some_and(|position| position < context)
                && self.delta(words, cell).checked_add(shift.delta).is_some()
        };
        !self.find(words, shift.seq, shift.range(), &mut |at, moving| !members(at, moving).all(lands))
    }

    /// Whether a position that stays here is one that another moves to, in any pool. O(words of the sequence) for each that stays where
    /// others may move to.
    #[inline(never)]
    fn is_in_the_way(&self, words: &[u32], shift: Move, pools: &[Self]) -> bool {
        let Move { seq, from, to, delta } = shift;
        let (mut next, end) = (from.saturating_add_signed(delta), to.saturating_add_signed(delta));
        loop {
            let position = self.lowest(words, seq, next).0;
            if position >= end {
                return false;
            }
            if (from..to).contains(&position) {
                next = to;
                continue;
            }
            let source = u32::try_from(i64::from(position) - i64::from(delta)).unwrap_or(UNBOUNDED);
            if (from..to).contains(&source) && pools.iter().any(|pool| pool.holds(words, seq, source)) {
                return true;
            }
            next = position + 1;
        }
    }

    /// Pending delta of a cell.
    fn delta(&self, words: &[u32], cell: u32) -> i32 {
        if self.shape.pending().contains(words, cell) {
            get(words, self.shape.delta(cell)).cast_signed()
        } else {
            0
        }
    }

    pub(super) fn put_delta(&self, words: &mut [u32], cell: u32, delta: i32) {
        put(words, self.shape.delta(cell), delta.cast_unsigned());
        if delta == 0 {
            self.shape.pending().remove(words, cell);
        } else {
            self.shape.pending().insert(words, cell);
        }
    }

    /// Whether a sequence holds a position. O(words of the sequence).
    fn holds(&self, words: &[u32], seq: u32, position: u32) -> bool {
        self.lowest(words, seq, position).0 == position
    }

    /// Moves the positions; all were checked.
    #[inline(never)]
    fn shift(&mut self, words: &mut [u32], shift: Move) {
        let Move { seq, from, to, delta } = shift;
        let mut cursor = self.shape.owned_by(seq).cursor();
        let mut lowest = self.cells();
        while let Some((at, bits)) = cursor.next(words) {
            let inside = self.within(words, at, bits, from, to);
            for cell in members(at, inside) {
                let position = self.position(words, cell).wrapping_add_signed(delta);
                put(words, self.shape.position(cell), position);
                self.put_delta(words, cell, self.delta(words, cell).wrapping_add(delta));
                lowest = lowest.min(cell);
            }
            if inside != 0 {
                self.tighten(words, at);
            }
        }
        self.review_order(words, lowest);
        let mut held = self.held(words, seq);
        held.shift_lost(from, to, delta);
        self.put_held(words, seq, held);
    }

    /// Calls `f` with each run of rows with the same pending delta.
    fn each_shift(&self, words: &[u32], mut f: impl FnMut(Shift)) {
        let mut cursor = self.shape.pending().cursor();
        let mut run = Shift::default();
        while let Some((at, bits)) = cursor.next(words) {
            for cell in members(at, bits) {
                let delta = self.delta(words, cell);
                if run.len > 0 && run.row + run.len == cell && run.delta == delta {
                    run.len += 1;
                } else {
                    if run.len > 0 {
                        f(run);
                    }
                    run = Shift { row: cell, len: 1, delta };
                }
            }
        }
        if run.len > 0 {
            f(run);
        }
    }

    /// A pending delta goes where its row goes.
    pub(super) fn move_delta(&self, words: &mut [u32], from: u32, to: u32) {
        let delta = self.delta(words, from);
        self.put_delta(words, to, delta);
        self.put_delta(words, from, 0);
    }
}
