//! The calls of one many-sequence kind: they go by the private tag, directly.

use super::{Object, Tag, tell_evicted};
use crate::batch::{CellStep, Move, Shift, Span};
use crate::error::Error;
use crate::plan::Run;
use crate::shared::cells::CellView;
use crate::shared::rows::RowsView;
use crate::shared::words::with;

impl Object {
    /// A call on our own cells, behind the lock.
    fn cells<R>(self, call: impl FnOnce(&mut CellView) -> Result<R, Error>) -> Result<R, Error> {
        if !self.header().is(Tag::Cells) {
            return Err(Error::WrongKind);
        }
        // SAFETY: the tag says what stands behind the header.
        unsafe { with(self.0, call) }?
    }

    /// A call on our own private rows, behind the lock.
    fn rows<R>(self, call: impl FnOnce(&mut RowsView) -> Result<R, Error>) -> Result<R, Error> {
        if !self.header().is(Tag::Rows) {
            return Err(Error::WrongKind);
        }
        // SAFETY: the tag says what stands behind the header.
        unsafe { with(self.0, call) }?
    }

    /// For one token or more.
    pub(crate) fn place_cells(
        self,
        layer: u32,
        positions: &[u32],
        cells: &mut [u32],
    ) -> Result<CellStep, Error> {
        match self.foreign() {
            Some(cache) => cache.place_cells(layer, positions, cells),
            None => self.cells(|cache| cache.place_step(layer, positions, cells)),
        }
    }

    pub(crate) fn cell_mask_bytes(self, layer: u32, out: &mut [u8], row_stride: usize) -> Result<(), Error> {
        match self.foreign() {
            Some(cache) => cache.cell_mask_bytes(layer, out, row_stride),
            None => self.cells(|cache| cache.mask_bytes(layer, out, row_stride)),
        }
    }

    pub(crate) fn cell_mask_bits(self, layer: u32, out: &mut [u32], row_words: usize) -> Result<(), Error> {
        match self.foreign() {
            Some(cache) => cache.cell_mask_bits(layer, out, row_words),
            None => self.cells(|cache| cache.mask_bits(layer, out, row_words)),
        }
    }

    /// `n`: how many there are, on success and beside `BufferTooSmall`.
    pub(crate) fn cell_shifts(self, layer: u32, out: &mut [Shift], n: &mut u32) -> Result<(), Error> {
        if let Some(cache) = self.foreign() {
            return cache.cell_shifts(layer, out, n);
        }
        self.cells(|cache| {
            let mut count = 0;
            let result = cache.list_shifts(layer, out, &mut count);
            *n = count as u32;
            result
        })
    }

    pub(crate) fn shifts_done(self) -> Result<(), Error> {
        match self.foreign() {
            Some(cache) => cache.shifts_done(),
            None => self.cells(|cache| {
                cache.shifts_done();
                Ok(())
            }),
        }
    }

    pub(crate) fn defrag(self, layer: u32, out: &mut [Move]) -> Result<usize, Error> {
        match self.foreign() {
            Some(cache) => cache.defrag(layer, out),
            None => self.cells(|cache| cache.defrag(layer, out)),
        }
    }

    /// For one token or more. `n`: how many spans there are, on success and beside `BufferTooSmall`.
    pub(crate) fn place_rows(
        self,
        layer: u32,
        positions: &[u32],
        out: &mut [Span],
        n: &mut u32,
    ) -> Result<(), Error> {
        if let Some(cache) = self.foreign() {
            return cache.place_rows(layer, positions, out, n);
        }
        let evicted = self.rows(|cache| {
            let placed = cache.place(layer, positions, out);
            if matches!(placed, Ok(_) | Err(Error::BufferTooSmall)) {
                *n = cache.n_spans()? as u32;
            }
            placed.map(|(_, evicted)| evicted)
        })?;
        tell_evicted(evicted);
        Ok(())
    }

    /// `n`: how many runs there are, on success and beside `BufferTooSmall`.
    pub(crate) fn rows_held(self, layer: u32, seq: u32, out: &mut [Run], n: &mut u32) -> Result<(), Error> {
        self.rows(|cache| {
            let mut count = 0;
            let result = cache.list_held(layer, seq, out, &mut count);
            *n = count as u32;
            result
        })
    }
}
