//! Steps: declared by the application, placed by the backend.

use super::CellInner;
use super::pool::View;
use crate::batch::CellStep;
use crate::bitset::{get, put};
use crate::error::Error;
use crate::limits::UNBOUNDED;
use crate::plan::{MASK_CAUSAL, MASK_EXPLICIT, MASK_NONE};

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> CellInner<W> {
    /// Declares a step, one sequence id for each token: the gate before any compute. A refused declaration changes nothing, an accepted
    /// one replaces an earlier one and lets cells go that every window has passed. O(tokens + sequences), and O(words x
    /// sequences) where only an eviction makes room.
    ///
    /// # Errors
    /// `InvalidArgument` for no tokens; `BadSequence`; `StepTooLarge` for more than `max_write`; `NeverFits` for more than a pool has, or
    /// than `max_context` allows a sequence; `OutOfCapacity`.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Error, Layer};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(4, 1, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.declare_step(&[seq, seq])?;
    /// assert_eq!(cache.declare_step(&[seq; 5]), Err(Error::NeverFits));
    /// assert_eq!(cache.declare_step(&[1]), Err(Error::BadSequence));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn declare_step(&mut self, seq_ids: &[u32]) -> Result<(), Error> {
        self.declare(seq_ids).map(|_| ())
    }

    /// The same; tells whether a window dropped cells.
    pub(crate) fn declare(&mut self, seq_ids: &[u32]) -> Result<bool, Error> {
        if seq_ids.is_empty() {
            return Err(Error::InvalidArgument);
        }
        for &seq in seq_ids {
            self.check_seq(seq)?;
        }
        let n = u32::try_from(seq_ids.len()).unwrap_or(UNBOUNDED);
        if self.max_write != 0 && n > self.max_write {
            return Err(Error::StepTooLarge);
        }
        let in_context = self.check_context(seq_ids);
        if in_context == Err(Error::NeverFits) || self.pools.iter().any(|pool| n > pool.cells()) {
            return Err(Error::NeverFits);
        }
        in_context?;
        if !self.has_room(n) {
            return Err(Error::OutOfCapacity);
        }
        let common = self.common();
        for (token, &seq) in seq_ids.iter().enumerate() {
            put(self.words.as_mut(), common.token_seq(token), seq);
        }
        (self.n_tokens, self.placed) = (n, false);
        let evicted = self.evict();
        self.freeze_shifts();
        Ok(evicted)
    }

    /// Positions that a sequence may reach.
    pub(super) const fn context(&self) -> u32 {
        if self.max_context == 0 { UNBOUNDED } else { self.max_context }
    }

    /// Whether every sequence has positions left for its tokens.
    fn check_context(&mut self, seq_ids: &[u32]) -> Result<(), Error> {
        let (context, common) = (self.context(), self.common());
        let words = self.words.as_mut();
        let (mut most, mut fits) = (0, true);
        for &seq in seq_ids {
            let count = get(words, common.mark(seq)) + 1;
            put(words, common.mark(seq), count);
            most = most.max(count);
            fits &= count <= context && get(words, common.next(seq)) <= context - count;
        }
        for &seq in seq_ids {
            put(words, common.mark(seq), 0);
        }
        match fits {
            true => Ok(()),
            false if most > context => Err(Error::NeverFits),
            false => Err(Error::OutOfCapacity),
        }
    }

    /// Gives the tokens of the declared step their cells, once for all layers: each the lowest free one, `cells[i]` for token `i`. Further
    /// layers, and the same one, get the same placement for the same positions. Tokens count from now on; take them back with
    /// [`Self::rewind`]. O(tokens), each O(log cells).
    ///
    /// # Errors
    /// `InvalidArgument` for no tokens; `BadLayer`; `NoStep` without a declared step of so many tokens, and for other positions once it is
    /// placed; `BadPosition` for one that is not above all of its sequence; `OutOfCapacity` beyond `max_context`; `BufferTooSmall` for fewer
    /// cells than tokens. The declaration stands.
    ///
    /// ```
    /// # use kvcore::{CellCache, Config, Error, Layer, MASK_CAUSAL};
    /// # let layers = [Layer::flat()];
    /// # let config = Config { max_seqs: 2, ..Config::new(16, 2, &layers) };
    /// # let mut words = vec![0; kvcore::cell_words(&config)?];
    /// # let mut cache = CellCache::new(&mut words, &config)?;
    /// let seq = cache.seq_new()?;
    /// cache.declare_step(&[seq, seq])?;
    /// let mut cells = [0; 2];
    /// let step = cache.place_step(0, &[0, 1], &mut cells)?;
    /// assert_eq!((step.mask, step.read_len, step.write_start), (MASK_CAUSAL, 2, 0));
    /// assert_eq!(cache.place_step(1, &[0, 1], &mut cells)?, step); // the other layer
    /// assert_eq!(cache.place_step(1, &[2, 3], &mut cells), Err(Error::NoStep));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn place_step(
        &mut self,
        layer: u32,
        positions: &[u32],
        cells: &mut [u32],
    ) -> Result<CellStep, Error> {
        if positions.is_empty() {
            return Err(Error::InvalidArgument);
        }
        let (group, _) = self.group_of(layer)?;
        if positions.len() != self.n_tokens as usize {
            return Err(Error::NoStep);
        }
        let cells = cells.get_mut(..positions.len()).ok_or(Error::BufferTooSmall)?;
        if self.placed {
            self.check_same(positions)?;
        } else {
            self.check_positions(positions)?;
            self.place(positions);
        }
        self.describe(group, cells)
    }

    /// Refuses other positions than those of the placed step.
    fn check_same(&self, positions: &[u32]) -> Result<(), Error> {
        let (words, common) = (self.words.as_ref(), self.common());
        let mut tokens = positions.iter().enumerate();
        let same = tokens.all(|(token, &position)| get(words, common.token_position(token)) == position);
        if same { Ok(()) } else { Err(Error::NoStep) }
    }

    /// Each position must be above all of its sequence, and none beyond the context.
    fn check_positions(&mut self, positions: &[u32]) -> Result<(), Error> {
        let (context, common) = (self.context(), self.common());
        let words = self.words.as_mut();
        let (mut rise, mut fit) = (true, true);
        for (token, &position) in positions.iter().enumerate() {
            let seq = get(words, common.token_seq(token));
            // Where the sequence goes on, if it had a token of this step before.
            let next = get(words, common.next(seq)).max(get(words, common.mark(seq)));
            rise &= position >= next && position != UNBOUNDED;
            fit &= position < context;
            put(words, common.mark(seq), position.saturating_add(1));
        }
        for token in 0..positions.len() {
            let seq = get(words, common.token_seq(token));
            put(words, common.mark(seq), 0);
        }
        match (rise, fit) {
            (true, true) => Ok(()),
            (false, _) => Err(Error::BadPosition),
            (true, false) => Err(Error::OutOfCapacity),
        }
    }

    fn place(&mut self, positions: &[u32]) {
        let common = self.common();
        let mut begin = 0;
        while begin < positions.len() {
            // Tokens of one sequence in a row.
            let seq = get(self.words.as_ref(), common.token_seq(begin));
            let mut end = begin + 1;
            while end < positions.len() && get(self.words.as_ref(), common.token_seq(end)) == seq {
                end += 1;
            }
            let run = positions.get(begin..end).unwrap_or_default();
            for pool in &mut self.pools {
                pool.edit(self.words.as_mut()).place(seq, begin, run);
            }
            begin = end;
        }
        for (token, &position) in positions.iter().enumerate() {
            let words = self.words.as_mut();
            let seq = get(words, common.token_seq(token));
            put(words, common.token_position(token), position);
            put(words, common.next(seq), position + 1);
        }
        self.placed = true;
    }

    /// What the backend of a group's layers has to know about the placed step, and its cells.
    fn describe(&self, group: u32, cells: &mut [u32]) -> Result<CellStep, Error> {
        let group = self.groups.get(group as usize).ok_or(Error::BadLayer)?;
        let pool = self.pool_of(group)?.view(self.words.as_ref());
        let first = pool.sets.get(pool.pool.shape.token(0));
        let mut one_run = true;
        for (token, out) in cells.iter_mut().enumerate() {
            *out = pool.sets.get(pool.pool.shape.token(token));
            one_run &= *out == first.wrapping_add(token as u32);
        }
        let read_len = pool.used_end();
        let mask = match (self.is_run(group.layer.window, &pool, read_len), cells.len()) {
            (false, _) => MASK_EXPLICIT,
            (true, 1) => MASK_NONE,
            (true, _) => MASK_CAUSAL,
        };
        Ok(CellStep {
            mask,
            n_tokens: self.n_tokens,
            read_len,
            write_start: if one_run { first } else { UNBOUNDED },
        })
    }

    /// One sequence appends at the tail of rows that it owns alone and in order, and the last token sees them all.
    fn is_run(&self, window: u32, pool: &View<'_>, read_len: u32) -> bool {
        let (words, common) = (self.words.as_ref(), self.common());
        if !pool.is_run_of(get(words, common.token_seq(0)), read_len) {
            return false;
        }
        // The cells are all of one sequence: so are the tokens.
        let last = get(words, common.token_position(self.n_tokens as usize - 1));
        window == 0 || last - pool.position(0) < window
    }
}
