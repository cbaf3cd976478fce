//! Attention masks of the placed step, made from the owners' bit sets a word at a time.
//!
//! A query sees a cell iff its sequence owns it, its position is not above the query's, and it is within the layer's window (`query -
//! position < window`) or among its sinks.

use super::CellInner;
use super::pool::{Pool, View};
use crate::bitset::{bit, get, members};
use crate::error::Error;
use crate::layer::Layer;

/// A row of the mask: whose cells, and which of them are seen.
#[derive(Clone, Copy)]
struct Query {
    /// The cells of its sequence.
    owned: usize,
    position: u32,
    /// Lowest position in the window.
    from: u32,
    sinks: u32,
}

impl Query {
    const fn sees(&self, position: u32) -> bool {
        position <= self.position && (position >= self.from || position < self.sinks)
    }

    /// The cells of leaf word `at` that are seen; none behind the last one. O(1).
    #[inline]
    fn word(&self, pool: &View<'_>, at: usize) -> u32 {
        let bits = if at < pool.pool.shape.leaf() { pool.sets.word(self.owned, at) } else { 0 };
        if bits == 0 {
            return 0;
        }
        let (low, high) = pool.bounds(at);
        if high <= self.position && low >= self.from {
            return bits;
        }
        if low > self.position || (high < self.from && low >= self.sinks) {
            return 0;
        }
        let seen = |cell: &u32| self.sees(pool.position(*cell));
        members(at, bits).filter(seen).fold(0, |seen, cell| seen | bit(cell))
    }
}

/// Where a mask goes.
enum Out<'o> {
    Bytes(&'o mut [u8]),
    Bits(&'o mut [u32]),
}

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> CellInner<W> {
    /// Writes the mask of the placed step for a layer, 1 byte a column (1: attend): column `j` is cell `j`, `read_len` columns, a row of
    /// `row_stride` bytes for each token; columns beyond are 0. O(tokens x `row_stride`).
    ///
    /// # Errors
    /// `BadLayer`; `NoStep` without a placed step; `BufferTooSmall` for a stride below `read_len`, or fewer than tokens x `row_stride` bytes.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat(), Layer::ring(2)];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 2, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.declare_step(&[seq; 3])?;
    /// cache.place_step(0, &[0, 1, 2], &mut [0; 3])?;
    /// let mut mask = [0; 9];
    /// cache.mask_bytes(1, &mut mask, 3)?; // the layer with a window of 2
    /// assert_eq!(mask, [1, 0, 0, 1, 1, 0, 0, 1, 1]);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn mask_bytes(&self, layer: u32, out: &mut [u8], row_stride: usize) -> Result<(), Error> {
        self.mask(layer, Out::Bytes(out), row_stride)
    }

    /// Writes the mask, 1 bit a column: column `j` is bit `j % 32` of word `j / 32` of its row of `row_words` words; bits beyond `read_len` are
    /// 0. Otherwise as [`Self::mask_bytes`].
    ///
    /// # Errors
    /// As [`Self::mask_bytes`], with words in place of bytes.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let (a, b) = (cache.seq_new()?, cache.seq_new()?);
    /// cache.declare_step(&[a, b, a])?;
    /// cache.place_step(0, &[0, 0, 1], &mut [0; 3])?;
    /// let mut mask = [0; 3];
    /// cache.mask_bits(0, &mut mask, 1)?;
    /// assert_eq!(mask, [0b001, 0b010, 0b101]);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn mask_bits(&self, layer: u32, out: &mut [u32], row_words: usize) -> Result<(), Error> {
        self.mask(layer, Out::Bits(out), row_words)
    }

    /// Checks the sizes before the first write.
    #[inline(never)]
    fn mask(&self, layer: u32, mut out: Out<'_>, stride: usize) -> Result<(), Error> {
        let (_, group) = self.group_of(layer)?;
        if !self.placed {
            return Err(Error::NoStep);
        }
        let pool = self.pool_of(group)?.view(self.words.as_ref());
        let (size, columns) = match &out {
            Out::Bytes(out) => (out.len(), stride),
            Out::Bits(out) => (out.len(), stride.saturating_mul(32)),
        };
        let needed = stride.checked_mul(self.n_tokens as usize);
        if stride == 0 || columns < pool.used_end() as usize || needed.is_none_or(|needed| needed > size) {
            return Err(Error::BufferTooSmall);
        }
        for token in 0..self.n_tokens as usize {
            let query = self.query(&group.layer, pool.pool, token);
            let row = token * stride..token * stride + stride;
            match &mut out {
                Out::Bytes(out) => {
                    let row = out.get_mut(row).unwrap_or_default();
                    for (at, columns) in row.chunks_mut(32).enumerate() {
                        let bits = query.word(&pool, at);
                        for (column, out) in columns.iter_mut().enumerate() {
                            *out = (bits >> column & 1) as u8;
                        }
                    }
                }
                Out::Bits(out) => {
                    let row = out.get_mut(row).unwrap_or_default();
                    for (at, out) in row.iter_mut().enumerate() {
                        *out = query.word(&pool, at);
                    }
                }
            }
        }
        Ok(())
    }

    fn query(&self, layer: &Layer, pool: &Pool, token: usize) -> Query {
        let (words, common) = (self.words.as_ref(), self.common());
        let position = get(words, common.token_position(token));
        let from = if layer.window == 0 { 0 } else { (position + 1).saturating_sub(layer.window) };
        let owned = pool.shape.owned_by(get(words, common.token_seq(token)));
        Query { owned, position, from, sinks: layer.sinks }
    }
}
