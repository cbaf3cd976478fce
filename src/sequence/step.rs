//! The newest step of a sequence, which its plans and commits are about.

/// A step that has not been committed.
pub(super) const PENDING: u32 = u32::MAX;

/// The newest step: `position .. position + n_tokens`, of which `accepted` were kept.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Step {
    /// Where it began; after a rewind the length.
    pub(super) position: u32,
    /// 0: none since the cache was built, rewound or cleared.
    pub(super) n_tokens: u32,
    /// [`PENDING`] until committed.
    pub(super) accepted: u32,
    pub(super) epoch: u32,
}

impl Step {
    /// Planning this step again is the same step: it is open, or was kept whole.
    pub(super) const fn is_same(&self, position: u32, n: u32) -> bool {
        position == self.position
            && n == self.n_tokens
            && (self.accepted == PENDING || self.accepted == self.n_tokens)
    }

    pub(super) const fn next_epoch(&self) -> u32 {
        epoch_after(self.epoch)
    }
}

/// The next epoch. 0 stays free for plans that no cache made.
pub(crate) const fn epoch_after(epoch: u32) -> u32 {
    let next = epoch.wrapping_add(1);
    if next == 0 { 1 } else { next }
}
