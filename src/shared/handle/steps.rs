//! The calls of one many-sequence kind, as Rust has them.

use super::CacheRef;
use crate::batch::{CellStep, Move, Shift, Span};
use crate::error::Error;
use crate::event::observe;
use crate::plan::Run;

impl CacheRef<'_> {
    /// As [`crate::CellInner::place_step`].
    ///
    /// # Errors
    /// `InvalidArgument` for zero tokens, `BufferTooSmall` for fewer cells than positions, `WrongKind`, `BadLayer`, `NoStep`,
    /// `BadPosition`, `OutOfCapacity`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.declare_step(&[seq; 2])?;
    /// let mut cells = [0; 2];
    /// let step = cache.place_cells(0, &[0, 1], &mut cells)?;
    /// assert_eq!((cells, step.read_len), ([0, 1], 2));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn place_cells(&self, layer: u32, positions: &[u32], cells: &mut [u32]) -> Result<CellStep, Error> {
        observe(match positions {
            [] => Err(Error::InvalidArgument),
            _ => self.object().place_cells(layer, positions, cells),
        })
    }

    /// As [`crate::CellInner::mask_bytes`].
    ///
    /// # Errors
    /// `WrongKind`, `BadLayer`, `NoStep`, `BufferTooSmall`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.declare_step(&[seq; 2])?;
    /// cache.place_cells(0, &[0, 1], &mut [0; 2])?;
    /// let mut mask = [7; 6];
    /// cache.cell_mask_bytes(0, &mut mask, 3)?;
    /// assert_eq!(mask, [1, 0, 0, 1, 1, 0]);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn cell_mask_bytes(&self, layer: u32, out: &mut [u8], row_stride: usize) -> Result<(), Error> {
        observe(self.object().cell_mask_bytes(layer, out, row_stride))
    }

    /// As [`crate::CellInner::mask_bits`].
    ///
    /// # Errors
    /// `WrongKind`, `BadLayer`, `NoStep`, `BufferTooSmall`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.declare_step(&[seq; 2])?;
    /// cache.place_cells(0, &[0, 1], &mut [0; 2])?;
    /// let mut mask = [7; 2];
    /// cache.cell_mask_bits(0, &mut mask, 1)?;
    /// assert_eq!(mask, [0b01, 0b11]);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn cell_mask_bits(&self, layer: u32, out: &mut [u32], row_words: usize) -> Result<(), Error> {
        observe(self.object().cell_mask_bits(layer, out, row_words))
    }

    /// As [`crate::CellInner::n_shifts`]: how many there are, which is what [`Self::cell_shifts`] wants room for.
    ///
    /// # Errors
    /// `WrongKind`, `BadLayer`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// assert_eq!(cache.n_cell_shifts(0)?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn n_cell_shifts(&self, layer: u32) -> Result<usize, Error> {
        let mut n = 0;
        match self.object().cell_shifts(layer, &mut [], &mut n) {
            Ok(()) | Err(Error::BufferTooSmall) => Ok(n as usize),
            Err(error) => observe(Err(error)),
        }
    }

    /// As [`crate::CellInner::shifts`].
    ///
    /// # Errors
    /// `WrongKind`, `BadLayer`, `BufferTooSmall`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.declare_step(&[seq; 2])?;
    /// cache.place_cells(0, &[4, 5], &mut [0; 2])?;
    /// cache.seq_shift(seq, 4, 6, -4)?;
    /// let mut shifts = [kvcore::Shift::default(); 4];
    /// assert_eq!(cache.cell_shifts(0, &mut shifts)?, 1);
    /// assert_eq!(shifts[0], kvcore::Shift { row: 0, len: 2, delta: -4 });
    /// cache.shifts_done()?;
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn cell_shifts(&self, layer: u32, out: &mut [Shift]) -> Result<usize, Error> {
        let mut n = 0;
        observe(self.object().cell_shifts(layer, out, &mut n))?;
        Ok(n as usize)
    }

    /// As [`crate::CellInner::shifts_done`].
    ///
    /// # Errors
    /// `WrongKind`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// cache.shifts_done()?; // none pending: fine
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn shifts_done(&self) -> Result<(), Error> {
        observe(self.object().shifts_done())
    }

    /// As [`crate::CellInner::defrag`].
    ///
    /// # Errors
    /// `WrongKind`, `BadLayer`, `Unsupported`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::cells_in(&mut words, &config)?;
    /// let mut moves = [kvcore::Move::default(); 4];
    /// assert_eq!(cache.defrag(0, &mut moves)?, 0); // compact
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn defrag(&self, layer: u32, out: &mut [Move]) -> Result<usize, Error> {
        observe(self.object().defrag(layer, out))
    }

    /// As [`crate::RowsInner::place_step`].
    ///
    /// # Errors
    /// `InvalidArgument` for zero tokens, `WrongKind`, `BadLayer`, `NoStep`, `BadPosition`, `BufferTooSmall`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::rows_in(&mut words, &config)?;
    /// let (a, b) = (cache.seq_new()?, cache.seq_new()?);
    /// cache.declare_step(&[a, a, b])?;
    /// let mut spans = [kvcore::Span::default(); 2];
    /// assert_eq!(cache.place_rows(0, &[0, 1, 0], &mut spans)?, 2);
    /// assert_eq!((spans[0].n_tokens, spans[1].n_tokens), (2, 1));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn place_rows(&self, layer: u32, positions: &[u32], out: &mut [Span]) -> Result<usize, Error> {
        let mut n = 0;
        observe(match positions {
            [] => Err(Error::InvalidArgument),
            _ => self.object().place_rows(layer, positions, out, &mut n),
        })?;
        Ok(n as usize)
    }

    /// As [`crate::RowsInner::held`]; at most 3 runs.
    ///
    /// # Errors
    /// `WrongKind` (also from an external cache), `BadLayer`, `BadSequence`, `BufferTooSmall`, `Busy`.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// # use kvcore::{Config, Layer};
    /// # let mut words = [MaybeUninit::uninit(); 256];
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 1, &layers) };
    /// # let cache = kvcore::rows_in(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.declare_step(&[seq; 2])?;
    /// cache.place_rows(0, &[0, 1], &mut [kvcore::Span::default()])?;
    /// let clone = cache.seq_clone(seq, kvcore::UNBOUNDED)?;
    /// let mut runs = [kvcore::Run::default(); 3];
    /// assert_eq!(cache.rows_held(0, clone, &mut runs)?, 1);
    /// assert_eq!((runs[0].start, runs[0].len), (0, 2)); // from the source's rows to the clone's
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn rows_held(&self, layer: u32, seq: u32, out: &mut [Run]) -> Result<usize, Error> {
        let mut n = 0;
        observe(self.object().rows_held(layer, seq, out, &mut n))?;
        Ok(n as usize)
    }
}
