//! One pool: which cell holds which position, and who owns it.

mod shape;
mod view;

use core::ops::Range;

use crate::bitset::{Sets, SetsMut, bit, members};
use crate::limits::UNBOUNDED;
pub(super) use shape::Shape;
pub(super) use view::View;

/// What a pool knows about a sequence, a word each.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// Cells.
    Len,
    /// Lowest position; [`UNBOUNDED`] for none.
    First,
    /// Lowest position that is no sink, and its cell; [`UNBOUNDED`] for none.
    Low,
    LowCell,
    /// Cell of the highest position; only meaningful with cells.
    Tail,
    /// Above every position that a window has dropped; 0: none.
    Lost,
}

impl Known {
    pub(super) const WORDS: usize = 6;
    const NOTHING: [u32; Self::WORDS] = [0, UNBOUNDED, UNBOUNDED, 0, 0, 0];
}

/// A pool of cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    pub(super) shape: Shape,
    /// Of its layers the most.
    pub(super) window: u32,
    pub(super) sinks: u32,
    /// Positions that a sequence keeps, window and rollback; 0: all.
    pub(super) kept: u32,
    /// Cells in use.
    pub(super) used: u32,
    /// Cells in use, each counted once for every owner.
    owned: u32,
    /// The first cells are in use and ascend in position, at least so many.
    ordered: u32,
    /// No cell is free before this leaf word.
    free_from: usize,
    /// The pending shifts were read since a step was declared or they were done.
    told: bool,
    /// And have changed since.
    stale: bool,
}

impl Pool {
    pub(super) const BLANK: Self = Self {
        shape: Shape::BLANK,
        window: 0,
        sinks: 0,
        kept: 0,
        used: 0,
        owned: 0,
        ordered: 0,
        free_from: 0,
        told: false,
        stale: false,
    };

    pub(super) const fn cells(&self) -> u32 {
        self.shape.cells
    }

    pub(super) const fn n_free(&self) -> u32 {
        self.shape.cells - self.used
    }

    /// The pending shifts are as they were read just now; or nobody has read them.
    pub(super) const fn tell(&mut self, told: bool) {
        (self.told, self.stale) = (told, false);
    }

    /// The pending shifts are not what was read.
    pub(super) const fn outdate(&mut self) {
        self.stale = self.told;
    }

    pub(super) const fn is_stale(&self) -> bool {
        self.stale
    }

    /// The pool with the words of the cache, to look at.
    #[inline]
    pub(super) const fn view<'v>(&'v self, words: &'v [u32]) -> View<'v> {
        View { sets: Sets { words, n: self.shape.cells }, pool: self }
    }

    /// The pool with the words of the cache, to change.
    #[inline]
    pub(super) const fn edit<'v>(&'v mut self, words: &'v mut [u32]) -> Edit<'v> {
        Edit { sets: SetsMut { words, n: self.shape.cells }, pool: self }
    }
}

/// A pool and the words that its arrays stand in, to change.
pub(super) struct Edit<'v> {
    pub(super) sets: SetsMut<'v>,
    pub(super) pool: &'v mut Pool,
}

impl Edit<'_> {
    #[inline]
    pub(super) fn read(&self) -> View<'_> {
        View { sets: self.sets.read(), pool: self.pool }
    }

    #[inline]
    pub(super) fn note(&mut self, seq: u32, what: Known, value: u32) {
        self.sets.put(self.pool.shape.known(seq) + what as usize, value);
    }

    /// Frees every cell and forgets every sequence. O(cells / 32 x sequences).
    pub(super) fn clear(&mut self) {
        (self.pool.used, self.pool.owned, self.pool.ordered, self.pool.free_from) = (0, 0, 0, 0);
        self.pool.tell(false);
        if let Some(counts) = self.sets.words.get_mut(self.pool.shape.counts()) {
            counts.fill(0);
        }
        self.sets.fill(self.pool.shape.free());
        for seq in 0..self.pool.shape.max_seqs {
            self.forget(seq);
        }
    }

    /// Nothing is known about a sequence without cells.
    pub(super) fn forget(&mut self, seq: u32) {
        let at = self.pool.shape.known(seq);
        if let Some(known) = self.sets.words.get_mut(at..).and_then(|words| words.first_chunk_mut()) {
            *known = Known::NOTHING;
        }
    }

    /// Puts tokens of a sequence, from number `token` of the step on, at rising positions above all that it holds, into the lowest free
    /// cells. Admission saw to it that there are enough. O(1) a token, at worst O(log cells).
    pub(super) fn place(&mut self, seq: u32, token: usize, positions: &[u32]) {
        let (free, mut done) = (self.pool.shape.free(), 0);
        while let Some(&lowest) = positions.get(done) {
            let Some(at) = self.read().free_word() else { return };
            self.pool.free_from = at;
            let (mut chosen, mut highest, before) = (0, lowest, done);
            for cell in members(at, self.sets.read().word(free, at)) {
                let Some(&position) = positions.get(done) else { break };
                chosen |= bit(cell);
                highest = position;
                self.sets.put(self.pool.shape.position(cell), position);
                self.sets.put(self.pool.shape.token(token + done), cell);
                self.append(seq, cell, position);
                done += 1;
            }
            let n = (done - before) as u32;
            self.occupy(at, chosen, n, lowest, highest);
            self.share(seq, at, chosen, n);
        }
    }

    /// A sequence goes on with a cell.
    fn append(&mut self, seq: u32, cell: u32, position: u32) {
        if self.read().known(seq, Known::First) == UNBOUNDED {
            self.note(seq, Known::First, position);
        } else if self.pool.shape.chained {
            let tail = self.read().known(seq, Known::Tail);
            self.sets.put(self.pool.shape.successor(tail), cell);
        }
        if position >= self.pool.sinks && self.read().known(seq, Known::Low) == UNBOUNDED {
            self.note(seq, Known::Low, position);
            self.note(seq, Known::LowCell, cell);
        }
        self.note(seq, Known::Tail, cell);
    }

    /// Takes `n` free cells of leaf word `at`, at positions from `lowest` to `highest`; who owns them is the caller's.
    pub(super) fn occupy(&mut self, at: usize, taken: u32, n: u32, lowest: u32, highest: u32) {
        let (low, high) = match self.read().sets.word(self.pool.shape.used(), at) {
            0 => (lowest, highest),
            _ => self.read().bounds(at),
        };
        self.put_bounds(at, low.min(lowest), high.max(highest));
        self.sets.part(self.pool.shape.free(), at, taken);
        self.sets.join(self.pool.shape.used(), at, taken);
        self.pool.used += n;
        for cell in members(at, taken) {
            self.extend_order(cell);
        }
    }

    #[inline]
    fn put_bounds(&mut self, at: usize, low: u32, high: u32) {
        let index = self.pool.shape.low(at);
        self.sets.put(index, low);
        self.sets.put(index + self.pool.shape.leaf(), high);
    }

    /// The first cells are in order up to and with a cell that was just taken, if it comes right behind them.
    #[inline]
    fn extend_order(&mut self, cell: u32) {
        let read = self.read();
        if cell == read.pool.ordered && (cell == 0 || read.position(cell - 1) < read.position(cell)) {
            self.pool.ordered += 1;
        }
    }

    /// The order of the cells from `cell` on has to be looked at again. O(cells in order).
    pub(super) fn review_order(&mut self, cell: u32) {
        let mut next = self.pool.ordered.min(cell);
        self.pool.ordered = next;
        let used = self.pool.shape.used();
        while next < self.pool.cells() && self.pool.ordered == next && self.sets.read().contains(used, next) {
            self.extend_order(next);
            next += 1;
        }
    }

    /// Makes the bounds of a leaf word exact. O(1).
    #[inline(never)]
    pub(super) fn tighten(&mut self, at: usize) {
        let (mut low, mut high) = (u32::MAX, 0);
        let read = self.read();
        for cell in members(at, read.sets.word(read.pool.shape.used(), at)) {
            let position = read.position(cell);
            (low, high) = (low.min(position), high.max(position));
        }
        self.put_bounds(at, low, high);
    }

    /// The pool counts so many cells of a sequence more, or with `more` below 0 less.
    fn count(&mut self, seq: u32, more: i32) {
        self.pool.owned = self.pool.owned.wrapping_add_signed(more);
        let len = self.read().known(seq, Known::Len).wrapping_add_signed(more);
        self.note(seq, Known::Len, len);
    }

    /// Sequence `seq` owns the `n` used cells `bits` of leaf word `at` as well, none of which it owned. O(1).
    pub(super) fn share(&mut self, seq: u32, at: usize, bits: u32, n: u32) {
        self.sets.join(self.pool.shape.owned_by(seq), at, bits);
        let (mut carry, mut index) = (bits, self.pool.shape.plane(at));
        // There are planes enough: no count passes the number of sequences.
        while carry != 0 {
            let old = self.sets.get(index);
            self.sets.put(index, old ^ carry);
            carry &= old;
            index += self.pool.shape.leaf();
        }
        self.count(seq, n.cast_signed());
    }

    /// Sequence `seq` lets go of its cells `bits` of leaf word `at`; those without another owner are free. O(1). What the pool
    /// knows about the sequence, but for the number of its cells, is the caller's to bring up to date.
    #[inline(never)]
    pub(super) fn release(&mut self, seq: u32, at: usize, bits: u32) {
        self.sets.part(self.pool.shape.owned_by(seq), at, bits);
        let (mut borrow, mut counted) = (bits, 0);
        for index in self.pool.shape.planes(at) {
            let old = self.sets.get(index);
            let new = old ^ borrow;
            self.sets.put(index, new);
            counted |= new;
            borrow &= new;
        }
        self.count(seq, -bits.count_ones().cast_signed());
        self.free(at, bits & !counted);
    }

    /// Frees cells that nobody owns any more.
    fn free(&mut self, at: usize, freed: u32) {
        if freed == 0 {
            return;
        }
        self.sets.part(self.pool.shape.used(), at, freed);
        self.sets.join(self.pool.shape.free(), at, freed);
        self.sets.part(self.pool.shape.pending(), at, freed);
        self.pool.free_from = self.pool.free_from.min(at);
        self.pool.used -= freed.count_ones();
        self.pool.ordered = self.pool.ordered.min(at as u32 * 32 + freed.trailing_zeros());
        let (low, high) = self.read().bounds(at);
        if members(at, freed).any(|cell| [low, high].contains(&self.read().position(cell))) {
            self.tighten(at);
        }
    }

    /// Sequence `seq` lets go of its cells at positions in the range. O(words of the sequence). What the pool knows about the
    /// sequence, but for the number of its cells, is the caller's to bring up to date.
    #[inline(never)]
    pub(super) fn release_range(&mut self, seq: u32, range: &Range<u32>) {
        let mut begin = 0;
        loop {
            let (at, inside) = self.read().next_within(seq, begin, range);
            if inside == 0 {
                return;
            }
            self.release(seq, at, inside);
            begin = at + 1;
        }
    }

    /// Finds out again what the pool knows about a sequence, but for `Len` and `Lost`. O(words of the sequence), where positions
    /// ascend with the cells.
    #[inline(never)]
    pub(super) fn survey(&mut self, seq: u32) {
        let sinks = self.pool.sinks;
        let (low, low_cell) = self.read().lowest(seq, sinks);
        let first = if sinks == 0 { low } else { self.read().lowest(seq, 0).0 };
        let tail = self.read().highest(seq, UNBOUNDED).1;
        self.note(seq, Known::Low, low);
        self.note(seq, Known::LowCell, low_cell);
        self.note(seq, Known::First, first);
        self.note(seq, Known::Tail, tail);
    }
}
