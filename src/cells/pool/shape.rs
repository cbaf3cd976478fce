//! Where each array of a pool stands among the words of the cache.
//!
//! In this order: position of each cell; successor of each cell (only where a window evicts); pending shift of each cell; lowest,
//! then highest position of each leaf word; planes that count owners; the sets of used cells, free cells, cells with a pending
//! shift, and of each sequence's cells; what is known about each sequence; the cells of the step.

use super::Known;
use crate::bitset::set_words;
use crate::error::Error;

/// A pool's place and size. Offsets are kept, since every access needs one.
#[derive(Clone, Copy, Debug)]
pub(in crate::cells) struct Shape {
    base: usize,
    deltas: usize,
    lows: usize,
    sets: usize,
    held: usize,
    set_words: usize,
    /// Words of a bit for each cell.
    leaf: usize,
    pub(in crate::cells) cells: u32,
    pub(in crate::cells) max_seqs: u32,
    /// Cells know their successor.
    pub(in crate::cells) chained: bool,
}

impl Shape {
    pub(in crate::cells) const BLANK: Self = Self {
        base: 0,
        deltas: 0,
        lows: 0,
        sets: 0,
        held: 0,
        set_words: 0,
        leaf: 0,
        cells: 0,
        max_seqs: 0,
        chained: false,
    };

    /// Lays a pool out from the word at `base` on; answers the word behind it.
    ///
    /// # Errors
    /// `InvalidConfig` if no memory is that large.
    pub(in crate::cells) fn configure(
        &mut self,
        base: usize,
        cells: u32,
        max_seqs: u32,
        max_step: u32,
        chained: bool,
    ) -> Result<usize, Error> {
        (self.cells, self.max_seqs, self.chained, self.set_words) =
            (cells, max_seqs, chained, set_words(cells));
        let mut end = base as u64;
        let mut next = |n: usize, each: u32| {
            end += n as u64 * u64::from(each);
            end as usize
        };
        (self.base, self.leaf) = (base, cells.div_ceil(32) as usize);
        self.deltas = next(cells as usize, if chained { 2 } else { 1 });
        self.lows = next(cells as usize, 1);
        self.sets = next(self.leaf(), 2 + self.n_planes());
        self.held = next(self.set_words, 3 + max_seqs);
        next(Known::WORDS, max_seqs);
        next(max_step as usize, 1);
        // No index overflows, no size in bytes either.
        let limit = (isize::MAX as usize / size_of::<u32>()) as u64;
        if end <= limit { Ok(end as usize) } else { Err(Error::InvalidConfig) }
    }

    /// Words of a bit for each cell.
    pub(in crate::cells) const fn leaf(&self) -> usize {
        self.leaf
    }

    pub(in crate::cells) const fn position(&self, cell: u32) -> usize {
        self.base + cell as usize
    }

    /// The cell that the owner's next position was once put into; a hint, to be checked.
    pub(in crate::cells) const fn successor(&self, cell: u32) -> usize {
        self.position(cell) + self.cells as usize
    }

    pub(in crate::cells) const fn delta(&self, cell: u32) -> usize {
        self.deltas + cell as usize
    }

    /// Below no position of leaf word `at`; a leaf's words on, above none.
    pub(in crate::cells) const fn low(&self, at: usize) -> usize {
        self.lows + at
    }

    /// Planes of a counter up to the number of sequences.
    pub(in crate::cells) const fn n_planes(&self) -> u32 {
        u32::BITS - self.max_seqs.leading_zeros()
    }

    /// Leaf word `at` of the lowest plane of the owner counts; those of the others follow, a leaf's words apart.
    pub(in crate::cells) const fn plane(&self, at: usize) -> usize {
        self.low(at) + 2 * self.leaf()
    }

    /// Leaf word `at` of each plane of the owner counts, lowest first.
    pub(in crate::cells) fn planes(&self, at: usize) -> impl Iterator<Item = usize> {
        let (mut next, leaf) = (self.plane(at), self.leaf());
        (0..self.n_planes()).map(move |_| {
            next += leaf;
            next - leaf
        })
    }

    const fn set(&self, index: usize) -> usize {
        self.sets + index * self.set_words
    }

    pub(in crate::cells) const fn used(&self) -> usize {
        self.set(0)
    }

    pub(in crate::cells) const fn free(&self) -> usize {
        self.set(1)
    }

    /// Cells whose position moved since their row was last rotated.
    pub(in crate::cells) const fn pending(&self) -> usize {
        self.set(2)
    }

    pub(in crate::cells) const fn owned_by(&self, seq: u32) -> usize {
        self.set(3 + seq as usize)
    }

    /// What is known about a sequence.
    pub(in crate::cells) const fn known(&self, seq: u32) -> usize {
        self.held + seq as usize * Known::WORDS
    }

    /// The cell of a token of the step.
    pub(in crate::cells) const fn token(&self, token: usize) -> usize {
        self.known(self.max_seqs) + token
    }

    /// What is all zero while the pool is empty: planes and sets.
    pub(in crate::cells) const fn counts(&self) -> core::ops::Range<usize> {
        self.low(0)..self.held
    }
}
