//! Caches that someone else implements: a table of functions and an object behind a header.

mod batch;

use core::ffi::c_void;
use core::ptr::NonNull;

use super::header::{Header, Ops, Tag};
use crate::batch::{CellStep, Move, Shift, Span};
use crate::error::{Error, outcome};
use crate::plan::SeqPlan;

/// Bytes of the storage of an external cache.
pub(crate) const EXTERNAL_BYTES: usize = 256;

/// Families: `KVC_KIND_SEQUENCE` to `KVC_KIND_PAGED`.
const KINDS: core::ops::RangeInclusive<u32> = 1..=4;

/// `kvc_external_t`: the functions of an external cache, each like the call of that name with the object in
/// place of the cache. A null entry answers `KVC_ERR_WRONG_KIND`. They run without any lock, in the thread of
/// the caller, and follow the rules of the calls: a status, and nothing changed on failure. Arguments that every cache
/// refuses (null pointers, no tokens, arrays that overlap) do not reach them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ExternalTable {
    /// `sizeof(kvc_external_t)`; must match exactly.
    pub struct_size: u32,
    /// The family it plays: what `kvc_cache_kind` answers.
    pub kind: u32,
    /// `kvc_capacity`.
    pub capacity: Option<unsafe extern "C" fn(object: *mut c_void, out: *mut u32) -> i32>,
    /// `kvc_clear`.
    pub clear: Option<unsafe extern "C" fn(object: *mut c_void) -> i32>,
    /// `kvc_can_extend`.
    pub can_extend: Option<unsafe extern "C" fn(object: *mut c_void, n: u32, out: *mut bool) -> i32>,
    /// `kvc_length`.
    pub length: Option<unsafe extern "C" fn(object: *mut c_void, out: *mut u32) -> i32>,
    /// `kvc_rewind`.
    pub rewind: Option<unsafe extern "C" fn(object: *mut c_void, new_len: u32) -> i32>,
    /// `kvc_rewind_floor`.
    pub rewind_floor: Option<unsafe extern "C" fn(object: *mut c_void, out: *mut u32) -> i32>,
    /// `kvc_seq_plan`.
    pub seq_plan: Option<
        unsafe extern "C" fn(
            object: *mut c_void,
            layer: u32,
            position: u32,
            n: u32,
            out: *mut SeqPlan,
        ) -> i32,
    >,
    /// `kvc_seq_plan_step`.
    pub seq_plan_step: Option<
        unsafe extern "C" fn(
            object: *mut c_void,
            position: u32,
            n: u32,
            plans: *mut SeqPlan,
            cap: u32,
            n_groups: *mut u32,
        ) -> i32,
    >,
    /// `kvc_seq_commit`.
    pub seq_commit:
        Option<unsafe extern "C" fn(object: *mut c_void, plan: *const SeqPlan, accepted: u32) -> i32>,
    /// `kvc_batch_declare_step`.
    pub batch_declare_step:
        Option<unsafe extern "C" fn(object: *mut c_void, seq_ids: *const u32, n_tokens: u32) -> i32>,
    /// `kvc_batch_can_admit`.
    pub batch_can_admit:
        Option<unsafe extern "C" fn(object: *mut c_void, seq: u32, n: u32, out: *mut bool) -> i32>,
    /// `kvc_batch_seq_new`.
    pub batch_seq_new: Option<unsafe extern "C" fn(object: *mut c_void, out_seq: *mut u32) -> i32>,
    /// `kvc_batch_seq_clone`.
    pub batch_seq_clone:
        Option<unsafe extern "C" fn(object: *mut c_void, src: u32, upto: u32, out_seq: *mut u32) -> i32>,
    /// `kvc_batch_seq_remove`.
    pub batch_seq_remove:
        Option<unsafe extern "C" fn(object: *mut c_void, seq: u32, from: u32, to: u32) -> i32>,
    /// `kvc_batch_seq_release`.
    pub batch_seq_release: Option<unsafe extern "C" fn(object: *mut c_void, seq: u32) -> i32>,
    /// `kvc_batch_seq_keep`.
    pub batch_seq_keep: Option<unsafe extern "C" fn(object: *mut c_void, seq: u32) -> i32>,
    /// `kvc_batch_seq_shift`.
    pub batch_seq_shift:
        Option<unsafe extern "C" fn(object: *mut c_void, seq: u32, from: u32, to: u32, delta: i32) -> i32>,
    /// `kvc_batch_rewind`.
    pub batch_rewind: Option<unsafe extern "C" fn(object: *mut c_void, seq: u32, new_len: u32) -> i32>,
    /// `kvc_batch_seq_len`.
    pub batch_seq_len: Option<unsafe extern "C" fn(object: *mut c_void, seq: u32, out: *mut u32) -> i32>,
    /// `kvc_batch_next_pos`.
    pub batch_next_pos: Option<unsafe extern "C" fn(object: *mut c_void, seq: u32, out: *mut u32) -> i32>,
    /// `kvc_batch_first_pos`.
    pub batch_first_pos: Option<unsafe extern "C" fn(object: *mut c_void, seq: u32, out: *mut u32) -> i32>,
    /// `kvc_batch_free_rows`.
    pub batch_free_rows: Option<unsafe extern "C" fn(object: *mut c_void, out: *mut u32) -> i32>,
    /// `kvc_cells_place_step`.
    pub cells_place_step: Option<
        unsafe extern "C" fn(
            object: *mut c_void,
            layer: u32,
            positions: *const u32,
            n: u32,
            cells: *mut u32,
            out: *mut CellStep,
        ) -> i32,
    >,
    /// `kvc_cells_mask_bytes`.
    pub cells_mask_bytes: Option<
        unsafe extern "C" fn(
            object: *mut c_void,
            layer: u32,
            out: *mut u8,
            size: usize,
            row_stride: usize,
        ) -> i32,
    >,
    /// `kvc_cells_mask_bits`.
    pub cells_mask_bits: Option<
        unsafe extern "C" fn(
            object: *mut c_void,
            layer: u32,
            out: *mut u32,
            words: usize,
            row_words: usize,
        ) -> i32,
    >,
    /// `kvc_cells_shifts`.
    pub cells_shifts: Option<
        unsafe extern "C" fn(object: *mut c_void, layer: u32, out: *mut Shift, cap: u32, n: *mut u32) -> i32,
    >,
    /// `kvc_cells_shifts_done`.
    pub cells_shifts_done: Option<unsafe extern "C" fn(object: *mut c_void) -> i32>,
    /// `kvc_cells_defrag`.
    pub cells_defrag: Option<
        unsafe extern "C" fn(object: *mut c_void, layer: u32, out: *mut Move, cap: u32, n: *mut u32) -> i32,
    >,
    /// `kvc_rows_place_step`.
    pub rows_place_step: Option<
        unsafe extern "C" fn(
            object: *mut c_void,
            layer: u32,
            positions: *const u32,
            n: u32,
            out: *mut Span,
            cap: u32,
            n_spans: *mut u32,
        ) -> i32,
    >,
}

/// What stands behind the header of an external cache.
#[repr(C)]
pub(crate) struct External {
    table: &'static ExternalTable,
    object: NonNull<c_void>,
}

#[repr(C)]
struct SharedExternal {
    header: Header,
    external: External,
}

const _: () = assert!(size_of::<SharedExternal>() <= EXTERNAL_BYTES);

static OPS: Ops = Ops { capacity, clear, batch: None };

/// Builds an external cache in `size` bytes at `at`, in place.
///
/// # Safety
/// `at` is valid for writes of `size` bytes, which nobody else uses until the cache ended; a pointer `table`
/// that is neither null nor misaligned points to a table that outlives the cache and whose functions
/// accept `object`.
pub(crate) unsafe fn init(
    at: NonNull<u8>,
    size: usize,
    table: *const ExternalTable,
    object: NonNull<c_void>,
) -> Result<NonNull<Header>, Error> {
    let header = at.cast::<Header>();
    if !header.is_aligned() || table.is_null() || !table.is_aligned() {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: by contract; a table of another size is not looked at any further.
    if unsafe { (&raw const (*table).struct_size).read() } as usize != size_of::<ExternalTable>() {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: by contract.
    let table = unsafe { &*table };
    if !KINDS.contains(&table.kind) {
        return Err(Error::InvalidArgument);
    }
    if size < EXTERNAL_BYTES {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: there is room, and the cache is only visible to this call.
    unsafe {
        (&raw mut (*header.cast::<SharedExternal>().as_ptr()).external).write(External { table, object });
        Header::write(header, Tag::External, table.kind, &OPS);
    }
    Ok(header)
}

/// The foreign part of an external cache.
///
/// # Safety
/// An external cache stands at `header`, kept alive by the caller during `'c`.
pub(crate) const unsafe fn body<'c>(header: NonNull<Header>) -> &'c External {
    // SAFETY: by contract; nobody writes it after `init`.
    unsafe { &(*header.cast::<SharedExternal>().as_ptr()).external }
}

impl External {
    /// A call that answers one value through its last parameter; zeroed before, so that a function that
    /// forgets to write it answers 0.
    fn value<T: Default>(&self, call: impl FnOnce(*mut c_void, *mut T) -> i32) -> Result<T, Error> {
        let mut out = T::default();
        outcome(call(self.object.as_ptr(), &raw mut out)).map(|()| out)
    }

    pub(crate) fn capacity(&self) -> Result<u32, Error> {
        let call = self.table.capacity.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        self.value(|object, out| unsafe { call(object, out) })
    }

    pub(crate) fn clear(&self) -> Result<(), Error> {
        let call = self.table.clear.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        outcome(unsafe { call(self.object.as_ptr()) })
    }

    pub(crate) fn can_extend(&self, n: u32) -> Result<bool, Error> {
        let call = self.table.can_extend.ok_or(Error::WrongKind)?;
        // A byte, since a foreign function may write what is no `bool`.
        // SAFETY: the table's functions accept its object.
        self.value(|object, out: *mut u8| unsafe { call(object, n, out.cast()) }).map(|byte| byte != 0)
    }

    pub(crate) fn length(&self) -> Result<u32, Error> {
        let call = self.table.length.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        self.value(|object, out| unsafe { call(object, out) })
    }

    pub(crate) fn rewind(&self, length: u32) -> Result<(), Error> {
        let call = self.table.rewind.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        outcome(unsafe { call(self.object.as_ptr(), length) })
    }

    pub(crate) fn rewind_floor(&self) -> Result<u32, Error> {
        let call = self.table.rewind_floor.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        self.value(|object, out| unsafe { call(object, out) })
    }

    /// # Safety
    /// `plan` is valid for writes and aligned.
    pub(crate) unsafe fn plan(
        &self,
        layer: u32,
        position: u32,
        n: u32,
        plan: *mut SeqPlan,
    ) -> Result<(), Error> {
        let call = self.table.seq_plan.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        outcome(unsafe { call(self.object.as_ptr(), layer, position, n, plan) })
    }

    /// Tells the number of groups, on success and beside `BufferTooSmall`.
    ///
    /// # Safety
    /// `plans` is valid for writes of `cap` elements and aligned, or `cap` is 0; `groups` is valid for writes and aligned.
    pub(crate) unsafe fn plan_step(
        &self,
        position: u32,
        n: u32,
        plans: *mut SeqPlan,
        cap: u32,
        groups: *mut u32,
    ) -> Result<(), Error> {
        let call = self.table.seq_plan_step.ok_or(Error::WrongKind)?;
        let mut n_groups = 0;
        // SAFETY: the table's functions accept its object.
        let status = unsafe { call(self.object.as_ptr(), position, n, plans, cap, &raw mut n_groups) };
        let result = outcome(status);
        if matches!(result, Ok(()) | Err(Error::BufferTooSmall)) {
            // SAFETY: by contract.
            unsafe { groups.write(n_groups) };
        }
        result
    }

    pub(crate) fn commit(&self, plan: &SeqPlan, accepted: u32) -> Result<(), Error> {
        let call = self.table.seq_commit.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        outcome(unsafe { call(self.object.as_ptr(), plan, accepted) })
    }
}

unsafe fn capacity(header: NonNull<Header>) -> Result<u32, Error> {
    // SAFETY: in the table of this kind only.
    unsafe { body(header) }.capacity()
}

unsafe fn clear(header: NonNull<Header>) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe { body(header) }.clear()
}
