//! Builders: found by name, called outside the lock with the config as it was given, and believed only as far
//! as they built something.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::sync::Mutex;

use kvcore::limits::{MAX_BUILDERS, MAX_NAME};
use kvcore::{
    BUILT_IN, BuildCache, CELLS, CacheRef, Config, Error, KIND_CELLS, KIND_ROWS, Layer, ROWS, Registry,
    SEQUENCE, SequenceBuilder,
};

const FLAT: [Layer; 1] = [Layer::flat()];

fn config() -> Config<'static> {
    Config::new(64, 1, &FLAT)
}

/// Names for as many builders as anyone wants.
fn name(number: usize) -> &'static CStr {
    Box::leak(CString::new(format!("kind {number}")).expect("no NUL").into_boxed_c_str())
}

#[test]
fn the_built_in_kind_is_registered_on_request() {
    let registry = Registry::new();
    let mut words = [MaybeUninit::uninit(); 64];
    assert_eq!(registry.build(BUILT_IN, SEQUENCE, &config(), &mut words).err(), Some(Error::NotFound));
    assert_eq!(registry.kind_at(BUILT_IN, 0), Err(Error::NotFound));
    assert_eq!(registry.register_sequence(), Ok(()));
    assert_eq!(registry.register_sequence(), Err(Error::AlreadyExists));
    assert_eq!((BUILT_IN, SEQUENCE), (c"kvcore", c"sequence"));
    let size = registry.builder_size(BUILT_IN, SEQUENCE, &config()).expect("registered");
    assert_eq!(Ok(size), kvcore::sequence_size(&config()));
    let short = &mut words[..size / 8 - 1];
    assert_eq!(registry.build(BUILT_IN, SEQUENCE, &config(), short).err(), Some(Error::BufferTooSmall));
    assert_eq!(registry.build(BUILT_IN, SEQUENCE, &config(), &mut []).err(), Some(Error::BufferTooSmall));
    let cache = registry.build(BUILT_IN, SEQUENCE, &config(), &mut words[..size / 8]).expect("room");
    assert_eq!((cache.capacity(), cache.plan(0, 0, 2).map(|plan| plan.read_len)), (Ok(64), Ok(2)));
    let other = Registry::new();
    assert_eq!(other.builder_size(BUILT_IN, SEQUENCE, &config()), Err(Error::NotFound), "each has its own");
}

#[test]
fn the_many_sequence_kinds_are_registered_on_request() {
    let registry = Registry::new();
    let config = Config { max_seqs: 3, ..config() };
    assert_eq!((registry.register_cells(), registry.register_rows()), (Ok(()), Ok(())));
    assert_eq!(registry.register_cells(), Err(Error::AlreadyExists));
    assert_eq!(registry.register_rows(), Err(Error::AlreadyExists));
    assert_eq!((CELLS, ROWS), (c"cells", c"rows"));
    assert_eq!((registry.kind_at(BUILT_IN, 0), registry.kind_at(BUILT_IN, 1)), (Ok(CELLS), Ok(ROWS)));
    assert_eq!(registry.builder_size(BUILT_IN, SEQUENCE, &config), Err(Error::NotFound), "nobody asked");
    let sizes = [kvcore::cells_size(&config), kvcore::rows_size(&config)];
    for ((kind, number), size) in [(CELLS, KIND_CELLS), (ROWS, KIND_ROWS)].into_iter().zip(sizes) {
        assert_eq!(registry.builder_size(BUILT_IN, kind, &config), size);
        let mut words = vec![MaybeUninit::uninit(); size.expect("a sound config") / 8];
        let short = words.len() - 1;
        let refused = registry.build(BUILT_IN, kind, &config, &mut words[..short]).err();
        assert_eq!(refused, Some(Error::BufferTooSmall));
        let nobody = Config { max_seqs: 0, ..config };
        assert_eq!(registry.builder_size(BUILT_IN, kind, &nobody), Err(Error::InvalidConfig));
        let refused = registry.build(BUILT_IN, kind, &nobody, &mut words).err();
        assert_eq!(refused, Some(Error::InvalidConfig), "sound for one sequence, not for these kinds");
        let cache = registry.build(BUILT_IN, kind, &config, &mut words).expect("room");
        assert_eq!((cache.kind(), cache.capacity(), cache.free_rows()), (number, Ok(64), Ok(64)));
        assert_eq!((cache.seq_new(), cache.declare_step(&[0, 0])), (Ok(0), Ok(())));
    }
}

#[test]
fn builders_are_told_apart_by_what_their_names_say() {
    let registry = Registry::new();
    let add = |backend, kind| registry.register_builder(backend, kind, &SequenceBuilder);
    assert_eq!(add(c"one", c"flat"), Ok(()));
    assert_eq!(add(c"one", c"ring"), Ok(()));
    assert_eq!(add(c"two", c"flat"), Ok(()));
    assert_eq!(add(c"one", c"flatt"), Ok(()));
    // The same text in other memory is the same name.
    let again = CString::new("flat").expect("no NUL");
    assert_eq!(add(c"one", Box::leak(again.into_boxed_c_str())), Err(Error::AlreadyExists));
    assert_eq!(registry.kind_at(c"one", 0), Ok(c"flat"));
    assert_eq!(registry.kind_at(c"one", 1), Ok(c"ring"));
    assert_eq!(registry.kind_at(c"one", 2), Ok(c"flatt"));
    assert_eq!(registry.kind_at(c"one", 3), Err(Error::NotFound));
    assert_eq!(registry.kind_at(c"two", 0), Ok(c"flat"));
    assert_eq!(registry.kind_at(c"on", 0), Err(Error::NotFound));
    assert_eq!(registry.builder_size(c"two", c"ring", &config()), Err(Error::NotFound));
    // The order of the others stays.
    assert_eq!(registry.unregister_builder(c"one", c"flat"), Ok(()));
    assert_eq!(registry.unregister_builder(c"one", c"flat"), Err(Error::NotFound));
    assert_eq!((registry.kind_at(c"one", 0), registry.kind_at(c"one", 1)), (Ok(c"ring"), Ok(c"flatt")));
    assert_eq!(registry.kind_at(c"two", 0), Ok(c"flat"));
    assert_eq!(add(c"one", c"flat"), Ok(()));
    assert_eq!(registry.kind_at(c"one", 2), Ok(c"flat"));
}

#[test]
fn names_have_1_to_63_bytes() {
    let registry = Registry::new();
    let text = |len: usize| -> &'static CStr {
        Box::leak(CString::new("n".repeat(len)).expect("no NUL").into_boxed_c_str())
    };
    for (bad, good) in [(text(0), text(1)), (text(MAX_NAME + 1), text(MAX_NAME))] {
        for (backend, kind) in [(bad, good), (good, bad)] {
            let refused = Some(Error::NameTooLong);
            assert_eq!(registry.register_builder(backend, kind, &SequenceBuilder).err(), refused);
            assert_eq!(registry.unregister_builder(backend, kind).err(), refused);
            assert_eq!(registry.builder_size(backend, kind, &config()).err(), refused);
            assert_eq!(registry.build(backend, kind, &config(), &mut []).err(), refused);
        }
        assert_eq!(registry.kind_at(bad, 0).err(), Some(Error::NameTooLong));
        assert_eq!(registry.register_builder(good, good, &SequenceBuilder), Ok(()));
        assert!(registry.builder_size(good, good, &config()).is_ok());
    }
}

#[test]
fn a_full_table_is_refused() {
    let registry = Registry::new();
    let add = |kind| registry.register_builder(c"full", kind, &SequenceBuilder);
    let kinds: Vec<_> = (0..MAX_BUILDERS).map(name).collect();
    assert!(kinds.iter().all(|kind| add(kind) == Ok(())));
    assert_eq!(add(c"over"), Err(Error::TableFull));
    assert_eq!(add(kinds[0]), Err(Error::AlreadyExists), "a taken name comes first");
    assert_eq!(registry.unregister_builder(c"full", kinds[3 % MAX_BUILDERS]), Ok(()));
    assert_eq!((add(c"over"), add(c"more")), (Ok(()), Err(Error::TableFull)));
    assert_eq!(registry.kind_at(c"full", MAX_BUILDERS - 1), Ok(c"over"));
}

/// Writes down what it is asked, and does as it is told.
struct Witness {
    registry: &'static Registry<'static>,
    answer: Result<usize, Error>,
    asked: Mutex<Vec<String>>,
}

impl BuildCache for Witness {
    fn size(&self, config: &Config<'_>) -> Result<usize, Error> {
        self.asked.lock().expect("no panic").push(format!("{config:?}"));
        self.answer
    }

    fn build<'s>(
        &self,
        config: &Config<'_>,
        storage: &'s mut [MaybeUninit<u64>],
    ) -> Result<CacheRef<'s>, Error> {
        // Any call on the registry: its lock is free.
        self.registry.unregister_builder(c"witness", c"kind")?;
        self.asked.lock().expect("no panic").push(format!("{} {config:?}", storage.len()));
        self.answer.and_then(|_| kvcore::sequence_in(storage, config))
    }
}

#[test]
fn a_builder_runs_outside_the_lock_and_sees_the_whole_config() {
    static REGISTRY: Registry<'static> = Registry::new();
    static WITNESS: Witness =
        Witness { registry: &REGISTRY, answer: Ok(1234), asked: Mutex::new(Vec::new()) };
    let user = 7_u8;
    let layers = [Layer::ring(4).with_sinks(1).with_heads(2, 64), Layer::flat()];
    let config = Config {
        max_write: 3,
        rollback: 5,
        max_context: 40,
        initial_capacity: 9,
        kv_dtype: -2,
        max_seqs: 11,
        block_size: 12,
        max_blocks_per_seq: 13,
        watermark: 14,
        flags: 3,
        user: (&raw const user).cast(),
        ..Config::new(64, 2, &layers)
    };
    let add = || REGISTRY.register_builder(c"witness", c"kind", &WITNESS);
    assert_eq!(add(), Ok(()));
    assert_eq!(REGISTRY.builder_size(c"witness", c"kind", &config), Ok(1234));
    let mut words = [MaybeUninit::uninit(); 64];
    let cache = REGISTRY.build(c"witness", c"kind", &config, &mut words).expect("room");
    assert_eq!(cache.config().map(|config| config.rollback), Ok(5));
    assert_eq!(*WITNESS.asked.lock().expect("no panic"), [format!("{config:?}"), format!("64 {config:?}")]);
    assert_eq!(
        REGISTRY.builder_size(c"witness", c"kind", &config),
        Err(Error::NotFound),
        "it took itself off"
    );
    // A config that contradicts itself does not reach it, and a missing builder is said first.
    let bad = Config { capacity: 0, ..config };
    assert_eq!(REGISTRY.builder_size(c"witness", c"kind", &bad), Err(Error::NotFound));
    assert_eq!(add(), Ok(()));
    assert_eq!(REGISTRY.builder_size(c"witness", c"kind", &bad), Err(Error::InvalidConfig));
    let mut words = [MaybeUninit::uninit(); 64];
    let refused = REGISTRY.build(c"witness", c"kind", &bad, &mut words).err();
    assert_eq!((refused, WITNESS.asked.lock().expect("no panic").len()), (Some(Error::InvalidConfig), 2));
    assert_eq!(REGISTRY.unregister_builder(c"witness", c"kind"), Ok(()));
}

#[test]
fn what_a_builder_refuses_is_refused() {
    static REGISTRY: Registry<'static> = Registry::new();
    for code in 1..=23 {
        let error = Error::from_code(code).expect("a code");
        let witness = Witness { registry: &REGISTRY, answer: Err(error), asked: Mutex::default() };
        let registry = Registry::new();
        assert_eq!(registry.register_builder(c"refusing", c"kind", &witness), Ok(()));
        assert_eq!(REGISTRY.register_builder(c"witness", c"kind", &SequenceBuilder), Ok(()));
        let mut words = [MaybeUninit::uninit(); 64];
        assert_eq!(registry.builder_size(c"refusing", c"kind", &config()), Err(error));
        let build = registry.build(c"refusing", c"kind", &config(), &mut words);
        assert_eq!(build.err(), Some(error));
    }
}

/// Builders from C: what they answer is checked.
#[cfg(feature = "capi")]
mod from_c {
    use std::ffi::c_void;
    use std::ptr::{null, null_mut};

    use kvcore::RawConfig;
    use kvcore::capi::builder::{kvc_builder_build, kvc_builder_register, kvc_builder_size};
    use kvcore::capi::registry::{kvc_registry_deinit, kvc_registry_init, kvc_registry_size};
    use kvcore::capi::{self, kvc_cache_t, kvc_registry_t};

    unsafe extern "C" fn size(status: *mut c_void, _: *const RawConfig, _: *mut usize) -> i32 {
        // SAFETY: registered with a status as its context.
        unsafe { status.cast::<i32>().read() }
    }

    /// Never answers a cache.
    unsafe extern "C" fn build(
        status: *mut c_void,
        _: *const RawConfig,
        _: *mut c_void,
        _: usize,
        _: *mut *mut kvc_cache_t,
    ) -> i32 {
        // SAFETY: registered with a status as its context.
        unsafe { status.cast::<i32>().read() }
    }

    #[test]
    fn success_without_a_cache_is_corrupt() {
        let mut words = vec![0_u64; kvc_registry_size().div_ceil(8)];
        let mut registry: *mut kvc_registry_t = null_mut();
        let layer = kvcore::Layer::flat();
        let config = RawConfig::from(&kvcore::Config::new(8, 1, std::slice::from_ref(&layer)));
        let mut status = 0;
        let context = (&raw mut status).cast::<c_void>();
        // SAFETY: the storage is large enough, aligned and stays; the names are constants.
        unsafe {
            let storage = words.as_mut_ptr().cast();
            assert_eq!(kvc_registry_init(storage, words.len() * 8, &raw mut registry), capi::KVC_OK);
            let (backend, kind) = (c"c".as_ptr(), c"kind".as_ptr());
            let register = || kvc_builder_register(registry, backend, kind, Some(size), Some(build), context);
            assert_eq!((register(), register()), (capi::KVC_OK, capi::KVC_ERR_ALREADY_EXISTS));
            for (answer, expected) in [(0, 19), (3, 3), (23, 23), (24, 19), (-1, 19)] {
                context.cast::<i32>().write(answer);
                let (mut cache, mut storage) = (null_mut(), [0_u64; 64]);
                let storage = storage.as_mut_ptr().cast();
                let built = kvc_builder_build(
                    registry,
                    backend,
                    kind,
                    &raw const config,
                    storage,
                    512,
                    &raw mut cache,
                );
                assert_eq!((built, cache.cast_const()), (expected, null()), "it answered {answer}");
                let mut bytes = 77;
                let asked = kvc_builder_size(registry, backend, kind, &raw const config, &raw mut bytes);
                let expected = if answer == 0 { (0, 0) } else { (expected, 77) };
                assert_eq!((asked, bytes), expected, "it answered {answer}");
            }
            assert_eq!(kvc_registry_deinit(registry), capi::KVC_OK);
        }
    }
}
