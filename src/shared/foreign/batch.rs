//! The many-sequence faces in the function table of a Rust type.

use core::ffi::c_void;

use super::table::Table;
use super::{CellStep, ExternalCache, Move, Shift, Span};
use crate::error::status;

// SAFETY of all of them: the table is only used with its object, and follows the contract of `kvc_external_t`.
impl<C: ExternalCache> Table<C> {
    /// # Safety
    /// `object` is the `&C` of `ExternalStorage::init`.
    const unsafe fn cache<'c>(object: *mut c_void) -> &'c C {
        // SAFETY: by contract.
        unsafe { &*object.cast::<C>() }
    }

    pub(super) unsafe extern "C" fn declare_step(object: *mut c_void, seq_ids: *const u32, n: u32) -> i32 {
        // SAFETY: the table is only used with its object; the ids are valid for `n` elements.
        status(unsafe { Self::cache(object).declare_step(core::slice::from_raw_parts(seq_ids, n as usize)) })
    }

    pub(super) unsafe extern "C" fn can_admit(object: *mut c_void, seq: u32, n: u32, out: *mut bool) -> i32 {
        // SAFETY: as above; `out` is the caller's place for the answer.
        unsafe { Self::put(object, out, |cache| cache.can_admit(seq, n)) }
    }

    pub(super) unsafe extern "C" fn seq_new(object: *mut c_void, out: *mut u32) -> i32 {
        // SAFETY: as above; `out` is the caller's place for the answer.
        unsafe { Self::put(object, out, C::seq_new) }
    }

    pub(super) unsafe extern "C" fn seq_clone(
        object: *mut c_void,
        src: u32,
        upto: u32,
        out: *mut u32,
    ) -> i32 {
        // SAFETY: as above; `out` is the caller's place for the answer.
        unsafe { Self::put(object, out, |cache| cache.seq_clone(src, upto)) }
    }

    pub(super) unsafe extern "C" fn seq_remove(object: *mut c_void, seq: u32, from: u32, to: u32) -> i32 {
        // SAFETY: as above.
        status(unsafe { Self::cache(object) }.seq_remove(seq, from, to))
    }

    pub(super) unsafe extern "C" fn seq_release(object: *mut c_void, seq: u32) -> i32 {
        // SAFETY: as above.
        status(unsafe { Self::cache(object) }.seq_release(seq))
    }

    pub(super) unsafe extern "C" fn seq_keep(object: *mut c_void, seq: u32) -> i32 {
        // SAFETY: as above.
        status(unsafe { Self::cache(object) }.seq_keep(seq))
    }

    pub(super) unsafe extern "C" fn seq_shift(
        object: *mut c_void,
        seq: u32,
        from: u32,
        to: u32,
        delta: i32,
    ) -> i32 {
        // SAFETY: as above.
        status(unsafe { Self::cache(object) }.seq_shift(seq, from, to, delta))
    }

    pub(super) unsafe extern "C" fn batch_rewind(object: *mut c_void, seq: u32, new_len: u32) -> i32 {
        // SAFETY: as above.
        status(unsafe { Self::cache(object) }.batch_rewind(seq, new_len))
    }

    pub(super) unsafe extern "C" fn seq_len(object: *mut c_void, seq: u32, out: *mut u32) -> i32 {
        // SAFETY: as above; `out` is the caller's place for the answer.
        unsafe { Self::put(object, out, |cache| cache.seq_len(seq)) }
    }

    pub(super) unsafe extern "C" fn next_pos(object: *mut c_void, seq: u32, out: *mut u32) -> i32 {
        // SAFETY: as above; `out` is the caller's place for the answer.
        unsafe { Self::put(object, out, |cache| cache.next_pos(seq)) }
    }

    pub(super) unsafe extern "C" fn first_pos(object: *mut c_void, seq: u32, out: *mut u32) -> i32 {
        // SAFETY: as above; `out` is the caller's place for the answer.
        unsafe { Self::put(object, out, |cache| cache.first_pos(seq)) }
    }

    pub(super) unsafe extern "C" fn free_rows(object: *mut c_void, out: *mut u32) -> i32 {
        // SAFETY: as above; `out` is the caller's place for the answer.
        unsafe { Self::put(object, out, C::free_rows) }
    }

    pub(super) unsafe extern "C" fn place_cells(
        object: *mut c_void,
        layer: u32,
        positions: *const u32,
        n: u32,
        cells: *mut u32,
        out: *mut CellStep,
    ) -> i32 {
        // SAFETY: as above; both arrays are valid for `n` elements and apart.
        unsafe {
            let positions = core::slice::from_raw_parts(positions, n as usize);
            let cells = core::slice::from_raw_parts_mut(cells, n as usize);
            Self::put(object, out, |cache| cache.place_cells(layer, positions, cells))
        }
    }

    pub(super) unsafe extern "C" fn cell_mask_bytes(
        object: *mut c_void,
        layer: u32,
        out: *mut u8,
        size: usize,
        row_stride: usize,
    ) -> i32 {
        // SAFETY: as above; `out` is valid for `size` bytes.
        let out = unsafe { core::slice::from_raw_parts_mut(out, size) };
        // SAFETY: as above.
        status(unsafe { Self::cache(object) }.cell_mask_bytes(layer, out, row_stride))
    }

    pub(super) unsafe extern "C" fn cell_mask_bits(
        object: *mut c_void,
        layer: u32,
        out: *mut u32,
        words: usize,
        row_words: usize,
    ) -> i32 {
        // SAFETY: as above; `out` is valid for `words` words.
        let out = unsafe { core::slice::from_raw_parts_mut(out, words) };
        // SAFETY: as above.
        status(unsafe { Self::cache(object) }.cell_mask_bits(layer, out, row_words))
    }

    pub(super) unsafe extern "C" fn cell_shifts(
        object: *mut c_void,
        layer: u32,
        out: *mut Shift,
        cap: u32,
        n: *mut u32,
    ) -> i32 {
        // SAFETY: as above; `out` is valid for `cap` elements.
        unsafe { Self::put_list(object, out, cap, n, |cache, out| cache.cell_shifts(layer, out)) }
    }

    pub(super) unsafe extern "C" fn shifts_done(object: *mut c_void) -> i32 {
        // SAFETY: as above.
        status(unsafe { Self::cache(object) }.shifts_done())
    }

    pub(super) unsafe extern "C" fn defrag(
        object: *mut c_void,
        layer: u32,
        out: *mut Move,
        cap: u32,
        n: *mut u32,
    ) -> i32 {
        // SAFETY: as above; `out` is valid for `cap` elements.
        unsafe { Self::put_list(object, out, cap, n, |cache, out| cache.defrag(layer, out)) }
    }

    pub(super) unsafe extern "C" fn place_rows(
        object: *mut c_void,
        layer: u32,
        positions: *const u32,
        n: u32,
        out: *mut Span,
        cap: u32,
        n_spans: *mut u32,
    ) -> i32 {
        // SAFETY: as above; the positions are valid for `n` elements, `out` for `cap`, and they are apart.
        unsafe {
            let positions = core::slice::from_raw_parts(positions, n as usize);
            let call = |cache: &C, out: &mut [Span]| cache.place_rows(layer, positions, out);
            Self::put_list(object, out, cap, n_spans, call)
        }
    }
}
