//! The verbs of the model: what happens between steps. Each ends the step when it succeeds.
#![allow(clippy::cast_possible_truncation)] // small caches

use std::collections::BTreeSet;

use kvcore::{Error, Move};

use crate::model::{Model, Pool};

impl Model {
    fn ends_the_step(&mut self) {
        self.state.step = None;
    }

    fn lowest_free_id(&self) -> Result<u32, Error> {
        (0..self.setup.max_seqs).find(|seq| !self.is_live(*seq)).ok_or(Error::TableFull)
    }

    /// The sequence without its positions from `len` on.
    fn cut(&mut self, seq: u32, len: u32) {
        for pool in &mut self.state.pools {
            pool.let_go(seq, |position| position >= len);
            let lost = &mut pool.lost[seq as usize];
            *lost = if len <= pool.sinks { 0 } else { (*lost).min(len) };
        }
    }

    /// A sequence goes on where it ends: its next token must find its window there, in every pool.
    pub(crate) fn check_window(&self, seq: u32) -> Result<(), Error> {
        let next = self.next_pos(seq)?;
        if self.state.pools.iter().all(|pool| pool.has_window(seq, next)) {
            Ok(())
        } else {
            Err(Error::Evicted)
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(&self.setup);
    }

    pub(crate) fn seq_new(&mut self) -> Result<u32, Error> {
        let seq = self.lowest_free_id()?;
        self.state.live |= 1 << seq;
        self.ends_the_step();
        Ok(seq)
    }

    pub(crate) fn seq_clone(&mut self, src: u32, upto: u32) -> Result<u32, Error> {
        let next = self.next_pos(src)?;
        let mut after = self.clone();
        if upto < next {
            after.cut(src, upto);
            after.check_window(src)?;
        }
        let seq = self.lowest_free_id()?;
        self.state.live |= 1 << seq;
        for (pool, after) in self.state.pools.iter_mut().zip(&after.state.pools) {
            for cell in pool.cells.iter_mut().flatten() {
                if cell.owners >> src & 1 != 0 && cell.position < upto {
                    cell.owners |= 1 << seq;
                }
            }
            pool.lost[seq as usize] = after.lost[src as usize];
        }
        self.ends_the_step();
        Ok(seq)
    }

    pub(crate) fn seq_remove(&mut self, seq: u32, from: u32, to: u32) -> Result<(), Error> {
        if from > to {
            return Err(Error::InvalidArgument);
        }
        let next = self.next_pos(seq)?;
        if from < next && to >= next {
            // A tail. When nothing is left the sequence starts anew.
            let len = if from <= self.first_pos(seq)? { 0 } else { from };
            return self.rewind(seq, len);
        }
        for pool in &mut self.state.pools {
            pool.let_go(seq, |position| (from..to).contains(&position));
        }
        self.ends_the_step();
        Ok(())
    }

    pub(crate) fn rewind(&mut self, seq: u32, len: u32) -> Result<(), Error> {
        if len > self.next_pos(seq)? {
            return Err(Error::CannotGrow);
        }
        let mut after = self.clone();
        after.cut(seq, len);
        after.check_window(seq)?;
        *self = after;
        self.ends_the_step();
        Ok(())
    }

    pub(crate) fn seq_release(&mut self, seq: u32) -> Result<(), Error> {
        self.check_live(seq)?;
        self.cut(seq, 0);
        self.state.live &= !(1 << seq);
        self.ends_the_step();
        Ok(())
    }

    pub(crate) fn seq_keep(&mut self, seq: u32) -> Result<(), Error> {
        self.check_live(seq)?;
        for other in self.live().into_iter().filter(|other| *other != seq) {
            self.seq_release(other)?;
        }
        self.ends_the_step();
        Ok(())
    }

    pub(crate) fn seq_shift(&mut self, seq: u32, from: u32, to: u32, delta: i32) -> Result<(), Error> {
        if from > to {
            return Err(Error::InvalidArgument);
        }
        self.check_live(seq)?;
        if self.state.frozen {
            return Err(Error::Unsupported);
        }
        let within = |position: u32| delta != 0 && (from..to).contains(&position);
        let shared =
            |pool: &Pool| pool.held(seq).any(|(_, cell)| within(cell.position) && cell.owners != 1 << seq);
        if self.state.pools.iter().any(shared) {
            return Err(Error::Shared);
        }
        for pool in &self.state.pools {
            let cells = || pool.held(seq).map(|(_, cell)| cell);
            let stay: BTreeSet<u32> = cells().map(|cell| cell.position).filter(|at| !within(*at)).collect();
            for cell in cells().filter(|cell| within(cell.position)) {
                let to = cell.position.checked_add_signed(delta);
                let free = to.is_some_and(|to| u64::from(to) < self.setup.context() && !stay.contains(&to));
                if !free || i32::try_from(cell.delta + i64::from(delta)).is_err() {
                    return Err(Error::BadPosition);
                }
            }
        }
        let mut pools = self.state.pools.clone();
        for pool in &mut pools {
            pool.shift(seq, within, delta, from);
            pool.stale |= pool.read && delta != 0;
        }
        // The next token has to find its window whole.
        let next = pools.iter().map(|pool| pool.next_pos(seq)).max().unwrap_or(0);
        if !pools.iter().all(|pool| pool.has_window(seq, next)) {
            return Err(Error::Evicted);
        }
        self.state.pools = pools;
        self.ends_the_step();
        Ok(())
    }

    pub(crate) fn shifts_done(&mut self) {
        for pool in &mut self.state.pools {
            // What changed since somebody read it was not carried out.
            if !pool.stale {
                pool.cells.iter_mut().flatten().for_each(|cell| cell.delta = 0);
            }
            (pool.read, pool.stale) = (false, false);
        }
        (self.state.fixed, self.state.frozen) = (false, false);
    }

    pub(crate) fn check_defrag(&self, layer: u32) -> Result<(), Error> {
        self.layer_pool(layer)?;
        if self.state.frozen { Err(Error::Unsupported) } else { Ok(()) }
    }

    /// Carries out moves that `defrag` answered, in order, each from cells in use to free ones, downwards.
    pub(crate) fn carry_out(&mut self, layer: u32, moves: &[Move]) {
        let pool = &mut self.state.pools[self.pool[layer as usize]];
        pool.stale |= pool.read && !moves.is_empty();
        let cells = &mut pool.cells;
        for Move { from, to, len } in moves.iter().copied() {
            assert!(len > 0 && to + len <= from, "{from} to {to}, {len} rows");
            for at in 0..len {
                let cell = cells[(from + at) as usize].take();
                assert!(cell.is_some(), "row {} is free: nothing to move", from + at);
                let target = cells[(to + at) as usize].replace(cell.expect("it is used"));
                assert_eq!(target, None, "row {} is in use", to + at);
            }
        }
        self.ends_the_step();
    }

    /// Rows that have to move before a pool's cells in use are its first ones.
    pub(crate) fn out_of_place(&self, layer: u32) -> u32 {
        let pool = self.layer_pool(layer).expect("a layer");
        let used = pool.used().count() as u32;
        pool.used().filter(|(row, _)| *row >= used).count() as u32
    }
}

impl Pool {
    fn shift(&mut self, seq: u32, within: impl Fn(u32) -> bool, delta: i32, from: u32) {
        // What was let go of stood right below the lowest that is held and no sink, and moves with it, if it is in the
        // range. What the lowest moves onto counts as removed.
        let lowest = self.held(seq).map(|(_, cell)| cell.position).filter(|at| *at >= self.sinks).min();
        if let Some(lowest) = lowest.filter(|at| within(*at)) {
            let lost = self.lost[seq as usize];
            self.lost[seq as usize] = match lost {
                0 => 0,
                _ if from < lost => lost.saturating_add_signed(delta),
                _ => lost.min(lowest.saturating_add_signed(delta)),
            };
        }
        for cell in self.cells.iter_mut().flatten() {
            if cell.owners >> seq & 1 != 0 && within(cell.position) {
                cell.position = cell.position.saturating_add_signed(delta);
                cell.delta += i64::from(delta);
            }
        }
    }
}
