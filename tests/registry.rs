//! Registries and sessions: keys, full tables, who erases what, leaks, and threads.

use std::collections::HashSet;
use std::sync::Mutex;
use std::thread;

use kvcore::limits::{MAX_CACHES, MAX_NAME};
use kvcore::{CacheRef, Config, Error, Key, Layer, Registry, SequenceStorage, Session, unique_key};

const FLAT: [Layer; 1] = [Layer::flat()];

fn config() -> Config<'static> {
    Config::new(64, 1, &FLAT)
}

type Storage = SequenceStorage<1>;

fn is_free(storage: &Storage) -> bool {
    storage.init(&config()).is_ok()
}

#[test]
fn a_registry_holds_so_many_and_no_more() {
    let storages: Vec<Storage> = (0..=MAX_CACHES).map(|_| Storage::new()).collect();
    let registry = Registry::new();
    for (at, storage) in storages[..MAX_CACHES].iter().enumerate() {
        let cache = storage.init(&config()).expect("empty storage");
        assert_eq!(registry.install(&format!("key {at}"), &cache), Ok(()));
        assert_eq!(registry.count(), Ok(at + 1));
    }
    let over = storages[MAX_CACHES].init(&config()).expect("empty storage");
    assert_eq!(registry.install("one more", &over), Err(Error::TableFull));
    assert_eq!(registry.install("key 0", &over), Err(Error::AlreadyExists), "a taken key comes first");
    assert_eq!(Session::open(&registry, None, &over).err(), Some(Error::TableFull));
    assert_eq!(registry.count(), Ok(MAX_CACHES));
    // Iteration finds each entry once.
    let keys: HashSet<String> =
        (0..MAX_CACHES).map(|at| registry.key_at(at).expect("an entry").to_string()).collect();
    assert_eq!(keys, (0..MAX_CACHES).map(|at| format!("key {at}")).collect());
    assert_eq!(registry.key_at(MAX_CACHES).err(), Some(Error::NotFound));
    assert_eq!(registry.key_at(usize::MAX).err(), Some(Error::NotFound));
    // The place of any entry can be taken again.
    for at in [0, MAX_CACHES / 2, MAX_CACHES - 1] {
        assert_eq!(registry.erase(&format!("key {at}")), Ok(()));
        assert!(is_free(&storages[at]), "the entry's reference was the last one");
        assert_eq!(registry.install("one more", &over), Ok(()));
        assert_eq!(registry.get("one more").map(|cache| cache.as_raw()).ok(), Some(over.as_raw()));
        assert_eq!(registry.erase("one more"), Ok(()));
        let again = storages[at].init(&config()).expect("free storage");
        assert_eq!(registry.install(&format!("key {at}"), &again), Ok(()));
    }
    drop(registry);
    assert!(storages[..MAX_CACHES].iter().all(is_free), "a registry lets go of all it holds");
    assert!(!is_free(&storages[MAX_CACHES]));
    drop(over);
}

#[test]
fn keys_are_short_texts_compared_whole() {
    let (storage, registry) = (Storage::new(), Registry::new());
    let cache = storage.init(&config()).expect("empty storage");
    let longest = "k".repeat(MAX_NAME);
    let too_long = "k".repeat(MAX_NAME + 1);
    for call in [
        |registry: &Registry<'_>, key: &str| registry.get(key).map(drop),
        |registry: &Registry<'_>, key: &str| registry.erase(key),
    ] {
        assert_eq!(call(&registry, ""), Err(Error::NameTooLong));
        assert_eq!(call(&registry, &too_long), Err(Error::NameTooLong));
        assert_eq!(call(&registry, "a\0b"), Err(Error::InvalidArgument));
        assert_eq!(call(&registry, "\0"), Err(Error::InvalidArgument));
        assert_eq!(call(&registry, &longest), Err(Error::NotFound));
    }
    for (key, refusal) in
        [("", Error::NameTooLong), (&too_long, Error::NameTooLong), ("a\0", Error::InvalidArgument)]
    {
        assert_eq!(registry.install(key, &cache), Err(refusal));
        assert_eq!(Session::open(&registry, Some(key), &cache).err(), Some(refusal));
    }
    // Every byte counts, and so does the length.
    assert_eq!(registry.install(&longest, &cache), Ok(()));
    for at in 0..MAX_NAME {
        let mut other = longest.clone();
        other.replace_range(at..=at, "K");
        assert_eq!(registry.get(&other).err(), Some(Error::NotFound), "{other}");
        assert_eq!(registry.get(&longest[..=at]).is_ok(), at + 1 == MAX_NAME);
    }
    // Any bytes but NUL: text of other scripts, and what is no text.
    let key = Key::from_bytes(b"\xFF\x01").expect("short");
    assert_eq!(
        (key.as_str(), key.as_bytes(), key.to_string()),
        (None, &b"\xFF\x01"[..], "\\xff\\x01".into())
    );
    for key in ["ключ", "鍵", "a b/c.d", "🗝"] {
        assert_eq!(registry.install(key, &cache), Ok(()));
        assert!(registry.get(key).is_ok());
        assert_eq!(registry.erase(key), Ok(()));
    }
}

#[test]
fn generated_keys_are_never_the_same() {
    let taken = unique_key().expect("numbers left").to_string();
    let number: u64 = taken.strip_prefix("cache-").and_then(|digits| digits.parse().ok()).expect("cache-N");
    let (storage, registry) = (Storage::new(), Registry::new());
    let cache = storage.init(&config()).expect("empty storage");
    // A user's own key looks like the next generated one.
    for next in number + 1..number + 4 {
        assert_eq!(registry.install(&format!("cache-{next}"), &cache), Ok(()));
    }
    let session = Session::open(&registry, None, &cache).expect("another key");
    assert_eq!(registry.count(), Ok(4));
    assert_eq!(
        registry.get(session.key().as_str().expect("text")).map(|found| found.as_raw()).ok(),
        Some(cache.as_raw())
    );
    // Of several threads, and of several registries: there is one counter.
    let mut keys: Vec<String> = thread::scope(|scope| {
        let many = || (0..500).map(|_| unique_key().expect("numbers left").to_string()).collect::<Vec<_>>();
        let threads = [(); 3].map(|()| scope.spawn(many));
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    keys.push(session.key().to_string());
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 1501);
}

#[test]
fn an_entry_is_erased_in_the_middle_of_a_forward() {
    let (storage, registry) = (Storage::new(), Registry::new());
    let session =
        Session::open(&registry, Some("chat"), &storage.init(&config()).expect("empty")).expect("room");
    let backend = registry.get("chat").expect("installed");
    let plan = backend.plan(0, 0, 5).expect("room");
    assert_eq!(registry.erase("chat"), Ok(()));
    assert_eq!(registry.get("chat").err(), Some(Error::NotFound));
    assert_eq!(backend.commit(&plan, 5), Ok(()));
    assert_eq!(session.cache().length(), Ok(5));
    drop(session);
    assert_eq!(backend.length(), Ok(5));
    drop(backend);
    assert!(is_free(&storage));
}

#[test]
fn a_session_erases_only_what_it_installed() {
    let (one, two, registry) = (Storage::new(), Storage::new(), Registry::new());
    let (first, second) = (one.init(&config()).expect("empty"), two.init(&config()).expect("empty"));
    let found = |key: &str| registry.get(key).map(|cache| cache.as_raw()).ok();
    // Closed twice, then dropped: one erasure.
    let mut session = Session::open(&registry, Some("chat"), &first).expect("room");
    assert_eq!(Session::open(&registry, Some("chat"), &second).err(), Some(Error::AlreadyExists));
    assert_eq!((session.close(), registry.count()), (Ok(()), Ok(0)));
    assert_eq!(registry.install("chat", &second), Ok(()));
    assert_eq!((session.close(), found("chat")), (Ok(()), Some(second.as_raw())));
    drop(session);
    assert_eq!(found("chat"), Some(second.as_raw()));
    assert_eq!(registry.erase("chat"), Ok(()));
    // Somebody erased the entry; and put another there; and the same cache.
    for next in [None, Some(&second), Some(&first)] {
        let mut session = Session::open(&registry, Some("chat"), &first).expect("room");
        assert_eq!(registry.erase("chat"), Ok(()));
        if let Some(next) = next {
            assert_eq!(registry.install("chat", next), Ok(()));
        }
        assert_eq!(session.close(), Ok(()));
        drop(session);
        assert_eq!(found("chat"), next.map(CacheRef::as_raw));
        assert_eq!(registry.erase("chat").is_ok(), next.is_some());
    }
    // A session after the entry of another went: both guards do their own.
    let old = Session::open(&registry, Some("chat"), &first).expect("room");
    assert_eq!(registry.erase("chat"), Ok(()));
    let new = Session::open(&registry, Some("chat"), &second).expect("room");
    drop(old);
    assert_eq!((found("chat"), new.key().as_str()), (Some(second.as_raw()), Some("chat")));
    drop(new);
    assert_eq!(registry.count(), Ok(0));
}

#[test]
fn leaking_a_session_is_safe() {
    let storage = Storage::new();
    let registry = Registry::new();
    let cache = storage.init(&config()).expect("empty storage");
    std::mem::forget(Session::open(&registry, Some("chat"), &cache).expect("room"));
    drop(cache);
    let backend = registry.get("chat").expect("the entry stays, and owns its reference");
    assert_eq!(backend.plan(0, 0, 1).map(|plan| plan.n_tokens), Ok(1));
    assert_eq!(registry.erase("chat"), Ok(()));
    drop(backend);
    assert!(!is_free(&storage), "the leaked reference is one");
}

/// A guard that finds the registry held leaves the entry: nothing dangles.
#[cfg(not(feature = "critical-section"))]
#[test]
fn a_guard_of_a_held_registry_leaves_the_entry() {
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

    let storage = Storage::new();
    let registry = Registry::new();
    let mut session = Session::open(&registry, None, &storage.init(&config()).expect("empty")).expect("room");
    let mut closed = Session::open(&registry, None, session.cache()).expect("room");
    assert_eq!(closed.close(), Ok(()));
    let key = *session.key();
    let key = key.as_str().expect("text");
    // SAFETY: within the registry, which begins with its magic, aligned to 8, and the lock: a byte, then what it
    // guards (never the other way round, since that might be unsized).
    let lock = unsafe { AtomicU8::from_ptr((&raw const registry).cast::<u8>().add(8).cast_mut()) };
    assert_eq!(lock.swap(1, Relaxed), 0, "nobody is in a call");
    assert_eq!(registry.count(), Err(Error::Busy));
    assert_eq!(registry.get(key).err(), Some(Error::Busy));
    assert_eq!(registry.erase(key), Err(Error::Busy));
    assert_eq!(registry.install("more", session.cache()), Err(Error::Busy));
    assert_eq!(registry.key_at(0).err(), Some(Error::Busy));
    assert_eq!(registry.register_sequence(), Err(Error::Busy));
    assert_eq!(Session::open(&registry, None, session.cache()).err(), Some(Error::Busy));
    assert_eq!(session.close(), Err(Error::Busy), "still open: call again");
    assert_eq!(closed.close(), Ok(()), "nothing to do");
    drop((session, closed));
    lock.store(0, Relaxed);
    assert_eq!(registry.count(), Ok(1), "the refusals changed nothing, and the guard left the entry");
    assert_eq!(registry.get(key).map(|cache| cache.capacity()).ok(), Some(Ok(64)));
    assert_eq!(registry.erase(key), Ok(()));
    assert!(is_free(&storage));
}

#[test]
fn the_global_registry_is_one_of_several() {
    static STORAGE: Storage = Storage::new();
    let (own, cache) = (Registry::new(), STORAGE.init(&config()).expect("empty storage"));
    assert_eq!(Registry::global().install("registry.rs", &cache), Ok(()));
    assert_eq!(own.install("registry.rs", &cache), Ok(()), "another registry, another table");
    drop(cache);
    assert_eq!(own.erase("registry.rs"), Ok(()));
    let elsewhere = || Registry::global().get("registry.rs").map(|cache| cache.capacity());
    assert_eq!(thread::spawn(elsewhere).join().expect("no panic").ok(), Some(Ok(64)));
    assert_eq!(Registry::global().erase("registry.rs"), Ok(()));
    assert!(is_free(&STORAGE));
}

/// Calls again after `Busy`: a thread that holds the lock may have lost its processor.
fn insist<T>(mut call: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    loop {
        match call() {
            Err(Error::Busy) => thread::yield_now(),
            answer => return answer,
        }
    }
}

/// Threads that install, find, use, erase and close at once: every call is whole, nothing is lost or left.
#[test]
fn threads_hammer_one_registry() {
    const ROUNDS: u32 = 3000;
    let storages = [const { Storage::new() }; 4];
    let registry = Registry::new();
    let caches = storages.each_ref().map(|storage| storage.init(&config()).expect("empty storage"));
    thread::scope(|scope| {
        for (at, cache) in caches.iter().enumerate() {
            let registry = &registry;
            scope.spawn(move || {
                let (own, shared) = (format!("own {at}"), ["red", "green"][at % 2]);
                for round in 0..ROUNDS {
                    // Nobody else touches this key.
                    assert_eq!(insist(|| registry.install(&own, cache)), Ok(()));
                    let found = insist(|| registry.get(&own)).expect("installed");
                    assert_eq!(found.as_raw(), cache.as_raw());
                    assert_eq!(insist(|| registry.erase(&own)), Ok(()));
                    // Everybody fights for these.
                    let installed = insist(|| registry.install(shared, cache));
                    assert!(matches!(installed, Ok(()) | Err(Error::AlreadyExists)), "{installed:?}");
                    match insist(|| registry.get(shared)) {
                        Ok(found) => assert_eq!(insist(|| found.capacity()), Ok(64)),
                        Err(error) => assert_eq!(error, Error::NotFound),
                    }
                    let erased = insist(|| registry.erase(shared));
                    assert!(matches!(erased, Ok(()) | Err(Error::NotFound)), "{erased:?}");
                    if round % 8 == 0 {
                        let mut session = insist(|| Session::open(registry, None, cache)).expect("room");
                        assert_eq!(insist(|| session.close()), Ok(()));
                    }
                }
            });
        }
    });
    let left = registry.count().expect("nobody is here");
    for key in ["red", "green"] {
        // What a thread installed last may still be there.
        let _ = registry.erase(key);
    }
    assert!(left <= 2 && registry.count() == Ok(0), "{left} entries were left");
    drop(caches);
    assert!(storages.iter().all(is_free), "no reference was lost or given twice");
}

/// Threads on one cache: each step is planned and committed whole, by one of them.
#[test]
fn threads_share_one_cache() {
    const TOKENS: u32 = 4000;
    let (storage, flat) = (Storage::new(), [Layer::ring(8)]);
    let cache = storage.init(&Config::new(TOKENS, 1, &flat)).expect("empty storage");
    let steps = Mutex::new(HashSet::new());
    thread::scope(|scope| {
        for _ in 0..3 {
            let (own, steps) = (cache.retain().expect("few references"), &steps);
            scope.spawn(move || {
                while let length @ 0..TOKENS = insist(|| own.length()).expect("a length") {
                    match insist(|| own.plan(0, length, 1)) {
                        Ok(plan) => {
                            assert_eq!((plan.position, plan.read_len), (length, 8.min(length + 1)));
                            if insist(|| own.commit(&plan, 1)).is_ok() {
                                steps.lock().expect("no panic").insert((plan.position, plan.epoch));
                            }
                        }
                        // Another thread was faster.
                        Err(error) => assert_eq!(error, Error::BadPosition),
                    }
                }
            });
        }
    });
    assert_eq!(cache.length(), Ok(TOKENS));
    let steps = steps.into_inner().expect("no panic");
    let positions: HashSet<u32> = steps.iter().map(|(position, _)| *position).collect();
    assert_eq!((steps.len(), positions.len()), (TOKENS as usize, TOKENS as usize), "one step a position");
}
