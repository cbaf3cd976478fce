//! Which positions of a layer group are still in their rows.
//!
//! In a ring of `R` rows, the positions `[lo, length)` are in their rows; below `lo` a row may hold something newer.
//! Planning a step gives its rows up at once (some layer may write them, whatever happens next): after a step that
//! ends at `e`, `lo` is at least `e - R`. Moving the length back makes what is written from there on resident again.
//! Sinks never leave.
//!
//! So that a new step costs the same however many groups there are, the cache keeps one number for all of them, how
//! far steps went (`reach`), and a group its own `lo` as it was at the last rewind.

use crate::layout::Layout;
use crate::limits::UNBOUNDED;

/// The residency of one layer group, and which round its ring is in, kept so that a plan needs no division (but
/// for the first one of a round).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub(crate) struct Residency {
    /// First resident ring position at the last rewind; never among the sinks.
    pub(crate) lo: u32,
    /// A position whose ring index is 0, not above that of any step to come.
    round: u32,
}

impl Residency {
    /// Nothing held, nothing lost.
    pub(crate) const fn new(layout: &Layout) -> Self {
        Self { lo: layout.sinks, round: layout.sinks }
    }

    /// From its `lo` alone, for whom no index is asked: the round is not kept.
    pub(crate) const fn from_lo(lo: u32) -> Self {
        Self { lo, round: lo }
    }

    /// Ring index of the first position of a step; steps go forward until the next rewind.
    #[inline]
    pub(crate) const fn index(&mut self, layout: &Layout, position: u32) -> u32 {
        let index = position.saturating_sub(self.round);
        if index < layout.ring { index } else { self.next_round(layout, position) }
    }

    const fn next_round(&mut self, layout: &Layout, position: u32) -> u32 {
        let index = layout.index(position);
        self.round = position - index;
        index
    }

    /// The end up to which the next step may go without losing a position.
    pub(crate) const fn lossless_end(self, layout: &Layout) -> u32 {
        if layout.is_flat() { UNBOUNDED } else { self.lo.saturating_add(layout.ring) }
    }

    /// The length moves back to `length`, where the next step will begin, after steps up to `reach`.
    pub(crate) fn rewind(&mut self, layout: &Layout, reach: u32, length: u32) {
        let length = length.max(layout.sinks);
        self.lo = self.lo(layout, reach).min(length);
        self.next_round(layout, length);
    }

    /// First resident ring position after steps up to `reach`.
    pub(crate) fn lo(self, layout: &Layout, reach: u32) -> u32 {
        self.lo.max(reach.saturating_sub(layout.ring))
    }

    /// Whether every position that a query at `length` sees is resident after steps up to `reach`.
    pub(crate) fn allows(self, layout: &Layout, reach: u32, length: u32) -> bool {
        if layout.is_flat() {
            return true;
        }
        let from = layout.first_seen(length);
        from >= length || from >= self.lo(layout, reach)
    }

    /// The smallest length from which on every length up to the present one is allowed, after steps up to `reach`.
    pub(crate) fn floor(self, layout: &Layout, reach: u32) -> u32 {
        let lo = self.lo(layout, reach);
        // A window of one position is the query alone: nothing before it is ever needed.
        if layout.is_flat() || layout.window == 1 || lo <= layout.sinks {
            0
        } else {
            lo + (layout.window - 1)
        }
    }
}
