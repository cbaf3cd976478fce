//! Context shift: positions move at once, rows are rotated by the backend later, once for all that was added up.
//!
//! Application and backend may be two threads, so what is done is what was told. A step that is declared over pending shifts freezes
//! them: once somebody read them, they do not change until they are done. What changed since it was read is not done by
//! [`CellInner::shifts_done`]: it stays pending, for the next step.

use core::ops::Range;

use super::CellInner;
use super::pool::{Edit, Known, Pool, View};
use crate::batch::Shift;
use crate::bitset::members;
use crate::error::Error;
use crate::limits::UNBOUNDED;

/// Positions of a sequence move by `delta`.
pub(super) struct Move {
    pub(super) seq: u32,
    pub(super) range: Range<u32>,
    pub(super) delta: i32,
}

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> CellInner<W> {
    /// Moves a sequence's positions `from..to` by `delta`. The rows keep what they hold, so each gets a pending delta, the sum of all shifts
    /// since [`Self::shifts_done`]. O(words of the sequence).
    ///
    /// # Errors
    /// `InvalidArgument` for `from > to`; `BadSequence`; `Unsupported` while a forward applies the shifts of a declared step; `Shared` when
    /// another sequence owns one of the cells too; `BadPosition` for a result below 0 or beyond `max_context`, for one that the
    /// sequence holds elsewhere, and for a pending delta beyond 32 bits; `Evicted` where the next token would miss what a window has
    /// dropped: let a window's worth of positions move down together. Nothing has moved then.
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
        let shift = Move { seq, range: from..to, delta };
        if self.views().any(|view| view.shares_any(&shift)) {
            return Err(Error::Shared);
        }
        let (context, pools) = (self.context(), &self.pools);
        if !self.views().all(|view| view.lands(&shift, context) && !view.is_in_the_way(&shift, pools)) {
            return Err(Error::BadPosition);
        }
        if !self.keeps_window(&shift) {
            return Err(Error::Evicted);
        }
        for pool in &mut self.pools {
            pool.outdate();
            let mut pool = pool.edit(self.words.as_mut());
            pool.shift(&shift);
            pool.survey(seq);
        }
        self.go_on(seq, self.behind(seq));
        Ok(())
    }

    /// Whether the next token behind the shift finds its window whole.
    #[inline(never)]
    fn keeps_window(&self, shift: &Move) -> bool {
        if self.views().all(|view| view.known(shift.seq, Known::Lost) == 0) {
            return true;
        }
        let mut next = 0;
        for view in self.views() {
            next = view.next_after(shift).max(next);
        }
        self.views().all(|view| view.allows(view.lost_after(shift), next))
    }

    /// A step is declared: what is pending is for it to apply, and nobody has read it yet.
    pub(super) fn freeze_shifts(&mut self) {
        for pool in &mut self.pools {
            pool.tell(false);
            let view = pool.view(self.words.as_ref());
            self.frozen |= view.sets.next_word(view.pool.shape.pending(), 0).is_some();
        }
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
        let pool = self.pool_of(self.group_of(layer)?.1)?.view(self.words.as_ref());
        let (mut n, mut row) = (0, 0);
        while let Some(shift) = pool.next_shift(row) {
            (n, row) = (n + 1, shift.row + shift.len);
        }
        Ok(n)
    }

    /// Writes the runs of rows with a pending delta in a layer's pool, ascending; answers how many. Rotate the keys of those rows before
    /// anything reads them, in every layer, then call [`Self::shifts_done`]. The list stays the same for every layer of a step. A
    /// forward that fails between has rotated some layers only: let it go on with the others, or [`Self::clear`] the cache. Where
    /// another thread may call verbs meanwhile, place the step between reading and rotating: with `NoStep`, rotate nothing.
    /// O(words with one).
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
        let mut n = 0;
        self.list_shifts(layer, out, &mut n)?;
        Ok(n)
    }

    /// The same; tells the number of runs beside `BufferTooSmall`, too.
    pub(crate) fn list_shifts(&mut self, layer: u32, out: &mut [Shift], n: &mut usize) -> Result<(), Error> {
        *n = self.n_shifts(layer)?;
        let out = out.get_mut(..*n).ok_or(Error::BufferTooSmall)?;
        let pool = self.pool_of(self.group_of(layer)?.1)?.view(self.words.as_ref());
        let mut row = 0;
        for out in out {
            let Some(shift) = pool.next_shift(row) else { break };
            (*out, row) = (shift, shift.row + shift.len);
        }
        let index = self.group_of(layer)?.1.pool as usize;
        if let Some(pool) = self.pools.get_mut(index) {
            pool.tell(true);
        }
        self.shifting |= *n > 0 && self.frozen;
        Ok(())
    }

    /// All layers have rotated the rows: nothing is pending any more, but for what changed since it was read. O(cells / 32).
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
        (self.frozen, self.shifting) = (false, false);
        for pool in &mut self.pools {
            let pending = pool.shape.pending();
            if !pool.is_stale() {
                pool.edit(self.words.as_mut()).sets.clear(pending);
            }
            pool.tell(false);
        }
    }
}

impl View<'_> {
    fn shares_any(&self, shift: &Move) -> bool {
        let mut begin = 0;
        loop {
            let (at, moving) = self.next_within(shift.seq, begin, &shift.range);
            if moving == 0 || self.shared(at, moving) {
                return moving != 0;
            }
            begin = at + 1;
        }
    }

    /// Whether every result is a position below `context`, and every sum of deltas a delta.
    fn lands(&self, shift: &Move, context: u32) -> bool {
        let lands = |cell: u32| {
            let position = self.position(cell).checked_add_signed(shift.delta);
            position.is_some_and(|position| position < context)
                && self.delta(cell).checked_add(shift.delta).is_some()
        };
        let mut begin = 0;
        loop {
            let (at, moving) = self.next_within(shift.seq, begin, &shift.range);
            if moving == 0 || !members(at, moving).all(lands) {
                return moving == 0;
            }
            begin = at + 1;
        }
    }

    /// Whether a position that stays here is one that another moves to, in any pool; what moves lands. O(words of the sequence) for
    /// each that stays where others may move to.
    #[inline(never)]
    fn is_in_the_way(&self, shift: &Move, pools: &[Pool]) -> bool {
        let Move { seq, ref range, delta } = *shift;
        let (mut next, end) =
            (range.start.saturating_add_signed(delta), range.end.saturating_add_signed(delta));
        loop {
            let position = self.lowest(seq, next).0;
            if position >= end {
                return false;
            }
            if range.contains(&position) {
                next = range.end;
                continue;
            }
            let source = position.wrapping_sub(delta.cast_unsigned());
            let holds = |pool: &Pool| pool.view(self.sets.words).lowest(seq, source).0 == source;
            if range.contains(&source) && pools.iter().any(holds) {
                return true;
            }
            next = position + 1;
        }
    }

    /// Where the sequence goes on after the shift, as far as this pool knows.
    fn next_after(&self, shift: &Move) -> u32 {
        let Move { seq, ref range, delta } = *shift;
        let (below, moving) = (self.highest(seq, range.start).0, self.highest(seq, range.end).0);
        let above = self.highest(seq, UNBOUNDED).0;
        let moved = if moving > range.start { moving.saturating_add_signed(delta) } else { 0 };
        let staying = if above > range.end { above } else { below };
        moved.max(staying).max(self.lost_after(shift))
    }

    /// Pending delta of a cell.
    fn delta(&self, cell: u32) -> i32 {
        if self.sets.contains(self.pool.shape.pending(), cell) {
            self.sets.get(self.pool.shape.delta(cell)).cast_signed()
        } else {
            0
        }
    }

    /// The first run from `row` on of rows with the same pending delta; `row` is behind such a run, or 0.
    #[inline(never)]
    fn next_shift(&self, row: u32) -> Option<Shift> {
        let pending = self.pool.shape.pending();
        let (mut at, mut mask) = (row as usize / 32, u32::MAX << (row % 32));
        let row = loop {
            at = self.sets.next_word(pending, at)?;
            let next = members(at, self.sets.word(pending, at) & mask).next();
            if let Some(row) = next {
                break row;
            }
            (at, mask) = (at + 1, u32::MAX);
        };
        let (delta, mut end) = (self.delta(row), row + 1);
        while end < self.pool.cells() && self.delta(end) == delta {
            end += 1;
        }
        Some(Shift { row, len: end - row, delta })
    }
}

impl Edit<'_> {
    pub(super) fn put_delta(&mut self, cell: u32, delta: i32) {
        self.sets.put(self.pool.shape.delta(cell), delta.cast_unsigned());
        let pending = self.pool.shape.pending();
        if delta == 0 {
            self.sets.remove(pending, cell);
        } else {
            self.sets.insert(pending, cell);
        }
    }

    /// Moves the positions; all were checked.
    #[inline(never)]
    fn shift(&mut self, shift: &Move) {
        let lost = self.read().lost_after(shift);
        let (mut begin, mut lowest) = (0, UNBOUNDED);
        loop {
            let (at, inside) = self.read().next_within(shift.seq, begin, &shift.range);
            if inside == 0 {
                break;
            }
            for cell in members(at, inside) {
                let position = self.read().position(cell).wrapping_add_signed(shift.delta);
                self.sets.put(self.pool.shape.position(cell), position);
                self.put_delta(cell, self.read().delta(cell).wrapping_add(shift.delta));
                lowest = lowest.min(cell);
            }
            self.tighten(at);
            begin = at + 1;
        }
        self.review_order(lowest);
        self.note(shift.seq, Known::Lost, lost);
    }

    /// A pending delta goes where its row goes.
    pub(super) fn move_delta(&mut self, from: u32, to: u32) {
        let delta = self.read().delta(from);
        self.put_delta(to, delta);
        self.put_delta(from, 0);
    }
}
