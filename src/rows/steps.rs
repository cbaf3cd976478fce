//! Steps: declared by the application, placed and planned for each layer by the backend.

use super::{Known, RowsInner};
use crate::batch::Span;
use crate::error::Error;
use crate::layout::{GroupStep, Layout};
use crate::sequence::epoch_after;

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> RowsInner<W> {
    /// Admits a step before any compute: the sequence of each token, in order. Replaces an earlier declaration; refused, it
    /// leaves that one standing. O(tokens).
    ///
    /// # Errors
    /// In this order: `InvalidArgument` for no token, `BadSequence`, `StepTooLarge` for more tokens of one sequence than
    /// a step may have, `NeverFits`, `OutOfCapacity`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, RowsCache};
    /// # let layers = [Layer::ring(4)];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.declare_step(&[a; 4])?;
    /// assert_eq!(cache.declare_step(&[a; 5]), Err(Error::StepTooLarge));
    /// assert_eq!(cache.declare_step(&[a + 1]), Err(Error::BadSequence));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn declare_step(&mut self, seq_ids: &[u32]) -> Result<(), Error> {
        if seq_ids.is_empty() {
            return Err(Error::InvalidArgument);
        }
        for &seq in seq_ids {
            self.find(seq)?;
        }
        let admitted = self.admit(seq_ids);
        for &seq in seq_ids {
            let at = self.place_of(seq);
            let seen = self.known(at, Known::Seen);
            if admitted.is_ok() && seen > 0 {
                self.note(at, Known::Step, seen);
            }
            self.note(at, Known::Seen, 0);
        }
        self.n_tokens = admitted?;
        self.placed = 0;
        self.epoch = epoch_after(self.epoch);
        self.keep_tokens(seq_ids);
        Ok(())
    }

    /// Counts each sequence's tokens (into `seen`) and answers how many there are, if there is room for them.
    fn admit(&mut self, seq_ids: &[u32]) -> Result<u32, Error> {
        let (mut most, mut late, mut rows) = (0, false, 0_u32);
        for &seq in seq_ids {
            let at = self.place_of(seq);
            let seen = self.known(at, Known::Seen).saturating_add(1);
            self.note(at, Known::Seen, seen);
            let length = self.known(at, Known::Length).saturating_add(seen);
            most = most.max(seen);
            late |= length > self.bound;
            rows = rows.saturating_add(u32::from(length <= self.most_rows));
        }
        if most > self.model.step_limit {
            return Err(Error::StepTooLarge);
        }
        let n_tokens = u32::try_from(seq_ids.len()).unwrap_or(u32::MAX);
        if most > self.bound || n_tokens > self.capacity() {
            return Err(Error::NeverFits);
        }
        if late || rows > self.free_rows() {
            return Err(Error::OutOfCapacity);
        }
        Ok(n_tokens)
    }

    fn keep_tokens(&mut self, seq_ids: &[u32]) {
        let mut before = None;
        self.n_spans = 0;
        for (token, &seq) in (0..).zip(seq_ids) {
            self.set_token(token, seq);
            self.n_spans += u32::from(before != Some(seq));
            before = Some(seq);
        }
    }

    /// Whether `n` more tokens of a sequence, in steps as small as need be, have room now. O(1).
    ///
    /// # Errors
    /// `InvalidArgument` for zero tokens, `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, RowsCache};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// assert!(cache.can_admit(a, 64)?);
    /// assert!(!cache.can_admit(a, 65)?);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn can_admit(&self, seq: u32, n: u32) -> Result<bool, Error> {
        if n == 0 {
            return Err(Error::InvalidArgument);
        }
        let length = self.seq_len(seq)?;
        let end = length.saturating_add(n);
        Ok(end <= self.bound && self.rows_of(end) - self.rows_of(length) <= self.free_rows())
    }

    /// Spans of the declared step: runs of tokens of the same sequence. O(1).
    ///
    /// # Errors
    /// `NoStep`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, RowsCache};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// assert_eq!(cache.n_spans(), Err(Error::NoStep));
    /// let (a, b) = (cache.seq_new()?, cache.seq_new()?);
    /// cache.declare_step(&[a, a, b, a])?;
    /// assert_eq!(cache.n_spans()?, 3);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn n_spans(&self) -> Result<usize, Error> {
        if self.n_tokens == 0 { Err(Error::NoStep) } else { Ok(self.n_spans as usize) }
    }

    /// Places the declared step and plans it for a layer: one span for each run of tokens of the same sequence, in order;
    /// answers how many. A sequence that comes again continues where its earlier span ends. The tokens count from the first
    /// placement on, for all layers; with the same positions the step is served again, for any layer. There is no commit: what was
    /// rejected is rewound. O(tokens).
    ///
    /// # Errors
    /// In this order: `BadLayer`; `NoStep` when nothing is declared, or another number of tokens; `BadPosition` unless the positions
    /// continue each sequence (`NoStep` for other positions than those placed); `BufferTooSmall` below [`Self::n_spans`].
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, RowsCache, Span};
    /// # let layers = [Layer::ring(4), Layer::flat()];
    /// # let config = Config { max_seqs: 2, max_write: 2, ..Config::new(64, 2, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let (a, b) = (cache.seq_new()?, cache.seq_new()?);
    /// cache.declare_step(&[a, b, a])?;
    /// let mut spans = [Span::default(); 3];
    /// assert_eq!(cache.place_step(0, &[0, 0, 2], &mut spans), Err(Error::BadPosition));
    /// assert_eq!(cache.place_step(0, &[0, 0, 1], &mut spans)?, 3);
    /// assert_eq!((spans[2].seq, spans[2].plan.position), (a, 1));
    /// assert_eq!(cache.place_step(1, &[0, 0, 1], &mut spans)?, 3); // the other layer: the same step
    /// assert_eq!(cache.seq_len(a)?, 2);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn place_step(&mut self, layer: u32, positions: &[u32], out: &mut [Span]) -> Result<usize, Error> {
        self.place(layer, positions, out).map(|(n_spans, _)| n_spans)
    }

    /// The same; also tells whether a window dropped positions.
    pub(crate) fn place(
        &mut self,
        layer: u32,
        positions: &[u32],
        out: &mut [Span],
    ) -> Result<(usize, bool), Error> {
        let (group, layout) = self.model.layout_of(layer)?;
        let n_spans = self.n_spans()?;
        if positions.len() != self.n_tokens as usize {
            return Err(Error::NoStep);
        }
        if !self.is_at(positions) {
            return Err(if self.placed == 0 { Error::BadPosition } else { Error::NoStep });
        }
        if out.len() < n_spans {
            return Err(Error::BufferTooSmall);
        }
        let evicted = self.placed == 0 && self.take_rows();
        let (epoch, mut token) = (self.epoch, 0);
        for span in out.iter_mut().take(n_spans) {
            (span.seq, span.n_tokens) = self.run_at(token);
            let position = positions.get(token as usize).copied().unwrap_or(0);
            plan_span(layout, group, epoch, position, span);
            token += span.n_tokens;
        }
        Ok((n_spans, evicted))
    }

    /// Whether the tokens of the step have these positions, or are to have them.
    fn is_at(&mut self, positions: &[u32]) -> bool {
        let mut all = true;
        for (token, &position) in (0..).zip(positions) {
            let at = self.place_of(self.token(token));
            let before = if self.placed == 0 { 0 } else { self.known(at, Known::Step) };
            let seen = self.known(at, Known::Seen);
            all &= position == self.known(at, Known::Length) - before + seen;
            self.note(at, Known::Seen, seen + 1);
        }
        for token in 0..self.n_tokens {
            self.note(self.place_of(self.token(token)), Known::Seen, 0);
        }
        all
    }

    /// The tokens of the step count from now on; tells whether a window dropped positions.
    fn take_rows(&mut self) -> bool {
        let mut evicted = false;
        for token in 0..self.n_tokens {
            let at = self.place_of(self.token(token));
            let (length, reach) = (self.known(at, Known::Length), self.known(at, Known::Reach));
            self.used += u32::from(length < self.most_rows);
            self.note(at, Known::Length, length + 1);
            if length >= reach {
                evicted = true;
                self.note(at, Known::Reach, length + 1);
            }
        }
        self.placed = 1;
        evicted
    }

    /// The run that begins with a token of the step: whose tokens, and how many.
    fn run_at(&self, token: u32) -> (u32, u32) {
        let (seq, mut end) = (self.token(token), token + 1);
        while end < self.n_tokens && self.token(end) == seq {
            end += 1;
        }
        (seq, end - token)
    }
}

/// Plans the tokens of a span from `position` on.
#[inline(never)]
pub(super) fn plan_span(layout: Layout, group: u32, epoch: u32, position: u32, span: &mut Span) {
    let index = layout.index(position);
    let step = GroupStep { layout, index, position, n_tokens: span.n_tokens, group, epoch };
    step.write_plan(&mut span.plan);
}
