//! The many-sequence calls through the C layer: what is refused before anything is looked at, out-parameters that stay,
//! and calls on an ended cache.
#![cfg(feature = "capi")]

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use kvcore::capi::batch::*;
use kvcore::capi::cache::*;
use kvcore::capi::cells::*;
use kvcore::capi::rows::*;
use kvcore::capi::*;
use kvcore::{CellStep, Config, Layer, Move, RawConfig, Run, Shift, Span};

type Init = unsafe extern "C" fn(*mut c_void, usize, *const RawConfig, *mut *mut kvc_cache_t) -> i32;

/// A cache in words of its own.
struct Made {
    cache: *mut kvc_cache_t,
    /// Where it stands.
    words: Vec<u64>,
}

fn make(init: Init) -> Made {
    let layer = Layer::ring(4);
    let config = Config { max_seqs: 3, max_write: 4, ..Config::new(16, 2, std::slice::from_ref(&layer)) };
    let config = RawConfig::from(&config);
    let mut made = Made { cache: null_mut(), words: vec![0; 256] };
    let (storage, size) = (made.words.as_mut_ptr().cast(), 8 * made.words.len());
    // SAFETY: the words stay as long as the cache.
    assert_eq!(unsafe { init(storage, size, &raw const config, &raw mut made.cache) }, KVC_OK);
    made
}

/// Places for what a call answers, all with marks in them.
struct Out {
    number: u32,
    flag: bool,
    cells: [u32; 4],
    step: CellStep,
    bytes: [u8; 16],
    words: [u32; 4],
    shifts: [Shift; 2],
    moves: [Move; 2],
    spans: [Span; 2],
    runs: [Run; 3],
}

impl Out {
    fn marked() -> Self {
        Self {
            number: 77,
            flag: true,
            cells: [77; 4],
            step: CellStep { mask: 77, ..CellStep::default() },
            bytes: [77; 16],
            words: [77; 4],
            shifts: [Shift { row: 77, len: 0, delta: 0 }; 2],
            moves: [Move { from: 77, to: 0, len: 0 }; 2],
            spans: [Span { seq: 77, ..Span::default() }; 2],
            runs: [Run { start: 77, len: 0, pos: 0 }; 3],
        }
    }

    fn is_marked(&self) -> bool {
        let marked = Self::marked();
        (self.number, self.flag, self.cells, self.step) == (77, true, marked.cells, marked.step)
            && (self.bytes, self.words, self.shifts) == (marked.bytes, marked.words, marked.shifts)
            && (self.moves, self.spans, self.runs) == (marked.moves, marked.spans, marked.runs)
    }
}

/// Every call, with sound arguments.
unsafe fn every_call(cache: *mut kvc_cache_t, out: &mut Out) -> Vec<i32> {
    let (seqs, positions) = ([0_u32], [0_u32]);
    // SAFETY: the places are locals' or the caller's.
    unsafe {
        vec![
            kvc_batch_declare_step(cache, seqs.as_ptr(), 1),
            kvc_batch_can_admit(cache, 0, 1, &raw mut out.flag),
            kvc_batch_seq_new(cache, &raw mut out.number),
            kvc_batch_seq_clone(cache, 0, 0, &raw mut out.number),
            kvc_batch_seq_remove(cache, 0, 0, 1),
            kvc_batch_seq_release(cache, 0),
            kvc_batch_seq_keep(cache, 0),
            kvc_batch_seq_shift(cache, 0, 0, 1, 1),
            kvc_batch_rewind(cache, 0, 0),
            kvc_batch_seq_len(cache, 0, &raw mut out.number),
            kvc_batch_next_pos(cache, 0, &raw mut out.number),
            kvc_batch_first_pos(cache, 0, &raw mut out.number),
            kvc_batch_free_rows(cache, &raw mut out.number),
            kvc_cells_place_step(cache, 0, positions.as_ptr(), 1, out.cells.as_mut_ptr(), &raw mut out.step),
            kvc_cells_mask_bytes(cache, 0, out.bytes.as_mut_ptr(), 16, 16),
            kvc_cells_mask_bits(cache, 0, out.words.as_mut_ptr(), 4, 4),
            kvc_cells_shifts(cache, 0, out.shifts.as_mut_ptr(), 2, &raw mut out.number),
            kvc_cells_shifts_done(cache),
            kvc_cells_defrag(cache, 0, out.moves.as_mut_ptr(), 2, &raw mut out.number),
            kvc_rows_place_step(
                cache,
                0,
                positions.as_ptr(),
                1,
                out.spans.as_mut_ptr(),
                2,
                &raw mut out.number,
            ),
            kvc_rows_held(cache, 0, 0, out.runs.as_mut_ptr(), 3, &raw mut out.number),
        ]
    }
}

fn all_are(answers: &[i32], expected: i32) {
    assert!(answers.iter().all(|answer| *answer == expected), "{expected}: {answers:?}");
}

#[test]
fn a_call_on_no_cache_or_an_ended_one() {
    for init in [kvc_cells_init as Init, kvc_rows_init] {
        let (made, mut out) = (make(init), Out::marked());
        let blank = [0_u64; 64];
        // SAFETY: readable memory; a diagnosis is promised for an ended cache whose memory stays.
        unsafe {
            all_are(&every_call(null_mut(), &mut out), KVC_ERR_INVALID_ARGUMENT);
            all_are(&every_call(made.cache.byte_add(1), &mut out), KVC_ERR_INVALID_ARGUMENT);
            all_are(&every_call(blank.as_ptr().cast_mut().cast(), &mut out), KVC_ERR_CORRUPT);
            assert_eq!(kvc_cache_release(made.cache), KVC_OK);
            all_are(&every_call(made.cache, &mut out), KVC_ERR_STALE);
        }
        assert!(out.is_marked());
    }
}

/// Arguments that nobody accepts, on a cache that could not even answer: it has ended.
#[test]
fn arguments_come_before_everything() {
    let (made, mut out) = (make(kvc_cells_init), Out::marked());
    let cache = made.cache;
    let mut numbers = [0_u32; 8];
    let at = numbers.as_mut_ptr();
    let n = &raw mut out.number;
    // SAFETY: the places are locals'; the memory of the ended cache stays.
    unsafe {
        assert_eq!(kvc_cache_release(cache), KVC_OK);
        let odd = at.byte_add(1);
        let step = &raw mut out.step;
        let cells = out.cells.as_mut_ptr();
        let answers = [
            kvc_batch_declare_step(cache, null(), 1),
            kvc_batch_declare_step(cache, odd, 1),
            kvc_batch_declare_step(cache, at, 0),
            kvc_batch_declare_step(cache, null(), 0),
            kvc_batch_can_admit(cache, 0, 0, &raw mut out.flag),
            kvc_batch_can_admit(cache, 0, 1, null_mut()),
            kvc_batch_seq_new(cache, null_mut()),
            kvc_batch_seq_new(cache, odd),
            kvc_batch_seq_clone(cache, 0, 0, null_mut()),
            kvc_batch_seq_remove(cache, 0, 2, 1),
            kvc_batch_seq_shift(cache, 0, 2, 1, 1),
            kvc_batch_seq_len(cache, 0, null_mut()),
            kvc_batch_next_pos(cache, 0, odd),
            kvc_batch_first_pos(cache, 0, null_mut()),
            kvc_batch_free_rows(cache, null_mut()),
            kvc_cells_place_step(cache, 0, null(), 1, cells, step),
            kvc_cells_place_step(cache, 0, odd, 1, cells, step),
            kvc_cells_place_step(cache, 0, at, 0, cells, step),
            kvc_cells_place_step(cache, 0, at, 1, null_mut(), step),
            kvc_cells_place_step(cache, 0, at, 1, cells, null_mut()),
            kvc_cells_mask_bytes(cache, 0, null_mut(), 16, 16),
            kvc_cells_mask_bytes(cache, 0, out.bytes.as_mut_ptr(), usize::MAX, 16),
            kvc_cells_mask_bits(cache, 0, null_mut(), 4, 4),
            kvc_cells_mask_bits(cache, 0, odd, 4, 4),
            kvc_cells_mask_bits(cache, 0, at, usize::MAX / 4, 4),
            kvc_cells_shifts(cache, 0, null_mut(), 1, n),
            kvc_cells_shifts(cache, 0, out.shifts.as_mut_ptr(), 1, null_mut()),
            kvc_cells_defrag(cache, 0, null_mut(), 1, n),
            kvc_cells_defrag(cache, 0, out.moves.as_mut_ptr(), 1, null_mut()),
            kvc_rows_place_step(cache, 0, null(), 1, out.spans.as_mut_ptr(), 1, n),
            kvc_rows_place_step(cache, 0, at, 0, out.spans.as_mut_ptr(), 1, n),
            kvc_rows_place_step(cache, 0, at, 1, null_mut(), 1, n),
            kvc_rows_place_step(cache, 0, at, 1, out.spans.as_mut_ptr(), 1, null_mut()),
            kvc_rows_held(cache, 0, 0, null_mut(), 1, n),
            kvc_rows_held(cache, 0, 0, out.runs.as_mut_ptr(), 1, null_mut()),
        ];
        all_are(&answers, KVC_ERR_INVALID_ARGUMENT);
        // Arrays of no elements may be NULL, where that makes sense.
        let stale = [
            kvc_cells_shifts(cache, 0, null_mut(), 0, n),
            kvc_cells_defrag(cache, 0, null_mut(), 0, n),
            kvc_rows_place_step(cache, 0, at, 1, null_mut(), 0, n),
            kvc_rows_held(cache, 0, 0, null_mut(), 0, n),
        ];
        all_are(&stale, KVC_ERR_STALE);
        assert_eq!(kvc_cells_size(null(), null_mut()), KVC_ERR_INVALID_ARGUMENT);
        assert_eq!(kvc_rows_size(null(), null_mut()), KVC_ERR_INVALID_ARGUMENT);
        assert_eq!(kvc_cells_register(null_mut()), KVC_ERR_INVALID_ARGUMENT);
        assert_eq!(kvc_rows_register(null_mut()), KVC_ERR_INVALID_ARGUMENT);
    }
    assert!(out.is_marked());
}

/// One array is read while the other is written: they must not share a byte, but may touch.
#[test]
fn arrays_that_overlap_are_refused() {
    let (made, mut step) = (make(kvc_cells_init), CellStep::default());
    let (cache, mut seq, mut numbers) = (made.cache, 7, [0, 1, 7, 7, 7]);
    let at = numbers.as_mut_ptr();
    // SAFETY: the places are locals'.
    unsafe {
        assert_eq!(kvc_batch_seq_new(cache, &raw mut seq), KVC_OK);
        assert_eq!(kvc_batch_declare_step(cache, [seq; 2].as_ptr(), 2), KVC_OK);
        for shift in 0..2 {
            let refused = kvc_cells_place_step(cache, 0, at, 2, at.add(shift), &raw mut step);
            assert_eq!(refused, KVC_ERR_INVALID_ARGUMENT);
            let refused = kvc_cells_place_step(cache, 0, at.add(shift), 2, at, &raw mut step);
            assert_eq!(refused, KVC_ERR_INVALID_ARGUMENT);
        }
        assert_eq!((numbers, step), ([0, 1, 7, 7, 7], CellStep::default()));
        let at = numbers.as_mut_ptr();
        assert_eq!(kvc_cells_place_step(cache, 0, at, 2, at.add(2), &raw mut step), KVC_OK);
        assert_eq!((numbers, step.n_tokens), ([0, 1, 0, 1, 7], 2));
        assert_eq!(kvc_cache_release(cache), KVC_OK);
    }
    let (made, mut spans, mut n) = (make(kvc_rows_init), [Span::default(); 2], 7);
    let (cache, at) = (made.cache, spans.as_mut_ptr());
    // SAFETY: as above.
    unsafe {
        assert_eq!(kvc_batch_seq_new(cache, &raw mut seq), KVC_OK);
        assert_eq!(kvc_batch_declare_step(cache, [seq].as_ptr(), 1), KVC_OK);
        let inside = at.add(1).cast::<u32>();
        let refused = kvc_rows_place_step(cache, 0, inside, 1, at, 2, &raw mut n);
        assert_eq!((refused, n), (KVC_ERR_INVALID_ARGUMENT, 7));
        assert_eq!(kvc_rows_place_step(cache, 0, inside, 1, at, 1, &raw mut n), KVC_OK);
        assert_eq!((n, spans[0].n_tokens, spans[1]), (1, 1, Span::default()));
        assert_eq!(kvc_cache_release(cache), KVC_OK);
    }
}

/// The needed number stands beside `KVC_ERR_BUFFER_TOO_SMALL`.
#[test]
fn a_buffer_that_is_too_small_is_told_how_large() {
    let (made, mut out) = (make(kvc_cells_init), Out::marked());
    let cache = made.cache;
    // SAFETY: the places are locals'.
    unsafe {
        assert_eq!(kvc_batch_seq_new(cache, &raw mut out.number), KVC_OK);
        assert_eq!(kvc_batch_declare_step(cache, [0; 2].as_ptr(), 2), KVC_OK);
        let cells = out.cells.as_mut_ptr();
        assert_eq!(kvc_cells_place_step(cache, 0, [3, 5].as_ptr(), 2, cells, &raw mut out.step), KVC_OK);
        assert_eq!(kvc_batch_seq_shift(cache, 0, 3, 4, -1), KVC_OK);
        assert_eq!(kvc_batch_seq_shift(cache, 0, 5, 6, -2), KVC_OK);
        for cap in 0..2 {
            let short = kvc_cells_shifts(cache, 0, out.shifts.as_mut_ptr(), cap, &raw mut out.number);
            assert_eq!((short, out.number), (KVC_ERR_BUFFER_TOO_SMALL, 2));
            assert_eq!(out.shifts, Out::marked().shifts);
        }
        assert_eq!(kvc_cells_shifts(cache, 0, out.shifts.as_mut_ptr(), 2, &raw mut out.number), KVC_OK);
        let delta = |row, delta| Shift { row, len: 1, delta };
        assert_eq!((out.number, out.shifts), (2, [delta(0, -1), delta(1, -2)]));
        assert_eq!(kvc_cache_release(cache), KVC_OK);
    }
    let (made, mut out) = (make(kvc_rows_init), Out::marked());
    let cache = made.cache;
    // SAFETY: as above.
    unsafe {
        assert_eq!(kvc_batch_seq_new(cache, &raw mut out.number), KVC_OK);
        assert_eq!(kvc_batch_seq_new(cache, &raw mut out.number), KVC_OK);
        assert_eq!(kvc_batch_declare_step(cache, [0, 1].as_ptr(), 2), KVC_OK);
        let zeros = [0; 2];
        let mut place = |cap| {
            let placed = kvc_rows_place_step(
                cache,
                0,
                zeros.as_ptr(),
                2,
                out.spans.as_mut_ptr(),
                cap,
                &raw mut out.number,
            );
            (placed, out.number, out.spans[0].seq)
        };
        assert_eq!(place(1), (KVC_ERR_BUFFER_TOO_SMALL, 2, 77));
        assert_eq!(place(0), (KVC_ERR_BUFFER_TOO_SMALL, 2, 77));
        assert_eq!(place(2), (KVC_OK, 2, 0));
        let short = kvc_rows_held(cache, 0, 1, null_mut(), 0, &raw mut out.number);
        assert_eq!((short, out.number), (KVC_ERR_BUFFER_TOO_SMALL, 1));
        assert_eq!(kvc_rows_held(cache, 0, 1, out.runs.as_mut_ptr(), 3, &raw mut out.number), KVC_OK);
        assert_eq!((out.number, out.runs[0], out.runs[1].start), (1, Run { start: 0, len: 1, pos: 0 }, 77));
        assert_eq!(kvc_cache_release(cache), KVC_OK);
    }
}
