//! Where each array of a pool stands among the words of the cache.
//!
//! In this order: position of each cell; successor of each cell (only where a window evicts); pending shift of each cell; lowest,
//! then highest position of each leaf word; planes that count owners; the sets of used cells, free cells, cells with a pending
//! shift, and of each sequence's cells; what is known about each sequence; the cells of the step.

use super::Held;
use crate::bitset::Set;
use crate::error::Error;

/// A pool's place and size. Offsets are kept, since every access needs one.
#[derive(Clone, Copy, Debug)]
pub(in crate::cells) struct Shape {
    base: usize,
    deltas: usize,
    lows: usize,
    sets: usize,
    held: usize,
    /// The word behind the pool.
    pub(in crate::cells) end: usize,
    set_words: usize,
    pub(in crate::cells) cells: u32,
    pub(in crate::cells) max_seqs: u32,
    /// Cells know their successor.
    pub(in crate::cells) chained: bool,
}

impl Shape {
    /// The shape of a pool whose first word is at `base`.
    ///
    /// # Errors
    /// `InvalidConfig` if no memory is that large.
    pub(in crate::cells) fn new(
        base: usize,
        cells: u32,
        max_seqs: u32,
        max_step: u32,
        chained: bool,
    ) -> Result<Self, Error> {
        let (leaf, planes) = (cells.div_ceil(32), u32::BITS - max_seqs.leading_zeros());
        let set_words = Set::words(cells);
        let mut end = base as u64;
        let mut next = |len: u64| {
            end += len;
            // No index overflows, no size in bytes either.
            let limit = (isize::MAX as usize / size_of::<u32>()) as u64;
            if end <= limit { Ok(end as usize) } else { Err(Error::InvalidConfig) }
        };
        let deltas = next(u64::from(cells) * if chained { 2 } else { 1 })?;
        let lows = next(cells.into())?;
        let sets = next(u64::from(leaf) * u64::from(2 + planes))?;
        let held = next(set_words as u64 * u64::from(3 + max_seqs))?;
        let end = next(u64::from(max_seqs) * Held::WORDS as u64 + u64::from(max_step))?;
        Ok(Self { base, deltas, lows, sets, held, end, set_words, cells, max_seqs, chained })
    }

    /// Words of a bit for each cell.
    pub(in crate::cells) const fn leaf(&self) -> usize {
        self.cells.div_ceil(32) as usize
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

    /// Below no position of leaf word `at`.
    pub(in crate::cells) const fn low(&self, at: usize) -> usize {
        self.lows + at
    }

    /// Above no position of leaf word `at`.
    pub(in crate::cells) const fn high(&self, at: usize) -> usize {
        self.low(at) + self.leaf()
    }

    /// Planes of a counter up to the number of sequences.
    pub(in crate::cells) const fn n_planes(&self) -> u32 {
        u32::BITS - self.max_seqs.leading_zeros()
    }

    /// Leaf word `at` of a plane of the owner counts.
    pub(in crate::cells) const fn plane(&self, plane: u32, at: usize) -> usize {
        self.low(at) + (2 + plane as usize) * self.leaf()
    }

    const fn set(&self, index: usize) -> Set {
        Set::at(self.sets + index * self.set_words, self.cells)
    }

    pub(in crate::cells) const fn used(&self) -> Set {
        self.set(0)
    }

    pub(in crate::cells) const fn free(&self) -> Set {
        self.set(1)
    }

    /// Cells whose position moved since their row was last rotated.
    pub(in crate::cells) const fn pending(&self) -> Set {
        self.set(2)
    }

    pub(in crate::cells) const fn owned_by(&self, seq: u32) -> Set {
        self.set(3 + seq as usize)
    }

    /// What is known about a sequence.
    pub(in crate::cells) const fn held(&self, seq: u32) -> usize {
        self.held + seq as usize * Held::WORDS
    }

    /// The cell of a token of the step.
    pub(in crate::cells) const fn token(&self, token: usize) -> usize {
        self.held(self.max_seqs) + token
    }

    /// What is all zero while the pool is empty: planes and sets.
    pub(in crate::cells) const fn counts(&self) -> core::ops::Range<usize> {
        self.low(0)..self.held
    }
}
