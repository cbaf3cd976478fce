//! Many-sequence caches behind a counted reference: storage of the size that is told, owners in any order, locks that are
//! held, and calls of another kind.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use kvcore::config::SPLIT_POOLS;
use kvcore::{
    CacheRef, Config, Error, Layer, Move, Registry, Run, SeqPlan, SequenceStorage, Session, Shift, Span,
    UNBOUNDED,
};

const LAYERS: [Layer; 3] = [Layer::ring(4).with_sinks(1), Layer::flat(), Layer::ring(4).with_sinks(1)];

fn config(max_seqs: u32) -> Config<'static> {
    Config { max_seqs, max_write: 4, ..Config::new(24, 3, &LAYERS) }
}

type Words = Vec<MaybeUninit<u64>>;

fn words(size: Result<usize, Error>) -> Words {
    vec![MaybeUninit::uninit(); size.expect("a sound config") / 8]
}

/// What is told is enough and not a word too much, whatever the storage holds.
#[test]
fn storage_has_the_size_that_is_told() {
    // What stands before the words, of each kind.
    let mut before = [None; 2];
    for max_seqs in [1, 2, 63, 64] {
        for (capacity, max_write) in [(1, 0), (24, 4), (33, 5), (100, 0), (1000, 32)] {
            let config = Config { max_write, flags: SPLIT_POOLS, ..Config::new(capacity, 3, &LAYERS) };
            let config = Config { capacity: capacity.max(2), max_seqs, ..config };
            let sizes =
                [kvcore::cells_size(&config), kvcore::rows_size(&config)].map(|size| size.expect("sound"));
            let counts =
                [kvcore::cell_words(&config), kvcore::rows_words(&config)].map(|words| words.expect("sound"));
            let kinds = [kvcore::cells_in, kvcore::rows_in].into_iter().zip(&mut before);
            for ((size, count), (build, before)) in sizes.into_iter().zip(counts).zip(kinds) {
                let rest = size - 4 * count;
                assert_eq!((size % 8, rest / 8), (0, *before.get_or_insert(rest / 8)), "{count} words");
                let mut words = vec![MaybeUninit::new(u64::MAX); size / 8 + 1];
                let (storage, guard) = words.split_at_mut(size / 8);
                assert_eq!(build(&mut storage[1..], &config).err(), Some(Error::BufferTooSmall));
                assert_eq!(build(&mut [], &config).err(), Some(Error::BufferTooSmall));
                let cache = build(storage, &config).expect("room");
                assert_eq!(
                    (cache.seq_new(), cache.seq_len(0), cache.layer(2).map(|layer| layer.group)),
                    (Ok(0), Ok(0), Ok(0))
                );
                assert_eq!(cache.clear(), Ok(()));
                // SAFETY: the guard was written above.
                assert_eq!(unsafe { guard[0].assume_init() }, u64::MAX);
            }
        }
    }
}

#[test]
fn configs_that_contradict_themselves_build_nothing() {
    let sound = config(2);
    let mut words = words(kvcore::cells_size(&config(64)));
    let mut check = |bad: Config<'_>, cells: bool, rows: bool| {
        let refused = |refused: bool| refused.then_some(Error::InvalidConfig);
        assert_eq!(kvcore::cells_size(&bad).err(), refused(cells));
        assert_eq!(kvcore::rows_size(&bad).err(), refused(rows));
        assert_eq!(kvcore::cells_in(&mut words, &bad).err(), refused(cells));
        assert_eq!(kvcore::rows_in(&mut words, &bad).err(), refused(rows));
    };
    check(sound, false, false);
    check(Config { max_seqs: 0, ..sound }, true, true);
    check(Config { max_seqs: 65, ..sound }, true, false);
    check(Config { max_seqs: 4097, ..sound }, true, true);
    check(Config { capacity: 0, ..sound }, true, true);
    check(Config { flags: 4, ..sound }, true, true);
    check(Config { flags: 1 << 31, ..sound }, true, true);
    check(Config { capacity: UNBOUNDED, layers: &LAYERS[..1], ..sound }, true, true);
    check(Config { n_layers: 2, ..sound }, true, true);
}

/// The creator, the entry, the session and the backend: any of them may go first.
#[test]
fn any_party_may_go_first() {
    for build in [kvcore::cells_in, kvcore::rows_in] {
        for last in 0..4 {
            let config = config(3);
            let mut storage = vec![MaybeUninit::uninit(); 1024];
            let cache = build(&mut storage, &config).expect("room");
            let registry = Registry::new();
            registry.install("chat", &cache).expect("an empty registry");
            let mut session = Some(Session::open(&registry, None, &cache).expect("room"));
            let mut backend = Some(registry.get("chat").expect("installed"));
            assert_eq!(cache.seq_new(), Ok(0));
            let mut creator = Some(cache);
            for party in (0..4).cycle().skip(last + 1).take(3) {
                match party {
                    0 => creator = None,
                    1 => registry.erase("chat").expect("installed"),
                    2 => session = None,
                    _ => backend = None,
                }
            }
            // Whoever is left finds the cache as it was.
            let from_entry = (last == 1).then(|| registry.get("chat").expect("installed"));
            let from_session =
                session.as_ref().map(|session| session.cache().retain().expect("few references"));
            let left = [creator, from_entry, from_session, backend];
            let left: Vec<_> = left.into_iter().flatten().collect();
            assert_eq!(left.len(), 1);
            assert_eq!(left[0].seq_len(0), Ok(0));
            assert_eq!(left[0].seq_new(), Ok(1));
        }
    }
}

/// Every call of the many-sequence faces, in one form.
fn every_batch_call(cache: &CacheRef<'_>) -> Vec<Option<Error>> {
    vec![
        cache.declare_step(&[0]).err(),
        cache.can_admit(0, 1).err(),
        cache.seq_new().err(),
        cache.seq_clone(0, 0).err(),
        cache.seq_release(0).err(),
        cache.seq_keep(0).err(),
        cache.batch_rewind(0, 0).err(),
        cache.seq_len(0).err(),
        cache.next_pos(0).err(),
        cache.first_pos(0).err(),
        cache.free_rows().err(),
    ]
}

fn every_cells_call(cache: &CacheRef<'_>) -> Vec<Option<Error>> {
    vec![
        cache.seq_remove(0, 0, 1).err(),
        cache.seq_shift(0, 0, 1, 1).err(),
        cache.place_cells(0, &[0], &mut [0]).err(),
        cache.cell_mask_bytes(0, &mut [0], 1).err(),
        cache.cell_mask_bits(0, &mut [0], 1).err(),
        cache.n_cell_shifts(0).err(),
        cache.cell_shifts(0, &mut [Shift::default()]).err(),
        cache.shifts_done().err(),
        cache.defrag(0, &mut [Move::default()]).err(),
    ]
}

fn every_rows_call(cache: &CacheRef<'_>) -> Vec<Option<Error>> {
    vec![
        cache.place_rows(0, &[0], &mut [Span::default()]).err(),
        cache.rows_held(0, 0, &mut [Run::default(); 3]).err(),
    ]
}

fn every_sequence_call(cache: &CacheRef<'_>) -> Vec<Option<Error>> {
    let plan = SeqPlan { n_tokens: 1, ..SeqPlan::EMPTY };
    vec![
        cache.can_extend(1).err(),
        cache.length().err(),
        cache.rewind(0).err(),
        cache.rewind_floor().err(),
        cache.plan(0, 0, 1).err(),
        cache.plan_step(0, 1, &mut [SeqPlan::EMPTY; 8]).err(),
        cache.commit(&plan, 0).err(),
    ]
}

fn all_are(answers: &[Option<Error>], error: Error) {
    assert!(answers.iter().all(|answer| *answer == Some(error)), "{answers:?}");
}

#[test]
fn calls_of_another_kind_are_the_wrong_kind() {
    let config = config(2);
    let storage = SequenceStorage::<3>::new();
    let sequence = storage.init(&config).expect("empty storage");
    all_are(&every_batch_call(&sequence), Error::WrongKind);
    all_are(&every_cells_call(&sequence), Error::WrongKind);
    all_are(&every_rows_call(&sequence), Error::WrongKind);
    let mut words = words(kvcore::cells_size(&config));
    let cells = kvcore::cells_in(&mut words, &config).expect("room");
    assert_eq!((cells.seq_new(), cells.declare_step(&[0])), (Ok(0), Ok(())));
    all_are(&every_sequence_call(&cells), Error::WrongKind);
    all_are(&every_rows_call(&cells), Error::WrongKind);
    assert!(cells.place_cells(0, &[0], &mut [0]).is_ok(), "the step was left alone");
    let mut words = vec![MaybeUninit::uninit(); 1024];
    let rows = kvcore::rows_in(&mut words, &config).expect("room");
    assert_eq!((rows.seq_new(), rows.declare_step(&[0])), (Ok(0), Ok(())));
    all_are(&every_sequence_call(&rows), Error::WrongKind);
    all_are(&every_cells_call(&rows), Error::WrongKind);
    assert!(rows.place_rows(0, &[0], &mut [Span::default()]).is_ok(), "the step was left alone");
}

/// What no cache accepts is refused before anything is looked at.
#[test]
fn arguments_come_before_kinds() {
    let config = config(2);
    let storage = SequenceStorage::<3>::new();
    let mut words = words(kvcore::cells_size(&config));
    let caches =
        [storage.init(&config).expect("empty"), kvcore::cells_in(&mut words, &config).expect("room")];
    for cache in caches {
        let answers = [
            cache.declare_step(&[]).err(),
            cache.can_admit(9, 0).err(),
            cache.seq_remove(9, 2, 1).err(),
            cache.seq_shift(9, 2, 1, 1).err(),
            cache.place_cells(9, &[], &mut []).err(),
            cache.place_rows(9, &[], &mut []).err(),
        ];
        all_are(&answers, Error::InvalidArgument);
    }
}

/// While somebody holds the lock: what waits gives up with `Busy`, and has changed nothing.
#[cfg(not(feature = "critical-section"))]
#[test]
fn a_held_cache_answers_busy() {
    use std::sync::atomic::AtomicU8;

    use kvcore::KIND_CELLS;

    let config = config(2);
    for build in [kvcore::cells_in, kvcore::rows_in] {
        let mut words = vec![MaybeUninit::uninit(); 1024];
        let cache = build(&mut words, &config).expect("room");
        assert_eq!((cache.seq_new(), cache.declare_step(&[0])), (Ok(0), Ok(())));
        // SAFETY: the third word of a header is its lock, a spin lock's byte over nothing.
        let lock = unsafe { AtomicU8::from_ptr(cache.as_raw().as_ptr().cast::<u8>().add(8)) };
        assert_eq!(lock.swap(1, Relaxed), 0, "nobody is in a call");
        all_are(&every_batch_call(&cache), Error::Busy);
        let own = if cache.kind() == KIND_CELLS { every_cells_call(&cache) } else { every_rows_call(&cache) };
        all_are(&own, Error::Busy);
        all_are(
            &[cache.capacity().err(), cache.clear().err(), cache.layer(0).err(), cache.config().err()],
            Error::Busy,
        );
        all_are(&every_sequence_call(&cache), Error::WrongKind);
        lock.store(0, Relaxed);
        assert_eq!((cache.seq_len(0), cache.seq_new()), (Ok(0), Ok(1)));
    }
}

/// Threads that open, clone and end sequences at once: an id has one owner at a time.
#[test]
fn threads_share_a_cache() {
    let config = config(12);
    for build in [kvcore::cells_in, kvcore::rows_in] {
        let mut words = vec![MaybeUninit::uninit(); 1024];
        let cache = build(&mut words, &config).expect("room");
        let owned = AtomicU32::new(0);
        let take =
            |id: u32| assert_eq!(owned.fetch_or(1 << id, Relaxed) >> id & 1, 0, "{id} is somebody else's");
        let give_back = |cache: &CacheRef<'_>, id: u32| {
            owned.fetch_and(!(1 << id), Relaxed);
            cache.seq_release(id).expect("my own");
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let cache = cache.retain().expect("few references");
                scope.spawn(move || {
                    for _ in 0..500 {
                        let seq = cache.seq_new().expect("three for each thread");
                        take(seq);
                        let clones =
                            [(); 2].map(|()| cache.seq_clone(seq, UNBOUNDED).expect("three for each thread"));
                        for id in clones {
                            take(id);
                        }
                        assert_eq!(cache.seq_len(clones[1]), Ok(0));
                        for id in [seq, clones[0], clones[1]] {
                            give_back(&cache, id);
                        }
                    }
                });
            }
        });
        assert_eq!((owned.load(Relaxed), cache.seq_new(), cache.free_rows()), (0, Ok(0), Ok(24)));
    }
}
