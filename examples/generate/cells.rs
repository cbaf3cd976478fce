//! What every row of one layer's pool held, from step to step: the contents of the picture.

use crate::trace::{Event, Panel, Trace};

/// What a row is worth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Worth {
    /// Attention reads it.
    Read,
    /// It holds its position still, but no window reaches it.
    Idle,
    /// It holds a draft that was rejected, at the end of the step that wrote it.
    Rejected,
    /// It holds a position that a rewind took back.
    Rewound,
}

/// A row that holds the same position, worth the same, during the steps `from..to`.
pub(crate) struct Cell {
    pub(crate) row: u32,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) position: u32,
    pub(crate) worth: Worth,
}

/// Consecutive rows that a step wrote.
pub(crate) struct Write {
    pub(crate) step: usize,
    pub(crate) row: u32,
    pub(crate) len: u32,
}

#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) held: Vec<Cell>,
    pub(crate) writes: Vec<Write>,
    /// Rows of positions that were still good when a step overwrote them.
    pub(crate) evictions: Vec<Write>,
    /// Steps in which the ring came round.
    pub(crate) wraps: Vec<usize>,
    /// Rows in use, at the most.
    pub(crate) rows: u32,
}

/// What a row holds now.
#[derive(Clone, Copy)]
struct Held {
    position: u32,
    since: usize,
    worth: Worth,
}

struct Pool {
    rows: Vec<Option<Held>>,
    out: Cells,
}

/// The story of the panel at `index` of the trace.
pub(crate) fn of(trace: &Trace, index: usize) -> Cells {
    let Panel { info, .. } = trace.panels[index];
    let rows = trace.steps.iter().map(|step| step.plans[index].rows_needed).max().unwrap_or(0);
    let out = Cells { rows, ..Cells::default() };
    let mut pool = Pool { rows: vec![None; rows as usize], out };
    let mut events = trace.events.iter().peekable();
    for (now, step) in trace.steps.iter().enumerate() {
        while let Some((_, event)) = events.next_if(|(before, _)| *before == now) {
            match event {
                Event::Act(_) | Event::Note(_) => {}
                Event::Rewind(length) => pool.lose(now, *length as u32, Worth::Rewound),
                Event::Clear(_) => pool.lose(now, 0, Worth::Rewound),
            }
        }
        let plan = &step.plans[index];
        let mut expected = None;
        for run in plan.writes() {
            // The lowest row of the ring comes after its highest.
            if run.pos > info.layer.sinks && run.start == info.layer.sinks || expected.is_some() {
                pool.out.wraps.push(now);
            }
            expected = Some(run.start + run.len);
            pool.out.writes.push(Write { step: now, row: run.start, len: run.len });
            for i in 0..run.len {
                pool.write(now, run.start + i, run.pos + i);
            }
        }
        let read = |row: u32| plan.reads().iter().any(|run| (run.start..run.start + run.len).contains(&row));
        pool.look(now, read);
        let end = plan.position + plan.n_tokens;
        pool.lose(now, end - step.rejected as u32, Worth::Rejected);
    }
    pool.finish(trace.steps.len())
}

impl Pool {
    fn write(&mut self, now: usize, row: u32, position: u32) {
        if let Some(held) = self.close(now, row)
            && matches!(held.worth, Worth::Read | Worth::Idle)
        {
            self.out.evictions.push(Write { step: now, row, len: 1 });
        }
        self.rows[row as usize] = Some(Held { position, since: now, worth: Worth::Read });
    }

    /// Sorts the good rows into those that the step reads and the others.
    fn look(&mut self, now: usize, read: impl Fn(u32) -> bool) {
        for row in 0..self.rows.len() as u32 {
            let worth = if read(row) { Worth::Read } else { Worth::Idle };
            self.change(now, row, |held| match held.worth {
                Worth::Read | Worth::Idle => worth,
                lost => lost,
            });
        }
    }

    /// The positions from `length` on are good no more.
    fn lose(&mut self, now: usize, length: u32, why: Worth) {
        for row in 0..self.rows.len() as u32 {
            self.change(now, row, |held| match held.worth {
                Worth::Read | Worth::Idle if held.position >= length => why,
                worth => worth,
            });
        }
    }

    fn change(&mut self, now: usize, row: u32, worth: impl Fn(&Held) -> Worth) {
        let Some(held) = self.rows[row as usize] else { return };
        let worth = worth(&held);
        if worth != held.worth {
            self.close(now, row);
            self.rows[row as usize] = Some(Held { since: now, worth, ..held });
        }
    }

    /// Ends what the row holds as a cell of the picture.
    fn close(&mut self, now: usize, row: u32) -> Option<Held> {
        let held = self.rows[row as usize].take()?;
        if held.since < now {
            let Held { position, since: from, worth } = held;
            self.out.held.push(Cell { row, from, to: now, position, worth });
        }
        Some(held)
    }

    fn finish(mut self, end: usize) -> Cells {
        for row in 0..self.rows.len() as u32 {
            self.close(end, row);
        }
        self.out
    }
}
