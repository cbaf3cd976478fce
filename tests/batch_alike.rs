//! A many-sequence cache behind a counted reference answers what it answers without one, and so does one that plays a
//! foreign cache behind its function table.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small caches

use std::mem::MaybeUninit;

use kvcore::config::{KEEP_CELLS, SPLIT_POOLS};
use kvcore::{
    CacheRef, CellCache, CellStep, Config, Error, ExternalCache, ExternalStorage, KIND_CELLS, KIND_ROWS,
    Layer, Move, RowsCache, Run, Shift, Span,
};

const LAYERS: [Layer; 3] = [Layer::ring(4).with_sinks(1), Layer::flat(), Layer::ring(4).with_sinks(1)];

fn config(max_seqs: u32) -> Config<'static> {
    Config { max_seqs, max_write: 4, ..Config::new(24, 3, &LAYERS) }
}

fn words(size: Result<usize, Error>) -> Vec<MaybeUninit<u64>> {
    vec![MaybeUninit::uninit(); size.expect("a sound config") / 8]
}

/// Numbers that look random, the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(below)) as u32
    }
}

#[test]
fn a_shared_cell_cache_is_the_cell_cache() {
    for flags in [0, SPLIT_POOLS, KEEP_CELLS] {
        let config = Config { flags, rollback: 1, ..config(5) };
        let mut storage = words(kvcore::cells_size(&config));
        let shared = kvcore::cells_in(&mut storage, &config).expect("room");
        let mut words = vec![0; kvcore::cell_words(&config).expect("sound")];
        let mut core = CellCache::new(&mut words, &config).expect("room");
        assert_eq!((shared.kind(), shared.capacity()), (KIND_CELLS, Ok(core.capacity())));
        assert_eq!(format!("{:?}", shared.config()), format!("{:?}", Ok::<_, Error>(core.config())));
        let layers = |layer: u32| (shared.layer(layer), core.layer(layer));
        assert!((0..4).map(layers).all(|(shared, core)| shared == core));
        drive_cells(&shared, &mut core, u64::from(flags) + 1);
    }
}

/// The same random calls on both.
fn drive_cells(shared: &CacheRef<'_>, core: &mut CellCache<'_>, seed: u64) {
    let mut dice = Dice(seed);
    let mut done = [0; 2];
    for _ in 0..4000 {
        let (seq, layer) = (dice.roll(6), dice.roll(4));
        let (from, to) = (dice.roll(20), dice.roll(24));
        let same = match dice.roll(20) {
            0 => shared.seq_new() == core.seq_new(),
            1 => shared.seq_clone(seq, to) == core.seq_clone(seq, to),
            2 if from <= to => shared.seq_remove(seq, from, to) == core.seq_remove(seq, from, to),
            3 => shared.seq_release(seq) == core.seq_release(seq),
            4 if dice.roll(8) == 0 => shared.seq_keep(seq) == core.seq_keep(seq),
            5 if from <= to => {
                let delta = dice.roll(9) as i32 - 4;
                shared.seq_shift(seq, from, to, delta) == core.seq_shift(seq, from, to, delta)
            }
            6 => shared.batch_rewind(seq, to) == core.rewind(seq, to),
            7 => shared.can_admit(seq, from) == core.can_admit(seq, from),
            8 => {
                let (mut ours, mut theirs) = ([Shift::default(); 24], [Shift::default(); 24]);
                assert_eq!(shared.n_cell_shifts(layer), core.n_shifts(layer));
                shared.cell_shifts(layer, &mut ours) == core.shifts(layer, &mut theirs) && ours == theirs
            }
            9 => {
                core.shifts_done();
                shared.shifts_done() == Ok(())
            }
            10 => {
                let (mut ours, mut theirs) = ([Move::default(); 3], [Move::default(); 3]);
                shared.defrag(layer, &mut ours) == core.defrag(layer, &mut theirs) && ours == theirs
            }
            11 if dice.roll(40) == 0 => {
                core.clear();
                shared.clear() == Ok(())
            }
            _ => {
                let other = dice.roll(5);
                let ids: Vec<u32> =
                    (0..dice.roll(6)).map(|_| if dice.roll(3) == 0 { other } else { seq }).collect();
                let declared = shared.declare_step(&ids);
                assert_eq!(declared, core.declare_step(&ids));
                let placed = step_alike(shared, core, &ids, layer);
                done[usize::from(placed)] += 1;
                true
            }
        };
        assert!(same);
        assert_eq!(shared.seq_len(seq), core.seq_len(seq));
        assert_eq!(shared.next_pos(seq), core.next_pos(seq));
        assert_eq!(shared.first_pos(seq), core.first_pos(seq));
        assert_eq!(shared.free_rows(), Ok(core.free_rows()));
    }
    assert!(done.iter().all(|&steps| steps > 200), "{done:?}");
}

/// Places a step in both, and asks for its masks; tells whether it was placed.
fn step_alike(shared: &CacheRef<'_>, core: &mut CellCache<'_>, ids: &[u32], layer: u32) -> bool {
    let position = |token: usize| {
        let earlier = ids[..token].iter().filter(|&&id| id == ids[token]).count() as u32;
        core.next_pos(ids[token]).unwrap_or(0) + earlier
    };
    let positions: Vec<u32> = (0..ids.len()).map(position).collect();
    let (mut ours, mut theirs) = (vec![77; ids.len()], vec![77; ids.len()]);
    let placed = shared.place_cells(layer, &positions, &mut ours);
    assert_eq!(placed, core.place_step(layer, &positions, &mut theirs));
    let (mut bytes, mut their_bytes) = ([7; 100], [7; 100]);
    let (mut bits, mut their_bits) = ([7; 4], [7; 4]);
    assert_eq!(shared.cell_mask_bytes(layer, &mut bytes, 25), core.mask_bytes(layer, &mut their_bytes, 25));
    assert_eq!(shared.cell_mask_bits(layer, &mut bits, 1), core.mask_bits(layer, &mut their_bits, 1));
    assert_eq!((ours, bytes, bits), (theirs, their_bytes, their_bits));
    placed.is_ok()
}

#[test]
fn a_shared_rows_cache_is_the_rows_cache() {
    let config = config(5);
    let mut storage = words(kvcore::rows_size(&config));
    let shared = kvcore::rows_in(&mut storage, &config).expect("room");
    let mut words = vec![0; kvcore::rows_words(&config).expect("sound")];
    let mut core = RowsCache::new(&mut words, &config).expect("room");
    assert_eq!((shared.kind(), shared.capacity()), (KIND_ROWS, Ok(core.capacity())));
    assert_eq!(format!("{:?}", shared.config()), format!("{:?}", Ok::<_, Error>(core.config())));
    let layers = |layer: u32| (shared.layer(layer), core.layer(layer));
    assert!((0..4).map(layers).all(|(shared, core)| shared == core));
    drive_rows(&shared, &mut core);
}

/// The same random calls on both.
fn drive_rows(shared: &CacheRef<'_>, core: &mut RowsCache<'_>) {
    let (mut dice, mut done) = (Dice(9), [0; 2]);
    for _ in 0..4000 {
        let (seq, layer, to) = (dice.roll(6), dice.roll(4), dice.roll(24));
        let same = match dice.roll(12) {
            0 => shared.seq_new() == core.seq_new(),
            1 => shared.seq_clone(seq, to) == core.seq_clone(seq, to),
            2 => shared.seq_release(seq) == core.seq_release(seq),
            3 if dice.roll(8) == 0 => shared.seq_keep(seq) == core.seq_keep(seq),
            4 => shared.batch_rewind(seq, to) == core.rewind(seq, to),
            5 => shared.can_admit(seq, to) == core.can_admit(seq, to),
            6 => {
                let (mut ours, mut theirs) = ([Run::default(); 3], [Run::default(); 3]);
                match shared.rows_held(layer, seq, &mut ours) {
                    // A foreign table has no such call.
                    Err(Error::WrongKind) => true,
                    held => held == core.held(layer, seq, &mut theirs) && ours == theirs,
                }
            }
            7 if dice.roll(40) == 0 => {
                core.clear();
                shared.clear() == Ok(())
            }
            _ => {
                let other = dice.roll(6);
                let ids = [seq, seq, other, seq];
                let ids = &ids[..dice.roll(5) as usize];
                let declared = shared.declare_step(ids);
                assert_eq!(declared, core.declare_step(ids));
                let [a, b] = [seq, other].map(|seq| core.seq_len(seq).unwrap_or(0));
                let third = if other == seq { a + 2 } else { b };
                let positions = [a, a + 1, third, a + 2 + u32::from(other == seq)];
                let positions = &positions[..ids.len()];
                let (mut ours, mut theirs) = ([Span::default(); 3], [Span::default(); 3]);
                let room = dice.roll(4) as usize;
                let placed = shared.place_rows(layer, positions, &mut ours[..room]);
                done[usize::from(placed.is_ok())] += 1;
                placed
                    == core.place_step(layer, positions, &mut theirs[..room]).map_err(|error| match ids {
                        // What no cache accepts is refused at once.
                        [] => Error::InvalidArgument,
                        _ => error,
                    })
                    && ours == theirs
            }
        };
        assert!(same);
        assert_eq!(shared.seq_len(seq), core.seq_len(seq));
        assert_eq!(shared.next_pos(seq), core.next_pos(seq));
        assert_eq!(shared.first_pos(seq), core.first_pos(seq));
        assert_eq!(shared.free_rows(), Ok(core.free_rows()));
    }
    assert!(done.iter().all(|&steps| steps > 200), "{done:?}");
}

/// One of our own caches in foreign clothes.
struct Clothed<'a, const KIND: u32>(CacheRef<'a>);

impl<const KIND: u32> ExternalCache for Clothed<'_, KIND> {
    const KIND: u32 = KIND;

    fn capacity(&self) -> Result<u32, Error> {
        self.0.capacity()
    }

    fn clear(&self) -> Result<(), Error> {
        self.0.clear()
    }

    fn declare_step(&self, seq_ids: &[u32]) -> Result<(), Error> {
        self.0.declare_step(seq_ids)
    }

    fn can_admit(&self, seq: u32, n: u32) -> Result<bool, Error> {
        self.0.can_admit(seq, n)
    }

    fn seq_new(&self) -> Result<u32, Error> {
        self.0.seq_new()
    }

    fn seq_clone(&self, src: u32, upto: u32) -> Result<u32, Error> {
        self.0.seq_clone(src, upto)
    }

    fn seq_remove(&self, seq: u32, from: u32, to: u32) -> Result<(), Error> {
        self.0.seq_remove(seq, from, to)
    }

    fn seq_release(&self, seq: u32) -> Result<(), Error> {
        self.0.seq_release(seq)
    }

    fn seq_keep(&self, seq: u32) -> Result<(), Error> {
        self.0.seq_keep(seq)
    }

    fn seq_shift(&self, seq: u32, from: u32, to: u32, delta: i32) -> Result<(), Error> {
        self.0.seq_shift(seq, from, to, delta)
    }

    fn batch_rewind(&self, seq: u32, new_len: u32) -> Result<(), Error> {
        self.0.batch_rewind(seq, new_len)
    }

    fn seq_len(&self, seq: u32) -> Result<u32, Error> {
        self.0.seq_len(seq)
    }

    fn next_pos(&self, seq: u32) -> Result<u32, Error> {
        self.0.next_pos(seq)
    }

    fn first_pos(&self, seq: u32) -> Result<u32, Error> {
        self.0.first_pos(seq)
    }

    fn free_rows(&self) -> Result<u32, Error> {
        self.0.free_rows()
    }

    fn place_cells(&self, layer: u32, positions: &[u32], cells: &mut [u32]) -> Result<CellStep, Error> {
        self.0.place_cells(layer, positions, cells)
    }

    fn cell_mask_bytes(&self, layer: u32, out: &mut [u8], row_stride: usize) -> Result<(), Error> {
        self.0.cell_mask_bytes(layer, out, row_stride)
    }

    fn cell_mask_bits(&self, layer: u32, out: &mut [u32], row_words: usize) -> Result<(), Error> {
        self.0.cell_mask_bits(layer, out, row_words)
    }

    fn cell_shifts(&self, layer: u32, out: &mut [Shift]) -> Result<usize, Error> {
        let n = self.0.n_cell_shifts(layer)?;
        if n > out.len() { Ok(n) } else { self.0.cell_shifts(layer, out) }
    }

    fn shifts_done(&self) -> Result<(), Error> {
        self.0.shifts_done()
    }

    fn defrag(&self, layer: u32, out: &mut [Move]) -> Result<usize, Error> {
        self.0.defrag(layer, out)
    }

    fn place_rows(&self, layer: u32, positions: &[u32], out: &mut [Span]) -> Result<usize, Error> {
        match self.0.place_rows(layer, positions, out) {
            Err(Error::BufferTooSmall) => Ok(out.len() + 1),
            placed => placed,
        }
    }
}

#[test]
fn a_foreign_cell_cache_answers_like_a_built_in_one() {
    let config = config(5);
    let mut storage = words(kvcore::cells_size(&config));
    let clothed = Clothed::<KIND_CELLS>(kvcore::cells_in(&mut storage, &config).expect("room"));
    let foreign = ExternalStorage::new();
    let shared = foreign.init(&clothed).expect("empty storage");
    assert_eq!((shared.kind(), shared.capacity()), (KIND_CELLS, Ok(24)));
    assert_eq!(
        (shared.config().err(), shared.layer(0).err()),
        (Some(Error::WrongKind), Some(Error::WrongKind))
    );
    let mut words = vec![0; kvcore::cell_words(&config).expect("sound")];
    drive_cells(&shared, &mut CellCache::new(&mut words, &config).expect("room"), 7);
}

#[test]
fn a_foreign_rows_cache_answers_like_a_built_in_one() {
    let config = config(5);
    let mut storage = words(kvcore::rows_size(&config));
    let clothed = Clothed::<KIND_ROWS>(kvcore::rows_in(&mut storage, &config).expect("room"));
    let foreign = ExternalStorage::new();
    let shared = foreign.init(&clothed).expect("empty storage");
    assert_eq!((shared.kind(), shared.rows_held(0, 0, &mut [])), (KIND_ROWS, Err(Error::WrongKind)));
    let mut words = vec![0; kvcore::rows_words(&config).expect("sound")];
    drive_rows(&shared, &mut RowsCache::new(&mut words, &config).expect("room"));
}
