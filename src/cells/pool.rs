//! One pool: which cell holds which position, and who owns it.

mod shape;

use core::ops::Range;

use crate::bitset::{bit, get, members, put};
use crate::limits::UNBOUNDED;
pub(super) use shape::Shape;

/// What a pool knows about one sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// Cells.
    pub(super) len: u32,
    /// Lowest position; [`UNBOUNDED`] for none.
    pub(super) first: u32,
    /// Lowest position that is no sink, and its cell; [`UNBOUNDED`] for none.
    pub(super) low: u32,
    pub(super) low_cell: u32,
    /// Cell of the highest position; only meaningful with cells.
    pub(super) tail: u32,
    /// Above every position that a window has dropped; 0: none.
    pub(super) lost: u32,
}

impl Held {
    const WORDS: usize = 6;
    pub(super) const EMPTY: Self =
        Self { len: 0, first: UNBOUNDED, low: UNBOUNDED, low_cell: 0, tail: 0, lost: 0 };
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
}

impl Pool {
    pub(super) const fn new(shape: Shape, window: u32, sinks: u32, kept: u32) -> Self {
        Self { shape, window, sinks, kept, used: 0, owned: 0, ordered: 0 }
    }

    pub(super) const fn cells(&self) -> u32 {
        self.shape.cells
    }

    pub(super) const fn n_free(&self) -> u32 {
        self.shape.cells - self.used
    }

    /// Frees every cell and forgets every sequence. O(cells / 32 x sequences).
    pub(super) fn clear(&mut self, words: &mut [u32]) {
        (self.used, self.owned, self.ordered) = (0, 0, 0);
        if let Some(counts) = words.get_mut(self.shape.counts()) {
            counts.fill(0);
        }
        self.shape.free().fill(words);
        for seq in 0..self.shape.max_seqs {
            self.put_held(words, seq, Held::EMPTY);
        }
    }

    pub(super) fn held(&self, words: &[u32], seq: u32) -> Held {
        let found = words.get(self.shape.held(seq)..).and_then(|words| words.first_chunk());
        let &[len, first, low, low_cell, tail, lost] = found.unwrap_or(&[0; Held::WORDS]);
        Held { len, first, low, low_cell, tail, lost }
    }

    pub(super) fn put_held(&self, words: &mut [u32], seq: u32, held: Held) {
        let Held { len, first, low, low_cell, tail, lost } = held;
        if let Some(words) = words.get_mut(self.shape.held(seq)..).and_then(|words| words.first_chunk_mut()) {
            *words = [len, first, low, low_cell, tail, lost];
        }
    }

    pub(super) fn position(&self, words: &[u32], cell: u32) -> u32 {
        get(words, self.shape.position(cell))
    }

    /// Highest cell in use + 1.
    pub(super) fn used_end(&self, words: &[u32]) -> u32 {
        self.shape.used().last(words).map_or(0, |cell| cell + 1)
    }

    /// Puts tokens of a sequence, from number `token` of the step on, at rising positions above all that it holds, into the lowest free
    /// cells. Admission saw to it that there are enough. O(1) a token, at worst O(log cells).
    pub(super) fn place(&mut self, words: &mut [u32], seq: u32, mut token: usize, positions: &[u32]) {
        let shape = self.shape;
        let mut positions = positions.iter().copied().peekable();
        while let (Some(&lowest), Some(cell)) = (positions.peek(), shape.free().first(words)) {
            let at = cell as usize / 32;
            let (mut chosen, mut highest) = (0, lowest);
            for cell in members(at, shape.free().word(words, at)) {
                let Some(position) = positions.next() else { break };
                chosen |= bit(cell);
                highest = position;
                put(words, shape.position(cell), position);
                put(words, shape.token(token), cell);
                self.append(words, seq, cell, position);
                token += 1;
            }
            self.occupy(words, at, chosen, lowest, highest);
            self.share(words, seq, at, chosen);
        }
    }

    /// A sequence goes on with a cell.
    fn append(&self, words: &mut [u32], seq: u32, cell: u32, position: u32) {
        let mut held = self.held(words, seq);
        if held.first == UNBOUNDED {
            held.first = position;
        } else if self.shape.chained {
            put(words, self.shape.successor(held.tail), cell);
        }
        if held.low == UNBOUNDED && position >= self.sinks {
            (held.low, held.low_cell) = (position, cell);
        }
        held.tail = cell;
        self.put_held(words, seq, held);
    }

    /// Takes free cells of leaf word `at`, at positions from `lowest` to `highest`; who owns them is the caller's.
    pub(super) fn occupy(&mut self, words: &mut [u32], at: usize, taken: u32, lowest: u32, highest: u32) {
        let shape = self.shape;
        let (free, used) = (shape.free().word(words, at), shape.used().word(words, at));
        shape.free().put(words, at, free & !taken);
        shape.used().put(words, at, used | taken);
        self.used += taken.count_ones();
        let (low, high) = if used == 0 { (lowest, highest) } else { self.bounds(words, at) };
        put(words, shape.low(at), low.min(lowest));
        put(words, shape.high(at), high.max(highest));
        for cell in members(at, taken) {
            self.extend_order(words, cell);
        }
    }

    /// The first cells are in order up to and with a cell that was just taken, if it comes right behind them.
    pub(super) fn extend_order(&mut self, words: &[u32], cell: u32) {
        let ascends = || cell == 0 || self.position(words, cell - 1) < self.position(words, cell);
        if cell == self.ordered && ascends() {
            self.ordered += 1;
        }
    }

    /// The order of the cells from `cell` on has to be looked at again. O(cells in order).
    pub(super) fn review_order(&mut self, words: &[u32], cell: u32) {
        let mut next = self.ordered.min(cell);
        self.ordered = next;
        while next < self.cells() && self.ordered == next && self.shape.used().contains(words, next) {
            self.extend_order(words, next);
            next += 1;
        }
    }

    /// No position of a used cell in leaf word `at` is below the first or above the second.
    pub(super) fn bounds(&self, words: &[u32], at: usize) -> (u32, u32) {
        (get(words, self.shape.low(at)), get(words, self.shape.high(at)))
    }

    /// Makes the bounds of a leaf word exact. O(1).
    #[inline(never)]
    pub(super) fn tighten(&self, words: &mut [u32], at: usize) {
        let (mut low, mut high) = (u32::MAX, 0);
        for cell in members(at, self.shape.used().word(words, at)) {
            let position = self.position(words, cell);
            (low, high) = (low.min(position), high.max(position));
        }
        put(words, self.shape.low(at), low);
        put(words, self.shape.high(at), high);
    }

    /// Of the cells `bits` in leaf word `at`, those at positions `from..to`. O(1).
    #[inline]
    pub(super) fn within(&self, words: &[u32], at: usize, bits: u32, from: u32, to: u32) -> u32 {
        let (low, high) = self.bounds(words, at);
        if high < from || low >= to {
            return 0;
        }
        if from <= low && high < to {
            return bits;
        }
        let inside = |cell: &u32| (from..to).contains(&self.position(words, *cell));
        members(at, bits).filter(inside).fold(0, |inside, cell| inside | bit(cell))
    }

    /// Whether `test` is true of any leaf word and the cells there that a sequence has at positions `from..to`. O(words of the
    /// sequence).
    #[inline(never)]
    pub(super) fn find(
        &self,
        words: &[u32],
        seq: u32,
        positions: Range<u32>,
        test: &mut dyn FnMut(usize, u32) -> bool,
    ) -> bool {
        let mut cursor = self.shape.owned_by(seq).cursor();
        while let Some((at, bits)) = cursor.next(words) {
            let inside = self.within(words, at, bits, positions.start, positions.end);
            if inside != 0 && test(at, inside) {
                return true;
            }
        }
        false
    }

    /// Whether a cell of `bits` in leaf word `at` has a second owner. O(1).
    pub(super) fn shared(&self, words: &[u32], at: usize, bits: u32) -> bool {
        (1..self.shape.n_planes()).any(|plane| get(words, self.shape.plane(plane, at)) & bits != 0)
    }

    /// Sequence `seq` owns the used cells `bits` of leaf word `at` as well, none of which it owned. O(1).
    pub(super) fn share(&mut self, words: &mut [u32], seq: u32, at: usize, bits: u32) {
        let set = self.shape.owned_by(seq);
        set.put(words, at, set.word(words, at) | bits);
        let mut carry = bits;
        for plane in 0..self.shape.n_planes() {
            let index = self.shape.plane(plane, at);
            let old = get(words, index);
            put(words, index, old ^ carry);
            carry &= old;
            if carry == 0 {
                break;
            }
        }
        self.owned += bits.count_ones();
        let len = self.shape.held(seq);
        put(words, len, get(words, len) + bits.count_ones());
    }

    /// Sequence `seq` lets go of its cells `bits` of leaf word `at`; those without another owner are free. O(1). What the pool
    /// knows about the sequence is the caller's to bring up to date.
    #[inline(never)]
    pub(super) fn release(&mut self, words: &mut [u32], seq: u32, at: usize, bits: u32) {
        let set = self.shape.owned_by(seq);
        set.put(words, at, set.word(words, at) & !bits);
        let (mut borrow, mut counted) = (bits, 0);
        for plane in 0..self.shape.n_planes() {
            let index = self.shape.plane(plane, at);
            let old = get(words, index);
            put(words, index, old ^ borrow);
            counted |= old ^ borrow;
            borrow &= !old;
        }
        self.owned -= bits.count_ones();
        let len = self.shape.held(seq);
        put(words, len, get(words, len) - bits.count_ones());
        self.free(words, at, bits & !counted);
    }

    /// Frees cells that nobody owns any more.
    fn free(&mut self, words: &mut [u32], at: usize, freed: u32) {
        if freed == 0 {
            return;
        }
        let shape = self.shape;
        let (used, free) = (shape.used().word(words, at), shape.free().word(words, at));
        shape.used().put(words, at, used & !freed);
        shape.free().put(words, at, free | freed);
        let pending = shape.pending().word(words, at);
        shape.pending().put(words, at, pending & !freed);
        self.used -= freed.count_ones();
        self.ordered = self.ordered.min(at as u32 * 32 + freed.trailing_zeros());
        let (low, high) = self.bounds(words, at);
        if members(at, freed).any(|cell| [low, high].contains(&self.position(words, cell))) {
            self.tighten(words, at);
        }
    }

    /// Sequence `seq` lets go of its cells at positions `from..to`. O(words of the sequence). What the pool knows about the
    /// sequence is the caller's to bring up to date.
    #[inline(never)]
    pub(super) fn release_range(&mut self, words: &mut [u32], seq: u32, from: u32, to: u32) {
        let mut cursor = self.shape.owned_by(seq).cursor();
        while let Some((at, bits)) = cursor.next(words) {
            let inside = self.within(words, at, bits, from, to);
            if inside != 0 {
                self.release(words, seq, at, inside);
            }
        }
    }

    /// Finds out again what the pool knows about a sequence, but for `len` and `lost`. O(words of the sequence), where positions
    /// ascend with the cells.
    pub(super) fn survey(&self, words: &mut [u32], seq: u32) {
        let mut held = self.held(words, seq);
        (held.low, held.low_cell) = self.lowest(words, seq, self.sinks);
        held.first = if self.sinks == 0 { held.low } else { self.lowest(words, seq, 0).0 };
        held.tail = self.highest(words, seq, UNBOUNDED).1;
        self.put_held(words, seq, held);
    }

    /// Lowest position of a sequence from `from` on, and its cell; [`UNBOUNDED`] for none.
    #[inline(never)]
    pub(super) fn lowest(&self, words: &[u32], seq: u32, from: u32) -> (u32, u32) {
        let (mut cursor, mut lowest) = (self.shape.owned_by(seq).cursor(), (UNBOUNDED, 0));
        while let Some((at, bits)) = cursor.next(words) {
            for cell in members(at, self.within(words, at, bits, from, lowest.0)) {
                lowest = lowest.min((self.position(words, cell), cell));
            }
        }
        lowest
    }

    /// Behind the highest position of a sequence below `end`, and its cell; 0 for none.
    #[inline(never)]
    pub(super) fn highest(&self, words: &[u32], seq: u32, end: u32) -> (u32, u32) {
        let set = self.shape.owned_by(seq);
        let (mut before, mut highest) = (self.shape.leaf(), (0, 0));
        while let Some(at) = set.previous_word(words, before) {
            before = at;
            for cell in members(at, self.within(words, at, set.word(words, at), highest.0, end)) {
                highest = highest.max((self.position(words, cell) + 1, cell));
            }
        }
        highest
    }

    /// The position behind what a sequence holds here or held before a window dropped it.
    pub(super) fn next_position(&self, words: &[u32], seq: u32) -> u32 {
        let held = self.held(words, seq);
        let behind = if held.len == 0 { 0 } else { self.position(words, held.tail) + 1 };
        behind.max(held.lost)
    }

    /// Whether a sequence that owns cells here owns all of the first `end` cells, in order and alone.
    pub(super) fn is_run_of(&self, words: &[u32], seq: u32, end: u32) -> bool {
        self.ordered >= end && self.used == end && self.owned == end && self.held(words, seq).len == end
    }
}
