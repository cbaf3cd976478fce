//! Attention masks of a plan, as bytes or as bits, for a plain step and for a token tree.
//!
//! Query `i` is at position `q = position + i` (in a tree: `position` plus the node's depth) and sees
//! position `k` iff `k <= q` and (`k < sinks` or `q - k < window`). In a tree a node sees, of this step, its
//! ancestors and itself only.

use crate::error::Error;
use crate::plan::SeqPlan;
use crate::tree;

/// What column `j` of a mask stands for.
///
/// ```
/// assert_eq!(kvcore::Columns::from_code(1), Some(kvcore::Columns::Pool));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Columns {
    /// The `j`-th read row: `read_len` columns.
    Read,
    /// Row `j` of the pool, for backends with static shapes: at least `rows_needed` columns.
    Pool,
}

impl Columns {
    /// The value of a `KVC_COLUMNS_…` constant, if it is one. O(1).
    ///
    /// ```
    /// assert_eq!(kvcore::Columns::from_code(2), None);
    /// ```
    #[must_use]
    pub const fn from_code(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::Read),
            1 => Some(Self::Pool),
            _ => None,
        }
    }
}

/// A mask row that can switch columns on, all of them off at first.
trait Row {
    /// Switches on the columns `from .. from + len`, which the mask has.
    fn set(&mut self, from: usize, len: usize);
}

impl Row for &mut [u8] {
    #[inline]
    fn set(&mut self, from: usize, len: usize) {
        if let Some(columns) = self.get_mut(from..from + len) {
            columns.fill(1);
        }
    }
}

impl Row for &mut [u32] {
    #[inline]
    fn set(&mut self, from: usize, len: usize) {
        let (mut at, end) = (from, from + len);
        while at < end {
            let (word, bit) = (at / 32, at % 32);
            let take = (32 - bit).min(end - at);
            if let Some(word) = self.get_mut(word) {
                *word |= u32::MAX >> (32 - take) << bit;
            }
            at += take;
        }
    }
}

impl SeqPlan {
    /// Writes the mask, 1 byte a column (1: attend), `n_tokens` rows of `row_stride` bytes; columns beyond
    /// the mask are 0. With `parents` the step is a token tree of at most 256 nodes: node `i` continues node
    /// `parents[i] < i`, or with -1 the committed prefix. O(`n_tokens` x `row_stride`), in a tree also
    /// O(`n_tokens` x depth).
    ///
    /// # Errors
    /// `InvalidArgument` for a plan that contradicts itself or parents that are no tree of `n_tokens` nodes;
    /// `BufferTooSmall` for a stride below the columns, or fewer than `n_tokens * row_stride` bytes.
    ///
    /// ```
    /// use kvcore::{Columns, Layer, layout};
    /// // Window 2, a step of 2 at position 3: each query has a lower bound of its own.
    /// let plan = layout::plan(&Layer::ring(2), 2, 0, 3, 2)?;
    /// let mut mask = [9; 6];
    /// plan.mask_bytes(None, Columns::Read, &mut mask, 3)?;
    /// assert_eq!(mask, [1, 1, 0, 0, 1, 1]); // positions 2, 3, 4
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn mask_bytes(
        &self,
        parents: Option<&[i32]>,
        columns: Columns,
        out: &mut [u8],
        row_stride: usize,
    ) -> Result<(), Error> {
        let rows = self.mask_rows(parents, columns, out, row_stride, row_stride)?;
        for (query, mut row) in rows.enumerate() {
            row.fill(0);
            self.mask_row(query as u32, parents, columns, &mut row);
        }
        Ok(())
    }

    /// Writes the mask, 1 bit a column: column `j` is bit `j % 32` of word `j / 32` of its row, `n_tokens`
    /// rows of `row_words` words; bits beyond the mask are 0. Otherwise as [`Self::mask_bytes`].
    ///
    /// # Errors
    /// As [`Self::mask_bytes`], with words in place of bytes.
    ///
    /// ```
    /// use kvcore::{Columns, Layer, layout};
    /// let plan = layout::plan(&Layer::flat(), 0, 0, 2, 2)?;
    /// let mut mask = [0; 2];
    /// plan.mask_bits(None, Columns::Read, &mut mask, 1)?;
    /// assert_eq!(mask, [0b0111, 0b1111]);
    /// // The same step as a tree with two roots: neither sees the other.
    /// plan.mask_bits(Some(&[-1, -1]), Columns::Read, &mut mask, 1)?;
    /// assert_eq!(mask, [0b0111, 0b1011]);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn mask_bits(
        &self,
        parents: Option<&[i32]>,
        columns: Columns,
        out: &mut [u32],
        row_words: usize,
    ) -> Result<(), Error> {
        let rows = self.mask_rows(parents, columns, out, row_words, row_words.saturating_mul(32))?;
        for (query, mut row) in rows.enumerate() {
            row.fill(0);
            self.mask_row(query as u32, parents, columns, &mut row);
        }
        Ok(())
    }

    /// Checks everything before the first write, then cuts `out` into the rows of the mask.
    fn mask_rows<'o, T>(
        &self,
        parents: Option<&[i32]>,
        columns: Columns,
        out: &'o mut [T],
        stride: usize,
        width: usize,
    ) -> Result<core::slice::ChunksExactMut<'o, T>, Error> {
        self.check()?;
        if let Some(parents) = parents {
            tree::check(parents, self.n_tokens)?;
        }
        let needed = match columns {
            Columns::Read => self.read_len as usize,
            Columns::Pool => self.highest_read_row(),
        };
        let size = stride.checked_mul(self.n_tokens as usize);
        let out = size.and_then(|size| out.get_mut(..size)).filter(|_| width >= needed && stride > 0);
        out.map(|out| out.chunks_exact_mut(stride)).ok_or(Error::BufferTooSmall)
    }

    /// Highest read row + 1.
    fn highest_read_row(&self) -> usize {
        self.reads().iter().map(|run| run.start as usize + run.len as usize).max().unwrap_or(0)
    }

    fn mask_row(&self, query: u32, parents: Option<&[i32]>, columns: Columns, row: &mut dyn Row) {
        let Some(parents) = parents else {
            let at = self.position + query;
            return self.mask_span(at, at + 1, columns, row);
        };
        let at = self.position + tree::depth(parents, query);
        self.mask_span(at, self.position, columns, row);
        let (mut node, mut position) = (query, at);
        loop {
            if self.sees(at, position) {
                // Node `i` stands where the step's `i`-th token does.
                self.set_position(self.position + node, columns, row);
            }
            let Some(parent) = tree::parent(parents, node) else { return };
            (node, position) = (parent, position.saturating_sub(1));
        }
    }

    /// Whether a query at position `query` sees position `key <= query`.
    const fn sees(&self, query: u32, key: u32) -> bool {
        self.window == 0 || key < self.sinks || query - key < self.window
    }

    /// Switches on what a query at position `query` sees of the read positions below `end`.
    fn mask_span(&self, query: u32, end: u32, columns: Columns, row: &mut dyn Row) {
        let lowest = match self.window {
            0 => 0,
            window => query.saturating_sub(window - 1),
        };
        let mut column = 0;
        for run in self.reads() {
            let (first, last) = (run.pos, (run.pos + run.len).min(end));
            let base = match columns {
                Columns::Read => column,
                Columns::Pool => run.start as usize,
            };
            let mut set = |from: u32, to: u32| {
                if from < to {
                    row.set(base + (from - first) as usize, (to - from) as usize);
                }
            };
            set(first, last.min(self.sinks).min(lowest));
            set(first.max(lowest), last);
            column += run.len as usize;
        }
    }

    fn set_position(&self, position: u32, columns: Columns, row: &mut dyn Row) {
        let mut column = 0;
        for run in self.reads() {
            let behind = position.wrapping_sub(run.pos);
            if behind < run.len {
                let base = match columns {
                    Columns::Read => column,
                    Columns::Pool => run.start as usize,
                };
                row.set(base + behind as usize, 1);
            }
            column += run.len as usize;
        }
    }
}
