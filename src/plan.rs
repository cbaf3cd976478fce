//! What a step does with a layer's pool: runs of rows to write and to read, and the kind of mask.

use crate::error::Error;

/// No mask: one query, and it sees every read row.
pub const MASK_NONE: u32 = 0;
/// Lower-right aligned causal mask: the last query sees every read row.
pub const MASK_CAUSAL: u32 = 1;
/// A band of `window` positions for each query, plus the sinks.
pub const MASK_WINDOW: u32 = 2;
/// A mask that only its bytes or bits describe.
pub const MASK_EXPLICIT: u32 = 3;

/// Consecutive rows of a pool that hold consecutive positions.
///
/// ```
/// let run = kvcore::Run { start: 7, len: 2, pos: 100 };
/// assert_eq!(run.start + 1, 8); // the row of position 101
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Run {
    /// First row.
    pub start: u32,
    /// Rows.
    pub len: u32,
    /// Position of the first row.
    pub pos: u32,
}

impl Run {
    pub(crate) const NONE: Self = Self { start: 0, len: 0, pos: 0 };
}

/// One step of one layer group of a one-sequence cache.
///
/// Rows are rows of the layer's pool; columns of a mask are the read rows in the order of `read`.
/// The plan is plain data: copying it is fine, and only `position`, `n_tokens` and `epoch` matter to a
/// commit.
///
/// ```
/// use kvcore::{Layer, layout};
/// // Window 4, steps of one token: five rows back is out of the window.
/// let plan = layout::plan(&Layer::ring(4), 1, 0, 10, 1)?;
/// assert_eq!((plan.read_len, plan.reads()[0].pos), (4, 7));
/// # Ok::<(), kvcore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct SeqPlan {
    /// Where the rows of the new tokens go, in order; the first `n_write` count.
    pub write: [Run; 2],
    /// Which rows attention reads, oldest first, this step's own included; the first `n_read` count.
    pub read: [Run; 3],
    /// Runs in `write`: 1 or 2.
    pub n_write: u32,
    /// Runs in `read`: 1 to 3.
    pub n_read: u32,
    /// Position of the step's first token.
    pub position: u32,
    /// Tokens of the step, 1 or more.
    pub n_tokens: u32,
    /// Rows read in all: the number of columns of the mask.
    pub read_len: u32,
    /// Highest row touched + 1: what a growing pool must hold by now.
    pub rows_needed: u32,
    /// [`MASK_NONE`], [`MASK_CAUSAL`] or [`MASK_WINDOW`].
    pub mask: u32,
    /// Positions that a query may attend to, itself included; 0: all.
    pub window: u32,
    /// First positions of the sequence that every query sees.
    pub sinks: u32,
    /// The layer group.
    pub group: u32,
    /// Which step of its cache this is; 0 for a plan that no cache made.
    pub epoch: u32,
}

impl SeqPlan {
    /// A plan of nothing, to fill an array with.
    ///
    /// ```
    /// let plans = [kvcore::SeqPlan::EMPTY; 8];
    /// assert_eq!(plans[0].n_tokens, 0);
    /// ```
    pub const EMPTY: Self = Self {
        write: [Run::NONE; 2],
        read: [Run::NONE; 3],
        n_write: 0,
        n_read: 0,
        position: 0,
        n_tokens: 0,
        read_len: 0,
        rows_needed: 0,
        mask: MASK_NONE,
        window: 0,
        sinks: 0,
        group: 0,
        epoch: 0,
    };

    /// The write runs. O(1).
    ///
    /// ```
    /// # use kvcore::{Layer, layout};
    /// let plan = layout::plan(&Layer::flat(), 0, 0, 5, 2)?;
    /// assert_eq!(plan.writes(), [kvcore::Run { start: 5, len: 2, pos: 5 }]);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn writes(&self) -> &[Run] {
        self.write.get(..self.n_write as usize).unwrap_or(&self.write)
    }

    /// The read runs, oldest first. O(1).
    ///
    /// ```
    /// # use kvcore::{Layer, layout};
    /// // A ring of 4 + 2 - 1 = 5 rows: position 5 is in row 0 again.
    /// let plan = layout::plan(&Layer::ring(4), 2, 0, 5, 1)?;
    /// assert_eq!(plan.reads().len(), 2);
    /// assert_eq!(plan.reads()[1], kvcore::Run { start: 0, len: 1, pos: 5 });
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn reads(&self) -> &[Run] {
        self.read.get(..self.n_read as usize).unwrap_or(&self.read)
    }

    /// Writes the position of each read row, in the order of the mask's columns, and answers how many
    /// there are. O(`read_len`).
    ///
    /// # Errors
    /// `InvalidArgument` for a plan that contradicts itself, `BufferTooSmall` for fewer than `read_len`
    /// elements.
    ///
    /// ```
    /// # use kvcore::{Layer, layout};
    /// let plan = layout::plan(&Layer::ring(3).with_sinks(1), 1, 0, 9, 1)?;
    /// let mut positions = [0; 4];
    /// assert_eq!(plan.positions(&mut positions)?, 4);
    /// assert_eq!(positions, [0, 7, 8, 9]);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn positions(&self, out: &mut [u32]) -> Result<usize, Error> {
        self.check()?;
        let len = self.read_len as usize;
        let mut out = out.get_mut(..len).ok_or(Error::BufferTooSmall)?.iter_mut();
        for run in self.reads() {
            for (position, slot) in (run.pos..run.pos + run.len).zip(&mut out) {
                *slot = position;
            }
        }
        Ok(len)
    }

    /// Refuses a plan of no tokens, and more accepted tokens than it has.
    pub(crate) const fn check_accepted(&self, accepted: u32) -> Result<(), Error> {
        if self.n_tokens == 0 || accepted > self.n_tokens { Err(Error::InvalidArgument) } else { Ok(()) }
    }

    /// Refuses a plan that no layout could have made. Plans come back through C, so nothing in them is
    /// trusted: after this check no sum of the runs' fields overflows.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let end = self.position.checked_add(self.n_tokens).ok_or(Error::InvalidArgument)?;
        let sound = self.n_tokens > 0
            && (1..=2).contains(&self.n_write)
            && (1..=3).contains(&self.n_read)
            && self.read_len >= self.n_tokens
            && adjoin(self.writes(), Some(self.position), end) == Some(self.n_tokens)
            && adjoin(self.reads(), None, end) == Some(self.read_len);
        if sound { Ok(()) } else { Err(Error::InvalidArgument) }
    }
}

/// Rows of `runs` in all, if they are non-empty, ascend in position without overlap, and end at `end`;
/// with `start` given, if they cover `start..end` without a gap.
fn adjoin(runs: &[Run], start: Option<u32>, end: u32) -> Option<u32> {
    let (mut next, mut total) = (start.unwrap_or(0), 0_u32);
    for run in runs {
        run.start.checked_add(run.len)?;
        let gap = run.pos.checked_sub(next)?;
        if run.len == 0 || (start.is_some() && gap != 0) {
            return None;
        }
        next = run.pos.checked_add(run.len)?;
        total += run.len; // no more than `next`
    }
    (next == end).then_some(total)
}
