//! References, storage and faces: who owns what, who may go first, and what a full or a held cache answers.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use kvcore::limits::MAX_FACES;
use kvcore::{CacheRef, Config, Error, Face, Layer, Registry, SequenceStorage, Session};

const FLAT: [Layer; 1] = [Layer::flat()];

fn config() -> Config<'static> {
    Config::new(64, 1, &FLAT)
}

/// A storage is free again when the last reference went.
fn is_free(storage: &SequenceStorage<1>) -> bool {
    match storage.init(&config()) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error, Error::AlreadyExists);
            false
        }
    }
}

/// Every order of four things.
fn orders() -> Vec<[usize; 4]> {
    let mut orders = Vec::new();
    for code in 0..256 {
        let order = [code % 4, code / 4 % 4, code / 16 % 4, code / 64];
        if (0..4).all(|party| order.contains(&party)) {
            orders.push(order);
        }
    }
    assert_eq!(orders.len(), 24);
    orders
}

/// The creator, the registry's entry, the session and the backend: any of them may go first.
#[test]
fn any_party_may_go_first() {
    for order in orders() {
        let storage = SequenceStorage::<1>::new();
        let registry = Registry::new();
        let mut creator = Some(storage.init(&config()).expect("empty storage"));
        let own = creator.as_ref().expect("just made");
        registry.install("chat", own).expect("an empty registry");
        let mut session = Some(Session::open(&registry, None, own).expect("room"));
        let mut backend = Some(registry.get("chat").expect("installed"));
        for party in order {
            assert!(!is_free(&storage), "{party} is still there: {order:?}");
            match party {
                0 => creator = None,
                1 => registry.erase("chat").expect("installed"),
                2 => session = None,
                _ => backend = None,
            }
        }
        assert!(is_free(&storage), "{order:?}");
        assert_eq!((creator.is_none(), session.is_none(), backend.is_none()), (true, true, true));
        assert_eq!(registry.count(), Ok(0));
    }
}

#[test]
fn all_references_are_to_one_cache() {
    let storage = SequenceStorage::<1>::new();
    let first = storage.init(&config()).expect("empty storage");
    let second = first.retain().expect("few references");
    let plan = first.plan(0, 0, 3).expect("room");
    assert_eq!(second.commit(&plan, 2), Ok(()));
    assert_eq!(
        (first.length(), first.kind(), second.as_raw()),
        (Ok(2), kvcore::KIND_SEQUENCE, first.as_raw())
    );
    let raw = second.into_raw();
    assert_eq!(raw, first.as_raw());
    drop(first);
    assert!(!is_free(&storage), "a reference that became raw is still one");
    // SAFETY: the reference that was given up a few lines above.
    let third = unsafe { CacheRef::from_raw(raw) };
    assert_eq!(third.length(), Ok(2));
    drop(third);
    assert!(is_free(&storage));
}

#[test]
fn storage_is_used_again_for_another_cache() {
    let storage = SequenceStorage::<3>::new();
    let layers = [Layer::ring(4), Layer::flat(), Layer::ring(2)];
    for (n_layers, capacity) in [(1, 64), (3, 32), (2, 7), (3, 1)] {
        let config = Config::new(capacity, n_layers, &layers[..n_layers as usize]);
        let cache = storage.init(&config).expect("free storage");
        assert_eq!((cache.capacity(), cache.length(), cache.rewind_floor()), (Ok(capacity), Ok(0), Ok(0)));
        let n = cache.config().expect("the lock is free").max_write.min(2);
        let plan = cache.plan(n_layers - 1, 0, n).expect("room");
        assert_eq!(cache.commit(&plan, n), Ok(()));
        assert_eq!(storage.init(&config).err(), Some(Error::AlreadyExists));
        assert_eq!(cache.length(), Ok(n), "the refusal touched nothing");
    }
    // Borrowed words likewise.
    let mut words = [MaybeUninit::uninit(); 64];
    for capacity in [5, 6] {
        let cache = kvcore::sequence_in(&mut words, &Config::new(capacity, 1, &FLAT)).expect("room");
        assert_eq!(cache.capacity(), Ok(capacity));
    }
}

/// The count of a cache, the second word of its header.
fn count<'c>(cache: &'c CacheRef<'_>) -> &'c AtomicU32 {
    let header = cache.as_raw().as_ptr().cast::<u32>();
    // SAFETY: a `repr(C)` header begins with a word of magic and the count, an atomic word.
    unsafe { AtomicU32::from_ptr(header.add(1)) }
}

#[test]
fn a_full_count_is_refused_and_stays() {
    let (storage, registry) = (SequenceStorage::<1>::new(), Registry::new());
    let cache = storage.init(&config()).expect("empty storage");
    assert_eq!(registry.install("chat", &cache), Ok(()));
    assert_eq!(count(&cache).swap(u32::MAX, Relaxed), 2);
    assert_eq!(cache.retain().err(), Some(Error::OutOfCapacity));
    assert_eq!(registry.get("chat").err(), Some(Error::OutOfCapacity));
    assert_eq!(registry.install("more", &cache), Err(Error::OutOfCapacity));
    assert_eq!(Session::open(&registry, None, &cache).err(), Some(Error::OutOfCapacity));
    assert_eq!((count(&cache).load(Relaxed), registry.count()), (u32::MAX, Ok(1)));
    // One is left: a session wants two, and gives the one back.
    count(&cache).store(u32::MAX - 1, Relaxed);
    assert_eq!(Session::open(&registry, None, &cache).err(), Some(Error::OutOfCapacity));
    assert_eq!((count(&cache).load(Relaxed), registry.count()), (u32::MAX - 1, Ok(1)));
    let last = cache.retain().expect("one is left");
    assert_eq!(cache.retain().err(), Some(Error::OutOfCapacity));
    drop(last);
    count(&cache).store(2, Relaxed);
    drop(cache);
    assert!(!is_free(&storage));
    assert_eq!(registry.erase("chat"), Ok(()));
    assert!(is_free(&storage));
}

/// A call that is refused takes no reference and leaves none.
#[test]
fn refusals_leave_the_count() {
    let (storage, registry) = (SequenceStorage::<1>::new(), Registry::new());
    let cache = storage.init(&config()).expect("empty storage");
    assert_eq!(registry.install("chat", &cache), Ok(()));
    let long = "k".repeat(64);
    for key in ["chat", "", "nul\0", &long] {
        assert!(registry.install(key, &cache).is_err());
        assert!(Session::open(&registry, Some(key), &cache).is_err());
    }
    assert!(registry.get("nobody").is_err() && registry.erase("nobody").is_err());
    assert_eq!(count(&cache).load(Relaxed), 2);
    for _ in 0..3 {
        drop(registry.get("chat").expect("installed"));
        drop(Session::open(&registry, None, &cache).expect("room"));
    }
    assert_eq!(count(&cache).load(Relaxed), 2);
}

/// Faces whose names are given as a constant parameter.
struct Named<const N: usize>(u32);

// SAFETY: every type has a name of its own, and none is used elsewhere.
unsafe impl<const N: usize> Face for Named<N> {
    const NAME: &'static std::ffi::CStr = match N {
        0 => c"test.zero",
        1 => c"test.one",
        2 => c"test.two",
        3 => c"test.three",
        4 => c"test.four",
        5 => c"test.fou",
        63 => c"63-----------------------------------------------------------63",
        64 => c"64------------------------------------------------------------64",
        _ => c"",
    };
}

#[test]
fn faces_are_found_by_name_from_every_reference() {
    let faces = (Named::<0>(10), Named::<1>(11), Named::<2>(12), Named::<3>(13), Named::<4>(14));
    let others = (Named::<0>(20), Named::<5>(15), Named::<63>(63), Named::<64>(64), Named::<9>(9));
    let storage = SequenceStorage::<1>::new();
    let cache = storage.init(&config()).expect("empty storage");
    let backend = cache.retain().expect("few references");
    assert_eq!(cache.face::<Named<0>>().err(), Some(Error::NotFound));
    assert_eq!(cache.drop_face::<Named<0>>(), Err(Error::NotFound));
    assert_eq!(cache.set_face(&others.3), Err(Error::NameTooLong));
    assert_eq!(cache.set_face(&others.4), Err(Error::NameTooLong), "an empty name");
    assert_eq!(backend.set_face(&faces.0), Ok(()));
    assert_eq!(cache.set_face(&others.0), Err(Error::AlreadyExists));
    assert_eq!(cache.face::<Named<0>>().map(|face| face.0), Ok(10), "the first one stays");
    assert_eq!(cache.set_face(&faces.1), Ok(()));
    assert_eq!(cache.set_face(&faces.2), Ok(()));
    assert_eq!(cache.set_face(&others.2), Ok(()), "63 bytes are a name");
    assert_eq!((MAX_FACES, cache.set_face(&faces.3)), (4, Err(Error::TableFull)));
    assert_eq!(
        cache.set_face(&others.0),
        Err(Error::AlreadyExists),
        "a taken name comes before a full table"
    );
    // Out of the middle, and something else in its place.
    assert_eq!(cache.drop_face::<Named<1>>(), Ok(()));
    assert_eq!(cache.face::<Named<1>>().err(), Some(Error::NotFound));
    assert_eq!(cache.set_face(&faces.4), Ok(()));
    assert_eq!(cache.face::<Named<5>>().err(), Some(Error::NotFound), "the start of another name");
    assert_eq!(cache.drop_face::<Named<0>>(), Ok(()));
    assert_eq!(cache.set_face(&others.1), Ok(()));
    assert_eq!(backend.face::<Named<2>>().map(|face| face.0), Ok(12));
    assert_eq!(backend.face::<Named<63>>().map(|face| face.0), Ok(63));
    assert_eq!(backend.face::<Named<4>>().map(|face| face.0), Ok(14));
    assert_eq!(backend.face::<Named<5>>().map(|face| face.0), Ok(15));
    drop((cache, backend));
    let next = storage.init(&config()).expect("free storage");
    assert_eq!(next.face::<Named<2>>().err(), Some(Error::NotFound), "faces end with their cache");
    assert_eq!(faces.3.0, 13);
}

/// While somebody holds the cache's lock: what waits gives up with `Busy`, and has changed nothing.
#[cfg(not(feature = "critical-section"))]
#[test]
fn a_held_cache_answers_busy() {
    use kvcore::SeqPlan;
    use std::sync::atomic::AtomicU8;

    let (face, storage) = (Named::<0>(0), SequenceStorage::<1>::new());
    let registry = Registry::new();
    let cache = storage.init(&config()).expect("empty storage");
    let plan = cache.plan(0, 0, 3).expect("room");
    // SAFETY: the third word of a header is its lock, a spin lock's byte over nothing.
    let lock = unsafe { AtomicU8::from_ptr(cache.as_raw().as_ptr().cast::<u8>().add(8)) };
    assert_eq!(lock.swap(1, Relaxed), 0, "nobody is in a call");
    let mut plans = [SeqPlan::EMPTY];
    assert_eq!(cache.capacity(), Err(Error::Busy));
    assert_eq!(cache.length(), Err(Error::Busy));
    assert_eq!(cache.can_extend(1), Err(Error::Busy));
    assert_eq!(cache.rewind_floor(), Err(Error::Busy));
    assert_eq!(cache.layer(0), Err(Error::Busy));
    assert_eq!(cache.config().err(), Some(Error::Busy));
    assert_eq!(cache.plan(0, 0, 4), Err(Error::Busy));
    assert_eq!(cache.plan_step(0, 4, &mut plans), Err(Error::Busy));
    assert_eq!(cache.commit(&plan, 3), Err(Error::Busy));
    assert_eq!(cache.rewind(0), Err(Error::Busy));
    assert_eq!(cache.clear(), Err(Error::Busy));
    assert_eq!(cache.set_face(&face), Err(Error::Busy));
    assert_eq!(cache.face::<Named<0>>().err(), Some(Error::Busy));
    assert_eq!(cache.drop_face::<Named<0>>(), Err(Error::Busy));
    // References need no lock, nor does anything that only moves them.
    assert_eq!(cache.kind(), kvcore::KIND_SEQUENCE);
    drop(cache.retain().expect("never busy"));
    assert_eq!(registry.install("chat", &cache), Ok(()));
    drop(registry.get("chat").expect("never busy for the cache's lock"));
    drop(Session::open(&registry, None, &cache).expect("neither"));
    assert_eq!(registry.erase("chat"), Ok(()));
    lock.store(0, Relaxed);
    assert_eq!((cache.length(), plans), (Ok(0), [SeqPlan::EMPTY]));
    assert_eq!(cache.commit(&plan, 3), Ok(()), "the plan is still the newest");
    assert_eq!(cache.face::<Named<0>>().err(), Some(Error::NotFound));
}
