//! What the faces of many-sequence caches exchange. An external cache may already offer them.

use crate::plan::SeqPlan;

/// A placed step of a cell cache.
///
/// ```
/// let step = kvcore::CellStep { write_start: kvcore::UNBOUNDED, ..Default::default() };
/// assert_eq!(step.n_tokens, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct CellStep {
    /// `MASK_NONE` or `MASK_CAUSAL`, which need no mask (lower-right aligned: the last token sees every row), else `MASK_EXPLICIT`.
    pub mask: u32,
    /// Tokens placed.
    pub n_tokens: u32,
    /// Rows read, from row 0 on: columns of the mask.
    pub read_len: u32,
    /// First cell of the only write run; [`crate::UNBOUNDED`] when the cells are scattered.
    pub write_start: u32,
}

/// Consecutive tokens of a step that belong to one sequence, planned over its private rows.
///
/// ```
/// assert_eq!(kvcore::Span::default().n_tokens, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Span {
    /// Sequence.
    pub seq: u32,
    /// Tokens.
    pub n_tokens: u32,
    /// What they write and read.
    pub plan: SeqPlan,
}

/// Rows whose keys must be rotated by a change of position.
///
/// ```
/// assert_eq!(kvcore::Shift { row: 0, len: 4, delta: -2 }.delta, -2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Shift {
    /// First row.
    pub row: u32,
    /// Rows.
    pub len: u32,
    /// Positions to move by.
    pub delta: i32,
}

/// Rows to move.
///
/// ```
/// assert_eq!(kvcore::Move { from: 8, to: 2, len: 1 }.to, 2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Move {
    /// First source row.
    pub from: u32,
    /// First target row.
    pub to: u32,
    /// Rows.
    pub len: u32,
}
