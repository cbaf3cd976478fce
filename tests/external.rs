//! Caches that somebody else implements, behind the same reference and in the same registry.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use kvcore::{
    CacheRef, Config, Error, ExternalCache, ExternalStorage, Face, Layer, Registry, SeqPlan, SequenceCache,
    Session,
};

/// Offers nothing.
struct Silent;

impl ExternalCache for Silent {}

#[test]
fn what_is_not_offered_is_the_wrong_kind() {
    let storage = ExternalStorage::new();
    let cache = storage.init(&Silent).expect("empty storage");
    let mut plans = [SeqPlan::EMPTY; 8];
    assert_eq!(cache.kind(), kvcore::KIND_SEQUENCE);
    assert_eq!(cache.capacity(), Err(Error::WrongKind));
    assert_eq!(cache.clear(), Err(Error::WrongKind));
    assert_eq!(cache.length(), Err(Error::WrongKind));
    assert_eq!(cache.can_extend(1), Err(Error::WrongKind));
    assert_eq!(cache.rewind(0), Err(Error::WrongKind));
    assert_eq!(cache.rewind_floor(), Err(Error::WrongKind));
    assert_eq!(cache.plan(0, 0, 1), Err(Error::WrongKind));
    assert_eq!(cache.plan_step(0, 1, &mut plans), Err(Error::WrongKind));
    assert_eq!(cache.commit(&SeqPlan { n_tokens: 1, ..SeqPlan::EMPTY }, 0), Err(Error::WrongKind));
    assert_eq!(cache.config().err(), Some(Error::WrongKind));
    assert_eq!(cache.layer(0).err(), Some(Error::WrongKind));
    assert_eq!(plans, [SeqPlan::EMPTY; 8]);
    let many = [
        cache.declare_step(&[0]).err(),
        cache.can_admit(0, 1).err(),
        cache.seq_new().err(),
        cache.seq_clone(0, 0).err(),
        cache.seq_remove(0, 0, 1).err(),
        cache.seq_release(0).err(),
        cache.seq_keep(0).err(),
        cache.seq_shift(0, 0, 1, 1).err(),
        cache.batch_rewind(0, 0).err(),
        cache.seq_len(0).err(),
        cache.next_pos(0).err(),
        cache.first_pos(0).err(),
        cache.free_rows().err(),
        cache.place_cells(0, &[0], &mut [0]).err(),
        cache.cell_mask_bytes(0, &mut [0], 1).err(),
        cache.cell_mask_bits(0, &mut [0], 1).err(),
        cache.n_cell_shifts(0).err(),
        cache.cell_shifts(0, &mut []).err(),
        cache.shifts_done().err(),
        cache.defrag(0, &mut []).err(),
        cache.place_rows(0, &[0], &mut []).err(),
        cache.rows_held(0, 0, &mut []).err(),
    ];
    assert!(many.iter().all(|answer| *answer == Some(Error::WrongKind)), "{many:?}");
}

/// Plays a family by number.
struct Playing<const KIND: u32>;

impl<const KIND: u32> ExternalCache for Playing<KIND> {
    const KIND: u32 = KIND;
}

#[test]
fn a_family_is_one_of_four() {
    let storage = ExternalStorage::new();
    assert_eq!(storage.init(&Playing::<0>).err(), Some(Error::InvalidArgument));
    assert_eq!(storage.init(&Playing::<5>).err(), Some(Error::InvalidArgument));
    assert_eq!(storage.init(&Playing::<{ u32::MAX }>).err(), Some(Error::InvalidArgument));
    // A refusal leaves the storage free, and so does the end of a cache.
    assert_eq!(storage.init(&Playing::<1>).map(|cache| cache.kind()).ok(), Some(1));
    assert_eq!(storage.init(&Playing::<2>).map(|cache| cache.kind()).ok(), Some(2));
    let cache = storage.init(&Playing::<4>).expect("free storage");
    assert_eq!(storage.init(&Playing::<3>).err(), Some(Error::AlreadyExists));
    // What it plays opens no door: calls go by what it is.
    assert_eq!((cache.kind(), cache.plan(0, 0, 1).err()), (4, Some(Error::WrongKind)));
}

/// One of our own caches in foreign clothes.
struct Wrapped(Mutex<SequenceCache<2>>);

impl Wrapped {
    fn new(config: &Config<'_>) -> Self {
        Self(Mutex::new(SequenceCache::new(config).expect("a sound config")))
    }

    fn with<R>(&self, call: impl FnOnce(&mut SequenceCache<2>) -> R) -> R {
        call(&mut self.0.lock().expect("no panic"))
    }
}

impl ExternalCache for Wrapped {
    fn capacity(&self) -> Result<u32, Error> {
        Ok(self.with(|cache| cache.capacity()))
    }

    fn clear(&self) -> Result<(), Error> {
        self.with(SequenceCache::clear);
        Ok(())
    }

    fn can_extend(&self, n: u32) -> Result<bool, Error> {
        self.with(|cache| cache.can_extend(n))
    }

    fn length(&self) -> Result<u32, Error> {
        Ok(self.with(|cache| cache.length()))
    }

    fn rewind(&self, length: u32) -> Result<(), Error> {
        self.with(|cache| cache.rewind(length))
    }

    fn rewind_floor(&self) -> Result<u32, Error> {
        Ok(self.with(|cache| cache.rewind_floor()))
    }

    fn plan(&self, layer: u32, position: u32, n: u32) -> Result<SeqPlan, Error> {
        self.with(|cache| cache.plan(layer, position, n))
    }

    fn plan_step(&self, position: u32, n: u32, plans: &mut [SeqPlan]) -> Result<usize, Error> {
        self.with(|cache| {
            let n_groups = cache.n_groups();
            if plans.len() < n_groups { Ok(n_groups) } else { cache.plan_step(position, n, plans) }
        })
    }

    fn commit(&self, plan: &SeqPlan, accepted: u32) -> Result<(), Error> {
        self.with(|cache| cache.commit(plan, accepted))
    }
}

/// The same calls on a built-in cache and on a foreign one, looked up by key.
#[test]
fn a_foreign_cache_answers_like_a_built_in_one() {
    let layers = [Layer::ring(4).with_sinks(1), Layer::flat()];
    let config = Config { max_write: 3, ..Config::new(24, 2, &layers) };
    let (wrapped, ours, foreign) =
        (Wrapped::new(&config), kvcore::SequenceStorage::<2>::new(), ExternalStorage::new());
    let registry = Registry::new();
    let sessions = [
        Session::open(&registry, Some("ours"), &ours.init(&config).expect("empty")).expect("room"),
        Session::open(&registry, Some("foreign"), &foreign.init(&wrapped).expect("empty")).expect("room"),
    ];
    let [ours, foreign] = ["ours", "foreign"].map(|key| registry.get(key).expect("installed"));
    let same = |call: &dyn Fn(&CacheRef<'_>) -> String| assert_eq!(call(&ours), call(&foreign));
    let mut position = 0;
    for (n, accepted) in
        [(3, 3), (1, 1), (3, 0), (4, 1), (2, 1), (3, 3), (3, 3), (0, 0), (3, 3), (9, 9), (3, 2)]
    {
        same(&|cache| {
            let mut plans = [SeqPlan::EMPTY; 3];
            let short = cache.plan_step(position, n, &mut plans[..1]);
            assert_eq!((short, plans), (Err(Error::BufferTooSmall), [SeqPlan::EMPTY; 3]));
            let planned = cache.plan_step(position, n, &mut plans);
            let again = [cache.plan(0, position, n), cache.plan(1, position, n), cache.plan(2, position, n)];
            format!("{planned:?} {plans:?} {again:?}")
        });
        same(&|cache| {
            let plan = cache.plan(0, position, n).unwrap_or(SeqPlan::EMPTY);
            format!("{:?} {:?}", cache.commit(&plan, accepted), cache.commit(&plan, accepted + 1))
        });
        same(&|cache| format!("{:?} {:?}", cache.length(), cache.rewind_floor()));
        same(&|cache| format!("{:?} {:?} {:?}", cache.can_extend(n), cache.can_extend(24), cache.capacity()));
        position = ours.length().expect("the lock is free");
    }
    assert_eq!(position, 16);
    for length in [17, 3, position - 1, 1] {
        same(&|cache| format!("{:?} {:?}", cache.rewind(length), cache.length()));
    }
    same(&|cache| format!("{:?} {:?}", cache.clear(), cache.length()));
    drop((ours, foreign, sessions));
    assert_eq!(registry.count(), Ok(0));
    assert_eq!(wrapped.with(|cache| cache.length()), 0, "the object is its owner's");
}

/// A cache that calls the library from within a call.
struct Nosy {
    calls: AtomicU32,
    registry: &'static Registry<'static>,
}

// SAFETY: the name belongs to this type alone.
unsafe impl Face for Nosy {
    const NAME: &'static std::ffi::CStr = c"external.nosy";
}

impl ExternalCache for Nosy {
    fn length(&self) -> Result<u32, Error> {
        let own = self.registry.get("nosy")?;
        // Its own lock and the registry's are free, or these would be busy.
        own.face::<Self>()?;
        self.registry.count()?;
        Ok(self.calls.fetch_add(1, Relaxed))
    }

    fn capacity(&self) -> Result<u32, Error> {
        self.registry.get("nosy")?.length()
    }

    fn clear(&self) -> Result<(), Error> {
        self.registry.erase("nosy")
    }
}

#[test]
fn foreign_code_runs_without_any_lock() {
    static REGISTRY: Registry<'static> = Registry::new();
    static NOSY: Nosy = Nosy { calls: AtomicU32::new(0), registry: &REGISTRY };
    static STORAGE: ExternalStorage = ExternalStorage::new();
    let cache = STORAGE.init(&NOSY).expect("empty storage");
    assert_eq!(REGISTRY.install("nosy", &cache), Ok(()));
    assert_eq!(cache.length(), Err(Error::NotFound), "an error of the object passes through");
    assert_eq!(cache.set_face(&NOSY), Ok(()));
    assert_eq!((cache.length(), cache.capacity(), cache.length()), (Ok(0), Ok(1), Ok(2)));
    assert_eq!((cache.clear(), cache.length()), (Ok(()), Err(Error::NotFound)));
    assert_eq!(REGISTRY.count(), Ok(0));
}
