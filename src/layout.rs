//! The arithmetic of a layer's pool: position to row, and a step to its runs. No state, no cache.
//!
//! With window `w`, sinks `s`, `max_write` `mw` and `rollback` `rb`, a ring has `R = w + mw - 1 + rb` rows
//! beside its `s` sink rows. The row of position `p` is `p` in a flat layer and below `s`, else
//! `s + (p - s) mod R`. A step of `n <= mw` tokens reads at most `w - 1 + n <= R` ring rows, so that it never
//! overwrites a row that it reads; the `rb` extra rows let as many rejected tokens be taken back.
//!
//! ```
//! use kvcore::{Layer, layout::Layout};
//! let layout = Layout::new(&Layer::ring(4).with_sinks(1), 2, 0, kvcore::UNBOUNDED)?;
//! assert_eq!(layout.rows(), 1 + 4 + 2 - 1);
//! assert_eq!(layout.row(0), 0);
//! assert_eq!(layout.row(6), layout.row(1)); // the ring came round
//! # Ok::<(), kvcore::Error>(())
//! ```

use crate::error::Error;
use crate::layer::{LAYER_FLAT, Layer};
use crate::limits::UNBOUNDED;
use crate::plan::{MASK_CAUSAL, MASK_NONE, MASK_WINDOW, Run, SeqPlan};

/// Where the positions of a layer are: flat, or sinks and a ring.
///
/// ```
/// use kvcore::{Layer, layout::Layout};
/// let flat = Layout::new(&Layer::flat(), 0, 0, 1024)?;
/// assert_eq!((flat.rows(), flat.row(77)), (1024, 77));
/// # Ok::<(), kvcore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Layout {
    /// 0: flat.
    pub(crate) window: u32,
    pub(crate) sinks: u32,
    /// Rows of the ring; of the whole pool in a flat layout.
    pub(crate) ring: u32,
}

impl Layout {
    /// The layout of `layer` in a cache of `capacity` positions. `max_write` 0 means the layer's window. O(1).
    ///
    /// # Errors
    /// `InvalidConfig` for a layer that contradicts itself, and for sinks that leave no room for a ring.
    ///
    /// ```
    /// use kvcore::{Error, Layer, layout::Layout};
    /// let full = Layout::new(&Layer::ring(8).with_sinks(4), 1, 0, 4);
    /// assert_eq!(full, Err(Error::InvalidConfig));
    /// ```
    pub fn new(layer: &Layer, max_write: u32, rollback: u32, capacity: u32) -> Result<Self, Error> {
        layer.check()?;
        if layer.kind == LAYER_FLAT {
            return Ok(Self { window: 0, sinks: 0, ring: capacity });
        }
        let Some(room @ 1..) = capacity.checked_sub(layer.sinks) else { return Err(Error::InvalidConfig) };
        let max_write = step_limit(layer, max_write);
        let wanted = u64::from(layer.window) + u64::from(max_write) - 1 + u64::from(rollback);
        let ring = u32::try_from(wanted).unwrap_or(UNBOUNDED).min(room);
        Ok(Self { window: layer.window, sinks: layer.sinks, ring })
    }

    /// Rows of the pool, at most. O(1).
    ///
    /// ```
    /// use kvcore::{Layer, layout::Layout};
    /// // A ring never needs more rows than there are positions.
    /// assert_eq!(Layout::new(&Layer::ring(100), 100, 0, 64)?.rows(), 64);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn rows(&self) -> u32 {
        self.sinks + self.ring
    }

    /// The row of a position. O(1), with a division in a ring.
    ///
    /// ```
    /// use kvcore::{Layer, layout::Layout};
    /// let ring = Layout::new(&Layer::ring(3), 1, 0, kvcore::UNBOUNDED)?;
    /// assert_eq!([0, 1, 2, 3, 4].map(|position| ring.row(position)), [0, 1, 2, 0, 1]);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn row(&self, position: u32) -> u32 {
        if self.is_flat() || position < self.sinks { position } else { self.sinks + self.index(position) }
    }

    /// Whether every position has a row of its own.
    pub(crate) const fn is_flat(&self) -> bool {
        self.window == 0
    }

    /// The first position outside the sinks that a query at `position` sees.
    pub(crate) fn first_seen(&self, position: u32) -> u32 {
        // No window lets it see everything.
        position.saturating_sub(self.window.wrapping_sub(1)).max(self.sinks)
    }

    /// Place in the ring of a position, or of the first ring position for one among the sinks.
    pub(crate) const fn index(&self, position: u32) -> u32 {
        // A layout has at least one ring row; `checked_rem` spares the panic of a division by zero.
        match position.saturating_sub(self.sinks).checked_rem(self.ring) {
            Some(index) => index,
            None => 0,
        }
    }

    /// Writes the plan of the step `position .. position + n`, whose first ring position is at `index`: all but `group`
    /// and `epoch`, each field once, since what a lock guards should be few stores.
    #[expect(clippy::inline_always, reason = "a call costs a tenth of a plan; there is one caller")]
    #[inline(always)]
    fn plan_at(&self, position: u32, n: u32, index: u32, plan: &mut SeqPlan) {
        plan.position = position;
        plan.n_tokens = n;
        plan.window = self.window;
        plan.sinks = self.sinks;
        if self.is_flat() {
            plan_flat(position, n, plan);
        } else {
            self.plan_write(position, n, index, plan);
            self.plan_read(position, n, index, plan);
        }
    }

    #[inline]
    fn plan_write(&self, position: u32, n: u32, index: u32, plan: &mut SeqPlan) {
        let left = self.ring - index;
        if position < self.sinks {
            // The ring begins where the sinks end.
            plan.write = [Run { start: position, len: n, pos: position }, Run::NONE];
            plan.n_write = 1;
        } else if n <= left {
            plan.write = [Run { start: self.sinks + index, len: n, pos: position }, Run::NONE];
            plan.n_write = 1;
        } else {
            let rest = Run { start: self.sinks, len: n - left, pos: position + left };
            plan.write = [Run { start: self.sinks + index, len: left, pos: position }, rest];
            plan.n_write = 2;
        }
    }

    #[inline]
    fn plan_read(&self, position: u32, n: u32, index: u32, plan: &mut SeqPlan) {
        let (sinks, end) = (self.sinks, position + n);
        let behind = self.window - 1;
        let from = position.saturating_sub(behind);
        plan.mask = match n {
            1 => MASK_NONE,
            _ if end.saturating_sub(sinks) <= self.window => MASK_CAUSAL,
            _ => MASK_WINDOW,
        };
        if from <= sinks {
            // All history so far, and with n <= mw the ring has not come round: one run.
            return plan_history(end, plan);
        }
        let first = if behind <= index { index - behind } else { index + (self.ring - behind) };
        let (len, left) = (behind + n, self.ring - first);
        let head = Run { start: sinks + first, len: len.min(left), pos: from };
        plan.read_len = sinks + len;
        plan.rows_needed = head.start + head.len;
        let (tail, n_ring) = if len > left {
            (Run { start: sinks, len: len - left, pos: from + left }, 2)
        } else {
            (Run::NONE, 1)
        };
        if sinks > 0 {
            plan.read = [Run { start: 0, len: sinks, pos: 0 }, head, tail];
            plan.n_read = n_ring + 1;
        } else {
            plan.read = [head, tail, Run::NONE];
            plan.n_read = n_ring;
        }
    }
}

/// A step as one layer group sees it, all that its plan is computed from. Copied out of a cache: no lock need be held
/// while the plan is written.
#[derive(Clone, Copy)]
pub(crate) struct GroupStep {
    pub(crate) layout: Layout,
    /// Ring index of the first position.
    pub(crate) index: u32,
    pub(crate) position: u32,
    /// At least 1 and within the step limit; `position + n_tokens` fits 32 bits.
    pub(crate) n_tokens: u32,
    pub(crate) group: u32,
    pub(crate) epoch: u32,
}

impl GroupStep {
    #[inline]
    pub(crate) fn write_plan(&self, plan: &mut SeqPlan) {
        self.layout.plan_at(self.position, self.n_tokens, self.index, plan);
        plan.group = self.group;
        plan.epoch = self.epoch;
    }
}

/// Reads everything from row 0 on, where position and row are the same.
#[inline]
const fn plan_history(end: u32, plan: &mut SeqPlan) {
    // Run by run, with another store between: zeros in a row are a call of `memset` where code is for size, which takes a
    // Cortex-M a quarter of the plan.
    let [first, second, third] = &mut plan.read;
    *first = Run { start: 0, len: end, pos: 0 };
    *second = Run::NONE;
    plan.n_read = 1;
    *third = Run::NONE;
    plan.read_len = end;
    plan.rows_needed = end;
}

#[inline]
const fn plan_flat(position: u32, n: u32, plan: &mut SeqPlan) {
    plan.write = [Run { start: position, len: n, pos: position }, Run::NONE];
    plan.n_write = 1;
    plan.mask = if n == 1 { MASK_NONE } else { MASK_CAUSAL };
    plan_history(position + n, plan);
}

/// Most tokens of a step by this layer's own layout; 0 means its window, and no bound in a flat layer.
pub(crate) const fn step_limit(layer: &Layer, max_write: u32) -> u32 {
    match max_write {
        0 if layer.kind == LAYER_FLAT => UNBOUNDED,
        0 => layer.window,
        some => some,
    }
}

/// The plan of the step `position .. position + n`, by arithmetic alone: any position, no cache, no end to
/// the pool. O(1).
///
/// # Errors
/// `InvalidConfig` for a layer that contradicts itself, `InvalidArgument` for zero tokens or positions over
/// 32 bits, `StepTooLarge` for more than `max_write` tokens.
///
/// ```
/// use kvcore::{Layer, Run, layout};
/// let plan = layout::plan(&Layer::ring(4), 4, 0, 6, 2)?; // 7 rows
/// assert_eq!(plan.writes(), [Run { start: 6, len: 1, pos: 6 }, Run { start: 0, len: 1, pos: 7 }]);
/// assert_eq!(plan.reads(), [Run { start: 3, len: 4, pos: 3 }, Run { start: 0, len: 1, pos: 7 }]);
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn plan(layer: &Layer, max_write: u32, rollback: u32, position: u32, n: u32) -> Result<SeqPlan, Error> {
    if n == 0 || position.checked_add(n).is_none() {
        return Err(Error::InvalidArgument);
    }
    let layout = Layout::new(layer, max_write, rollback, UNBOUNDED)?;
    if n > step_limit(layer, max_write) {
        return Err(Error::StepTooLarge);
    }
    let mut plan = SeqPlan::EMPTY;
    let index = layout.index(position);
    GroupStep { layout, index, position, n_tokens: n, group: 0, epoch: 0 }.write_plan(&mut plan);
    Ok(plan)
}
