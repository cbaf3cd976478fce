//! Compares what came through the cache with the recomputation from scratch, and shows how far it is.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use kvcore::Layer;

use crate::model::{Logits, Model, State};
use crate::reference::Reading;

/// Largest difference of a logit that still counts as the same; the logits are sums of `f32` of size 10 or so.
pub(crate) const BOUND: f32 = 1e-4;

pub(crate) struct Checker<'m> {
    model: &'m Model,
    layers: &'m [Layer],
    /// Logits of the newest tokens of the history, not compared yet.
    pending: Vec<Logits>,
    compared: usize,
    largest: f32,
    progress: Progress,
}

impl<'m> Checker<'m> {
    pub(crate) fn new(name: &'static str, model: &'m Model, layers: &'m [Layer]) -> Self {
        let progress = Progress::new(name);
        Self { model, layers, pending: Vec::new(), compared: 0, largest: 0.0, progress }
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
        let states = self.blank().read(history);
        self.settle(&states);
    }

    /// Compares the logits of the step of a tree: `text` is what all nodes continue, and each path has its tokens and
    /// logits.
    pub(crate) fn compare_tree(&mut self, text: &[u8], paths: &[(Vec<u8>, Vec<Logits>)]) {
        let mut reading = self.blank();
        let states = reading.read(text);
        self.settle(&states);
        for (tokens, logits) in paths {
            let states = reading.clone().read(tokens);
            self.judge(logits, &states[states.len() - logits.len()..]);
        }
    }

    /// A reading that has not begun.
    pub(crate) fn blank(&self) -> Reading<'m> {
        Reading::new(self.model, self.layers)
    }

    /// Compares what is pending with the newest of these states.
    fn settle(&mut self, states: &[State]) {
        let pending = std::mem::take(&mut self.pending);
        self.judge(&pending, &states[states.len() - pending.len()..]);
    }

    /// Compares logits with those of the reference's states.
    pub(crate) fn judge(&mut self, logits: &[Logits], states: &[State]) {
        for (logits, state) in logits.iter().zip(states) {
            self.largest = self.largest.max(largest_difference(logits, &self.model.logits(state)));
            self.compared += 1;
        }
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
