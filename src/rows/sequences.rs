//! What an application does with sequences, and asks about them. Whatever changes one ends the step.

use super::steps::plan_span;
use super::{Known, RowsInner};
use crate::batch::Span;
use crate::error::Error;
use crate::limits::UNBOUNDED;
use crate::plan::{Run, SeqPlan};
use crate::residency::Residency;

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> RowsInner<W> {
    /// Forgets all sequences and the step. O(sequences).
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, RowsCache};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.clear();
    /// assert_eq!(cache.seq_len(a), Err(Error::BadSequence));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn clear(&mut self) {
        for seq in 0..self.max_seqs {
            self.note(self.place_of(seq), Known::Reach, 0);
        }
        self.used = 0;
        self.end_step();
    }

    /// An empty sequence under the lowest free id. O(sequences).
    ///
    /// # Errors
    /// `TableFull`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, RowsCache};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// assert_eq!((cache.seq_new()?, cache.seq_new()?), (0, 1));
    /// assert_eq!(cache.seq_new(), Err(Error::TableFull));
    /// cache.seq_release(0)?;
    /// assert_eq!(cache.seq_new()?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_new(&mut self) -> Result<u32, Error> {
        let seq = self.free_id()?;
        self.begin(seq, 0, None);
        Ok(seq)
    }

    /// A sequence with the first `upto` tokens of another ([`UNBOUNDED`]: all), under the lowest free id. Only the bookkeeping:
    /// for each layer the caller copies the rows that [`Self::held`] lists, from the pool of `src` to the same rows of the
    /// clone's. The clone holds nothing else, so that a rewind of it to before `upto` is refused where a window is cut.
    /// O(sequences).
    ///
    /// # Errors
    /// In this order: `BadSequence`; `Evicted` when a rewind to `upto` would be; `OutOfCapacity`; `TableFull`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, RowsCache, Run, Span};
    /// # let layers = [Layer::ring(4)];
    /// # let config = Config { max_seqs: 2, max_write: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// for position in 0..7 {
    ///     cache.declare_step(&[a])?;
    ///     cache.place_step(0, &[position], &mut [Span::default()])?;
    /// }
    /// let b = cache.seq_clone(a, kvcore::UNBOUNDED)?;
    /// let mut runs = [Run::default(); 3];
    /// let n = cache.held(0, b, &mut runs)?; // a window of four: the next token and three before it
    /// assert_eq!(runs[..n], [Run { start: 4, len: 1, pos: 4 }, Run { start: 0, len: 2, pos: 5 }]);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_clone(&mut self, src: u32, upto: u32) -> Result<u32, Error> {
        let at = self.find(src)?;
        let length = self.known(at, Known::Length).min(upto);
        if !self.allows(at, length) {
            return Err(Error::Evicted);
        }
        if self.rows_of(length) > self.free_rows() {
            return Err(Error::OutOfCapacity);
        }
        let seq = self.free_id()?;
        self.begin(seq, length, None);
        Ok(seq)
    }

    /// Gives up a sequence and its id. O(1).
    ///
    /// # Errors
    /// `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, RowsCache};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.seq_release(a)?;
    /// assert_eq!(cache.seq_release(a), Err(Error::BadSequence));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_release(&mut self, seq: u32) -> Result<(), Error> {
        let at = self.find(seq)?;
        self.used -= self.rows_of(self.known(at, Known::Length));
        self.note(at, Known::Reach, 0);
        self.end_step();
        Ok(())
    }

    /// Gives up all other sequences and their ids. O(sequences).
    ///
    /// # Errors
    /// `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, RowsCache};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let (a, b) = (cache.seq_new()?, cache.seq_new()?);
    /// cache.seq_keep(b)?;
    /// assert_eq!((cache.seq_len(a), cache.seq_len(b)), (Err(Error::BadSequence), Ok(0)));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_keep(&mut self, seq: u32) -> Result<(), Error> {
        let at = self.find(seq)?;
        let reach = self.known(at, Known::Reach);
        self.clear();
        self.note(at, Known::Reach, reach);
        self.used = self.rows_of(self.known(at, Known::Length));
        Ok(())
    }

    /// Takes a sequence back to `new_len` tokens, if everything that the next one would see is still in its rows. O(groups), with
    /// a division each.
    ///
    /// # Errors
    /// `BadSequence`; `CannotGrow` beyond the length; `Evicted` when a window has dropped what the target needs.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, RowsCache, Span};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.declare_step(&[a; 3])?;
    /// cache.place_step(0, &[0, 1, 2], &mut [Span::default()])?;
    /// cache.rewind(a, 1)?;
    /// assert_eq!(cache.rewind(a, 2), Err(Error::CannotGrow));
    /// // The step has ended.
    /// assert_eq!(cache.place_step(0, &[0, 1, 2], &mut [Span::default()]), Err(Error::NoStep));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn rewind(&mut self, seq: u32, new_len: u32) -> Result<(), Error> {
        let at = self.find(seq)?;
        let length = self.known(at, Known::Length);
        if new_len > length {
            return Err(Error::CannotGrow);
        }
        if !self.allows(at, new_len) {
            return Err(Error::Evicted);
        }
        self.used -= self.rows_of(length);
        self.begin(seq, new_len, Some(self.known(at, Known::Reach)));
        Ok(())
    }

    /// Tokens of a sequence. O(1).
    ///
    /// # Errors
    /// `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, RowsCache};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// assert_eq!((cache.seq_len(a), cache.seq_len(a + 1)), (Ok(0), Err(Error::BadSequence)));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn seq_len(&self, seq: u32) -> Result<u32, Error> {
        let at = self.find(seq)?;
        Ok(self.known(at, Known::Length))
    }

    /// The position of a sequence's next token: its length. O(1).
    ///
    /// # Errors
    /// `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, RowsCache};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// assert_eq!(cache.next_pos(a)?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn next_pos(&self, seq: u32) -> Result<u32, Error> {
        self.seq_len(seq)
    }

    /// The lowest position of a sequence that is in its row in any layer; [`UNBOUNDED`] when none is. O(groups).
    ///
    /// # Errors
    /// `BadSequence`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, RowsCache, Span};
    /// # let layers = [Layer::ring(2)];
    /// # let config = Config { max_seqs: 2, max_write: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// assert_eq!(cache.first_pos(a)?, kvcore::UNBOUNDED);
    /// for position in 0..8 {
    ///     cache.declare_step(&[a])?;
    ///     cache.place_step(0, &[position], &mut [Span::default()])?;
    /// }
    /// assert_eq!(cache.first_pos(a)?, 5); // a ring of three rows
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn first_pos(&self, seq: u32) -> Result<u32, Error> {
        let at = self.find(seq)?;
        let (reach, mut first) = (self.known(at, Known::Reach), self.known(at, Known::Length));
        for (group, layout) in self.model.layouts().enumerate() {
            let whole = layout.is_flat() || layout.sinks > 0;
            first = first.min(if whole { 0 } else { self.residency(at, group).lo(&layout, reach) });
        }
        Ok(if first < self.known(at, Known::Length) { first } else { UNBOUNDED })
    }

    /// Rows of the capacity that no sequence holds. O(1).
    ///
    /// ```
    /// # use kvcore::{Config, Layer, RowsCache};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// assert_eq!(RowsCache::new(&mut words, &config)?.free_rows(), 64);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn free_rows(&self) -> u32 {
        self.capacity() - self.used
    }

    /// Lists the rows of a sequence's own pool of a layer that hold what its next token can see, oldest first: at most 3
    /// runs. Answers how many. After [`Self::seq_clone`] this is what to copy. O(1).
    ///
    /// # Errors
    /// `BadLayer`, `BadSequence`, `BufferTooSmall`: three are enough.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, RowsCache, Run, Span};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(64, 1, &layers) };
    /// # let mut words = vec![0; kvcore::rows_words(&config)?];
    /// # let mut cache = RowsCache::new(&mut words, &config)?;
    /// let a = cache.seq_new()?;
    /// cache.declare_step(&[a; 3])?;
    /// cache.place_step(0, &[0, 1, 2], &mut [Span::default()])?;
    /// let mut runs = [Run::default(); 3];
    /// assert_eq!(cache.held(0, a, &mut runs)?, 1);
    /// assert_eq!(runs[0], Run { start: 0, len: 3, pos: 0 });
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn held(&self, layer: u32, seq: u32, out: &mut [Run]) -> Result<usize, Error> {
        let mut n_runs = 0;
        self.list_held(layer, seq, out, &mut n_runs)?;
        Ok(n_runs)
    }

    /// The same; tells the number of runs beside `BufferTooSmall`, too.
    pub(crate) fn list_held(
        &self,
        layer: u32,
        seq: u32,
        out: &mut [Run],
        n_runs: &mut usize,
    ) -> Result<(), Error> {
        let (group, layout) = self.model.layout_of(layer)?;
        let position = self.seq_len(seq)?;
        // What the next token reads, but for its own row, which is the last of the last run.
        let mut next = Span { seq, n_tokens: 1, plan: SeqPlan::EMPTY };
        plan_span(layout, group, 0, position, &mut next);
        let runs = next.plan.reads().iter();
        *n_runs = runs.clone().filter(|run| run.pos < position).count();
        let out = out.get_mut(..*n_runs).ok_or(Error::BufferTooSmall)?;
        for (slot, run) in out.iter_mut().zip(runs) {
            *slot = Run { len: run.len.min(position - run.pos), ..*run };
        }
        Ok(())
    }

    fn free_id(&self) -> Result<u32, Error> {
        (0..self.max_seqs).find(|&seq| self.find(seq).is_err()).ok_or(Error::TableFull)
    }

    /// A sequence is `length` long now: what it holds was there before, after steps up to `reach`, or is what its next token sees.
    #[inline(never)]
    fn begin(&mut self, seq: u32, length: u32, reach: Option<u32>) {
        let (at, mut lossless) = (self.place_of(seq), UNBOUNDED);
        for group in 0..self.model.n_groups() {
            let Some(layout) = self.model.layouts().nth(group) else { continue };
            let lo = match reach {
                Some(reach) => self.residency(at, group).lo(&layout, reach).min(length.max(layout.sinks)),
                None => layout.first_seen(length),
            };
            self.set_lo(at, group, lo);
            lossless = lossless.min(Residency::from_lo(lo).lossless_end(&layout));
        }
        self.used += self.rows_of(length);
        self.note(at, Known::Reach, lossless);
        self.note(at, Known::Length, length);
        self.note(at, Known::Seen, 0);
        self.end_step();
    }

    /// Whether what a token of a sequence at `length` sees is there in every group.
    #[inline(never)]
    fn allows(&self, at: usize, length: u32) -> bool {
        let reach = self.known(at, Known::Reach);
        let mut groups = self.model.layouts().enumerate();
        groups.all(|(group, layout)| self.residency(at, group).allows(&layout, reach, length))
    }

    fn residency(&self, at: usize, group: usize) -> Residency {
        Residency::from_lo(self.lo(at, group))
    }

    fn end_step(&mut self) {
        self.n_tokens = 0;
        self.n_spans = 0;
        self.placed = 0;
    }
}
