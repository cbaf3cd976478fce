//! Many-sequence caches whose functions somebody wrote in C: what they get, and how far they are believed.
#![cfg(feature = "capi")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small numbers, or ones that come back as they went

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use kvcore::capi::batch::*;
use kvcore::capi::cache::*;
use kvcore::capi::cells::*;
use kvcore::capi::rows::*;
use kvcore::capi::*;
use kvcore::{CellStep, ExternalTable, Move, Shift, Span};

/// What the object behind the table answers, whatever it is asked, and what it writes before.
struct Object {
    status: i32,
    number: u32,
    asked: Vec<u32>,
}

impl Object {
    unsafe fn asked(object: *mut c_void, what: &[u32]) -> &'static mut Self {
        // SAFETY: every table here is used with such an object, which outlives the test's calls.
        let object = unsafe { &mut *object.cast::<Self>() };
        object.asked = what.to_vec();
        object
    }
}

/// Functions that only write down what they are asked, and those that answer a number beside.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
        $(unsafe extern "C" fn $name(object: *mut c_void, $($argument: $type,)* $(out: *mut $out)?) -> i32 {
            // SAFETY: as `Object::asked`; `out` is a place for the answer.
            unsafe {
                let object = Object::asked(object, &[$($argument as u32),*]);
                $(<*mut $out>::write(out, object.number);)?
                object.status
            }
        })*
    };
}

functions! {
    seq_new() -> u32;
    seq_clone(src: u32, upto: u32) -> u32;
    seq_remove(seq: u32, from: u32, to: u32);
    seq_release(seq: u32);
    seq_keep(seq: u32);
    seq_shift(seq: u32, from: u32, to: u32, delta: i32);
    rewind(seq: u32, new_len: u32);
    seq_len(seq: u32) -> u32;
    next_pos(seq: u32) -> u32;
    first_pos(seq: u32) -> u32;
    free_rows() -> u32;
    shifts_done();
}

/// Writes any byte, a `bool` or not.
unsafe extern "C" fn can_admit(object: *mut c_void, seq: u32, n: u32, out: *mut bool) -> i32 {
    // SAFETY: as above.
    unsafe {
        let object = Object::asked(object, &[seq, n]);
        out.cast::<u8>().write(object.number as u8);
        object.status
    }
}

unsafe extern "C" fn declare(object: *mut c_void, seq_ids: *const u32, n: u32) -> i32 {
    // SAFETY: as `Object::asked`; there are `n` ids.
    unsafe { Object::asked(object, std::slice::from_raw_parts(seq_ids, n as usize)).status }
}

unsafe extern "C" fn place_cells(
    object: *mut c_void,
    layer: u32,
    positions: *const u32,
    n: u32,
    cells: *mut u32,
    out: *mut CellStep,
) -> i32 {
    // SAFETY: as `Object::asked`; both arrays have `n` elements.
    unsafe {
        let object = Object::asked(object, &[layer, *positions, n]);
        if object.status == 0 {
            cells.write(object.number);
        }
        out.write(CellStep { read_len: object.number, ..CellStep::default() });
        object.status
    }
}

unsafe extern "C" fn mask_bytes(
    object: *mut c_void,
    layer: u32,
    _: *mut u8,
    size: usize,
    stride: usize,
) -> i32 {
    // SAFETY: as `Object::asked`.
    unsafe { Object::asked(object, &[layer, size as u32, stride as u32]).status }
}

unsafe extern "C" fn mask_bits(
    object: *mut c_void,
    layer: u32,
    _: *mut u32,
    words: usize,
    stride: usize,
) -> i32 {
    // SAFETY: as `Object::asked`.
    unsafe { Object::asked(object, &[layer, words as u32, stride as u32]).status }
}

unsafe extern "C" fn shifts(object: *mut c_void, layer: u32, _: *mut Shift, cap: u32, n: *mut u32) -> i32 {
    // SAFETY: as `Object::asked`; `n` is a place for the answer.
    unsafe {
        let object = Object::asked(object, &[layer, cap]);
        n.write(object.number);
        object.status
    }
}

unsafe extern "C" fn defrag(object: *mut c_void, layer: u32, _: *mut Move, cap: u32, n: *mut u32) -> i32 {
    // SAFETY: as above.
    unsafe { shifts(object, layer, null_mut(), cap, n) }
}

unsafe extern "C" fn place_rows(
    object: *mut c_void,
    layer: u32,
    positions: *const u32,
    n: u32,
    _: *mut Span,
    cap: u32,
    n_spans: *mut u32,
) -> i32 {
    // SAFETY: as `Object::asked`; there are `n` positions.
    unsafe {
        let object = Object::asked(object, &[layer, *positions, n, cap]);
        n_spans.write(object.number);
        object.status
    }
}

fn table() -> ExternalTable {
    // SAFETY: a table of null functions is a table.
    let empty = unsafe { MaybeUninit::<ExternalTable>::zeroed().assume_init() };
    ExternalTable {
        struct_size: size_of::<ExternalTable>() as u32,
        kind: KVC_KIND_CELLS,
        batch_declare_step: Some(declare),
        batch_can_admit: Some(can_admit),
        batch_seq_new: Some(seq_new),
        batch_seq_clone: Some(seq_clone),
        batch_seq_remove: Some(seq_remove),
        batch_seq_release: Some(seq_release),
        batch_seq_keep: Some(seq_keep),
        batch_seq_shift: Some(seq_shift),
        batch_rewind: Some(rewind),
        batch_seq_len: Some(seq_len),
        batch_next_pos: Some(next_pos),
        batch_first_pos: Some(first_pos),
        batch_free_rows: Some(free_rows),
        cells_place_step: Some(place_cells),
        cells_mask_bytes: Some(mask_bytes),
        cells_mask_bits: Some(mask_bits),
        cells_shifts: Some(shifts),
        cells_shifts_done: Some(shifts_done),
        cells_defrag: Some(defrag),
        rows_place_step: Some(place_rows),
        ..empty
    }
}

/// Runs `test` with a cache over the table, and the object to look at between calls.
fn with_cache(test: impl FnOnce(*mut kvc_cache_t, *mut Object)) {
    let (table, mut storage) = (table(), [0_u64; 32]);
    let object = Box::into_raw(Box::new(Object { status: 0, number: 5, asked: Vec::new() }));
    let mut cache = null_mut();
    // SAFETY: table, storage and object stay until the cache ended.
    unsafe {
        let built = kvc_external_init(
            storage.as_mut_ptr().cast(),
            256,
            &raw const table,
            object.cast(),
            &raw mut cache,
        );
        assert_eq!(built, KVC_OK);
        test(cache, object);
        assert_eq!(kvc_cache_release(cache), KVC_OK);
        drop(Box::from_raw(object));
    }
}

/// One call of each, by number; answers its status, and what stands in its out-parameters.
unsafe fn call(cache: *mut kvc_cache_t, index: usize) -> (i32, u32) {
    let mut number = 77;
    let (mut flag, mut cells, mut step) = (false, [77; 2], CellStep { read_len: 77, ..CellStep::default() });
    let out = &raw mut number;
    let (numbers, mut bytes, mut words) = ([31, 32], [77_u8; 8], [77_u32; 8]);
    let (mut shifts, mut moves, mut spans) =
        ([Shift::default(); 5], [Move::default(); 5], [Span::default(); 5]);
    // SAFETY: the places are locals'.
    let status = unsafe {
        match index {
            0 => kvc_batch_declare_step(cache, numbers.as_ptr(), 2),
            1 => kvc_batch_can_admit(cache, 1, 2, &raw mut flag),
            2 => kvc_batch_seq_new(cache, out),
            3 => kvc_batch_seq_clone(cache, 1, 2, out),
            4 => kvc_batch_seq_remove(cache, 1, 2, 3),
            5 => kvc_batch_seq_release(cache, 1),
            6 => kvc_batch_seq_keep(cache, 1),
            7 => kvc_batch_seq_shift(cache, 1, 2, 3, -1),
            8 => kvc_batch_rewind(cache, 1, 2),
            9 => kvc_batch_seq_len(cache, 1, out),
            10 => kvc_batch_next_pos(cache, 1, out),
            11 => kvc_batch_first_pos(cache, 1, out),
            12 => kvc_batch_free_rows(cache, out),
            13 => kvc_cells_place_step(cache, 1, numbers.as_ptr(), 2, cells.as_mut_ptr(), &raw mut step),
            14 => kvc_cells_mask_bytes(cache, 1, bytes.as_mut_ptr(), 8, 4),
            15 => kvc_cells_mask_bits(cache, 1, words.as_mut_ptr(), 8, 4),
            16 => kvc_cells_shifts(cache, 1, shifts.as_mut_ptr(), 5, out),
            17 => kvc_cells_shifts_done(cache),
            18 => kvc_cells_defrag(cache, 1, moves.as_mut_ptr(), 5, out),
            _ => kvc_rows_place_step(cache, 1, numbers.as_ptr(), 2, spans.as_mut_ptr(), 5, out),
        }
    };
    let answer = match index {
        1 => u32::from(flag),
        13 => {
            assert_eq!(cells, if status == 0 { [step.read_len, 77] } else { [77; 2] });
            step.read_len
        }
        _ => number,
    };
    (status, answer)
}

/// The arguments as the function gets them; whether it answers a number.
const CALLS: [(&[u32], bool); 20] = [
    (&[31, 32], false),
    (&[1, 2], true),
    (&[], true),
    (&[1, 2], true),
    (&[1, 2, 3], false),
    (&[1], false),
    (&[1], false),
    (&[1, 2, 3, u32::MAX], false),
    (&[1, 2], false),
    (&[1], true),
    (&[1], true),
    (&[1], true),
    (&[], true),
    (&[1, 31, 2], true),
    (&[1, 8, 4], false),
    (&[1, 8, 4], false),
    (&[1, 5], true),
    (&[], false),
    (&[1, 5], true),
    (&[1, 31, 2, 5], true),
];

#[test]
fn each_call_reaches_its_function() {
    with_cache(|cache, object| {
        for (index, (arguments, answers)) in CALLS.into_iter().enumerate() {
            // SAFETY: the cache and the object are there.
            unsafe {
                (*object).asked = vec![1000];
                let expected = match (index, answers) {
                    (1, _) => 1,
                    (_, true) => 5,
                    (_, false) => 77,
                };
                assert_eq!(call(cache, index), (KVC_OK, expected), "call {index}");
                assert_eq!((*object).asked, arguments, "call {index}");
            }
        }
    });
}

#[test]
fn a_status_passes_through_and_out_parameters_stay() {
    with_cache(|cache, object| {
        for (status, expected) in (1..=23).map(|status| (status, status)).chain([
            (24, KVC_ERR_CORRUPT),
            (-1, KVC_ERR_CORRUPT),
            (i32::MAX, KVC_ERR_CORRUPT),
        ]) {
            for index in 0..CALLS.len() {
                // SAFETY: the cache and the object are there.
                unsafe {
                    (*object).status = status;
                    // The needed number, of the calls that have one.
                    let needed = status == KVC_ERR_BUFFER_TOO_SMALL && (index == 16 || index == 19);
                    let unwritten = if index == 1 { 0 } else { 77 };
                    let answer = if needed { 5 } else { unwritten };
                    assert_eq!(call(cache, index), (expected, answer), "call {index}, status {status}");
                }
            }
        }
    });
}

#[test]
fn what_cannot_be_is_not_believed() {
    with_cache(|cache, object| {
        // SAFETY: the cache and the object are there.
        unsafe {
            // A byte that is no bool.
            for (byte, expected) in [(0, 0), (1, 1), (2, 1), (255, 1)] {
                (*object).number = byte;
                assert_eq!(call(cache, 1), (KVC_OK, expected));
            }
            // More elements than there was room for.
            (*object).number = 6;
            for index in [16, 18, 19] {
                let (status, n) = call(cache, index);
                assert_eq!((status, n), (KVC_ERR_CORRUPT, 77), "call {index}");
            }
            let mut n = 7;
            assert_eq!(kvc_rows_held(cache, 0, 0, null_mut(), 0, &raw mut n), KVC_ERR_WRONG_KIND);
            assert_eq!(n, 7);
        }
    });
}
