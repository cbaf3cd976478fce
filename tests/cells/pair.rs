//! The cache under test with its model and its shadow. Every call is made on all of them: the answers agree, and so does
//! everything that can be asked afterwards, whether the call succeeded or not.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small caches

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use kvcore::{CellCache, CellStep, Error, Move, Shift, UNBOUNDED, cell_words};

use crate::model::Model;
use crate::setup::Setup;
use crate::shadow::Shadow;

/// How often each call got each answer: 0 or the error's code.
pub(crate) type Tally = Rc<RefCell<HashMap<(&'static str, i32), u64>>>;

/// What stood in the caller's memory.
const DIRT: u32 = 0xD1D1_D1D1;

pub(crate) struct Pair<'w> {
    pub(crate) cache: CellCache<'w>,
    pub(crate) model: Model,
    pub(crate) shadow: Shadow,
    pub(crate) tally: Tally,
    /// Whether everything is compared after each call.
    pub(crate) audits: bool,
}

impl<'w> Pair<'w> {
    /// The cache takes just the words it needs, dirty ones.
    pub(crate) fn new(words: &'w mut Vec<u32>, setup: &Setup, tally: &Tally) -> Self {
        let config = setup.config();
        words.clear();
        words.resize(cell_words(&config).unwrap_or_else(|error| panic!("{error}: {setup:?}")), DIRT);
        let cache = CellCache::new(words, &config).expect("a sound config and room");
        let model = Model::new(setup);
        let shadow = Shadow::new(&model);
        let pair = Self { cache, model, shadow, tally: Rc::clone(tally), audits: true };
        pair.check_layers();
        pair
    }

    fn check_layers(&self) {
        for (layer, config) in self.model.setup.layers.iter().enumerate() {
            let info = self.cache.layer(layer as u32).expect("a layer");
            assert_eq!(info.layer, *config);
            assert_eq!(info.group as usize, self.model.group[layer]);
            assert_eq!(info.rows as usize, self.model.state.pools[self.model.pool[layer]].cells.len());
        }
        let groups = self.model.group.iter().collect::<BTreeSet<_>>();
        assert_eq!(self.cache.n_groups(), groups.len());
        assert_eq!(self.cache.capacity(), self.model.setup.capacity);
    }

    /// Makes a call on the cache. It must answer as expected, and change nothing that can be asked if it refuses.
    fn call<T: PartialEq + std::fmt::Debug>(
        &mut self,
        name: &'static str,
        expected: Result<T, Error>,
        call: impl FnOnce(&mut CellCache<'w>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let answer = call(&mut self.cache);
        assert_eq!(answer, expected, "{name}");
        self.count(name, answer.as_ref().err().map_or(0, |error| error.code()));
        if answer.is_err() {
            self.audit();
        }
        expected
    }

    pub(crate) fn declare(&mut self, seqs: &[u32]) -> Result<(), Error> {
        let expected = self.model.declare(seqs);
        self.call("declare_step", expected, |cache| cache.declare_step(seqs))?;
        self.audit();
        Ok(())
    }

    /// Places, or asks again; then every layer asks, for masks too, and reads.
    pub(crate) fn place(&mut self, layer: u32, positions: &[u32]) -> Result<CellStep, Error> {
        let placed = self.model.place(layer, positions);
        let step = placed.map(|_| self.model.cell_step(layer));
        let mut cells = vec![DIRT; positions.len()];
        let answer = self.call("place_step", step, |cache| cache.place_step(layer, positions, &mut cells));
        if answer.is_err() {
            assert!(cells.iter().all(|cell| *cell == DIRT), "a refusal wrote cells");
        }
        let step = answer?;
        self.count("mask", step.mask as i32);
        assert_eq!(cells, self.model.placed(layer).expect("a placed step").2);
        if placed == Ok(true) {
            self.shadow.write(&self.model);
        }
        self.audit();
        Ok(step)
    }

    /// A step of such tokens: declared and placed.
    pub(crate) fn step(&mut self, seqs: &[u32], positions: &[u32]) -> Result<CellStep, Error> {
        self.declare(seqs)?;
        self.place(0, positions)
    }

    /// So many tokens behind what the sequence has.
    pub(crate) fn append(&mut self, seq: u32, n: u32) -> Result<CellStep, Error> {
        let next = self.model.next_pos(seq)?;
        self.step(&vec![seq; n as usize], &(0..n).map(|at| next.saturating_add(at)).collect::<Vec<_>>())
    }

    pub(crate) fn seq_new(&mut self) -> Result<u32, Error> {
        let expected = self.model.seq_new();
        let seq = self.call("seq_new", expected, CellCache::seq_new)?;
        self.shadow.seq_new(&self.model, seq);
        self.audit();
        Ok(seq)
    }

    pub(crate) fn seq_clone(&mut self, src: u32, upto: u32) -> Result<u32, Error> {
        let expected = self.model.seq_clone(src, upto);
        let seq = self.call("seq_clone", expected, |cache| cache.seq_clone(src, upto))?;
        self.shadow.seq_clone(src, upto, seq);
        self.audit();
        Ok(seq)
    }

    pub(crate) fn seq_remove(&mut self, seq: u32, from: u32, to: u32) -> Result<(), Error> {
        let expected = self.model.seq_remove(seq, from, to);
        self.call("seq_remove", expected, |cache| cache.seq_remove(seq, from, to))?;
        self.shadow.seq_remove(seq, from, to);
        self.audit();
        Ok(())
    }

    pub(crate) fn seq_release(&mut self, seq: u32) -> Result<(), Error> {
        let expected = self.model.seq_release(seq);
        self.call("seq_release", expected, |cache| cache.seq_release(seq))?;
        self.shadow.seq_release(seq);
        self.audit();
        Ok(())
    }

    pub(crate) fn seq_keep(&mut self, seq: u32) -> Result<(), Error> {
        let expected = self.model.seq_keep(seq);
        self.call("seq_keep", expected, |cache| cache.seq_keep(seq))?;
        self.shadow.seq_keep(seq);
        self.audit();
        Ok(())
    }

    pub(crate) fn seq_shift(&mut self, seq: u32, from: u32, to: u32, delta: i32) -> Result<(), Error> {
        let before = self.model.clone();
        let expected = self.model.seq_shift(seq, from, to, delta);
        self.call("seq_shift", expected, |cache| cache.seq_shift(seq, from, to, delta))?;
        self.shadow.seq_shift(&before, seq, from, to, delta);
        self.audit();
        Ok(())
    }

    pub(crate) fn rewind(&mut self, seq: u32, len: u32) -> Result<(), Error> {
        let expected = self.model.rewind(seq, len);
        self.call("rewind", expected, |cache| cache.rewind(seq, len))?;
        self.shadow.seq_remove(seq, len, u32::MAX);
        self.audit();
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.cache.clear();
        self.model.clear();
        self.shadow.clear();
        self.audit();
    }

    /// A layer reads the pending shifts.
    pub(crate) fn read_shifts(&mut self, layer: u32) -> Result<Vec<Shift>, Error> {
        let expected = self.model.read_shifts(layer);
        let n = expected.as_ref().map(Vec::len).map_err(|error| *error);
        assert_eq!(self.cache.n_shifts(layer), n);
        if n.is_ok_and(|n| n > 0) {
            let mut short = vec![Shift::default(); n.expect("a layer") - 1];
            let _ = self.call("shifts", Err(Error::BufferTooSmall), |cache| cache.shifts(layer, &mut short));
            assert!(short.iter().all(|shift| *shift == Shift::default()), "a refusal wrote shifts");
        }
        // A larger buffer is fine.
        let mut shifts = vec![Shift::default(); n.unwrap_or(0) + 1];
        let n = self.call("shifts", n, |cache| cache.shifts(layer, &mut shifts))?;
        shifts.truncate(n);
        assert_eq!(Ok(&shifts), expected.as_ref(), "layer {layer}");
        Ok(shifts)
    }

    /// Every layer rotates its keys.
    pub(crate) fn apply_shifts(&mut self) {
        let lists: Vec<_> =
            (0..self.model.n_layers()).map(|layer| self.read_shifts(layer).expect("a layer")).collect();
        for (layer, shifts) in lists.iter().enumerate() {
            self.shadow.rotate(layer as u32, shifts);
        }
        self.model.shifts_done();
        self.cache.shifts_done();
        self.audit();
    }

    /// Moves of a pool, at most `cap`; carried out at once.
    pub(crate) fn defrag(&mut self, layer: u32, cap: usize) -> Result<usize, Error> {
        if let Err(error) = self.model.check_defrag(layer) {
            let mut moves = vec![Move::default(); cap];
            return self.call("defrag", Err(error), |cache| cache.defrag(layer, &mut moves));
        }
        let mut moves = vec![Move::default(); cap];
        let n = self.cache.defrag(layer, &mut moves).expect("nothing speaks against it");
        self.count("defrag", 0);
        moves.truncate(n);
        self.check_moves(layer, cap, &moves);
        self.model.carry_out(layer, &moves);
        self.shadow.carry_out(&self.model, layer, &moves);
        self.audit();
        Ok(n)
    }

    /// Rows that are moved have to be, come from the end and go to the lowest holes; none is both source and target.
    fn check_moves(&self, layer: u32, cap: usize, moves: &[Move]) {
        let out_of_place = self.model.out_of_place(layer);
        let rows = |first: fn(&Move) -> u32| -> Vec<u32> {
            moves.iter().flat_map(|found| first(found)..first(found) + found.len).collect()
        };
        let (from, to) = (rows(|found| found.from), rows(|found| found.to));
        let (sources, targets): (BTreeSet<u32>, BTreeSet<u32>) =
            (from.iter().copied().collect(), to.iter().copied().collect());
        assert_eq!((sources.len(), targets.len()), (from.len(), to.len()), "a row twice: {moves:?}");
        assert!(sources.is_disjoint(&targets), "a source is a target: {moves:?}");
        let pool = self.model.layer_pool(layer).expect("a layer");
        let used = pool.used().count() as u32;
        assert!(targets.iter().all(|row| *row < used), "a target above the compact end: {moves:?}");
        assert!(sources.iter().all(|row| *row >= used), "a row that may stay moves: {moves:?}");
        let mut holes = (0..).filter(|row| pool.cells[*row as usize].is_none());
        assert!(targets.iter().all(|row| holes.next() == Some(*row)), "a lower hole stays: {moves:?}");
        let highest = pool.used().map(|(row, _)| row).collect::<Vec<_>>();
        assert!(
            sources.iter().rev().eq(highest.iter().rev().take(sources.len())),
            "not the highest: {moves:?}"
        );
        // It stops early only for want of room in the list.
        assert_eq!(moves.is_empty(), cap == 0 || out_of_place == 0);
        assert!(moves.len() == cap || sources.len() as u32 == out_of_place, "stopped early: {moves:?}");
    }

    fn count(&self, what: &'static str, which: i32) {
        *self.tally.borrow_mut().entry((what, which)).or_default() += 1;
    }

    /// Compares everything that can be asked.
    pub(crate) fn audit(&mut self) {
        if !self.audits {
            return;
        }
        self.audit_sequences();
        self.audit_cells();
        self.audit_shifts();
        for layer in 0..=self.model.n_layers() {
            self.audit_masks(layer);
        }
    }

    fn audit_sequences(&self) {
        let (cache, model) = (&self.cache, &self.model);
        let room = model.room();
        for seq in (0..=model.setup.max_seqs).chain([63, 64, 65, u32::MAX]) {
            assert_eq!(cache.seq_len(seq), model.seq_len(seq), "sequence {seq}");
            assert_eq!(cache.next_pos(seq), model.next_pos(seq), "sequence {seq}");
            assert_eq!(cache.first_pos(seq), model.first_pos(seq), "sequence {seq}");
            let left = model.setup.context() - model.next_pos(seq).map_or(0, u64::from);
            for n in [0, 1, room, room + 1, left as u32, left.saturating_add(1) as u32, u32::MAX] {
                let expected = match (n, model.next_pos(seq)) {
                    (0, _) => Err(Error::InvalidArgument),
                    (_, Err(error)) => Err(error),
                    _ => Ok(n <= room && u64::from(n) <= left),
                };
                assert_eq!(cache.can_admit(seq, n), expected, "sequence {seq}, {n} tokens");
            }
        }
        assert_eq!(cache.free_rows(), model.free_rows());
    }

    fn audit_cells(&self) {
        for layer in 0..self.model.n_layers() {
            // Layers of one pool answer alike: the first and the last of it are asked.
            let pool = self.model.pool[layer as usize];
            let first = self.model.pool.iter().position(|other| *other == pool) == Some(layer as usize);
            if first || layer + 1 == self.model.n_layers() {
                for (row, cell) in self.model.state.pools[pool].cells.iter().enumerate() {
                    let expected = cell.map_or((UNBOUNDED, 0), |cell| (cell.position, cell.owners));
                    assert_eq!(
                        self.cache.owners(layer, row as u32),
                        Ok(expected),
                        "layer {layer}, row {row}"
                    );
                }
            }
        }
    }

    fn audit_shifts(&mut self) {
        for layer in 0..=self.model.n_layers() {
            let expected = self.model.shifts(layer);
            let n = expected.as_ref().map(Vec::len).map_err(|error| *error);
            assert_eq!(self.cache.n_shifts(layer), n, "layer {layer}");
            // Where reading would change anything, only an operation reads it.
            let read = n.is_ok_and(|_| {
                let pool = self.model.layer_pool(layer).expect("a layer");
                pool.read && !pool.stale
            });
            let freezes = self.model.state.fixed && !self.model.state.frozen && n != Ok(0);
            if n.is_err() || (read && !freezes) {
                let mut shifts = vec![Shift::default(); n.unwrap_or(1)];
                let answer = self.cache.shifts(layer, &mut shifts);
                assert_eq!(answer.map(|_| shifts), expected, "layer {layer}");
            }
        }
    }

    /// The masks as bytes and as bits, with a wider stride than needed, then every read under them.
    pub(crate) fn audit_masks(&mut self, layer: u32) {
        let known = self.model.layer_pool(layer).map(|_| ());
        let placed = known.and_then(|()| self.model.placed(layer).map(|_| ()).ok_or(Error::NoStep));
        if let Err(error) = placed {
            assert_eq!(self.cache.mask_bytes(layer, &mut [], 0), Err(error));
            assert_eq!(self.cache.mask_bits(layer, &mut [], 0), Err(error));
            return;
        }
        let (positions, cells) =
            self.model.placed(layer).map(|(_, at, cells)| (at.to_vec(), cells.to_vec())).expect("a step");
        let mut again = vec![DIRT; cells.len()];
        let step = self.cache.place_step(layer, &positions, &mut again);
        assert_eq!(step, Ok(self.model.cell_step(layer)), "served again for layer {layer}");
        assert_eq!(again, cells);
        let mask = self.model.mask(layer);
        self.audit_bytes(layer, &mask);
        self.audit_bits(layer, &mask);
        self.shadow.read(&self.model, layer, &mask);
    }

    fn audit_bytes(&self, layer: u32, mask: &[Vec<bool>]) {
        let (n, width) = (mask.len(), mask[0].len());
        for stride in [width, width + 3] {
            let mut bytes = vec![9; n * stride + 2];
            assert_eq!(self.cache.mask_bytes(layer, &mut bytes[..n * stride], stride), Ok(()));
            for (query, columns) in mask.iter().enumerate() {
                let row = &bytes[query * stride..(query + 1) * stride];
                let expected = columns.iter().chain([&false; 3]).map(|seen| u8::from(*seen));
                assert!(
                    row.iter().copied().eq(expected.take(stride)),
                    "layer {layer}, query {query}: {row:?}"
                );
            }
            assert_eq!(bytes[n * stride..], [9; 2]);
            bytes.fill(9);
            for (size, stride) in [(n * stride - 1, stride), (n * stride, width - 1)] {
                let answer = self.cache.mask_bytes(layer, &mut bytes[..size], stride);
                assert_eq!(answer, Err(Error::BufferTooSmall));
                assert!(bytes.iter().all(|byte| *byte == 9), "a refusal wrote a mask");
            }
        }
    }

    fn audit_bits(&self, layer: u32, mask: &[Vec<bool>]) {
        let (n, width) = (mask.len(), mask[0].len().div_ceil(32));
        for stride in [width, width + 1] {
            let mut words = vec![DIRT; n * stride + 1];
            assert_eq!(self.cache.mask_bits(layer, &mut words[..n * stride], stride), Ok(()));
            for (query, columns) in mask.iter().enumerate() {
                let row = &words[query * stride..(query + 1) * stride];
                let mut expected = vec![0_u32; stride];
                for (column, _) in columns.iter().enumerate().filter(|(_, seen)| **seen) {
                    expected[column / 32] |= 1 << (column % 32);
                }
                assert_eq!(row, expected, "layer {layer}, query {query}");
            }
            assert_eq!(words[n * stride], DIRT);
            words.fill(DIRT);
            for (size, stride) in [(n * stride - 1, stride), (n * stride, width - 1)] {
                let answer = self.cache.mask_bits(layer, &mut words[..size], stride);
                assert_eq!(answer, Err(Error::BufferTooSmall));
                assert!(words.iter().all(|word| *word == DIRT), "a refusal wrote a mask");
            }
        }
    }
}

/// Runs a test on an empty cache.
pub(crate) fn on(setup: &Setup, test: impl FnOnce(&mut Pair<'_>)) {
    let mut words = Vec::new();
    test(&mut Pair::new(&mut words, setup, &Tally::default()));
}
