//! What an application does with sequences, and asks about them. Whatever changes one ends the step.

use super::steps::plan_span;
use super::{RowsInner, Sequence};
use crate::batch::Span;
use crate::error::Error;
use crate::layout::Layout;
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
            self.store(seq, Sequence::default());
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
        self.begin(seq, 0, &|_, layout| Residency::new(&layout));
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
        let Sequence { reach, length, .. } = self.sequence(src)?;
        let length = length.min(upto);
        if !self.allows(src, reach, length) {
            return Err(Error::Evicted);
        }
        if self.rows_of(length) > self.free_rows() {
            return Err(Error::OutOfCapacity);
        }
        let seq = self.free_id()?;
        self.begin(seq, length, &|_, layout| Residency::from_lo(layout.first_seen(length)));
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
        let sequence = self.sequence(seq)?;
        self.used -= self.rows_of(sequence.length);
        self.store(seq, Sequence::default());
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
        let sequence = self.sequence(seq)?;
        self.clear();
        self.store(seq, sequence);
        self.used = self.rows_of(sequence.length);
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
        let Sequence { reach, length, .. } = self.sequence(seq)?;
        if new_len > length {
            return Err(Error::CannotGrow);
        }
        if !self.allows(seq, reach, new_len) {
            return Err(Error::Evicted);
        }
        self.used -= self.rows_of(length);
        self.begin(seq, new_len, &|lo, layout| {
            let mut residency = Residency::from_lo(lo);
            residency.rewind(&layout, reach, new_len);
            residency
        });
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
        self.sequence(seq).map(|sequence| sequence.length)
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
        let Sequence { reach, length, .. } = self.sequence(seq)?;
        let first = self.residencies(seq).map(|(residency, layout)| {
            let whole = layout.is_flat() || layout.sinks > 0;
            if whole { 0 } else { residency.lo(&layout, reach) }
        });
        Ok(first.min().filter(|&first| first < length).unwrap_or(UNBOUNDED))
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
        let (group, layout) = self.model.layout_of(layer)?;
        let position = self.sequence(seq)?.length;
        // What the next token reads, but for its own row, which is the last of the last run.
        let mut next = Span { seq, n_tokens: 1, plan: SeqPlan::EMPTY };
        plan_span(layout, group, 0, position, &mut next);
        let runs = next.plan.reads().iter().map(|run| Run { len: run.len.min(position - run.pos), ..*run });
        let runs = runs.filter(|run| run.len > 0);
        let n_runs = runs.clone().count();
        let out = out.get_mut(..n_runs).ok_or(Error::BufferTooSmall)?;
        for (slot, run) in out.iter_mut().zip(runs) {
            *slot = run;
        }
        Ok(n_runs)
    }

    fn free_id(&self) -> Result<u32, Error> {
        (0..self.max_seqs).find(|&seq| self.sequence(seq).is_err()).ok_or(Error::TableFull)
    }

    /// A sequence goes on from `length`; `residency` makes each group's from the first resident position that it had.
    fn begin(&mut self, seq: u32, length: u32, residency: &dyn Fn(u32, Layout) -> Residency) {
        let (shape, mut reach) = (self.shape(), UNBOUNDED);
        for group in 0..shape.n_groups {
            let Some(layout) = self.model.layouts().nth(group) else { continue };
            let residency = residency(shape.lo(self.words(), seq, group), layout);
            shape.set_lo(self.words_mut(), seq, group, residency.lo);
            reach = reach.min(residency.lossless_end(&layout));
        }
        self.used += self.rows_of(length);
        self.store(seq, Sequence { reach, length, ..Sequence::default() });
        self.end_step();
    }

    /// Whether all that a token at `length` would see is in its rows, in every group.
    fn allows(&self, seq: u32, reach: u32, length: u32) -> bool {
        self.residencies(seq).all(|(residency, layout)| residency.allows(&layout, reach, length))
    }

    fn residencies(&self, seq: u32) -> impl Iterator<Item = (Residency, Layout)> {
        let (shape, words) = (self.shape(), self.words());
        let lows = (0..shape.n_groups).map(move |group| shape.lo(words, seq, group));
        lows.map(Residency::from_lo).zip(self.model.layouts())
    }

    fn end_step(&mut self) {
        self.n_tokens = 0;
        self.n_spans = 0;
        self.placed = 0;
    }
}
