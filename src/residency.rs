//! Which positions of a layer group are still in their rows.
//!
//! In a ring, the positions `[lo, length)` are in their rows; below `lo` a row may hold something newer.
//! Planning a step gives its rows up at once (some layer may write them, whatever happens next), and moving
//! the length back makes what is written from there on resident again. Sinks never leave.

use crate::layout::Layout;

/// The residency of one layer group, and where in its ring the step begins, kept so that a plan needs no
/// division.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub(crate) struct Residency {
    /// First resident ring position.
    lo: u32,
    /// Ring index of the step's first position.
    index: u32,
}

impl Residency {
    /// Nothing held, nothing lost.
    pub(crate) const fn new(layout: &Layout) -> Self {
        Self { lo: layout.sinks, index: 0 }
    }

    /// Ring index of the step's first position.
    pub(crate) const fn index(self) -> u32 {
        self.index
    }

    /// A step from `position` to `end` follows one that began at `before`: gives up the rows that it will
    /// overwrite and answers whether positions were lost.
    pub(crate) fn begin_step(&mut self, layout: &Layout, before: u32, position: u32, end: u32) -> bool {
        if layout.is_flat() {
            return false;
        }
        let sinks = layout.sinks;
        let by = position.max(sinks) - before.max(sinks);
        self.index = layout.index_after(self.index, by);
        // `lo` is never below the sinks: this is also false as long as the ring has not come round.
        let reach = end.saturating_sub(layout.ring);
        let lost = reach > self.lo;
        self.lo = self.lo.max(reach);
        lost
    }

    /// The length moves back to `length`, where the next step will begin.
    pub(crate) fn rewind(&mut self, layout: &Layout, length: u32) {
        self.lo = self.lo.min(length.max(layout.sinks));
        self.index = if layout.is_flat() { 0 } else { layout.index(length) };
    }

    /// Whether every position that a query at `length` sees is resident.
    pub(crate) fn allows(self, layout: &Layout, length: u32) -> bool {
        if layout.is_flat() {
            return true;
        }
        let from = length.saturating_sub(layout.window - 1).max(layout.sinks);
        from >= length || from >= self.lo
    }

    /// The smallest length from which on every length up to the present one is allowed.
    pub(crate) fn floor(self, layout: &Layout) -> u32 {
        // A window of one position is the query alone: nothing before it is ever needed.
        if layout.is_flat() || layout.window == 1 || self.lo <= layout.sinks {
            0
        } else {
            self.lo + (layout.window - 1)
        }
    }
}
