//! Every interleaving, with at most three preemptions, of small groups of threads on the counts and on the
//! registry: `RUSTFLAGS="--cfg loom" cargo test --release --test loom`. A lock that is held answers `Busy` at
//! the first try here, so that every refusal for want of the lock is explored too.
#![cfg(loom)]

use std::cell::Cell;
use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use kvcore::{
    CacheRef, Config, Error, Event, ExternalCache, ExternalStorage, Layer, Registry, SequenceStorage,
    Session, set_event_hook,
};
use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::thread;

type Storage = SequenceStorage<1>;

thread_local! {
    // The threads of a model are coroutines of the thread that runs it: each test counts its own.
    static ENDED: Cell<u32> = const { Cell::new(0) };
    static LEAKED: Cell<u32> = const { Cell::new(0) };
}

fn hook(event: Event, _: Option<Error>, _: Option<&CStr>) {
    match event {
        Event::Ended => ENDED.set(ENDED.get() + 1),
        Event::Leaked => LEAKED.set(LEAKED.get() + 1),
        _ => {}
    }
}

fn check(model: impl Fn() + Send + Sync + 'static) {
    set_event_hook(Some(hook));
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        ENDED.set(0);
        LEAKED.set(0);
        model();
    });
}

/// How often something was seen over all interleavings.
#[derive(Clone, Default)]
struct Seen(Arc<AtomicU32>);

impl Seen {
    fn once_more(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    fn times(&self) -> u32 {
        self.0.load(Relaxed)
    }
}

/// What outlives the threads of one interleaving, though not the next one.
struct Kept<T: 'static>(NonNull<T>);

impl<T> Kept<T> {
    fn new(value: T) -> Self {
        Self(NonNull::from(Box::leak(Box::new(value))))
    }

    fn get(&self) -> &'static T {
        // SAFETY: a leaked box; the tests use it no longer than `self`, which they drop last.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        // SAFETY: leaked in `new`, and freed once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

fn cache(storage: &Kept<Storage>) -> CacheRef<'static> {
    storage.get().init(&Config::new(8, 1, &[Layer::flat()])).expect("empty storage")
}

/// Calls until the lock was free: no thread of a model holds it for good.
fn insist<T>(mut call: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    loop {
        match call() {
            Err(Error::Busy) => thread::yield_now(),
            answer => return answer,
        }
    }
}

#[test]
fn the_last_of_several_releases_ends_the_cache_once() {
    check(|| {
        let storage = Kept::new(Storage::new());
        let cache = cache(&storage);
        let raw = cache.as_raw();
        let owners = [(); 2].map(|()| {
            let own = cache.retain().expect("few references");
            thread::spawn(move || {
                let another = own.retain().expect("few references");
                drop(own);
                drop(another);
            })
        });
        drop(cache);
        for owner in owners {
            owner.join().expect("no panic");
        }
        assert_eq!(ENDED.get(), 1);
        // The memory is still there: a call on it is a diagnosis.
        // SAFETY: not dropped, so that the reference that it is not is not given up.
        let ended = std::mem::ManuallyDrop::new(unsafe { CacheRef::from_raw(raw) });
        assert_eq!(ended.retain().err(), Some(Error::Stale));
        assert_eq!(ENDED.get(), 1);
        drop(self::cache(&storage));
        assert_eq!(ENDED.get(), 2, "the storage can be used again");
    });
}

/// Everything that an owner did before it let go is visible to whoever finds the storage free.
#[test]
fn what_owners_did_happens_before_the_end() {
    let reused = Seen::default();
    let seen = reused.clone();
    check(move || {
        let storage = Kept::new(Storage::new());
        let first = cache(&storage);
        let work = Kept::new([UnsafeCell::new(0), UnsafeCell::new(0)]);
        let owners = [0, 1].map(|owner| {
            let (own, work) = (first.retain().expect("few references"), work.get());
            thread::spawn(move || {
                // SAFETY: its own cell, until the reference goes.
                work[owner].with_mut(|cell| unsafe { *cell = 1 });
                drop(own);
            })
        });
        drop(first);
        if let Ok(second) = storage.get().init(&Config::new(8, 1, &[Layer::flat()])) {
            // SAFETY: the owners are gone, which loom checks.
            let done = [0, 1].map(|owner| work.get()[owner].with(|cell| unsafe { *cell }));
            assert_eq!(done, [1, 1]);
            drop(second);
            seen.once_more();
        }
        for owner in owners {
            owner.join().expect("no panic");
        }
    });
    assert!(reused.times() > 0, "the end was never seen from outside");
}

#[test]
fn storage_takes_one_cache_at_a_time() {
    struct Nothing;
    impl ExternalCache for Nothing {}
    static NOTHING: Nothing = Nothing;

    check(|| {
        let storage = Kept::new(Storage::new());
        let at = storage.get();
        let other = thread::spawn(move || at.init(&Config::new(8, 1, &[Layer::flat()])));
        let ours = at.init(&Config::new(8, 1, &[Layer::flat()]));
        let theirs = other.join().expect("no panic");
        assert!(ours.is_ok() != theirs.is_ok());
        assert_eq!(ours.err().or(theirs.err()), Some(Error::AlreadyExists));
    });
    check(|| {
        let storage = Kept::new(ExternalStorage::new());
        let at = storage.get();
        let other = thread::spawn(move || at.init(&NOTHING));
        let ours = at.init(&NOTHING);
        let theirs = other.join().expect("no panic");
        assert!(ours.is_ok() != theirs.is_ok());
    });
}

#[test]
fn an_entry_erased_under_a_reader_stays_good_for_it() {
    let (found, missed) = (Seen::default(), Seen::default());
    let (seen, not_seen) = (found.clone(), missed.clone());
    check(move || {
        let storage = Kept::new(Storage::new());
        let registry = Kept::new(Registry::new());
        let cache = cache(&storage);
        assert_eq!(registry.get().install("chat", &cache), Ok(()));
        drop(cache); // the entry's reference is the last one
        let (shared, seen, not_seen) = (registry.get(), seen.clone(), not_seen.clone());
        let reader = thread::spawn(move || match shared.get("chat") {
            Ok(cache) => {
                assert_eq!(insist(|| cache.plan(0, 0, 1)).map(|plan| plan.n_tokens), Ok(1));
                seen.once_more();
            }
            Err(error) => {
                assert!(matches!(error, Error::NotFound | Error::Busy), "{error}");
                not_seen.once_more();
            }
        });
        assert_eq!(insist(|| shared.erase("chat")), Ok(()));
        reader.join().expect("no panic");
        assert_eq!((ENDED.get(), registry.get().count()), (1, Ok(0)));
    });
    assert!(found.times() > 0 && missed.times() > 0);
}

#[test]
fn two_sessions_under_one_key() {
    check(|| {
        let (one, two) = (Kept::new(Storage::new()), Kept::new(Storage::new()));
        let registry = Kept::new(Registry::new());
        let (first, second) = (cache(&one), cache(&two));
        let (shared, theirs) = (registry.get(), second.as_raw());
        let other = thread::spawn(move || Session::open(shared, Some("chat"), &second));
        let ours = Session::open(shared, Some("chat"), &first);
        let other = other.join().expect("no panic");
        for refused in [ours.as_ref().err(), other.as_ref().err()].into_iter().flatten() {
            assert!(matches!(refused, Error::AlreadyExists | Error::Busy), "{refused}");
        }
        let expected = match (&ours, &other) {
            (Ok(_), Err(_)) => first.as_raw(),
            (Err(_), Ok(_)) => theirs,
            both => panic!("one of them gets the key: {both:?}"),
        };
        assert_eq!(shared.get("chat").map(|found| found.as_raw()).ok(), Some(expected));
        drop((ours, other, first));
        assert_eq!((ENDED.get(), LEAKED.get(), shared.count()), (2, 0, Ok(0)));
    });
}

/// A session erases what it installed, never what somebody else put there since.
#[test]
fn a_session_that_closes_late_spares_the_next_entry() {
    let replaced = Seen::default();
    let seen = replaced.clone();
    check(move || {
        let (one, two) = (Kept::new(Storage::new()), Kept::new(Storage::new()));
        let registry = Kept::new(Registry::new());
        let (first, second) = (cache(&one), cache(&two));
        let (shared, next) = (registry.get(), second.as_raw());
        let mut session = Session::open(shared, Some("chat"), &first).expect("nobody took the key");
        let other = thread::spawn(move || {
            // The session may have been first, or hold the lock.
            let _ = shared.erase("chat");
            shared.install("chat", &second).is_ok()
        });
        assert_eq!(insist(|| session.close()), Ok(()));
        assert_eq!(session.close(), Ok(()), "closing twice is fine");
        if other.join().expect("no panic") {
            assert_eq!(shared.get("chat").map(|found| found.as_raw()).ok(), Some(next));
            seen.once_more();
        } else {
            assert_eq!(shared.get("chat").err(), Some(Error::NotFound));
        }
        drop((session, first));
        drop(registry);
        assert_eq!((ENDED.get(), LEAKED.get()), (2, 0));
    });
    assert!(replaced.times() > 0);
}

/// A guard does not wait for ever: it leaves the entry, and says so.
#[test]
fn a_guard_erases_its_entry_or_reports_that_it_leaked() {
    let (erased, leaked) = (Seen::default(), Seen::default());
    let (gone, left) = (erased.clone(), leaked.clone());
    check(move || {
        let storage = Kept::new(Storage::new());
        let registry = Kept::new(Registry::new());
        let cache = cache(&storage);
        let shared = registry.get();
        let session = Session::open(shared, Some("chat"), &cache).expect("an empty registry");
        drop(cache);
        let other = thread::spawn(move || shared.get("chat").map(drop));
        drop(session);
        let found = other.join().expect("no panic");
        assert!(matches!(found, Ok(()) | Err(Error::Busy | Error::NotFound)), "{found:?}");
        match LEAKED.get() {
            0 => {
                assert_eq!((shared.count(), ENDED.get()), (Ok(0), 1));
                gone.once_more();
            }
            leaks => {
                // Nothing dangles: the entry owns its reference, and goes with the registry.
                assert_eq!((leaks, shared.count(), ENDED.get()), (1, Ok(1), 0));
                left.once_more();
            }
        }
        drop(registry);
        assert_eq!(ENDED.get(), 1);
    });
    assert!(erased.times() > 0 && leaked.times() > 0);
}

/// Two threads that plan and commit on one cache: a step is committed as a whole, or not at all.
#[test]
fn two_backends_on_one_cache() {
    check(|| {
        let storage = Kept::new(Storage::new());
        let ours = cache(&storage);
        let theirs = ours.retain().expect("few references");
        let work = |cache: &CacheRef<'_>, n: u32| {
            let plan = cache.plan(0, 0, n)?;
            cache.commit(&plan, n)
        };
        let other = thread::spawn(move || work(&theirs, 3));
        let (first, second) = (work(&ours, 2), other.join().expect("no panic"));
        for answer in [first, second] {
            let refusals = [Error::Busy, Error::BadPosition, Error::StalePlan];
            assert!(answer.is_ok() || refusals.map(Err).contains(&answer), "{answer:?}");
        }
        let length = match (first.is_ok(), second.is_ok()) {
            (true, false) => 2,
            (false, true) => 3,
            (false, false) => 0,
            (true, true) => panic!("two different steps at 0"),
        };
        assert_eq!(ours.length(), Ok(length));
    });
}
