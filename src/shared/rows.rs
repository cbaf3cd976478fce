//! The private-row cache as a kind in caller's storage.

use super::batch::Call;
use super::header::Tag;
use super::words::InWords;
use crate::config::Config;
use crate::error::Error;
use crate::layer::LayerInfo;
use crate::rows::{RowsInner, rows_words};

/// The family of caches whose sequences have rows of their own.
pub const KIND_ROWS: u32 = 3;

/// The cache as it stands behind a header.
pub(crate) type RowsView = RowsInner<[u32]>;

#[cfg(not(loom))]
const _: () = {
    use super::words::stands_as_counted;
    assert!(stands_as_counted::<RowsView, 0, RowsInner<[u32; 0]>>());
    assert!(stands_as_counted::<RowsView, 33, RowsInner<[u32; 33]>>());
    assert!(stands_as_counted::<RowsView, 1000, RowsInner<[u32; 1000]>>());
};

// SAFETY: the tag is not used elsewhere; `RowsInner` is `repr(C)` with its words last, without padding (`src/rows.rs` asserts it).
unsafe impl InWords for RowsView {
    type Blank = RowsInner<[u32; 0]>;
    const BLANK: Self::Blank = RowsInner::BLANK;
    const TAG: Tag = Tag::Rows;
    const KIND: u32 = KIND_ROWS;

    fn words_for(config: &Config<'_>) -> Result<usize, Error> {
        rows_words(config)
    }

    fn n_words(blank: &Self::Blank) -> usize {
        blank.n_words
    }

    #[allow(clippy::cast_ptr_alignment)] // the address is behind a header, which is aligned
    fn view(at: *mut [u32]) -> *mut Self {
        at as *mut Self
    }

    fn build(&mut self, config: &Config<'_>, n_words: usize) -> Result<(), Error> {
        self.build(config, n_words)
    }

    fn capacity(&self) -> u32 {
        self.capacity()
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn config(&self) -> Config<'static> {
        self.config()
    }

    fn layer(&self, layer: u32) -> Result<LayerInfo, Error> {
        self.layer(layer)
    }

    /// Windows drop positions when the step is placed.
    fn declare(&mut self, seq_ids: &[u32]) -> Result<bool, Error> {
        self.declare_step(seq_ids).map(|()| false)
    }

    fn answer(&mut self, call: Call) -> Result<u32, Error> {
        match call {
            Call::CanAdmit { seq, n } => self.can_admit(seq, n).map(u32::from),
            Call::SeqNew => self.seq_new(),
            Call::SeqClone { src, upto } => self.seq_clone(src, upto),
            Call::SeqRelease { seq } => self.seq_release(seq).map(|()| 0),
            Call::SeqKeep { seq } => self.seq_keep(seq).map(|()| 0),
            Call::Rewind { seq, new_len } => self.rewind(seq, new_len).map(|()| 0),
            Call::SeqLen { seq } => self.seq_len(seq),
            Call::NextPos { seq } => self.next_pos(seq),
            Call::FirstPos { seq } => self.first_pos(seq),
            Call::FreeRows => Ok(self.free_rows()),
            Call::SeqRemove { .. } | Call::SeqShift { .. } => Err(Error::WrongKind),
        }
    }
}
