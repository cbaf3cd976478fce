//! Which configs are refused, for every reason there is, and what stands just inside each limit.

use std::mem::MaybeUninit;

use kvcore::config::{KEEP_CELLS, SPLIT_POOLS};
use kvcore::limits::{MAX_GROUPS, MAX_LAYERS};
use kvcore::{Config, Error, Layer, Registry, SequenceCache, SequenceStorage, UNBOUNDED};

const FLAT: Layer = Layer::flat();
const RING: Layer = Layer::ring(4);

fn with(capacity: u32, layers: &[Layer]) -> Config<'_> {
    Config::new(capacity, u32::try_from(layers.len()).expect("few layers"), layers)
}

/// Every way in which a config is looked at gives the same answer.
fn assert_check(config: &Config<'_>, expected: Result<(), Error>, why: &str) {
    assert_eq!(config.check(), expected, "{why}");
    assert_eq!(SequenceCache::<{ MAX_LAYERS }>::new(config).map(|_| ()), expected, "{why}");
    assert_eq!(kvcore::sequence_size(config).map(|_| ()), expected, "{why}");
    let storage = SequenceStorage::<{ MAX_LAYERS }>::new();
    assert_eq!(storage.init(config).map(drop), expected, "{why}");
    let mut words = [MaybeUninit::uninit(); 150];
    assert_eq!(kvcore::sequence_in(&mut words, config).map(drop), expected, "{why}");
    let registry = Registry::new();
    registry.register_sequence().expect("an empty table");
    let (backend, kind) = (kvcore::BUILT_IN, kvcore::SEQUENCE);
    assert_eq!(registry.builder_size(backend, kind, config).map(|_| ()), expected, "{why}");
    assert_eq!(registry.build(backend, kind, config, &mut words).map(drop), expected, "{why}");
    // A refusal leaves the storage free.
    assert_eq!(storage.init(&with(8, &[FLAT])).map(drop), Ok(()), "{why}");
}

fn assert_refused(config: &Config<'_>, why: &str) {
    assert_check(config, Err(Error::InvalidConfig), why);
}

fn assert_sound(config: &Config<'_>, why: &str) {
    assert_check(config, Ok(()), why);
}

#[test]
fn counts_of_layers() {
    assert_refused(&Config::new(64, 0, &[FLAT]), "no layer");
    assert_refused(&Config::new(64, 0, &[]), "no layer and no entry");
    assert_refused(&Config::new(64, 1, &[]), "no entry");
    assert_refused(&Config::new(64, 3, &[FLAT; 2]), "fewer entries than layers");
    assert_refused(&Config::new(64, 2, &[FLAT; 3]), "more entries than layers");
    assert_refused(&Config::new(64, 256, &[FLAT]), "256 layers");
    assert_refused(&with(64, &[FLAT; 256]), "256 layers, one entry each");
    assert_refused(&Config::new(64, u32::MAX, &[FLAT]), "2^32 - 1 layers");
    assert_refused(&Config::new(64, 257, &[FLAT]), "more layers than a byte counts");
    assert_sound(&Config::new(64, 255, &[FLAT]), "255 layers");
    assert_sound(&with(64, &[FLAT; 255]), "255 layers, one entry each");
    assert_sound(&Config::new(64, 1, &[FLAT]), "one layer");
    assert_sound(&Config::new(64, 2, &[FLAT]), "one entry for two layers");
}

#[test]
fn layers_that_contradict_themselves() {
    for kind in [2, 3, 255, 256, u32::MAX] {
        assert_refused(&with(64, &[Layer { kind, ..FLAT }]), "an unknown kind");
        assert_refused(&with(64, &[FLAT, Layer { kind, ..RING }]), "an unknown kind further on");
    }
    assert_refused(&with(64, &[Layer { window: 0, ..RING }]), "a ring without a window");
    assert_refused(&with(64, &[FLAT, Layer { window: 0, ..RING }.with_sinks(2)]), "a ring of sinks alone");
    assert_refused(&with(64, &[Layer { window: 1, ..FLAT }]), "a flat layer with a window");
    assert_refused(&with(64, &[FLAT.with_sinks(1)]), "a flat layer with sinks");
    assert_sound(&with(64, &[Layer::ring(1)]), "a window of the query alone");
    assert_sound(&with(64, &[Layer::ring(u32::MAX)]), "a window beyond everything");
}

#[test]
fn capacities() {
    assert_refused(&with(0, &[FLAT]), "no capacity");
    assert_refused(&with(0, &[RING]), "no capacity, ring");
    assert_refused(&with(UNBOUNDED, &[FLAT]), "a flat layer without a bound");
    assert_refused(&with(UNBOUNDED, &[RING, FLAT]), "one flat layer among others without a bound");
    let bounded = Config { max_context: 64, ..with(UNBOUNDED, &[FLAT]) };
    assert_refused(&bounded, "max_context does not bound a pool");
    assert_sound(&with(1, &[FLAT]), "one position");
    assert_sound(&with(UNBOUNDED - 1, &[FLAT]), "the largest pool");
    assert_sound(&with(UNBOUNDED, &[RING]), "windows alone");
    for sinks in [5, 6, UNBOUNDED] {
        assert_refused(&with(5, &[RING.with_sinks(sinks)]), "sinks that fill the capacity");
        assert_refused(&with(5, &[FLAT, RING.with_sinks(sinks)]), "sinks that fill it, further on");
    }
    assert_refused(&with(UNBOUNDED, &[RING.with_sinks(UNBOUNDED)]), "as many sinks as positions");
    assert_sound(&with(5, &[RING.with_sinks(4)]), "sinks that leave one row");
    assert_sound(&with(UNBOUNDED, &[RING.with_sinks(UNBOUNDED - 1)]), "the same at the far end");
}

#[test]
fn donors() {
    let ring = RING.with_sinks(1).with_heads(2, 64);
    assert_sound(&with(64, &[ring, ring.sharing(0)]), "a donor before its sharer");
    assert_sound(&with(64, &[ring, ring.sharing(0), ring.sharing(1), ring.sharing(0)]), "chains");
    assert_refused(&with(64, &[ring.sharing(0)]), "a layer that is its own donor");
    assert_refused(&with(64, &[ring, ring.sharing(1)]), "its own donor, further on");
    assert_refused(&with(64, &[ring.sharing(1), ring]), "a donor after its sharer");
    assert_refused(&with(64, &[ring, ring.sharing(2)]), "a donor that is no layer");
    for shares_with in [256, 257, u32::MAX] {
        assert_refused(&with(64, &[ring, Layer { shares_with, ..ring }]), "a donor far away");
    }
    assert_refused(&Config::new(64, 4, &[ring.sharing(0)]), "one entry for all cannot share");
    for other in [
        FLAT.with_heads(2, 64),
        Layer { window: 5, ..ring },
        Layer { sinks: 2, ..ring },
        Layer { n_kv_heads: 3, ..ring },
        Layer { head_dim: 65, ..ring },
    ] {
        assert_refused(&with(64, &[other, ring.sharing(0)]), "a donor of another layout");
        assert_sound(&with(64, &[other, ring, ring.sharing(1)]), "past a layer of another layout");
    }
    let last = [&[FLAT; 254][..], &[FLAT.sharing(253)]].concat();
    assert_sound(&with(64, &last), "the last layer of the largest model shares");
    let info = SequenceCache::<255>::new(&with(64, &last)).expect("sound").layer(254);
    assert_eq!(info.map(|info| info.layer.shares_with), Ok(254));
}

#[test]
fn layer_groups() {
    let windows = |n: u32| (1..=n).map(Layer::ring).collect::<Vec<_>>();
    assert_sound(&with(64, &windows(8)), "8 groups");
    assert_refused(&with(64, &windows(9)), "9 groups");
    // Not one more: what repeats a group is no new one, and any difference makes one.
    let twice = [windows(8), windows(8)].concat();
    assert_sound(&with(64, &twice), "8 groups, twice");
    let cache = SequenceCache::<16>::new(&with(64, &twice)).expect("sound");
    assert_eq!(cache.n_groups(), MAX_GROUPS);
    assert!((0..16).all(|layer| cache.layer(layer).map(|info| info.group) == Ok(layer % 8)));
    for different in [RING.with_sinks(1), RING.with_heads(1, 0), RING.with_heads(0, 1), Layer::ring(9), FLAT]
    {
        assert_refused(&with(64, &[&twice[..], &[different]].concat()), "a ninth group at the end");
    }
    let sharing = [&windows(8)[..], &[RING.sharing(3)]].concat();
    assert_sound(&with(64, &sharing), "a sharer is of its donor's group");
}

#[test]
fn numbers_that_only_look_wrong() {
    let max = u32::MAX;
    let config = with(64, &[RING, FLAT]);
    for max_write in [0, 1, 64, 65, max] {
        for rollback in [0, 64, max] {
            for max_context in [0, 1, 64, max] {
                for initial_capacity in [0, 1, 64, max] {
                    let config = Config { max_write, rollback, max_context, initial_capacity, ..config };
                    assert_eq!(config.check(), Ok(()), "{config:?}");
                    let cache = SequenceCache::<2>::new(&config).expect("sound");
                    let resolved = cache.config();
                    assert_eq!(resolved.max_write, if max_write == 0 { 4 } else { max_write.min(64) });
                    assert_eq!((resolved.rollback, resolved.max_context), (rollback, max_context));
                    assert_eq!(resolved.initial_capacity, initial_capacity.min(64));
                    assert_eq!((resolved.capacity, resolved.n_layers, resolved.layers), (64, 2, &[][..]));
                    let bound = if max_context == 0 { 64 } else { max_context.min(64) };
                    assert_eq!(cache.can_extend(bound), Ok(true));
                    assert_eq!(cache.can_extend(bound + 1), Ok(false));
                }
            }
        }
    }
    // Fields of other kinds are not looked at.
    let others = Config { max_seqs: max, block_size: 7, max_blocks_per_seq: max, watermark: max, ..config };
    let flags = SPLIT_POOLS | KEEP_CELLS;
    assert_sound(&Config { flags, kv_dtype: i32::MIN, ..others }, "numbers of other kinds");
    for unknown in 2..32 {
        // What no kind knows would be ignored in silence.
        assert_refused(&Config { flags: flags | 1 << unknown, ..config }, "an unknown flag");
    }
    assert_eq!(
        SequenceCache::<2>::new(&Config { kv_dtype: -7, ..others }).map(|cache| cache.config().kv_dtype),
        Ok(-7)
    );
}

/// Pools, steps and lengths of the largest numbers.
#[test]
fn the_longest_step_and_the_longest_sequence() {
    let mut cache = SequenceCache::<1>::flat(UNBOUNDED - 1, 1).expect("sound");
    assert_eq!(cache.plan(0, 0, u32::MAX), Err(Error::NeverFits), "no max_write: no step is too large");
    let whole = cache.plan(0, 0, u32::MAX - 1).expect("the whole pool");
    assert_eq!(cache.commit(&whole, u32::MAX - 2), Ok(()));
    assert_eq!(cache.plan(0, u32::MAX - 2, 2), Err(Error::OutOfCapacity));
    assert_eq!(cache.plan(0, u32::MAX - 2, 1).map(|plan| plan.rows_needed), Ok(u32::MAX - 1));
    // Windows alone: to the last position that a number names.
    let layers = [Layer::ring(3).with_sinks(2)];
    let config = Config { max_write: u32::MAX, ..with(UNBOUNDED, &layers) };
    let mut cache = SequenceCache::<1>::new(&config).expect("sound");
    let first = cache.plan(0, 0, u32::MAX - 1).expect("room");
    assert_eq!(cache.commit(&first, u32::MAX - 1), Ok(()));
    assert_eq!((cache.can_extend(1), cache.can_extend(2)), (Ok(true), Ok(false)));
    let last = cache.plan(0, u32::MAX - 1, 1).expect("room");
    assert_eq!((last.read_len, cache.commit(&last, 1), cache.length()), (5, Ok(()), u32::MAX));
    assert_eq!(cache.can_extend(1), Ok(false));
    assert_eq!(cache.plan(0, u32::MAX, 1), Err(Error::OutOfCapacity));
    assert_eq!(cache.rewind(u32::MAX), Ok(()));
}

/// The size is a formula, so that storage can be static.
#[test]
fn storage_of_every_number_of_layers() {
    for n_layers in [1, 2, 3, 4, 26, 34, 254, 255] {
        let layers = [FLAT];
        let config = Config::new(64, n_layers, &layers);
        let size = kvcore::sequence_size(&config).expect("sound");
        let formula = 16 + 16 * size_of::<usize>() + 288 + 2 * n_layers as usize;
        assert_eq!(size, formula.next_multiple_of(8));
        let mut words = vec![MaybeUninit::uninit(); size / 8];
        let short = &mut words[1..];
        assert_eq!(kvcore::sequence_in(short, &config).err(), Some(Error::BufferTooSmall));
        let cache = kvcore::sequence_in(&mut words, &config).expect("room");
        assert_eq!(cache.layer(n_layers - 1).map(|info| info.rows), Ok(64));
        assert_eq!(cache.layer(n_layers).err(), Some(Error::BadLayer));
    }
    assert!(kvcore::sequence_size(&Config::new(64, 34, &[FLAT])).is_ok_and(|size| size <= 512));
    let config = Config::new(64, 3, &[FLAT]);
    assert_eq!(SequenceCache::<2>::new(&config).err(), Some(Error::BufferTooSmall));
    assert_eq!(SequenceStorage::<2>::new().init(&config).err(), Some(Error::BufferTooSmall), "3 layers in 2");
    assert_eq!(SequenceCache::<0>::new(&config).err(), Some(Error::BufferTooSmall));
}
