//! The function table of a Rust type: the calls of every kind, and the one-sequence face.

use core::ffi::c_void;

use super::{Error, ExternalCache, SeqPlan};
use crate::error::status;
use crate::shared::external::ExternalTable;

/// The function table of a Rust type.
pub(super) struct Table<C>(core::marker::PhantomData<C>);

impl<C: ExternalCache> Table<C> {
    pub(super) const TABLE: &'static ExternalTable = &ExternalTable {
        struct_size: size_of::<ExternalTable>() as u32,
        kind: C::KIND,
        capacity: Some(Self::capacity),
        clear: Some(Self::clear),
        can_extend: Some(Self::can_extend),
        length: Some(Self::length),
        rewind: Some(Self::rewind),
        rewind_floor: Some(Self::rewind_floor),
        seq_plan: Some(Self::plan),
        seq_plan_step: Some(Self::plan_step),
        seq_commit: Some(Self::commit),
        batch_declare_step: Some(Self::declare_step),
        batch_can_admit: Some(Self::can_admit),
        batch_seq_new: Some(Self::seq_new),
        batch_seq_clone: Some(Self::seq_clone),
        batch_seq_remove: Some(Self::seq_remove),
        batch_seq_release: Some(Self::seq_release),
        batch_seq_keep: Some(Self::seq_keep),
        batch_seq_shift: Some(Self::seq_shift),
        batch_rewind: Some(Self::batch_rewind),
        batch_seq_len: Some(Self::seq_len),
        batch_next_pos: Some(Self::next_pos),
        batch_first_pos: Some(Self::first_pos),
        batch_free_rows: Some(Self::free_rows),
        cells_place_step: Some(Self::place_cells),
        cells_mask_bytes: Some(Self::cell_mask_bytes),
        cells_mask_bits: Some(Self::cell_mask_bits),
        cells_shifts: Some(Self::cell_shifts),
        cells_shifts_done: Some(Self::shifts_done),
        cells_defrag: Some(Self::defrag),
        rows_place_step: Some(Self::place_rows),
    };

    /// Calls the object and writes what it answers.
    ///
    /// # Safety
    /// `object` is the `&C` of `ExternalStorage::init`, `out` is valid for writes.
    pub(super) unsafe fn put<T>(
        object: *mut c_void,
        out: *mut T,
        call: impl FnOnce(&C) -> Result<T, Error>,
    ) -> i32 {
        // SAFETY: by contract.
        status(unsafe { call(&*object.cast::<C>()).map(|value| out.write(value)) })
    }

    /// Calls the object for a list and writes how many elements it has; fewer than `cap` were not written.
    ///
    /// # Safety
    /// As [`Self::put`]; `out` is valid for `cap` plain numbers, or `cap` is 0.
    pub(super) unsafe fn put_list<T>(
        object: *mut c_void,
        out: *mut T,
        cap: u32,
        n: *mut u32,
        call: impl FnOnce(&C, &mut [T]) -> Result<usize, Error>,
    ) -> i32 {
        // SAFETY: by contract.
        let count = unsafe {
            let out: &mut [T] = match cap {
                0 => &mut [],
                _ => core::slice::from_raw_parts_mut(out, cap as usize),
            };
            call(&*object.cast::<C>(), out)
        };
        let count = match count {
            Ok(count) => u32::try_from(count).unwrap_or(u32::MAX),
            Err(error) => return error.code(),
        };
        // SAFETY: the caller's place for the number.
        unsafe { n.write(count) };
        if count > cap { Error::BufferTooSmall.code() } else { 0 }
    }

    unsafe extern "C" fn capacity(object: *mut c_void, out: *mut u32) -> i32 {
        // SAFETY: the table is only used with its object.
        unsafe { Self::put(object, out, C::capacity) }
    }

    unsafe extern "C" fn clear(object: *mut c_void) -> i32 {
        // SAFETY: as above.
        status(unsafe { &*object.cast::<C>() }.clear())
    }

    unsafe extern "C" fn can_extend(object: *mut c_void, n: u32, out: *mut bool) -> i32 {
        // SAFETY: as above.
        unsafe { Self::put(object, out, |cache| cache.can_extend(n)) }
    }

    unsafe extern "C" fn length(object: *mut c_void, out: *mut u32) -> i32 {
        // SAFETY: as above.
        unsafe { Self::put(object, out, C::length) }
    }

    unsafe extern "C" fn rewind(object: *mut c_void, length: u32) -> i32 {
        // SAFETY: as above.
        status(unsafe { &*object.cast::<C>() }.rewind(length))
    }

    unsafe extern "C" fn rewind_floor(object: *mut c_void, out: *mut u32) -> i32 {
        // SAFETY: as above.
        unsafe { Self::put(object, out, C::rewind_floor) }
    }

    unsafe extern "C" fn plan(
        object: *mut c_void,
        layer: u32,
        position: u32,
        n: u32,
        out: *mut SeqPlan,
    ) -> i32 {
        // SAFETY: as above.
        unsafe { Self::put(object, out, |cache| cache.plan(layer, position, n)) }
    }

    unsafe extern "C" fn plan_step(
        object: *mut c_void,
        position: u32,
        n: u32,
        plans: *mut SeqPlan,
        cap: u32,
        n_groups: *mut u32,
    ) -> i32 {
        // SAFETY: as above; the plans are valid for `cap` elements, which are plain numbers.
        unsafe {
            Self::put_list(object, plans, cap, n_groups, |cache, plans| cache.plan_step(position, n, plans))
        }
    }

    unsafe extern "C" fn commit(object: *mut c_void, plan: *const SeqPlan, accepted: u32) -> i32 {
        // SAFETY: as above; the plan is valid for reads.
        status(unsafe { (*object.cast::<C>()).commit(&*plan, accepted) })
    }
}
