//! A private-row cache beside its reference and a pool for each sequence and layer. Every call is made on both; its answer,
//! the plans and the state that it leaves must be what the reference says, and a refusal must change nothing.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use kvcore::{Config, Error, RowsInner, Run, Span, rows_words};

use crate::model::{Model, Pool, Token, put};
use crate::naive::{assert_plan, expand};

/// How often each call got each answer (0 or the error's code), and steps of each shape were placed.
pub(crate) type Tally = Rc<RefCell<HashMap<(&'static str, i32), u64>>>;

#[derive(Clone)]
pub(crate) struct Shadow {
    pub(crate) cache: RowsInner<Vec<u32>>,
    pub(crate) model: Model,
    tally: Tally,
    /// A pool for each layer of each id, which is written when the layer is planned.
    pools: Vec<Vec<Pool>>,
    /// Tokens of steps for which the layer was not planned, by layer: such a row may hold anything older.
    missed: Vec<HashSet<(u32, u32)>>,
    /// Layers that were planned in this step.
    planned: HashSet<usize>,
}

impl Shadow {
    pub(crate) fn new(config: &Config<'_>, tally: &Tally) -> Self {
        let words = rows_words(config).unwrap_or_else(|error| panic!("{error}: {config:?}"));
        // Whatever the words hold.
        let cache = RowsInner::new(vec![0xDEAD_BEEF; words], config).expect("the words that it wants");
        let model = Model::new(config);
        let n_layers = model.fixed.layers.len();
        let shadow = Self {
            cache,
            tally: Rc::clone(tally),
            pools: vec![vec![Pool::new(); n_layers]; config.max_seqs as usize],
            missed: vec![HashSet::new(); n_layers],
            planned: HashSet::new(),
            model,
        };
        shadow.audit_layers();
        shadow.audit();
        shadow
    }

    fn count(&self, what: &'static str, code: i32) {
        *self.tally.borrow_mut().entry((what, code)).or_default() += 1;
    }

    /// Makes a call on both; the answers must agree, and a refused one must leave every byte as it was.
    fn both<R: PartialEq + std::fmt::Debug + Copy>(
        &mut self,
        what: &'static str,
        ours: impl FnOnce(&mut RowsInner<Vec<u32>>) -> Result<R, Error>,
        expected: impl FnOnce(&mut Model) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let before = format!("{:?}", self.cache);
        let answer = ours(&mut self.cache);
        let wanted = expected(&mut self.model);
        assert_eq!(answer, wanted, "{what}: {:?}", self.model);
        if answer.is_err() {
            assert_eq!(format!("{:?}", self.cache), before, "{what}: a refusal changed something");
        }
        self.count(what, answer.err().map_or(0, Error::code));
        self.audit();
        answer
    }

    /// A call that ends the step.
    fn verb<R: PartialEq + std::fmt::Debug + Copy>(
        &mut self,
        what: &'static str,
        ours: impl FnOnce(&mut RowsInner<Vec<u32>>) -> Result<R, Error>,
        expected: impl FnOnce(&mut Model) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let left_out = self.unplanned();
        let answer = self.both(what, ours, expected)?;
        self.miss(left_out);
        Ok(answer)
    }

    /// The layers that have not planned the present step, and its tokens.
    fn unplanned(&self) -> Vec<(usize, Token)> {
        let Some(step) = self.model.step.as_ref().filter(|step| step.placed.is_some()) else {
            return Vec::new();
        };
        let positions = self.model.positions();
        let mut left_out = Vec::new();
        for layer in (0..self.missed.len()).filter(|layer| !self.planned.contains(layer)) {
            for (&seq, &position) in step.ids.iter().zip(&positions) {
                let sequence = self.model.sequence(seq).expect("a live sequence");
                left_out.push((layer, sequence.tokens[position as usize]));
            }
        }
        left_out
    }

    fn miss(&mut self, left_out: Vec<(usize, Token)>) {
        for (layer, token) in left_out {
            self.missed[layer].insert((token.sequence, token.generation));
        }
        self.planned.clear();
    }

    pub(crate) fn declare(&mut self, ids: &[u32]) -> Result<(), Error> {
        self.verb("declare", |cache| cache.declare_step(ids), |model| model.declare(ids))
    }

    pub(crate) fn can_admit(&mut self, seq: u32, n: u32) {
        let _ = self.both("can_admit", |cache| cache.can_admit(seq, n), |model| model.can_admit(seq, n));
    }

    pub(crate) fn seq_new(&mut self) -> Result<u32, Error> {
        let seq = self.verb("new", RowsInner::seq_new, Model::seq_new)?;
        self.pools[seq as usize].fill(Pool::new());
        Ok(seq)
    }

    /// Also copies the rows that the clone says, in every layer's pool.
    pub(crate) fn seq_clone(&mut self, src: u32, upto: u32) -> Result<u32, Error> {
        let clone = |cache: &mut RowsInner<Vec<u32>>| cache.seq_clone(src, upto);
        let seq = self.verb("clone", clone, |model| model.seq_clone(src, upto))?;
        for layer in 0..self.missed.len() {
            let mut runs = [Run::default(); 3];
            let n = self.cache.held(layer as u32, seq, &mut runs).expect("a layer and a sequence");
            let mut pool = Pool::new();
            for (row, _) in expand(&runs[..n]) {
                if let Some(token) = self.pools[src as usize][layer].get(row as usize).copied().flatten() {
                    put(&mut pool, row, token);
                }
            }
            self.pools[seq as usize][layer] = pool;
        }
        Ok(seq)
    }

    pub(crate) fn seq_release(&mut self, seq: u32) -> Result<(), Error> {
        self.verb("release", |cache| cache.seq_release(seq), |model| model.seq_release(seq))
    }

    pub(crate) fn seq_keep(&mut self, seq: u32) -> Result<(), Error> {
        self.verb("keep", |cache| cache.seq_keep(seq), |model| model.seq_keep(seq))
    }

    pub(crate) fn rewind(&mut self, seq: u32, length: u32) -> Result<(), Error> {
        self.verb("rewind", |cache| cache.rewind(seq, length), |model| model.rewind(seq, length))
    }

    pub(crate) fn clear(&mut self) {
        let clear = |cache: &mut RowsInner<Vec<u32>>| {
            cache.clear();
            Ok(())
        };
        let cleared = |model: &mut Model| {
            model.clear();
            Ok(())
        };
        self.verb("clear", clear, cleared).expect("never refused");
    }

    /// Places the step for a layer with these positions, with room for `room` spans, and does in the layer's pools what the
    /// plans say: once span by span, and once all writes before all reads.
    pub(crate) fn place(&mut self, layer: u32, positions: &[u32], room: usize) -> Result<(), Error> {
        let blank = Span { seq: 77, ..Span::default() };
        let mut spans = vec![blank; room];
        let again = self.model.step.as_ref().is_some_and(|step| step.placed.is_some());
        let placed = self.both(
            "place",
            |cache| cache.place_step(layer, positions, &mut spans),
            |model| model.place(layer, positions, room),
        );
        let Ok(n_spans) = placed else {
            assert!(spans.iter().all(|span| *span == blank), "a refusal wrote spans");
            return placed.map(|_| ());
        };
        assert!(spans[n_spans..].iter().all(|span| *span == blank), "beyond the spans");
        self.count(if again { "again" } else { "first" }, 0);
        spans.truncate(n_spans);
        self.check_spans(layer, &spans);
        self.planned.insert(layer as usize);
        for span in &spans {
            self.write(layer, span);
            self.read(layer, span);
        }
        for span in &spans {
            self.read(layer, span);
        }
        Ok(())
    }

    /// Places the step as it was declared.
    pub(crate) fn place_right(&mut self, layer: u32) -> Result<(), Error> {
        let positions = self.model.positions();
        let room = self.model.spans().map_or(0, |spans| spans.len());
        self.place(layer, &positions, room)
    }

    fn check_spans(&self, layer: u32, spans: &[Span]) {
        let group = self.model.fixed.group[layer as usize];
        let wanted = self.model.spans().expect("a step");
        assert_eq!(spans.len(), wanted.len());
        for (span, (seq, n, position)) in spans.iter().zip(wanted) {
            assert_eq!((span.seq, span.n_tokens), (seq, n));
            assert_plan(&self.model.fixed.groups[group], &span.plan, position, n);
            assert_eq!(span.plan.group as usize, group);
            assert_eq!(span.plan.epoch, spans[0].plan.epoch);
            assert_ne!(span.plan.epoch, 0);
            self.count("read runs", span.plan.n_read as i32);
            self.count("write runs", span.plan.n_write as i32);
            self.count("mask", span.plan.mask as i32);
        }
        let mut seqs: Vec<u32> = spans.iter().map(|span| span.seq).collect();
        seqs.sort_unstable();
        seqs.dedup();
        self.count(if seqs.len() < spans.len() { "twice" } else { "once" }, 0);
        self.count("sequences", seqs.len() as i32);
    }

    fn write(&mut self, layer: u32, span: &Span) {
        let tokens = &self.model.sequence(span.seq).expect("a live sequence").tokens;
        let pool = &mut self.pools[span.seq as usize][self.model.fixed.pool[layer as usize]];
        for (row, position) in expand(span.plan.writes()) {
            put(pool, row, tokens[position as usize]);
        }
    }

    /// Every row that the plan reads holds the token that the plan says.
    fn read(&self, layer: u32, span: &Span) {
        let sequence = self.model.sequence(span.seq).expect("a live sequence");
        let (layer, group) = (layer as usize, self.model.fixed.group[layer as usize]);
        let donor = self.model.fixed.pool[layer];
        let pool = &self.pools[span.seq as usize][donor];
        for (row, position) in expand(span.plan.reads()) {
            let token = sequence.tokens[position as usize];
            let held = sequence.pools[group].get(row as usize).copied().flatten();
            assert_eq!(held, Some(token), "row {row} for position {position} of {span:?}");
            if !self.missed[donor].contains(&(token.sequence, token.generation)) {
                let held = pool.get(row as usize).copied().flatten();
                assert_eq!(held, Some(token), "layer {layer}, row {row}, position {position} of {span:?}");
            }
        }
    }

    /// Everything that can be asked without a change.
    pub(crate) fn audit(&self) {
        let (cache, model) = (&self.cache, &self.model);
        assert_eq!(cache.free_rows(), model.free_rows());
        assert_eq!(cache.n_spans(), model.spans().map(|spans| spans.len()));
        for seq in 0..=model.sequences.len() as u32 {
            assert_eq!(cache.seq_len(seq), model.length(seq));
            assert_eq!(cache.next_pos(seq), model.length(seq));
            assert_eq!(cache.first_pos(seq), model.first_pos(seq), "sequence {seq}: {model:?}");
            for n in [0, 1, 3, model.fixed.capacity] {
                assert_eq!(cache.can_admit(seq, n), model.can_admit(seq, n));
            }
            for layer in 0..=model.fixed.layers.len() as u32 {
                self.audit_held(layer, seq);
            }
        }
    }

    /// The rows that hold what the next token sees, and that they hold it.
    fn audit_held(&self, layer: u32, seq: u32) {
        let mut runs = [Run::default(); 3];
        let answer = self.cache.held(layer, seq, &mut runs);
        let Some(&group) = self.model.fixed.group.get(layer as usize) else {
            assert_eq!(answer, Err(Error::BadLayer));
            return;
        };
        let sequence = match self.model.sequence(seq) {
            Ok(sequence) => sequence,
            Err(error) => return assert_eq!(answer, Err(error)),
        };
        let n = answer.expect("a layer and a sequence");
        let naive = &self.model.fixed.groups[group];
        let length = sequence.tokens.len() as u32;
        let wanted = self.model.seen(group, length).map(|position| (naive.row(position), position));
        assert!(expand(&runs[..n]).eq(wanted), "held: {runs:?} of {n}, {naive:?}, {length} tokens");
        assert!(runs[..n].iter().all(|run| run.len > 0));
        for (row, position) in expand(&runs[..n]) {
            let held = sequence.pools[group][row as usize];
            assert_eq!(held, Some(sequence.tokens[position as usize]), "held row {row}");
        }
        if n > 0 {
            let short = &mut runs[..n - 1];
            assert_eq!(self.cache.held(layer, seq, short), Err(Error::BufferTooSmall));
        }
    }

    fn audit_layers(&self) {
        let (cache, fixed) = (&self.cache, &self.model.fixed);
        assert_eq!((cache.capacity(), cache.n_groups()), (fixed.capacity, fixed.groups.len()));
        assert_eq!(u64::from(cache.config().max_write), fixed.step_limit.min(fixed.capacity.into()));
        assert_eq!(cache.config().max_seqs as usize, self.model.sequences.len());
        for (index, layer) in fixed.layers.iter().enumerate() {
            let info = cache.layer(index as u32).expect("a layer");
            let naive = &fixed.groups[fixed.group[index]];
            assert_eq!((info.layer, info.group as usize), (*layer, fixed.group[index]));
            assert_eq!(u64::from(info.rows), naive.rows);
            assert_eq!(u64::from(info.max_write), naive.limit.min(fixed.capacity.into()));
        }
        assert_eq!(cache.layer(fixed.layers.len() as u32), Err(Error::BadLayer));
    }
}
