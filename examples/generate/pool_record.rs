//! What conversations in a pool of cells leave behind, what they must have gone through, and how it is told.

use std::io::{self, Write};

use kvcore::{CellCache, MASK_CAUSAL, MASK_EXPLICIT};

use crate::Outcome;
use crate::cell_backend::CellBackend;
use crate::check::BOUND;
use crate::model::LAYERS;
use crate::modes::Mode;
use crate::owners::{LETTERS, Owners};
use crate::report::{escape, write_missed, write_verdict};
use crate::trace::Kind;

#[derive(Default)]
pub(crate) struct PoolRecord {
    pub(crate) steps: usize,
    /// Steps with tokens of several sequences.
    batched: usize,
    pub(crate) drafted: usize,
    pub(crate) kept: usize,
    /// Times that a conversation went on in a branch, another sequence than before.
    pub(crate) changed: usize,
    /// Context shifts because a conversation was as long as it may be, and because the pool was full.
    pub(crate) context_full: usize,
    pub(crate) pool_full: usize,
    /// Keys that were turned after context shifts, of all layers.
    pub(crate) turned: usize,
    /// Rows that moved while keys were still to be turned, and after a conversation had ended.
    pub(crate) moved_while_pending: usize,
    pub(crate) compacted: usize,
    /// Whether a conversation no longer held all of its text.
    let_go: bool,
    /// Rows that a token saw and should not have, or the other way round.
    pub(crate) strays: usize,
    /// Masks of each kind, of all layers.
    masks: [usize; 4],
    most_cells: u32,
    /// What A, B and C were told.
    pub(crate) replies: Vec<Vec<u8>>,
    logits: usize,
    pub(crate) compared: usize,
    pub(crate) largest: f32,
    pub(crate) owners: Owners,
}

impl PoolRecord {
    pub(crate) fn new(owners: Owners) -> Self {
        Self { owners, ..Self::default() }
    }

    /// `talks`: sequences, each with the conversation that it belongs to.
    pub(crate) fn step(
        &mut self,
        kind: Kind,
        cache: &CellCache<'_>,
        backend: &CellBackend<'_>,
        talks: &[(u32, usize)],
        shares: usize,
    ) -> Outcome<()> {
        self.steps += 1;
        self.batched += usize::from(shares > 1);
        self.logits += backend.placed(0).1.len();
        self.strays = backend.strays;
        for &(seq, _) in talks {
            // One that has ended is not there.
            self.let_go |= cache.seq_len(seq).ok() < cache.next_pos(seq).ok();
        }
        for layer in 0..LAYERS {
            self.masks[backend.placed(layer).0.mask as usize] += 1;
        }
        self.most_cells = self.most_cells.max(cache.capacity() - cache.free_rows());
        self.owners.step(kind, cache, backend, talks)
    }

    /// What a run with this model has missed, in words.
    pub(crate) fn missed(&self, mode: Mode) -> Vec<&'static str> {
        let masked = |mask: u32| self.masks[mask as usize] > 0;
        // Where every layer has a window, cells come back by themselves, and the pool is never full.
        let windows_only = matches!(mode, Mode::Ring | Mode::Sinks);
        let wanted = [
            (self.compared == self.logits, "a comparison of every logit vector"),
            (self.batched > 0, "a step of several conversations"),
            (self.owners.most_shared() > 0, "a cell of several conversations"),
            (self.kept > 0, "a draft that was kept"),
            (self.kept < self.drafted, "a draft that was wrong"),
            (self.changed > 0, "a conversation that goes on in a branch"),
            (self.context_full > 0, "a context shift at the end of the context"),
            (self.pool_full > 0 || windows_only, "a context shift in a full pool"),
            (self.let_go || !windows_only, "a cell that every window has passed"),
            (self.turned > 0, "a key that was turned"),
            (self.moved_while_pending > 0, "a row moved before its key was turned"),
            (self.compacted > 0, "a row moved after a conversation ended"),
            (masked(MASK_CAUSAL), "a causal mask"),
            (masked(MASK_EXPLICIT), "an explicit mask"),
        ];
        wanted.into_iter().filter(|(seen, _)| !seen).map(|(_, what)| what).collect()
    }
}

pub(crate) struct PoolReport {
    pub(crate) name: &'static str,
    pub(crate) record: PoolRecord,
    capacity: u32,
    missed: Vec<&'static str>,
}

impl PoolReport {
    pub(crate) fn new(name: &'static str, mode: Mode, capacity: u32, record: PoolRecord) -> Self {
        let missed = record.missed(mode);
        Self { name, record, capacity, missed }
    }

    pub(crate) fn write_tokens(&self, out: &mut impl Write) -> io::Result<()> {
        for (letter, said) in LETTERS.iter().skip(1).zip(&self.record.replies) {
            writeln!(out, "tokens {} {letter}: {}", self.name, escape(said))?;
        }
        Ok(())
    }

    fn within_bound(&self) -> bool {
        self.record.largest <= BOUND
    }

    pub(crate) fn all_well(&self) -> bool {
        self.within_bound() && self.missed.is_empty() && self.record.strays == 0
    }
}

/// A line for each run, and what they mean.
pub(crate) fn write_table(out: &mut impl Write, reports: &[PoolReport]) -> io::Result<()> {
    writeln!(
        out,
        "\nmodel        steps  tokens  drafts kept  branches  shared  cells used  shifts  keys turned  rows moved  \
         logits compared  largest difference"
    )?;
    for report in reports {
        let record = &report.record;
        let tokens: usize = record.replies.iter().map(Vec::len).sum();
        writeln!(
            out,
            "{:11} {:6} {:7} {:>12} {:9} {:7} {:>11} {:>7} {:12} {:>11} {:16}  {:.1e}",
            report.name,
            record.steps,
            tokens,
            format!("{}/{}", record.kept, record.drafted),
            record.changed,
            record.owners.most_shared(),
            format!("{}/{}", record.most_cells, report.capacity),
            format!("{}+{}", record.context_full, record.pool_full),
            record.turned,
            format!("{}+{}", record.moved_while_pending, record.compacted),
            record.compared,
            record.largest,
        )?;
    }
    writeln!(
        out,
        "\nbranches: conversations that went on in a clone, whose drafts were right. shared: cells of several conversations.\n\
         shifts: at the end of the context + in a full pool. rows moved: before their keys were turned + after B ended."
    )?;
    for report in reports {
        write_missed(out, report.name, &report.missed)?;
        if report.record.strays > 0 {
            writeln!(
                out,
                "WRONG in {}: {} rows seen that hold something else.",
                report.name, report.record.strays
            )?;
        }
    }
    write_verdict(out, reports.iter().all(PoolReport::within_bound))
}
