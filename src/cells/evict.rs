//! Cells behind every window come back by themselves.
//!
//! In a pool none of whose layers is flat, a sequence lets go of what no query of its to come will see: positions that are no sinks
//! and so far back that the window and `rollback` end before them. That is done when a step is declared, by the position that the
//! sequence has then: a step before it may still be taken back until then.

use super::CellInner;
use super::pool::{Edit, Known, View};
use super::shifts::Move;
use crate::bitset::bit;

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> CellInner<W> {
    /// Whether every pool has room for `n` tokens, with the cells that are behind every window. O(n + sequences) where
    /// what is free and what each sequence alone is about to let go of is enough, else O(words x sequences).
    pub(super) fn has_room(&self, n: u32) -> bool {
        self.pools.iter().all(|pool| n <= pool.n_free()) || self.can_evict(n)
    }

    /// The same, where not every pool has the room yet.
    #[cold]
    #[inline(never)]
    fn can_evict(&self, n: u32) -> bool {
        let next = self.common().next(0);
        self.views().all(|view| {
            let free = view.pool.n_free();
            n <= free || view.can_evict(next, n - free)
        })
    }

    /// Evicts in every pool; tells whether anything went. O(sequences), and O(1) a cell where positions follow each other.
    pub(super) fn evict(&mut self) -> bool {
        let next = self.common().next(0);
        let mut any = false;
        for pool in self.pools.iter_mut().filter(|pool| pool.kept > 0) {
            let mut pool = pool.edit(self.words.as_mut());
            for seq in 0..self.max_seqs {
                let end = pool.read().evict_end(next, seq);
                any |= pool.evict(seq, end);
            }
        }
        any
    }

    /// Whether what the next token of a sequence cut to `len` positions would see is still there, in every pool. That token may
    /// stand below `len`, where positions have a gap. O(pools), where a window has dropped any O(words of the sequence).
    pub(super) fn may_cut(&self, seq: u32, len: u32) -> bool {
        if self.views().all(|view| view.known(seq, Known::Lost) == 0) {
            return true;
        }
        let mut next = 0;
        for view in self.views() {
            next = view.highest(seq, len).0.max(view.lost_below(seq, len)).max(next);
        }
        self.views().all(|view| view.allows(view.known(seq, Known::Lost), next))
    }
}

impl View<'_> {
    /// Positions below this one, but for sinks, are behind the windows of a sequence, which goes on at the word that its number is
    /// behind `next`.
    fn evict_end(&self, next: usize, seq: u32) -> u32 {
        let (kept, next) = (self.pool.kept, self.sets.get(next + seq as usize));
        if kept > 0 && next >= kept { next - kept + 1 } else { 0 }
    }

    /// Whether at least `n` cells would be free if every sequence let go of what is behind its windows.
    #[inline(never)]
    fn can_evict(&self, next: usize, n: u32) -> bool {
        let mut found = 0;
        for seq in 0..self.pool.shape.max_seqs {
            found += self.oldest_alone(seq, self.evict_end(next, seq), n - found);
            if found >= n {
                return true;
            }
        }
        n <= self.evictable(next)
    }

    /// Cells that would be free if every sequence let go of what is behind its windows.
    #[inline(never)]
    fn evictable(&self, next: usize) -> u32 {
        let seqs = 0..self.pool.shape.max_seqs;
        let mut highest = 0;
        for seq in seqs.clone() {
            let end = self.evict_end(next, seq);
            if self.known(seq, Known::Low) < end {
                highest = highest.max(end);
            }
        }
        let (mut begin, mut total) = (0, 0);
        while let Some(at) = self.sets.next_word(self.pool.shape.used(), begin) {
            if self.bounds(at).0 < highest {
                let mut free = self.sets.word(self.pool.shape.used(), at);
                for seq in seqs.clone() {
                    free &= !self.keeps(seq, at, self.evict_end(next, seq));
                }
                total += free.count_ones();
            }
            begin = at + 1;
        }
        total
    }

    /// Of the cells that a sequence has below `end`, lowest first, those that it owns alone: `most` at most, and only as
    /// far as the hints lead. O(`most`).
    fn oldest_alone(&self, seq: u32, end: u32, most: u32) -> u32 {
        let low = self.known(seq, Known::Low);
        let (mut position, mut cell) = (low, self.known(seq, Known::LowCell));
        while position - low < most && position < end && !self.shared(cell as usize / 32, bit(cell)) {
            position += 1;
            match self.successor(seq, cell, position) {
                Some(next) => cell = next,
                None => break,
            }
        }
        position - low
    }

    /// The cell behind a sequence's cell, if the hint is right: the next position of this sequence, which stands in one cell only.
    fn successor(&self, seq: u32, cell: u32, position: u32) -> Option<u32> {
        let next = self.sets.get(self.pool.shape.successor(cell));
        (self.owns(seq, next) && self.position(next) == position).then_some(next)
    }

    /// The cells of leaf word `at` that a sequence keeps.
    fn keeps(&self, seq: u32, at: usize, end: u32) -> u32 {
        let sinks = self.pool.sinks;
        self.owned(seq, at) & !self.within(seq, at, &(sinks..end.max(sinks)))
    }

    /// What is above every position below `len` that a window has dropped.
    fn lost_below(&self, seq: u32, len: u32) -> u32 {
        if len <= self.pool.sinks { 0 } else { self.known(seq, Known::Lost).min(len) }
    }

    /// What a window dropped moves with the lowest position that it left, if that is in the range. What that position moves
    /// onto counts as removed.
    pub(super) fn lost_after(&self, shift: &Move) -> u32 {
        let (lost, low) = (self.known(shift.seq, Known::Lost), self.known(shift.seq, Known::Low));
        if lost == 0 || !shift.range.contains(&low) {
            return lost;
        }
        let moved = |position: u32| position.saturating_add_signed(shift.delta);
        if shift.range.start < lost { moved(lost) } else { moved(low).min(lost) }
    }

    /// Whether a sequence may go on at `next`: what a token there would see was not evicted. (Below the highest position that was,
    /// all count as evicted.)
    pub(super) fn allows(&self, lost: u32, next: u32) -> bool {
        let from = next.saturating_sub(self.pool.window.saturating_sub(1)).max(self.pool.sinks);
        lost == 0 || from >= next || from >= lost
    }
}

impl Edit<'_> {
    /// Lets go of what a sequence has below `end`, behind its windows.
    fn evict(&mut self, seq: u32, end: u32) -> bool {
        let (mut low, mut cell) =
            (self.read().known(seq, Known::Low), self.read().known(seq, Known::LowCell));
        if low >= end {
            return false;
        }
        let mut chained = true;
        while chained && low < end {
            low += 1;
            let next = self.read().successor(seq, cell, low);
            self.release(seq, cell as usize / 32, bit(cell));
            chained = next.is_some();
            cell = next.unwrap_or(cell);
        }
        self.note(seq, Known::Low, low);
        self.note(seq, Known::LowCell, cell);
        self.lose(seq, low);
        if self.read().known(seq, Known::First) >= self.pool.sinks {
            self.note(seq, Known::First, low);
        }
        if !chained {
            self.evict_scattered(seq, end);
        }
        true
    }

    /// The same where positions have gaps, or went another way in a clone.
    #[inline(never)]
    fn evict_scattered(&mut self, seq: u32, end: u32) {
        let (sinks, behind) = (self.pool.sinks, self.read().highest(seq, end).0);
        self.release_range(seq, &(sinks..end.max(sinks)));
        self.survey(seq);
        // A sink is behind no window.
        if behind > sinks {
            self.lose(seq, behind);
        }
    }

    /// A window has dropped a sequence's positions below this one.
    fn lose(&mut self, seq: u32, behind: u32) {
        let lost = self.read().known(seq, Known::Lost);
        self.note(seq, Known::Lost, lost.max(behind));
    }

    /// After a cut to `len` positions what is written from there on is there again.
    pub(super) fn recover(&mut self, seq: u32, len: u32) {
        let lost = self.read().lost_below(seq, len);
        self.note(seq, Known::Lost, lost);
    }
}
