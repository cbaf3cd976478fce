//! Compares what came through the cache with the recomputation from scratch, and shows how far it is.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use kvcore::Layer;

use crate::model::{Logits, Model};
use crate::reference;

/// Largest difference of a logit that still counts as the same; the logits are sums of `f32` of size 10 or so.
pub(crate) const BOUND: f32 = 1e-4;

pub(crate) struct Checker<'m> {
    model: &'m Model,
    layers: Vec<Layer>,
    /// Logits of the newest tokens of the history, not compared yet.
    pending: Vec<Logits>,
    compared: usize,
    largest: f32,
    progress: Progress,
}

impl<'m> Checker<'m> {
    pub(crate) fn new(name: &'static str, model: &'m Model, layers: &[Layer]) -> Self {
        let progress = Progress::new(name);
        Self { model, layers: layers.to_vec(), pending: Vec::new(), compared: 0, largest: 0.0, progress }
    }

    /// Takes the logits of one step. They are compared when the history is about to be cut, or at the end:
    /// until then, one recomputation of the whole history serves them all.
    pub(crate) fn take(&mut self, logits: Vec<Logits>) {
        self.pending.extend(logits);
        self.progress.show(self.compared);
    }

    /// Compares all that is pending. `history` is every token that the cache has seen, drafts included.
    pub(crate) fn compare(&mut self, history: &[u8]) {
        if self.pending.is_empty() {
            return;
        }
        let from = history.len() - self.pending.len();
        let wanted = reference::forward(self.model, &self.layers, history, from);
        for (logits, wanted) in self.pending.iter().zip(&wanted) {
            self.largest = self.largest.max(largest_difference(logits, wanted));
        }
        self.compared += self.pending.len();
        self.pending.clear();
        self.progress.show(self.compared);
    }

    /// Logit vectors compared, and the largest difference of any logit.
    pub(crate) fn finish(mut self, history: &[u8]) -> (usize, f32) {
        self.compare(history);
        self.progress.clear();
        (self.compared, self.largest)
    }
}

/// A difference that is no number counts as infinite.
fn largest_difference(a: &Logits, b: &Logits) -> f32 {
    let difference = |(a, b): (&f32, &f32)| (a - b).abs();
    let not_less = |x: f32, y: f32| if y.is_nan() { f32::INFINITY } else { x.max(y) };
    a.iter().zip(b).map(difference).fold(0.0, not_less)
}

/// A line on stderr that tells a waiting person what goes on.
struct Progress {
    name: &'static str,
    began: Instant,
    shown: Instant,
    terminal: bool,
    dirty: bool,
}

impl Progress {
    fn new(name: &'static str) -> Self {
        let now = Instant::now();
        Self { name, began: now, shown: now, terminal: stderr().is_terminal(), dirty: false }
    }

    fn show(&mut self, compared: usize) {
        let pause = if self.terminal { Duration::from_millis(200) } else { Duration::from_secs(5) };
        if self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        let seconds = self.began.elapsed().as_secs();
        let (start, end) = if self.terminal { ("\r", "") } else { ("", "\n") };
        eprint!("{start}{}: {compared} logit vectors compared, {seconds} s{end}", self.name);
        let _ = stderr().flush();
        self.dirty = self.terminal;
    }

    /// Leaves nothing of the line on a terminal.
    fn clear(&mut self) {
        if self.dirty {
            eprint!("\r{:60}\r", "");
        }
    }
}
