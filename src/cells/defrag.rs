//! Compaction: the highest rows move into the lowest holes, a few at a time.

use super::CellInner;
use super::pool::Pool;
use crate::batch::Move;
use crate::bitset::{bit, get, put};
use crate::error::Error;

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
        let (pools, _, words) = self.parts();
        let pool = pools.get_mut(index).ok_or(Error::BadLayer)?;
        let mut n = 0;
        for out in out {
            let Some(rows) = pool.next_move(words) else { break };
            for row in 0..rows.len {
                pool.move_cell(words, rows.from + row, rows.to + row);
            }
            *out = rows;
            n += 1;
        }
        // Rows behind a hole that was filled may follow on.
        pool.review_order(words, pool.cells());
        self.end_step();
        Ok(n)
    }
}

impl Pool {
    /// The highest run of rows, as long as the lowest hole takes it.
    fn next_move(&self, words: &[u32]) -> Option<Move> {
        let (used, free) = (self.shape.used(), self.shape.free());
        let (hole, top) = (free.first(words)?, used.last(words)?);
        if hole > top {
            return None;
        }
        let mut len = 1;
        while hole + len < top - len && free.contains(words, hole + len) && used.contains(words, top - len) {
            len += 1;
        }
        Some(Move { from: top - len + 1, to: hole, len })
    }

    /// Everything about a used cell goes to a free one.
    fn move_cell(&mut self, words: &mut [u32], from: u32, to: u32) {
        let shape = self.shape;
        let position = self.position(words, from);
        put(words, shape.position(to), position);
        self.occupy(words, to as usize / 32, bit(to), position, position);
        if shape.chained {
            put(words, shape.successor(to), get(words, shape.successor(from)));
        }
        self.move_delta(words, from, to);
        for seq in 0..shape.max_seqs {
            if shape.owned_by(seq).contains(words, from) {
                self.share(words, seq, to as usize / 32, bit(to));
                self.release(words, seq, from as usize / 32, bit(from));
                self.follow(words, seq, from, to);
            }
        }
    }

    /// What is known about a sequence names the cell where it is now.
    fn follow(&self, words: &mut [u32], seq: u32, from: u32, to: u32) {
        let mut held = self.held(words, seq);
        for cell in [&mut held.low_cell, &mut held.tail] {
            if *cell == from {
                *cell = to;
            }
        }
        self.put_held(words, seq, held);
    }
}
