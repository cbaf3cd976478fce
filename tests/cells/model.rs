//! The cell cache by the design's words, everything by scanning: what a step may do, where it goes, who sees whom.
//! The verbs are in `verbs.rs`.
#![allow(clippy::cast_possible_truncation)] // small caches

use std::collections::BTreeSet;

use kvcore::config::{KEEP_CELLS, SPLIT_POOLS};
use kvcore::{CellStep, Error, LAYER_FLAT, Layer, MASK_CAUSAL, MASK_EXPLICIT, MASK_NONE, Shift, UNBOUNDED};

use crate::setup::Setup;

/// An occupied cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cell {
    pub(crate) position: u32,
    /// One bit a sequence.
    pub(crate) owners: u64,
    /// What its key has to be rotated by.
    pub(crate) delta: i64,
}

/// The cells that some layers use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pool {
    pub(crate) cells: Vec<Option<Cell>>,
    /// The largest window, if cells are let go of when it has passed.
    pub(crate) window: Option<u64>,
    /// The most sinks.
    pub(crate) sinks: u32,
    /// For each sequence what is above every position that it let go of in that way, 0 if there is none. Below it
    /// all count as let go of.
    pub(crate) lost: Vec<u32>,
    /// Its shifts were read since the last `declare_step` or `shifts_done`, and have changed since.
    pub(crate) read: bool,
    pub(crate) stale: bool,
}

impl Pool {
    fn new(rows: u64, layers: &[Layer], setup: &Setup) -> Self {
        let flat = layers.iter().any(|layer| layer.kind == LAYER_FLAT);
        let window = layers.iter().map(|layer| u64::from(layer.window)).max();
        Self {
            cells: vec![None; usize::try_from(rows).expect("a small pool")],
            window: window.filter(|_| !flat && !setup.has(KEEP_CELLS)),
            sinks: layers.iter().map(|layer| layer.sinks).max().unwrap_or(0),
            lost: vec![0; setup.max_seqs as usize],
            read: false,
            stale: false,
        }
    }

    /// Rows and cells in use.
    pub(crate) fn used(&self) -> impl Iterator<Item = (u32, &Cell)> {
        self.cells.iter().enumerate().filter_map(|(row, cell)| Some((row as u32, cell.as_ref()?)))
    }

    pub(crate) fn held(&self, seq: u32) -> impl Iterator<Item = (u32, &Cell)> {
        self.used().filter(move |(_, cell)| cell.owners >> seq & 1 != 0)
    }

    pub(crate) fn free(&self) -> u32 {
        self.cells.iter().filter(|cell| cell.is_none()).count() as u32
    }

    /// Behind the highest token of a sequence here, whether the window let go of it or not.
    pub(crate) fn next_pos(&self, seq: u32) -> u32 {
        let held = self.held(seq).map(|(_, cell)| cell.position + 1);
        held.max().unwrap_or(0).max(self.lost[seq as usize])
    }

    /// Whether what a token at `position` would see was not let go of.
    pub(crate) fn has_window(&self, seq: u32, position: u32) -> bool {
        let window = self.window.unwrap_or(u64::MAX);
        let oldest = (u64::from(position) + 1).saturating_sub(window).max(self.sinks.into());
        let lost = u64::from(self.lost[seq as usize]);
        oldest >= u64::from(position) || oldest >= lost
    }

    fn read_len(&self) -> u32 {
        self.used().last().map_or(0, |(row, _)| row + 1)
    }

    /// Takes a sequence's tokens at such positions away. A cell without owners is free.
    pub(crate) fn let_go(&mut self, seq: u32, which: impl Fn(u32) -> bool) {
        for slot in &mut self.cells {
            if let Some(cell) = slot.as_mut().filter(|cell| which(cell.position)) {
                cell.owners &= !(1 << seq);
                if cell.owners == 0 {
                    *slot = None;
                }
            }
        }
    }
}

/// A declared step, and where it went.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) seqs: Vec<u32>,
    pub(crate) placed: Option<Placed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Placed {
    pub(crate) positions: Vec<u32>,
    /// For each pool the cell of each token.
    pub(crate) cells: Vec<Vec<u32>>,
}

/// What may change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) pools: Vec<Pool>,
    pub(crate) live: u64,
    pub(crate) step: Option<Step>,
    /// A step was declared since there were pending shifts.
    pub(crate) fixed: bool,
    /// Somebody is applying the pending shifts.
    pub(crate) frozen: bool,
}

/// The model of a cell cache.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) setup: Setup,
    /// Group and pool of each layer.
    pub(crate) group: Vec<usize>,
    pub(crate) pool: Vec<usize>,
    pub(crate) state: State,
}

/// Layers alike in this are one group.
fn alike(layer: &Layer) -> impl PartialEq + use<> {
    (layer.kind, layer.window, layer.sinks, layer.n_kv_heads, layer.head_dim)
}

impl Model {
    pub(crate) fn new(setup: &Setup) -> Self {
        let (mut firsts, mut group) = (Vec::<Layer>::new(), vec![]);
        for layer in &setup.layers {
            let found = firsts.iter().position(|first| alike(first) == alike(layer));
            group.push(found.unwrap_or(firsts.len()));
            if found.is_none() {
                firsts.push(*layer);
            }
        }
        let split = setup.has(SPLIT_POOLS);
        let pools = if split {
            firsts.iter().map(|layer| Pool::new(split_rows(layer, setup), &[*layer], setup)).collect()
        } else {
            vec![Pool::new(setup.capacity.into(), &firsts, setup)]
        };
        let pool = if split { group.clone() } else { vec![0; group.len()] };
        let state = State { pools, live: 0, step: None, fixed: false, frozen: false };
        Self { setup: setup.clone(), group, pool, state }
    }

    pub(crate) fn n_layers(&self) -> u32 {
        self.setup.layers.len() as u32
    }

    pub(crate) fn is_live(&self, seq: u32) -> bool {
        seq < 64 && self.state.live >> seq & 1 != 0
    }

    pub(crate) fn live(&self) -> Vec<u32> {
        (0..64).filter(|seq| self.is_live(*seq)).collect()
    }

    pub(crate) fn check_live(&self, seq: u32) -> Result<(), Error> {
        if self.is_live(seq) { Ok(()) } else { Err(Error::BadSequence) }
    }

    pub(crate) fn layer_pool(&self, layer: u32) -> Result<&Pool, Error> {
        let pool = self.pool.get(layer as usize).ok_or(Error::BadLayer)?;
        Ok(&self.state.pools[*pool])
    }

    pub(crate) fn seq_len(&self, seq: u32) -> Result<u32, Error> {
        self.check_live(seq)?;
        let lens = self.state.pools.iter().map(|pool| pool.held(seq).count() as u32);
        Ok(lens.max().expect("a pool"))
    }

    pub(crate) fn first_pos(&self, seq: u32) -> Result<u32, Error> {
        self.check_live(seq)?;
        let held = self.state.pools.iter().flat_map(|pool| pool.held(seq));
        Ok(held.map(|(_, cell)| cell.position).min().unwrap_or(UNBOUNDED))
    }

    /// Behind the highest token, whether a window let go of it or not.
    pub(crate) fn next_pos(&self, seq: u32) -> Result<u32, Error> {
        self.check_live(seq)?;
        Ok(self.state.pools.iter().map(|pool| pool.next_pos(seq)).max().expect("a pool"))
    }

    pub(crate) fn free_rows(&self) -> u32 {
        self.state.pools.iter().map(Pool::free).min().expect("a pool")
    }

    /// Free rows when the windows have let go of what they passed.
    pub(crate) fn room(&self) -> u32 {
        let mut after = self.clone();
        after.evict();
        after.free_rows()
    }

    fn evict(&mut self) {
        let next = self.next_of_all();
        let rollback = u64::from(self.setup.rollback);
        for Pool { cells, window, sinks, lost, .. } in &mut self.state.pools {
            let Some(window) = *window else { continue };
            for slot in cells {
                let Some(cell) = slot.as_mut().filter(|cell| cell.position >= *sinks) else { continue };
                for seq in owners(cell.owners) {
                    if u64::from(cell.position) + window + rollback <= u64::from(next[seq]) {
                        cell.owners &= !(1 << seq);
                        lost[seq] = lost[seq].max(cell.position + 1);
                    }
                }
                if cell.owners == 0 {
                    *slot = None;
                }
            }
        }
    }

    /// `next_pos` of every sequence, in one go.
    pub(crate) fn next_of_all(&self) -> Vec<u32> {
        let mut next = vec![0; self.setup.max_seqs as usize];
        for pool in &self.state.pools {
            for cell in pool.cells.iter().flatten() {
                owners(cell.owners).for_each(|seq| next[seq] = next[seq].max(cell.position + 1));
            }
            next.iter_mut().zip(&pool.lost).for_each(|(next, lost)| *next = (*next).max(*lost));
        }
        next
    }

    pub(crate) fn declare(&mut self, seqs: &[u32]) -> Result<(), Error> {
        let n = seqs.len() as u64;
        let tokens_of = |seq: u32| seqs.iter().filter(|other| **other == seq).count() as u64;
        if seqs.is_empty() {
            return Err(Error::InvalidArgument);
        }
        seqs.iter().try_for_each(|seq| self.check_live(*seq))?;
        if self.setup.max_write != 0 && n > u64::from(self.setup.max_write) {
            return Err(Error::StepTooLarge);
        }
        let rows = self.state.pools.iter().map(|pool| pool.cells.len() as u64).min().expect("a pool");
        let (context, writers) = (self.setup.context(), seqs.iter().collect::<BTreeSet<_>>());
        if n > rows || writers.iter().any(|seq| tokens_of(**seq) > context) {
            return Err(Error::NeverFits);
        }
        let next = self.next_of_all();
        let end = |seq: u32| u64::from(next[seq as usize]) + tokens_of(seq);
        if n > u64::from(self.room()) || writers.iter().any(|seq| end(**seq) > context) {
            return Err(Error::OutOfCapacity);
        }
        self.evict();
        self.state.fixed |= self.any_pending();
        self.state.pools.iter_mut().for_each(|pool| (pool.read, pool.stale) = (false, false));
        self.state.step = Some(Step { seqs: seqs.to_vec(), placed: None });
        Ok(())
    }

    /// Places the step, or finds it placed, and says whether it was new.
    pub(crate) fn place(&mut self, layer: u32, positions: &[u32]) -> Result<bool, Error> {
        if positions.is_empty() {
            return Err(Error::InvalidArgument);
        }
        self.layer_pool(layer)?;
        let step = self.state.step.as_ref().ok_or(Error::NoStep)?;
        if let Some(placed) = &step.placed {
            return if placed.positions == positions { Ok(false) } else { Err(Error::NoStep) };
        }
        if positions.len() != step.seqs.len() {
            return Err(Error::NoStep);
        }
        let seqs = step.seqs.clone();
        for (at, (&seq, &position)) in seqs.iter().zip(positions).enumerate() {
            let before = (0..at).rev().find(|before| seqs[*before] == seq);
            let least = match before {
                Some(before) => u64::from(positions[before]) + 1,
                None => self.next_pos(seq)?.into(),
            };
            if u64::from(position) < least || position == u32::MAX {
                return Err(Error::BadPosition);
            }
        }
        if positions.iter().any(|position| u64::from(*position) >= self.setup.context()) {
            return Err(Error::OutOfCapacity);
        }
        let cells = self.state.pools.iter_mut().map(|pool| fill(pool, &seqs, positions)).collect();
        let placed = Placed { positions: positions.to_vec(), cells };
        self.state.step = Some(Step { seqs, placed: Some(placed) });
        Ok(true)
    }

    /// The placed step: sequences, positions, and its cells in the layer's pool.
    pub(crate) fn placed(&self, layer: u32) -> Option<(&[u32], &[u32], &[u32])> {
        let step = self.state.step.as_ref()?;
        let placed = step.placed.as_ref()?;
        Some((&step.seqs, &placed.positions, &placed.cells[self.pool[layer as usize]]))
    }

    /// Whether a query of a sequence sees a cell, in this layer.
    pub(crate) fn sees(&self, layer: u32, seq: u32, query: u32, cell: &Cell) -> bool {
        let Layer { kind, window, sinks, .. } = self.setup.layers[layer as usize];
        let owned = cell.owners >> seq & 1 != 0 && cell.position <= query;
        owned && (kind == LAYER_FLAT || cell.position < sinks || query - cell.position < window)
    }

    /// What the placed step answers for a layer.
    pub(crate) fn cell_step(&self, layer: u32) -> CellStep {
        let (seqs, positions, cells) = self.placed(layer).expect("a placed step");
        let pool = &self.state.pools[self.pool[layer as usize]];
        let read_len = pool.read_len();
        let one_run = cells.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let (seq, last) = (seqs[0], positions[positions.len() - 1]);
        let window = self.setup.layers[layer as usize].window;
        let covers = |position: u32| window == 0 || last - position < window;
        let mut rows = pool.cells[..read_len as usize].iter();
        let alone = seqs.iter().all(|other| *other == seq)
            && rows.all(|cell| cell.is_some_and(|cell| cell.owners == 1 << seq && covers(cell.position)));
        let ascending =
            pool.used().zip(pool.used().skip(1)).all(|((_, one), (_, two))| one.position < two.position);
        let mask = match seqs.len() {
            _ if !(alone && ascending) => MASK_EXPLICIT,
            1 => MASK_NONE,
            _ => MASK_CAUSAL,
        };
        let write_start = if one_run { cells[0] } else { UNBOUNDED };
        CellStep { mask, n_tokens: seqs.len() as u32, read_len, write_start }
    }

    /// The mask of the placed step, a list of columns for each query.
    pub(crate) fn mask(&self, layer: u32) -> Vec<Vec<bool>> {
        let (seqs, positions, _) = self.placed(layer).expect("a placed step");
        let pool = &self.state.pools[self.pool[layer as usize]];
        let columns = &pool.cells[..pool.read_len() as usize];
        let row = |(seq, query): (&u32, &u32)| -> Vec<bool> {
            let seen = |cell: &Option<Cell>| cell.is_some_and(|cell| self.sees(layer, *seq, *query, &cell));
            columns.iter().map(seen).collect()
        };
        seqs.iter().zip(positions).map(row).collect()
    }

    /// The pending shifts of a layer's pool.
    pub(crate) fn shifts(&self, layer: u32) -> Result<Vec<Shift>, Error> {
        let mut runs: Vec<Shift> = Vec::new();
        for (row, cell) in self.layer_pool(layer)?.used().filter(|(_, cell)| cell.delta != 0) {
            let delta = i32::try_from(cell.delta).expect("a pending delta has 32 bits");
            match runs.last_mut() {
                Some(run) if run.row + run.len == row && run.delta == delta => run.len += 1,
                _ => runs.push(Shift { row, len: 1, delta }),
            }
        }
        Ok(runs)
    }

    /// Reading a list that is not empty freezes it once a step was declared over it.
    pub(crate) fn read_shifts(&mut self, layer: u32) -> Result<Vec<Shift>, Error> {
        let shifts = self.shifts(layer)?;
        self.state.frozen |= self.state.fixed && !shifts.is_empty();
        let pool = &mut self.state.pools[self.pool[layer as usize]];
        (pool.read, pool.stale) = (true, false);
        Ok(shifts)
    }

    pub(crate) fn any_pending(&self) -> bool {
        self.state.pools.iter().any(|pool| pool.used().any(|(_, cell)| cell.delta != 0))
    }
}

/// The sequences in a set.
fn owners(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(lowest)
    })
}

/// Rows of a group's own pool.
fn split_rows(layer: &Layer, setup: &Setup) -> u64 {
    let capacity = u64::from(setup.capacity);
    // What is never let go of has no smaller bound.
    if layer.kind == LAYER_FLAT || setup.has(KEEP_CELLS) {
        return capacity;
    }
    let kept = u64::from(layer.sinks) + u64::from(layer.window) + u64::from(setup.rollback);
    let step = if setup.max_write == 0 { capacity } else { u64::from(setup.max_write) };
    capacity.min(u64::from(setup.max_seqs) * kept + step)
}

/// Each token takes the lowest free cell.
fn fill(pool: &mut Pool, seqs: &[u32], positions: &[u32]) -> Vec<u32> {
    let free = pool.cells.iter().enumerate().filter(|(_, cell)| cell.is_none());
    let rows: Vec<usize> = free.map(|(row, _)| row).take(seqs.len()).collect();
    assert_eq!(rows.len(), seqs.len(), "the declaration saw to it");
    for ((&row, &seq), &position) in rows.iter().zip(seqs).zip(positions) {
        pool.cells[row] = Some(Cell { position, owners: 1 << seq, delta: 0 });
    }
    rows.into_iter().map(|row| row as u32).collect()
}
