//! Compaction: the highest rows move into the lowest holes, a few at a time.

use super::CellInner;
use super::pool::{Edit, Known, View};
use crate::batch::Move;
use crate::bitset::bit;
use crate::error::Error;
use crate::limits::UNBOUNDED;

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> CellInner<W> {
    /// Moves rows of a layer's pool together, at most `out.len()` runs of them, and answers how many; 0 when the pool is compact. The cache
    /// counts the moves as done: carry them out before the next step, in their order, in every layer of the pool. No move's source
    /// and target overlap, and no target holds anything. Stop whenever it was enough. O(rows moved x sequences).
    ///
    /// # Errors
    /// `BadLayer`; `Unsupported` while a forward applies the shifts of a declared step.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer, Move};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.declare_step(&[a; 6])?;
    /// cache.place_step(0, &[0, 1, 2, 3, 4, 5], &mut [0; 6])?;
    /// cache.seq_remove(a, 0, 2)?;
    /// let mut moves = [Move::default(); 4];
    /// assert_eq!(cache.defrag(0, &mut moves)?, 1);
    /// assert_eq!(moves[0], Move { from: 4, to: 0, len: 2 });
    /// assert_eq!(cache.defrag(0, &mut moves)?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn defrag(&mut self, layer: u32, out: &mut [Move]) -> Result<usize, Error> {
        let index = self.group_of(layer)?.1.pool as usize;
        if self.shifting {
            return Err(Error::Unsupported);
        }
        let pool = self.pools.get_mut(index).ok_or(Error::BadLayer)?;
        let mut pool = pool.edit(self.words.as_mut());
        let mut n = 0;
        for out in out {
            let Some(rows) = pool.read().next_move() else { break };
            for row in 0..rows.len {
                pool.move_cell(rows.from + row, rows.to + row);
            }
            *out = rows;
            n += 1;
        }
        // Rows behind a hole that was filled may follow on.
        pool.review_order(UNBOUNDED);
        if n > 0 {
            pool.pool.outdate();
        }
        self.end_step();
        Ok(n)
    }
}

impl View<'_> {
    /// The highest run of rows, as long as the lowest hole takes it.
    fn next_move(&self) -> Option<Move> {
        let (used, free) = (self.pool.shape.used(), self.pool.shape.free());
        let (at, top) = (self.free_word()?, self.sets.last(used)?);
        let hole = at as u32 * 32 + self.sets.word(free, at).trailing_zeros();
        if hole > top {
            return None;
        }
        let mut len = 1;
        while hole + len < top - len
            && self.sets.contains(free, hole + len)
            && self.sets.contains(used, top - len)
        {
            len += 1;
        }
        Some(Move { from: top - len + 1, to: hole, len })
    }
}

impl Edit<'_> {
    /// Everything about a used cell goes to a free one.
    #[inline(never)]
    fn move_cell(&mut self, from: u32, to: u32) {
        let position = self.read().position(from);
        self.sets.put(self.pool.shape.position(to), position);
        self.occupy(to as usize / 32, bit(to), 1, position, position);
        if self.pool.shape.chained {
            let successor = self.sets.get(self.pool.shape.successor(from));
            self.sets.put(self.pool.shape.successor(to), successor);
        }
        self.move_delta(from, to);
        for seq in 0..self.pool.shape.max_seqs {
            if self.read().owns(seq, from) {
                self.share(seq, to as usize / 32, bit(to), 1);
                self.release(seq, from as usize / 32, bit(from));
                // What is known about the sequence names the cell where it is now.
                for what in [Known::LowCell, Known::Tail] {
                    if self.read().known(seq, what) == from {
                        self.note(seq, what, to);
                    }
                }
            }
        }
    }
}
