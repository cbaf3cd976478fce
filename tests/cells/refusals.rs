//! Every status that a call may answer, and configs that contradict themselves.

use kvcore::config::{KEEP_CELLS, SPLIT_POOLS};
use kvcore::{CellCache, Config, Error, Layer, Move, Shift, UNBOUNDED, cell_words};

use crate::pair::on;
use crate::setup::Setup;

#[test]
fn a_config_that_contradicts_itself_builds_nothing() {
    let layers = [Layer::flat(), Layer::ring(4)];
    let sound = Config { max_seqs: 2, ..Config::new(16, 2, &layers) };
    assert!(cell_words(&sound).is_ok());
    let wrong = [
        Config { capacity: 0, ..sound },
        Config { capacity: UNBOUNDED, ..sound },
        Config { capacity: UNBOUNDED, n_layers: 1, layers: &layers[1..], ..sound },
        Config { max_seqs: 0, ..sound },
        Config { max_seqs: 65, ..sound },
        Config { max_seqs: u32::MAX, ..sound },
        Config { n_layers: 0, ..sound },
        Config { n_layers: 3, ..sound },
        Config { layers: &[], ..sound },
        Config { layers: &[Layer { window: 0, ..Layer::ring(1) }], ..sound },
        Config { flags: 4, ..sound },
        Config { flags: u32::MAX, ..sound },
    ];
    for config in wrong {
        assert_eq!(cell_words(&config), Err(Error::InvalidConfig), "{config:?}");
        let mut words = vec![7; 4096];
        assert_eq!(CellCache::new(&mut words, &config).err(), Some(Error::InvalidConfig), "{config:?}");
        assert!(words.iter().all(|word| *word == 7), "nothing is built");
    }
    for max_seqs in [1, 63, 64] {
        for capacity in [1, 31, 32, 33, 1025] {
            for flags in [0, SPLIT_POOLS, KEEP_CELLS, SPLIT_POOLS | KEEP_CELLS] {
                assert!(cell_words(&Config { capacity, max_seqs, flags, ..sound }).is_ok());
            }
        }
    }
}

/// The words it asks for are enough, one less is not, and no other is touched.
#[test]
fn a_cache_keeps_to_its_words() {
    let layers = [Layer::ring(4), Layer::flat(), Layer::ring(8).with_sinks(1)];
    for (capacity, max_seqs, flags) in [(1, 1, 0), (32, 3, SPLIT_POOLS), (33, 64, 0), (1100, 5, SPLIT_POOLS)]
    {
        let config = Config { max_seqs, flags, ..Config::new(capacity.max(2), 3, &layers) };
        let n = cell_words(&config).expect("a sound config");
        let mut words = vec![7; n + 9];
        assert_eq!(CellCache::new(&mut words[..n - 1], &config).err(), Some(Error::BufferTooSmall));
        assert!(words.iter().all(|word| *word == 7), "nothing is built");
        let mut cache = CellCache::new(&mut words, &config).expect("enough words");
        let mut cells = vec![0; config.capacity as usize];
        for _ in 0..max_seqs {
            cache.seq_new().expect("an id");
        }
        cache.declare_step(&vec![max_seqs - 1; cells.len()]).expect("room");
        let positions: Vec<u32> = (0..config.capacity).collect();
        cache.place_step(0, &positions, &mut cells).expect("declared");
        assert_eq!(cells, positions);
        cache.seq_shift(max_seqs - 1, 0, UNBOUNDED, 1).expect("free positions");
        cache.clear();
        assert_eq!(cache.free_rows(), config.capacity);
        assert_eq!(words[n..], [7; 9]);
    }
}

#[test]
fn the_config_is_told_as_it_was_resolved() {
    let layers = [Layer::flat(), Layer::ring(4).with_heads(2, 64), Layer::flat().sharing(0)];
    for (max_write, resolved) in [(0, 20), (7, 7), (20, 20), (99, 20)] {
        let setup = Setup {
            max_write,
            rollback: 3,
            max_context: 30,
            flags: SPLIT_POOLS,
            ..Setup::new(20, 5, &layers)
        };
        on(&setup, |pair| {
            let config = pair.cache.config();
            assert_eq!((config.max_write, config.capacity, config.n_layers), (resolved, 20, 3));
            assert_eq!((config.max_seqs, config.rollback, config.max_context), (5, 3, 30));
            assert_eq!((config.flags, config.layers.len()), (SPLIT_POOLS, 0));
            assert_eq!((pair.cache.n_groups(), pair.cache.layer(3).err()), (2, Some(Error::BadLayer)));
        });
    }
}

#[test]
fn declarations_are_refused_in_the_order_of_the_checks() {
    let setup = Setup { max_write: 6, max_context: 5, ..Setup::new(8, 3, &[Layer::flat()]) };
    on(&setup, |pair| {
        let (a, b) = (pair.seq_new().expect("an id"), pair.seq_new().expect("an id"));
        assert_eq!(pair.declare(&[]), Err(Error::InvalidArgument));
        // An unknown id matters before the number of tokens.
        assert_eq!(pair.declare(&[a, a, a, a, a, a, 2]), Err(Error::BadSequence));
        assert_eq!(pair.declare(&[a, a, a, b, b, b, b]), Err(Error::StepTooLarge));
        assert_eq!(pair.declare(&[a; 6]), Err(Error::NeverFits), "beyond max_context");
        pair.append(a, 3).expect("room");
        assert_eq!(pair.declare(&[a; 6]), Err(Error::NeverFits));
        assert_eq!(pair.declare(&[a, b, a, a]), Err(Error::OutOfCapacity), "max_context of a");
        pair.append(b, 4).expect("room");
        assert_eq!(pair.declare(&[a, b]), Err(Error::OutOfCapacity), "one cell is free");
        assert_eq!(pair.cache.can_admit(a, 1), Ok(true));
        assert_eq!(pair.cache.can_admit(a, 2), Ok(false));
        assert_eq!(pair.cache.can_admit(a, 0), Err(Error::InvalidArgument));
        assert_eq!(pair.cache.can_admit(2, 1), Err(Error::BadSequence));
        // Not what a step has, but what fits.
        pair.rewind(b, 0).expect("to nothing");
        pair.rewind(a, 0).expect("to nothing");
        assert_eq!(pair.cache.can_admit(b, 5), Ok(true));
    });
    let split =
        Setup { flags: SPLIT_POOLS, max_write: 0, ..Setup::new(8, 1, &[Layer::flat(), Layer::ring(2)]) };
    on(&split, |pair| {
        let a = pair.seq_new().expect("an id");
        assert_eq!(pair.declare(&[a; 9]), Err(Error::NeverFits));
        pair.append(a, 8).expect("room");
        assert_eq!(pair.declare(&[a]), Err(Error::OutOfCapacity));
    });
    on(&Setup { max_context: 4, ..Setup::new(8, 1, &[Layer::flat()]) }, |pair| {
        let a = pair.seq_new().expect("an id");
        pair.declare(&[a, a]).expect("room");
        assert_eq!(pair.place(0, &[3, 4]), Err(Error::OutOfCapacity), "beyond max_context");
        assert_eq!(pair.place(0, &[4, 3]), Err(Error::BadPosition));
        pair.place(0, &[2, 3]).expect("the last two");
    });
}

#[test]
fn buffers_that_are_too_small_leave_everything_as_it_was() {
    on(&Setup::new(40, 2, &[Layer::flat()]), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.declare(&[a; 3]).expect("room");
        let mut cells = [9; 5];
        assert_eq!(pair.cache.place_step(0, &[0, 1, 2], &mut cells[..2]), Err(Error::BufferTooSmall));
        assert_eq!((cells, pair.cache.free_rows()), ([9; 5], 40));
        // More room than needed is left alone.
        pair.place(0, &[0, 1, 2]).expect("it is still declared");
        assert!(pair.cache.place_step(0, &[0, 1, 2], &mut cells).is_ok());
        assert_eq!(cells, [0, 1, 2, 9, 9]);
        assert_eq!(pair.cache.place_step(0, &[0, 1, 2], &mut cells[..2]), Err(Error::BufferTooSmall));
        assert_eq!(pair.cache.place_step(0, &[], &mut cells), Err(Error::InvalidArgument));
        assert_eq!(pair.cache.place_step(1, &[0], &mut cells), Err(Error::BadLayer));
        // A number of bytes that no memory holds.
        assert_eq!(pair.cache.mask_bytes(0, &mut [0; 9], usize::MAX), Err(Error::BufferTooSmall));
        assert_eq!(pair.cache.mask_bits(0, &mut [0; 9], usize::MAX), Err(Error::BufferTooSmall));
        assert_eq!(pair.cache.mask_bytes(0, &mut [0; 9], 3), Ok(()));
        assert_eq!(pair.cache.owners(0, 40), Err(Error::InvalidArgument));
        assert_eq!(pair.cache.owners(1, 0), Err(Error::BadLayer));
    });
}

/// A list of shifts that a backend has begun to apply does not change under it.
#[test]
fn shifts_that_are_being_applied_are_frozen() {
    on(&Setup::new(16, 3, &[Layer::flat(), Layer::ring(9)]), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 6).expect("room");
        pair.seq_remove(a, 1, 3).expect("it is live");
        pair.seq_shift(a, 3, UNBOUNDED, -2).expect("the gap");
        // Between steps it may be read and added to.
        assert_eq!(pair.read_shifts(0).map(|shifts| shifts.len()), Ok(1));
        pair.seq_shift(a, 3, UNBOUNDED, 1).expect("a free position");
        pair.declare(&[a]).expect("room");
        let (one, mut short) = (pair.cache.n_shifts(1), [Shift::default(); 1]);
        assert_eq!((one, pair.cache.shifts(1, &mut short)), (Ok(2), Err(Error::BufferTooSmall)));
        // Nobody has read it in this step yet.
        pair.seq_shift(a, 4, UNBOUNDED, 1).expect("a free position");
        pair.append(a, 1).expect("room");
        let list = pair.read_shifts(0).expect("a layer");
        for _ in 0..2 {
            assert_eq!(pair.seq_shift(a, 0, UNBOUNDED, 1), Err(Error::Unsupported));
            assert_eq!(pair.seq_shift(a, 1, 0, 1), Err(Error::InvalidArgument));
            assert_eq!(pair.seq_shift(7, 0, 1, 1), Err(Error::BadSequence));
            assert_eq!(pair.defrag(0, 4), Err(Error::Unsupported));
            assert_eq!(pair.defrag(2, 4), Err(Error::BadLayer));
            assert_eq!(pair.read_shifts(1), Ok(list.clone()), "every layer reads the same");
            // Nor does another verb or step open it, until it is done.
            pair.seq_clone(a, UNBOUNDED).expect("an id");
            pair.append(a, 1).expect("room");
        }
        pair.apply_shifts();
        pair.defrag(0, 4).expect("nothing is frozen");
        pair.seq_keep(a).expect("it is live");
        pair.seq_shift(a, 0, UNBOUNDED, 1).expect("free positions");
        // A forward that failed while it applied them: all is cleared.
        pair.append(a, 1).expect("room");
        pair.read_shifts(1).expect("a layer");
        pair.clear();
        let a = pair.seq_new().expect("an id");
        pair.append(a, 2).expect("room");
        pair.seq_shift(a, 0, UNBOUNDED, 1).expect("free positions");
        assert_eq!(pair.cache.defrag(0, &mut [Move::default(); 1]), Ok(0));
    });
}

/// Application and backend on two threads: what nobody was told of is not done, and what a step was declared over does not change under
/// whoever reads it, whatever ended the step.
#[test]
fn shifts_that_nobody_was_told_of_stay_pending() {
    on(&Setup::new(16, 3, &[Layer::flat(), Layer::ring(9)]), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 6).expect("room");
        pair.declare(&[a]).expect("room");
        assert_eq!(pair.read_shifts(0), Ok(vec![]));
        pair.seq_remove(a, 1, 3).expect("it is live");
        pair.seq_shift(a, 3, UNBOUNDED, -2).expect("the gap");
        // The step that read of nothing is done.
        pair.model.shifts_done();
        pair.cache.shifts_done();
        assert_eq!(pair.cache.n_shifts(0), Ok(1));
        // A verb ends the next step before its backend reads.
        pair.declare(&[a]).expect("room");
        pair.seq_new().expect("an id");
        assert_eq!(pair.read_shifts(1).map(|shifts| shifts.len()), Ok(1));
        assert_eq!(pair.seq_shift(a, 0, UNBOUNDED, 1), Err(Error::Unsupported));
        pair.apply_shifts();
        assert_eq!(pair.cache.n_shifts(0), Ok(0));
        // Between steps: read, then more of it, then done without another look.
        pair.seq_shift(a, 0, UNBOUNDED, 1).expect("free positions");
        pair.read_shifts(0).expect("a layer");
        pair.seq_shift(a, 0, UNBOUNDED, 1).expect("free positions");
        pair.model.shifts_done();
        pair.cache.shifts_done();
        let pending = pair.read_shifts(0).expect("a layer");
        assert!(!pending.is_empty() && pending.iter().all(|shift| shift.delta == 2), "{pending:?}");
        pair.append(a, 1).expect("room");
        pair.apply_shifts();
    });
}
