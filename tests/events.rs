//! What the event hook is told, in which order, and that it may call the library. The hook belongs to the whole
//! process, and the tests of this file run in threads: each keeps its own record.

use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::Once;

use kvcore::{
    Config, Error, Event, ExternalCache, ExternalStorage, Layer, Registry, SeqPlan, SequenceStorage, Session,
    set_event_hook,
};

type Told = (Event, Option<Error>, Option<String>);

thread_local! {
    static TOLD: RefCell<Vec<Told>> = const { RefCell::new(Vec::new()) };
}

/// What a curious hook looks at.
static LOOKED_AT: Registry<'static> = Registry::new();

thread_local! {
    static COUNTS: RefCell<Option<Vec<Result<usize, Error>>>> = const { RefCell::new(None) };
}

fn record(event: Event, error: Option<Error>, key: Option<&CStr>) {
    COUNTS.with_borrow_mut(|counts| {
        if let Some(counts) = counts {
            counts.push(LOOKED_AT.count());
        }
    });
    let key = key.map(|key| key.to_str().expect("keys here are text").to_owned());
    TOLD.with_borrow_mut(|told| told.push((event, error, key)));
}

/// What the hook was told during a call.
fn told<R>(call: impl FnOnce() -> R) -> (R, Vec<Told>) {
    static SET: Once = Once::new();
    SET.call_once(|| set_event_hook(Some(record)));
    TOLD.with_borrow_mut(Vec::clear);
    let answer = call();
    (answer, TOLD.take())
}

fn refused(error: Error) -> Vec<Told> {
    vec![(Event::Refused, Some(error), None)]
}

fn keyed(event: Event, key: &str) -> Told {
    (event, None, Some(key.to_owned()))
}

const ENDED: Told = (Event::Ended, None, None);
const FLAT: [Layer; 1] = [Layer::flat()];

/// A cache of another make.
struct Silent;

impl ExternalCache for Silent {}

#[test]
fn the_life_of_a_cache_in_a_registry() {
    let storage = SequenceStorage::<1>::new();
    let registry = Registry::new();
    let (cache, events) = told(|| storage.init(&Config::new(8, 1, &FLAT)).expect("empty storage"));
    assert_eq!(events, []);
    assert_eq!(told(|| registry.install("chat", &cache)), (Ok(()), vec![keyed(Event::Installed, "chat")]));
    assert_eq!(told(|| drop(registry.get("chat").expect("installed"))), ((), vec![]));
    assert_eq!(told(|| drop(cache)), ((), vec![]));
    let erased = told(|| registry.erase("chat"));
    assert_eq!(erased, (Ok(()), vec![keyed(Event::Erased, "chat"), ENDED]));
    // A session says the same, with its own key; its second closing says nothing.
    let cache = storage.init(&Config::new(8, 1, &FLAT)).expect("free storage");
    let (mut session, events) = told(|| Session::open(&registry, None, &cache).expect("room"));
    let key = session.key().to_string();
    assert_eq!(events, [keyed(Event::Installed, &key)]);
    assert_eq!(told(|| session.close()), (Ok(()), vec![keyed(Event::Erased, &key)]));
    assert_eq!(told(|| session.close()), (Ok(()), vec![]));
    assert_eq!(told(|| drop(session)), ((), vec![]));
    assert_eq!(told(|| drop(cache)), ((), vec![ENDED]));
    // A registry that goes ends what only it held; a foreign cache ends like any other.
    let foreign = ExternalStorage::new();
    let registry = Registry::new();
    registry.install("foreign", &foreign.init(&Silent).expect("empty storage")).expect("room");
    assert_eq!(told(|| drop(registry)), ((), vec![ENDED]));
}

#[test]
fn a_step_that_drops_positions() {
    let storage = SequenceStorage::<2>::new();
    let layers = [Layer::flat(), Layer::ring(2)];
    let cache = storage.init(&Config { max_write: 2, ..Config::new(64, 2, &layers) }).expect("empty storage");
    let evicted: Told = (Event::Evicted, None, None);
    let mut plans = [SeqPlan::EMPTY; 2];
    // 3 rows in the ring: a fourth position takes a row.
    for (position, n, drops) in [(0, 2, false), (2, 1, false), (3, 1, true), (4, 2, true)] {
        let (plan, events) = told(|| cache.plan(0, position, n).expect("room"));
        assert_eq!(events, if drops { vec![evicted.clone()] } else { vec![] }, "{n} at {position}");
        // The same step again, for another layer or for all, drops nothing more.
        assert_eq!(told(|| cache.plan(1, position, n).is_ok()), (true, vec![]));
        assert_eq!(told(|| cache.plan_step(position, n, &mut plans)), (Ok(2), vec![]));
        assert_eq!(told(|| cache.commit(&plan, n)), (Ok(()), vec![]));
    }
    assert_eq!(told(|| cache.plan_step(6, 2, &mut plans)), (Ok(2), vec![evicted]));
    // In place of a step of the same size: its rows were taken already.
    assert_eq!(told(|| cache.plan_step(6, 1, &mut plans)), (Ok(2), vec![]));
}

/// Cells go when the next step is declared, private rows when it is placed.
#[test]
fn a_step_of_many_sequences_that_drops_positions() {
    let layers = [Layer::ring(2)];
    let config = Config { max_seqs: 2, max_write: 2, ..Config::new(16, 1, &layers) };
    let evicted: Told = (Event::Evicted, None, None);
    let mut words = [std::mem::MaybeUninit::uninit(); 256];
    let cells = kvcore::cells_in(&mut words, &config).expect("room");
    let seq = cells.seq_new().expect("room");
    for (length, drops) in [(0, false), (2, true), (4, true)] {
        let (declared, events) = told(|| cells.declare_step(&[seq, seq]));
        assert_eq!(
            (declared, events),
            (Ok(()), if drops { vec![evicted.clone()] } else { vec![] }),
            "{length}"
        );
        assert_eq!(told(|| cells.declare_step(&[seq, seq])), (Ok(()), vec![]), "nothing more to drop");
        let placed = told(|| cells.place_cells(0, &[length, length + 1], &mut [0; 2]).is_ok());
        assert_eq!(placed, (true, vec![]));
    }
    let mut words = [std::mem::MaybeUninit::uninit(); 256];
    let rows = kvcore::rows_in(&mut words, &config).expect("room");
    let seq = rows.seq_new().expect("room");
    // 3 rows in the ring.
    for (length, drops) in [(0, false), (2, true), (4, true)] {
        assert_eq!(told(|| rows.declare_step(&[seq, seq])), (Ok(()), vec![]));
        let mut spans = [kvcore::Span::default()];
        let (placed, events) = told(|| rows.place_rows(0, &[length, length + 1], &mut spans));
        assert_eq!((placed, events), (Ok(1), if drops { vec![evicted.clone()] } else { vec![] }), "{length}");
        assert_eq!(told(|| rows.place_rows(0, &[length, length + 1], &mut spans)), (Ok(1), vec![]));
    }
    // A refusal is told once, and a question that was answered is none.
    assert_eq!(
        told(|| cells.declare_step(&[])),
        (Err(Error::InvalidArgument), refused(Error::InvalidArgument))
    );
    assert_eq!(told(|| cells.seq_len(5)), (Err(Error::BadSequence), refused(Error::BadSequence)));
    assert_eq!(told(|| rows.seq_shift(0, 0, 1, 1)), (Err(Error::WrongKind), refused(Error::WrongKind)));
    assert_eq!(told(|| cells.n_cell_shifts(0)), (Ok(0), vec![]));
    assert_eq!(told(|| cells.can_admit(0, 17)), (Ok(false), vec![]));
    let small = told(|| kvcore::rows_in(&mut [], &config).err());
    assert_eq!(small, (Some(Error::BufferTooSmall), refused(Error::BufferTooSmall)));
}

#[test]
fn every_refusal_is_told_once() {
    let storage = SequenceStorage::<1>::new();
    let registry = Registry::new();
    let layers = [Layer::ring(2)];
    let config = Config::new(8, 1, &layers);
    let cache = storage.init(&config).expect("empty storage");
    registry.install("chat", &cache).expect("an empty registry");
    for _ in 0..3 {
        let plan = cache.plan(0, cache.length().expect("a length"), 2).expect("room");
        cache.commit(&plan, 2).expect("the newest step");
    }
    let mut plans = [SeqPlan::EMPTY; 0];
    let calls: [(&str, &dyn Fn() -> Option<Error>); 18] = [
        ("init", &|| storage.init(&config).err()),
        ("init of no config", &|| SequenceStorage::<1>::new().init(&Config::new(0, 1, &FLAT)).err()),
        ("install", &|| registry.install("chat", &cache).err()),
        ("install, no key", &|| registry.install("", &cache).err()),
        ("get", &|| registry.get("nobody").err()),
        ("get, no key", &|| registry.get("\0").err()),
        ("erase", &|| registry.erase("nobody").err()),
        ("key_at", &|| registry.key_at(1).err()),
        ("open", &|| Session::open(&registry, Some("chat"), &cache).err()),
        ("open, no key", &|| Session::open(&registry, Some(""), &cache).err()),
        ("plan", &|| cache.plan(0, 6, 0).err()),
        ("plan, too much", &|| cache.plan(0, 6, 3).err()),
        ("plan, no layer", &|| cache.plan(1, 6, 1).err()),
        ("commit", &|| cache.commit(&SeqPlan { n_tokens: 1, ..SeqPlan::EMPTY }, 1).err()),
        ("rewind", &|| cache.rewind(2).err()),
        ("rewind, forwards", &|| cache.rewind(7).err()),
        ("can_extend", &|| cache.can_extend(0).err()),
        ("layer", &|| cache.layer(1).err()),
    ];
    for (name, call) in calls {
        let (error, events) = told(call);
        assert_eq!(events, refused(error.expect(name)), "{name}");
    }
    let (error, events) = told(|| cache.plan_step(6, 1, &mut plans).err());
    assert_eq!((error, events), (Some(Error::BufferTooSmall), refused(Error::BufferTooSmall)));
    let mut words = [std::mem::MaybeUninit::uninit(); 2];
    let (error, events) = told(|| kvcore::sequence_in(&mut words, &config).err());
    assert_eq!((error, events), (Some(Error::BufferTooSmall), refused(Error::BufferTooSmall)));
    registry.register_sequence().expect("room");
    let (error, events) =
        told(|| registry.build(kvcore::BUILT_IN, kvcore::SEQUENCE, &config, &mut words).err());
    assert_eq!((error, events), (Some(Error::BufferTooSmall), refused(Error::BufferTooSmall)));
    let (error, events) = told(|| registry.builder_size(c"none", c"none", &config).err());
    assert_eq!((error, events), (Some(Error::NotFound), refused(Error::NotFound)));
    let (error, events) = told(|| registry.unregister_builder(c"none", c"none").err());
    assert_eq!((error, events), (Some(Error::NotFound), refused(Error::NotFound)));
}

/// A held lock is an event of its own, and a guard that gave up is another.
#[cfg(not(feature = "critical-section"))]
#[test]
fn what_is_busy_and_what_leaks() {
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

    let storage = SequenceStorage::<1>::new();
    let registry = Registry::new();
    let cache = storage.init(&Config::new(8, 1, &FLAT)).expect("empty storage");
    let session = Session::open(&registry, Some("chat"), &cache).expect("room");
    let busy: Told = (Event::Busy, Some(Error::Busy), None);
    // SAFETY: a registry begins with its magic, aligned to 8, and the byte of its lock.
    let lock = unsafe { AtomicU8::from_ptr((&raw const registry).cast::<u8>().add(8).cast_mut()) };
    lock.store(1, Relaxed);
    assert_eq!(told(|| registry.count()), (Err(Error::Busy), vec![busy.clone()]));
    assert_eq!(told(|| drop(session)), ((), vec![busy, keyed(Event::Leaked, "chat")]));
    lock.store(0, Relaxed);
    assert_eq!(told(|| registry.erase("chat")), (Ok(()), vec![keyed(Event::Erased, "chat")]));
}

/// The hook runs without a lock: it may look at what has just changed.
#[test]
fn a_hook_may_call_the_library() {
    static STORAGE: SequenceStorage<1> = SequenceStorage::new();
    let cache = STORAGE.init(&Config::new(8, 1, &FLAT)).expect("empty storage");
    COUNTS.set(Some(Vec::new()));
    let ((), events) = told(|| {
        LOOKED_AT.install("chat", &cache).expect("an empty registry");
        LOOKED_AT.erase("chat").expect("installed");
        drop(cache);
    });
    assert_eq!(events, [keyed(Event::Installed, "chat"), keyed(Event::Erased, "chat"), ENDED]);
    assert_eq!(COUNTS.take(), Some(vec![Ok(1), Ok(0), Ok(0)]));
}

#[test]
fn the_hook_is_told_nothing_when_it_is_off() {
    // Not with the others: the hook is everybody's. A process of its own would be the same as this.
    let told_to_nobody = std::process::Command::new(std::env::current_exe().expect("a test is a program"))
        .args(["--exact", "without_a_hook", "--ignored"])
        .status();
    assert!(told_to_nobody.expect("it runs").success());
}

#[test]
#[ignore = "run by the_hook_is_told_nothing_when_it_is_off, in a process of its own"]
fn without_a_hook() {
    let registry = Registry::new();
    assert!(registry.get("nobody").is_err());
    set_event_hook(Some(record));
    assert!(registry.get("nobody").is_err());
    set_event_hook(None);
    assert!(registry.get("nobody").is_err());
    assert_eq!(TOLD.take(), refused(Error::NotFound));
}
