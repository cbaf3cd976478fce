//! The end of a cache, through the C layer: what runs, in which order, and what a call on an ended cache or a
//! registry that is gone answers.
#![cfg(feature = "capi")]

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::null_mut;

use kvcore::capi::cache::*;
use kvcore::capi::registry::*;
use kvcore::capi::sequence::*;
use kvcore::capi::{self, KVC_OK, kvc_cache_t, kvc_registry_t};
use kvcore::{Config, Layer, RawConfig, SeqPlan};

thread_local! {
    /// What happened, in order, with what a call on the cache answered meanwhile.
    static HAPPENED: RefCell<Vec<(String, i32)>> = const { RefCell::new(Vec::new()) };
    static CACHE: RefCell<*mut kvc_cache_t> = const { RefCell::new(null_mut()) };
}

fn happened(what: String) {
    let cache = CACHE.with_borrow(|cache| *cache);
    // SAFETY: the storage stays until after the test's last look.
    let answer = unsafe { kvc_cache_retain(cache) };
    HAPPENED.with_borrow_mut(|happened| happened.push((what, answer)));
}

unsafe extern "C" fn drop_face(face: *mut c_void) {
    // SAFETY: every face here is a number.
    happened(format!("face {}", unsafe { face.cast::<u32>().read() }));
}

unsafe extern "C" fn release(context: *mut c_void, storage: *mut c_void) {
    let cache = CACHE.with_borrow(|cache| cache.cast());
    // SAFETY: the context is a number.
    happened(format!("release {} {}", unsafe { context.cast::<u32>().read() }, storage == cache));
}

/// A cache in words of its own.
struct Made {
    words: Vec<u64>,
    cache: *mut kvc_cache_t,
}

fn make() -> Made {
    let layer = Layer::flat();
    let config = RawConfig::from(&Config::new(16, 1, std::slice::from_ref(&layer)));
    let mut made = Made { words: vec![0; 64], cache: null_mut() };
    let storage = made.words.as_mut_ptr().cast();
    // SAFETY: the words stay as long as the cache.
    let status = unsafe { kvc_sequence_init(storage, 512, &raw const config, &raw mut made.cache) };
    assert_eq!(status, KVC_OK);
    made
}

#[test]
fn faces_go_newest_first_and_then_the_storage() {
    let made = make();
    let (cache, mut numbers) = (made.cache, [1_u32, 2, 3, 77]);
    CACHE.set(cache);
    let [one, two, three, context] =
        numbers.each_mut().map(|number| std::ptr::from_mut(number).cast::<c_void>());
    // SAFETY: the cache has a reference until it is given up, and its memory stays.
    unsafe {
        for (name, face) in [(c"one", one), (c"two", two), (c"three", three)] {
            assert_eq!(kvc_cache_set_face(cache, name.as_ptr(), face, Some(drop_face)), KVC_OK);
        }
        let taken = kvc_cache_set_face(cache, c"two".as_ptr(), one, Some(drop_face));
        assert_eq!(taken, capi::KVC_ERR_ALREADY_EXISTS);
        assert_eq!(
            kvc_cache_set_face(cache, c"none".as_ptr(), null_mut(), None),
            capi::KVC_ERR_INVALID_ARGUMENT
        );
        assert_eq!(kvc_cache_on_release(cache, None, null_mut()), capi::KVC_ERR_INVALID_ARGUMENT);
        assert_eq!(kvc_cache_on_release(cache, Some(release), context), KVC_OK);
        assert_eq!(kvc_cache_on_release(cache, Some(release), null_mut()), capi::KVC_ERR_ALREADY_EXISTS);
        assert_eq!(HAPPENED.take(), [], "a face that was refused is the caller's");
        // Removed by name, alive otherwise.
        assert_eq!(kvc_cache_drop_face(cache, c"two".as_ptr()), KVC_OK);
        assert_eq!(HAPPENED.take(), [("face 2".to_owned(), KVC_OK)]);
        assert_eq!(kvc_cache_release(cache), KVC_OK, "the reference of the look");
        assert_eq!(kvc_cache_set_face(cache, c"two".as_ptr(), two, None), KVC_OK);
        assert_eq!(kvc_cache_retain(cache), KVC_OK);
        assert_eq!(kvc_cache_release(cache), KVC_OK);
        assert_eq!(HAPPENED.take(), [], "not the last one");
        assert_eq!(kvc_cache_release(cache), KVC_OK);
    }
    let stale = capi::KVC_ERR_STALE;
    let expected = [("face 3", stale), ("face 1", stale), ("release 77 true", stale)];
    assert_eq!(HAPPENED.take(), expected.map(|(what, answer)| (what.to_owned(), answer)));
    assert!(made.words.iter().any(|word| *word != 0), "the memory is as the cache left it");
}

#[test]
fn every_call_on_an_ended_cache_is_stale() {
    let made = make();
    let cache = made.cache;
    let plan = SeqPlan { n_tokens: 1, ..SeqPlan::EMPTY };
    let (mut number, mut flag, mut plans, mut pointer) = (7, false, [SeqPlan::EMPTY; 8], null_mut());
    // SAFETY: the memory stays, unwritten: a diagnosis is promised.
    let answers = unsafe {
        assert_eq!(kvc_cache_release(cache), KVC_OK);
        [
            kvc_cache_retain(cache),
            kvc_cache_release(cache),
            kvc_cache_kind(cache, &raw mut number),
            kvc_capacity(cache, &raw mut number),
            kvc_clear(cache),
            kvc_can_extend(cache, 1, &raw mut flag),
            kvc_length(cache, &raw mut number),
            kvc_rewind(cache, 0),
            kvc_rewind_floor(cache, &raw mut number),
            kvc_seq_plan(cache, 0, 0, 1, plans.as_mut_ptr()),
            kvc_seq_plan_step(cache, 0, 1, plans.as_mut_ptr(), 8, &raw mut number),
            kvc_seq_commit(cache, &raw const plan, 1),
            kvc_cache_face(cache, c"one".as_ptr(), &raw mut pointer),
            kvc_cache_drop_face(cache, c"one".as_ptr()),
            kvc_cache_on_release(cache, Some(release), null_mut()),
            kvc_registry_install(kvc_registry_global(), c"ended".as_ptr(), cache),
        ]
    };
    assert!(answers.iter().all(|answer| *answer == capi::KVC_ERR_STALE), "{answers:?}");
    assert_eq!((number, flag, pointer.is_null(), plans), (7, false, true, [SeqPlan::EMPTY; 8]));
    // Memory that is no cache, and none at all.
    let words = [0_u64; 64];
    // SAFETY: readable memory of a header's size.
    unsafe {
        let no_cache = words.as_ptr().cast::<kvc_cache_t>();
        assert_eq!(kvc_length(no_cache, &raw mut number), capi::KVC_ERR_CORRUPT);
        assert_eq!(kvc_length(null_mut(), &raw mut number), capi::KVC_ERR_INVALID_ARGUMENT);
        assert_eq!(kvc_length(no_cache.byte_add(1), &raw mut number), capi::KVC_ERR_INVALID_ARGUMENT);
    }
}

#[test]
fn a_registry_that_was_closed_has_let_go_of_all() {
    let (first, second) = (make(), make());
    let mut words = vec![0_u64; kvc_registry_size().div_ceil(8)];
    let mut registry: *mut kvc_registry_t = null_mut();
    let (mut found, mut count) = (null_mut(), 9);
    // SAFETY: registry and caches live in memory that stays.
    unsafe {
        let storage = words.as_mut_ptr().cast();
        assert_eq!(kvc_registry_init(storage, words.len() * 8, &raw mut registry), KVC_OK);
        let mut session = std::mem::zeroed::<RawSession>();
        assert_eq!(kvc_session_open(&raw mut session, registry, std::ptr::null(), first.cache), KVC_OK);
        assert_eq!(kvc_registry_install(registry, c"two".as_ptr(), second.cache), KVC_OK);
        assert_eq!(kvc_cache_release(second.cache), KVC_OK, "the entry has the last reference");
        assert_eq!(kvc_registry_deinit(kvc_registry_global()), capi::KVC_ERR_UNSUPPORTED);
        assert_eq!(kvc_registry_deinit(registry), KVC_OK);
        assert_eq!(kvc_cache_retain(second.cache), capi::KVC_ERR_STALE);
        let refused = [
            kvc_registry_install(registry, c"one".as_ptr(), first.cache),
            kvc_registry_get(registry, c"two".as_ptr(), &raw mut found),
            kvc_registry_erase(registry, c"two".as_ptr()),
            kvc_registry_count(registry, &raw mut count),
            kvc_session_close(&raw mut session),
            kvc_registry_deinit(registry),
        ];
        assert!(refused.iter().all(|answer| *answer == capi::KVC_ERR_STALE), "{refused:?}");
        assert_eq!((found.is_null(), count), (true, 9));
        // Another registry in the same memory: the old session's entry is none of its entries.
        let copy = session;
        assert_eq!(kvc_registry_init(words.as_mut_ptr().cast(), words.len() * 8, &raw mut registry), KVC_OK);
        assert_eq!(kvc_registry_install(registry, copy.key.as_ptr(), first.cache), KVC_OK);
        assert_eq!(kvc_session_close(&raw mut session), KVC_OK);
        assert_eq!((kvc_registry_count(registry, &raw mut count), count), (KVC_OK, 1));
        assert_eq!(kvc_registry_deinit(registry), KVC_OK);
        assert_eq!(
            (kvc_cache_release(first.cache), kvc_cache_release(first.cache)),
            (KVC_OK, capi::KVC_ERR_STALE)
        );
    }
}
