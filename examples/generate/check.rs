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

    /// How many tokens will be generated.
    pub(crate) fn expect(&mut self, tokens: usize) {
        self.progress.expected = tokens;
    }

    /// Counts a token.
    pub(crate) fn generated(&mut self) {
        self.progress.tokens += 1;
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
    tokens: usize,
    expected: usize,
    terminal: bool,
    dirty: bool,
}

impl Progress {
    fn new(name: &'static str) -> Self {
        let (now, terminal) = (Instant::now(), stderr().is_terminal());
        Self { name, began: now, shown: now, tokens: 0, expected: 0, terminal, dirty: false }
    }

    fn show(&mut self, compared: usize) {
        let pause = if self.terminal { Duration::from_millis(200) } else { Duration::from_secs(5) };
        if self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        let (Self { name, tokens, expected, .. }, seconds) = (&self, self.began.elapsed().as_secs());
        let text =
            format!("{name}: token {tokens} of {expected}, {compared} logit vectors compared, {seconds} s");
        self.dirty = self.terminal;
        // Progress is not worth failing for.
        let mut err = stderr();
        let _ = if self.terminal { write!(err, "\r{text:76}") } else { writeln!(err, "{text}") };
        let _ = err.flush();
    }

    /// Leaves nothing of the line on a terminal.
    fn clear(&mut self) {
        if self.dirty {
            let _ = write!(stderr(), "\r{:76}\r", "");
        }
    }
}
