//! The cell cache as a kind in caller's storage.

use super::batch::Call;
use super::header::Tag;
use super::words::InWords;
use crate::cells::{CellInner, cell_words};
use crate::config::Config;
use crate::error::Error;
use crate::layer::LayerInfo;

/// The family of caches whose sequences share a pool of cells.
pub const KIND_CELLS: u32 = 2;

/// The cache as it stands behind a header.
pub(crate) type CellView = CellInner<[u32]>;

#[cfg(not(loom))]
const _: () = {
    use super::words::stands_as_counted;
    assert!(stands_as_counted::<CellView, 0, CellInner<[u32; 0]>>());
    assert!(stands_as_counted::<CellView, 33, CellInner<[u32; 33]>>());
    assert!(stands_as_counted::<CellView, 1000, CellInner<[u32; 1000]>>());
};

// The words begin where a cache without any ends.
const _: () = assert!(core::mem::offset_of!(CellInner<[u32; 0]>, words) == size_of::<CellInner<[u32; 0]>>());

// SAFETY: the tag is not used elsewhere; `CellInner` is `repr(C)` with its words last, and see above.
unsafe impl InWords for CellView {
    type Blank = CellInner<[u32; 0]>;
    const BLANK: Self::Blank = CellInner::BLANK;
    const TAG: Tag = Tag::Cells;
    const KIND: u32 = KIND_CELLS;

    fn words_for(config: &Config<'_>) -> Result<usize, Error> {
        cell_words(config)
    }

    fn n_words(blank: &Self::Blank) -> usize {
        blank.n_words
    }

    #[allow(clippy::cast_ptr_alignment)] // the address is behind a header, which is aligned
    fn view(at: *mut [u32]) -> *mut Self {
        at as *mut Self
    }

    fn build(&mut self, config: &Config<'_>, _: usize) -> Result<(), Error> {
        self.build(config)
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

    fn declare(&mut self, seq_ids: &[u32]) -> Result<bool, Error> {
        self.declare(seq_ids)
    }

    fn answer(&mut self, call: Call) -> Result<u32, Error> {
        match call {
            Call::CanAdmit { seq, n } => self.can_admit(seq, n).map(u32::from),
            Call::SeqNew => self.seq_new(),
            Call::SeqClone { src, upto } => self.seq_clone(src, upto),
            Call::SeqRemove { seq, from, to } => self.seq_remove(seq, from, to).map(|()| 0),
            Call::SeqRelease { seq } => self.seq_release(seq).map(|()| 0),
            Call::SeqKeep { seq } => self.seq_keep(seq).map(|()| 0),
            Call::SeqShift { seq, from, to, delta } => self.seq_shift(seq, from, to, delta).map(|()| 0),
            Call::Rewind { seq, new_len } => self.rewind(seq, new_len).map(|()| 0),
            Call::SeqLen { seq } => self.seq_len(seq),
            Call::NextPos { seq } => self.next_pos(seq),
            Call::FirstPos { seq } => self.first_pos(seq),
            Call::FreeRows => Ok(self.free_rows()),
        }
    }
}
