//! Cells behind every window come back by themselves.
//!
//! In a pool none of whose layers is flat, a sequence lets go of what no query of its to come will see: positions that are no sinks
//! and so far back that the window and `rollback` end before them. That is done when a step is declared, by the position that the
//! sequence has then: a step before it may still be taken back until then.

use super::CellInner;
use super::pool::{Held, Pool};
use crate::bitset::{bit, get};

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> CellInner<W> {
    /// Whether every pool has room for `n` tokens, with the cells that are behind every window. O(n + sequences) where
    /// what is free and what each sequence alone is about to let go of is enough, else O(words x sequences).
    pub(super) fn has_room(&self, n: u32) -> bool {
        self.pools.iter().all(|pool| n <= pool.n_free() || self.can_evict(pool, n - pool.n_free()))
    }

    /// Whether at least `n` cells would be free if every sequence let go of what is behind its windows.
    fn can_evict(&self, pool: &Pool, n: u32) -> bool {
        let words = self.words.as_ref();
        let mut found = 0;
        for seq in 0..self.max_seqs {
            found += pool.oldest_alone(words, seq, pool.evict_end(self.next_of(seq)), n - found);
            if found >= n {
                return true;
            }
        }
        n <= self.evictable(pool)
    }

    /// Cells that would be free if every sequence let go of what is behind its windows.
    #[inline(never)]
    fn evictable(&self, pool: &Pool) -> u32 {
        let words = self.words.as_ref();
        let end = |seq| pool.evict_end(self.next_of(seq));
        let behind = |seq| pool.held(words, seq).low < end(seq);
        let Some(highest) = (0..self.max_seqs).filter(|&seq| behind(seq)).map(end).max() else { return 0 };
        let (mut cursor, mut total) = (pool.shape.used().cursor(), 0);
        while let Some((at, used)) = cursor.next(words) {
            if pool.bounds(words, at).0 < highest {
                let kept =
                    (0..self.max_seqs).fold(0, |kept, seq| kept | pool.keeps(words, seq, at, end(seq)));
                total += (used & !kept).count_ones();
            }
        }
        total
    }

    /// Evicts in every pool; tells whether anything went. O(sequences), and O(1) a cell where positions follow each other.
    pub(super) fn evict(&mut self) -> bool {
        let (pools, common, words) = self.parts();
        let mut any = false;
        for pool in pools.iter_mut().filter(|pool| pool.kept > 0) {
            for seq in 0..common.max_seqs as u32 {
                any |= pool.evict(words, seq, get(words, common.next(seq)));
            }
        }
        any
    }

    /// Whether what the next token of a sequence cut to `len` positions would see is still there, in every pool. That token may
    /// stand below `len`, where positions have a gap. O(pools), where a window has dropped any O(words of the sequence).
    pub(super) fn may_cut(&self, seq: u32, len: u32) -> bool {
        let words = self.words.as_ref();
        if self.pools.iter().all(|pool| pool.held(words, seq).lost == 0) {
            return true;
        }
        let next = self.pools.iter().map(|pool| pool.next_below(words, seq, len)).max().unwrap_or(0);
        self.pools.iter().all(|pool| pool.allows(words, seq, next))
    }
}

impl Pool {
    /// Positions below this one, but for sinks, are behind the windows of a sequence that goes on at `next`.
    const fn evict_end(&self, next: u32) -> u32 {
        if self.kept > 0 && next >= self.kept { next - self.kept + 1 } else { 0 }
    }

    /// Of the cells that a sequence has below `end`, lowest first, those that it owns alone: `most` at most, and only as
    /// far as the hints lead. O(`most`).
    fn oldest_alone(&self, words: &[u32], seq: u32, end: u32, most: u32) -> u32 {
        let Held { low, low_cell, .. } = self.held(words, seq);
        let (mut position, mut cell, mut n) = (low, low_cell, 0);
        while n < most && position < end && !self.shared(words, cell as usize / 32, bit(cell)) {
            n += 1;
            position += 1;
            cell = get(words, self.shape.successor(cell));
            if !self.shape.owned_by(seq).contains(words, cell) || self.position(words, cell) != position {
                break;
            }
        }
        n
    }

    /// The cells of leaf word `at` that a sequence keeps.
    fn keeps(&self, words: &[u32], seq: u32, at: usize, end: u32) -> u32 {
        match self.shape.owned_by(seq).word(words, at) {
            0 => 0,
            bits => bits & !self.within(words, at, bits, self.sinks, end.max(self.sinks)),
        }
    }

    /// Lets go of what is behind the windows of a sequence.
    fn evict(&mut self, words: &mut [u32], seq: u32, next: u32) -> bool {
        let end = self.evict_end(next);
        let mut held = self.held(words, seq);
        if held.low >= end {
            return false;
        }
        let mut chained = true;
        while chained && held.low < end {
            let (position, cell) = (held.low, held.low_cell);
            let successor = get(words, self.shape.successor(cell));
            // The hint is right if it is the next position of this sequence, which stands in one cell only.
            chained = self.shape.owned_by(seq).contains(words, successor)
                && self.position(words, successor) == position + 1;
            self.release(words, seq, cell as usize / 32, bit(cell));
            held = Held {
                len: held.len - 1,
                low: position + 1,
                low_cell: successor,
                lost: held.lost.max(position + 1),
                ..held
            };
        }
        if held.first >= self.sinks {
            held.first = held.low;
        }
        self.put_held(words, seq, held);
        if !chained {
            self.evict_scattered(words, seq, end);
        }
        true
    }

    /// The same where positions have gaps, or went another way in a clone.
    #[inline(never)]
    fn evict_scattered(&mut self, words: &mut [u32], seq: u32, end: u32) {
        let behind = self.highest(words, seq, end).0;
        self.release_range(words, seq, self.sinks, end.max(self.sinks));
        self.survey(words, seq);
        let mut held = self.held(words, seq);
        // A sink is behind no window.
        held.lost = if behind > self.sinks { held.lost.max(behind) } else { held.lost };
        self.put_held(words, seq, held);
    }

    /// Where a sequence cut to `len` positions would go on, as far as this pool knows.
    fn next_below(&self, words: &[u32], seq: u32, len: u32) -> u32 {
        self.highest(words, seq, len).0.max(self.lost_below(words, seq, len))
    }

    /// What is above every position below `len` that a window has dropped.
    fn lost_below(&self, words: &[u32], seq: u32, len: u32) -> u32 {
        if len <= self.sinks { 0 } else { self.held(words, seq).lost.min(len) }
    }

    /// Whether a sequence may go on at `next`: what a token there would see was not evicted. (Below the highest position that was,
    /// all count as evicted.)
    fn allows(&self, words: &[u32], seq: u32, next: u32) -> bool {
        let lost = self.held(words, seq).lost;
        let from = next.saturating_sub(self.window.saturating_sub(1)).max(self.sinks);
        lost == 0 || from >= next || from >= lost
    }

    /// After a cut to `len` positions what is written from there on is there again.
    pub(super) fn recover(&self, words: &mut [u32], seq: u32, len: u32) {
        let held = Held { lost: self.lost_below(words, seq, len), ..self.held(words, seq) };
        self.put_held(words, seq, held);
    }
}

impl Held {
    /// What a window dropped moves with the lowest position that it left, if that is in the range. What that position moves
    /// onto counts as removed.
    pub(super) const fn shift_lost(&mut self, from: u32, to: u32, delta: i32) {
        if self.lost > 0 && from <= self.low && self.low < to {
            let low = self.low.saturating_add_signed(delta);
            self.lost = match self.lost.saturating_add_signed(delta) {
                moved if from < self.lost => moved,
                _ if low < self.lost => low,
                _ => self.lost,
            };
        }
    }
}
