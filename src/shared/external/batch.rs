//! The many-sequence faces of an external cache.

use super::External;
use crate::batch::{CellStep, Move, Shift, Span};
use crate::error::{Error, outcome};
use crate::shared::batch::Call;

impl External {
    pub(crate) fn declare_step(&self, seq_ids: &[u32]) -> Result<(), Error> {
        let call = self.table.batch_declare_step.ok_or(Error::WrongKind)?;
        let n_tokens = count(seq_ids)?;
        // SAFETY: the table's functions accept its object.
        outcome(unsafe { call(self.object.as_ptr(), seq_ids.as_ptr(), n_tokens) })
    }

    /// A call that was checked. Apart, so that a call on a cache of ours does not take its room on the stack.
    #[inline(never)]
    pub(crate) fn answer(&self, call: Call) -> Result<u32, Error> {
        let (table, object) = (self.table, self.object.as_ptr());
        let absent = Error::WrongKind;
        // SAFETY: the table's functions accept its object, and write one value of their type to the place they get.
        unsafe {
            match call {
                Call::CanAdmit { seq, n } => {
                    let call = table.batch_can_admit.ok_or(absent)?;
                    // A byte, since a foreign function may write what is no `bool`.
                    self.value(|object, out: *mut u8| call(object, seq, n, out.cast()))
                        .map(|byte| u32::from(byte != 0))
                }
                Call::SeqNew => {
                    let call = table.batch_seq_new.ok_or(absent)?;
                    self.value(|object, out| call(object, out))
                }
                Call::SeqClone { src, upto } => {
                    let call = table.batch_seq_clone.ok_or(absent)?;
                    self.value(|object, out| call(object, src, upto, out))
                }
                Call::SeqRemove { seq, from, to } => {
                    done(table.batch_seq_remove.ok_or(absent)?(object, seq, from, to))
                }
                Call::SeqRelease { seq } => done(table.batch_seq_release.ok_or(absent)?(object, seq)),
                Call::SeqKeep { seq } => done(table.batch_seq_keep.ok_or(absent)?(object, seq)),
                Call::SeqShift { seq, from, to, delta } => {
                    done(table.batch_seq_shift.ok_or(absent)?(object, seq, from, to, delta))
                }
                Call::Rewind { seq, new_len } => {
                    done(table.batch_rewind.ok_or(absent)?(object, seq, new_len))
                }
                Call::SeqLen { seq } => self.number_of(table.batch_seq_len, seq),
                Call::NextPos { seq } => self.number_of(table.batch_next_pos, seq),
                Call::FirstPos { seq } => self.number_of(table.batch_first_pos, seq),
                Call::FreeRows => {
                    let call = table.batch_free_rows.ok_or(absent)?;
                    self.value(|object, out| call(object, out))
                }
            }
        }
    }

    /// A number of a sequence.
    unsafe fn number_of(&self, call: Option<NumberOf>, seq: u32) -> Result<u32, Error> {
        let call = call.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        self.value(|object, out| unsafe { call(object, seq, out) })
    }

    pub(crate) fn place_cells(
        &self,
        layer: u32,
        positions: &[u32],
        cells: &mut [u32],
    ) -> Result<CellStep, Error> {
        let call = self.table.cells_place_step.ok_or(Error::WrongKind)?;
        let n = count(positions)?;
        let cells = cells.get_mut(..positions.len()).ok_or(Error::BufferTooSmall)?;
        // SAFETY: the table's functions accept its object; both arrays have `n` elements.
        self.value(|object, out| unsafe {
            call(object, layer, positions.as_ptr(), n, cells.as_mut_ptr(), out)
        })
    }

    pub(crate) fn cell_mask_bytes(&self, layer: u32, out: &mut [u8], row_stride: usize) -> Result<(), Error> {
        let call = self.table.cells_mask_bytes.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        outcome(unsafe { call(self.object.as_ptr(), layer, out.as_mut_ptr(), out.len(), row_stride) })
    }

    pub(crate) fn cell_mask_bits(&self, layer: u32, out: &mut [u32], row_words: usize) -> Result<(), Error> {
        let call = self.table.cells_mask_bits.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        outcome(unsafe { call(self.object.as_ptr(), layer, out.as_mut_ptr(), out.len(), row_words) })
    }

    pub(crate) fn cell_shifts(&self, layer: u32, out: &mut [Shift], n: &mut u32) -> Result<(), Error> {
        let call = self.table.cells_shifts.ok_or(Error::WrongKind)?;
        let cap = room(out);
        // SAFETY: the table's functions accept its object; there is room for `cap` elements.
        let status = unsafe { call(self.object.as_ptr(), layer, out.as_mut_ptr(), cap, n) };
        counted(status, *n, cap)
    }

    pub(crate) fn shifts_done(&self) -> Result<(), Error> {
        let call = self.table.cells_shifts_done.ok_or(Error::WrongKind)?;
        // SAFETY: the table's functions accept its object.
        outcome(unsafe { call(self.object.as_ptr()) })
    }

    pub(crate) fn defrag(&self, layer: u32, out: &mut [Move]) -> Result<usize, Error> {
        let call = self.table.cells_defrag.ok_or(Error::WrongKind)?;
        let (cap, mut n) = (room(out), 0);
        // SAFETY: the table's functions accept its object; there is room for `cap` elements.
        let status = unsafe { call(self.object.as_ptr(), layer, out.as_mut_ptr(), cap, &raw mut n) };
        counted(status, n, cap).map(|()| n as usize)
    }

    pub(crate) fn place_rows(
        &self,
        layer: u32,
        positions: &[u32],
        out: &mut [Span],
        n: &mut u32,
    ) -> Result<(), Error> {
        let call = self.table.rows_place_step.ok_or(Error::WrongKind)?;
        let (n_tokens, cap) = (count(positions)?, room(out));
        // SAFETY: the table's functions accept its object; there is room for `cap` elements.
        let status = unsafe {
            call(self.object.as_ptr(), layer, positions.as_ptr(), n_tokens, out.as_mut_ptr(), cap, n)
        };
        counted(status, *n, cap)
    }
}

type NumberOf = unsafe extern "C" fn(object: *mut core::ffi::c_void, seq: u32, out: *mut u32) -> i32;

/// A call that answers nothing but its status.
fn done(status: i32) -> Result<u32, Error> {
    outcome(status).map(|()| 0)
}

/// Elements of an argument.
fn count<T>(argument: &[T]) -> Result<u32, Error> {
    u32::try_from(argument.len()).map_err(|_| Error::InvalidArgument)
}

/// Elements of a buffer, as far as C can count them.
fn room<T>(buffer: &[T]) -> u32 {
    u32::try_from(buffer.len()).unwrap_or(u32::MAX)
}

/// Nobody believes that more was written than there was room for.
fn counted(status: i32, n: u32, cap: u32) -> Result<(), Error> {
    outcome(status)?;
    if n > cap { Err(Error::Corrupt) } else { Ok(()) }
}
