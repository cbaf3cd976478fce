//! What there is to see in a pool.

use core::ops::Range;

use super::{Known, Pool};
use crate::bitset::{Sets, bit, members};
use crate::limits::UNBOUNDED;

/// A pool and the words that its arrays stand in, to look at: one pointer for a call to pass on.
#[derive(Clone, Copy)]
pub(in crate::cells) struct View<'v> {
    pub(in crate::cells) sets: Sets<'v>,
    pub(in crate::cells) pool: &'v Pool,
}

impl View<'_> {
    #[inline]
    pub(in crate::cells) fn known(&self, seq: u32, what: Known) -> u32 {
        self.sets.get(self.pool.shape.known(seq) + what as usize)
    }

    #[inline]
    pub(in crate::cells) fn position(&self, cell: u32) -> u32 {
        self.sets.get(self.pool.shape.position(cell))
    }

    /// The cells of a sequence in leaf word `at`.
    #[inline]
    pub(in crate::cells) fn owned(&self, seq: u32, at: usize) -> u32 {
        self.sets.word(self.pool.shape.owned_by(seq), at)
    }

    #[inline]
    pub(in crate::cells) fn owns(&self, seq: u32, cell: u32) -> bool {
        self.sets.contains(self.pool.shape.owned_by(seq), cell)
    }

    /// The first leaf word with a free cell.
    #[inline]
    pub(in crate::cells) fn free_word(&self) -> Option<usize> {
        self.sets.next_word(self.pool.shape.free(), self.pool.free_from)
    }

    /// Highest cell in use + 1.
    pub(in crate::cells) fn used_end(&self) -> u32 {
        self.sets.last(self.pool.shape.used()).map_or(0, |cell| cell + 1)
    }

    /// No position of a used cell in leaf word `at` is below the first or above the second.
    #[inline]
    pub(in crate::cells) fn bounds(&self, at: usize) -> (u32, u32) {
        let low = self.pool.shape.low(at);
        (self.sets.get(low), self.sets.get(low + self.pool.shape.leaf()))
    }

    /// The cells of a sequence in leaf word `at`, at positions in the range. O(1).
    #[inline]
    pub(in crate::cells) fn within(&self, seq: u32, at: usize, range: &Range<u32>) -> u32 {
        let bits = self.owned(seq, at);
        let (low, high) = self.bounds(at);
        if range.start <= low && high < range.end {
            return bits;
        }
        if bits == 0 || high < range.start || low >= range.end {
            return 0;
        }
        let inside = |cell: &u32| range.contains(&self.position(*cell));
        members(at, bits).filter(inside).fold(0, |inside, cell| inside | bit(cell))
    }

    /// The first leaf word from `at` on where a sequence has cells at positions in the range, and those cells; none: 0.
    #[inline]
    pub(in crate::cells) fn next_within(&self, seq: u32, mut at: usize, range: &Range<u32>) -> (usize, u32) {
        while let Some(next) = self.sets.next_word(self.pool.shape.owned_by(seq), at) {
            let inside = self.within(seq, next, range);
            if inside != 0 {
                return (next, inside);
            }
            at = next + 1;
        }
        (0, 0)
    }

    /// Whether a cell of `bits` in leaf word `at` has a second owner. O(1).
    #[inline]
    pub(in crate::cells) fn shared(&self, at: usize, bits: u32) -> bool {
        self.pool.shape.planes(at).skip(1).any(|plane| self.sets.get(plane) & bits != 0)
    }

    /// Lowest position of a sequence from `from` on, and its cell; [`UNBOUNDED`] for none. O(words of the sequence).
    #[inline(never)]
    pub(in crate::cells) fn lowest(&self, seq: u32, from: u32) -> (u32, u32) {
        let (mut range, mut lowest, mut begin) = (from..UNBOUNDED, 0, 0);
        loop {
            let (at, cells) = self.next_within(seq, begin, &range);
            if cells == 0 {
                return (range.end, lowest);
            }
            for cell in members(at, cells) {
                let position = self.position(cell);
                if position < range.end {
                    (range.end, lowest) = (position, cell);
                }
            }
            begin = at + 1;
        }
    }

    /// Behind the highest position of a sequence below `end`, and its cell; 0 for none. O(words of the sequence).
    #[inline(never)]
    pub(in crate::cells) fn highest(&self, seq: u32, end: u32) -> (u32, u32) {
        let shape = &self.pool.shape;
        let (mut range, mut highest, mut before) = (0..end, 0, shape.leaf());
        while let Some(at) = self.sets.previous_word(shape.owned_by(seq), before) {
            for cell in members(at, self.within(seq, at, &range)) {
                let position = self.position(cell);
                if position >= range.start {
                    (range.start, highest) = (position + 1, cell);
                }
            }
            before = at;
        }
        (range.start, highest)
    }

    /// The position behind what a sequence holds here or held before a window dropped it.
    pub(in crate::cells) fn next_position(&self, seq: u32) -> u32 {
        let tail = self.known(seq, Known::Tail);
        let behind = if self.known(seq, Known::Len) == 0 { 0 } else { self.position(tail) + 1 };
        behind.max(self.known(seq, Known::Lost))
    }

    /// Whether a sequence that owns cells here owns all of the first `end` cells, in order and alone.
    pub(in crate::cells) fn is_run_of(&self, seq: u32, end: u32) -> bool {
        let Pool { ordered, used, owned, .. } = *self.pool;
        ordered >= end && used == end && owned == end && self.known(seq, Known::Len) == end
    }
}
