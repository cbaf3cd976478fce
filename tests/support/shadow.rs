//! The shadow pool: a cache together with pools whose rows remember what was last written to them, and a
//! model of the plan/commit protocol. Every call is made on both, and its answer, the plan, the state left
//! behind and what may be rewound must be what the rows say. Nothing here looks into the cache.
#![allow(dead_code)] // each test binary uses its own part

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use kvcore::{Columns, Config, Error, Layer, LayerInfo, Run, SeqPlan, SequenceCache};

use crate::naive::{self, Naive};

/// Room for layers in the tested caches.
pub(crate) const LAYERS: usize = 6;

/// What a row holds: a token of a sequence, and the step that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token {
    sequence: u32,
    position: u32,
    generation: u32,
}

/// The newest step, while plans of it are good.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) position: u32,
    pub(crate) n: u32,
    pub(crate) accepted: Option<u32>,
    generation: u32,
}

/// A plan and the step that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    pub(crate) plan: SeqPlan,
    generation: u32,
}

/// How often each call got each answer (0 or the error's code), and plans of each shape were made.
pub(crate) type Tally = Rc<RefCell<HashMap<(&'static str, i32), u64>>>;

impl Planned {
    pub(crate) fn is_of_step_of(&self, other: &Self) -> bool {
        self.generation == other.generation
    }
}

/// What does not change: the config as the design resolves it.
#[derive(Debug)]
struct Model {
    layers: Vec<Layer>,
    /// The arithmetic of each layer group, by its own limit.
    groups: Vec<Naive>,
    /// Group of each layer.
    group: Vec<usize>,
    /// The layer whose rows each layer uses: itself, or the donor at the end of the chain.
    pool: Vec<usize>,
    step_limit: u64,
    bound: u32,
}

impl Model {
    fn new(config: &Config<'_>) -> Self {
        let layers: Vec<Layer> = match config.layers {
            [one] => vec![*one; config.n_layers as usize],
            each => each.to_vec(),
        };
        let alike = |layer: &Layer| (layer.kind, layer.window, layer.sinks, layer.n_kv_heads, layer.head_dim);
        let (mut kinds, mut groups, mut group, mut pool) = (vec![], vec![], vec![], vec![]);
        for (index, layer) in layers.iter().enumerate() {
            let found = kinds.iter().position(|kind| *kind == alike(layer));
            group.push(found.unwrap_or(kinds.len()));
            if found.is_none() {
                kinds.push(alike(layer));
                groups.push(Naive::new(layer, config.max_write, config.rollback, config.capacity));
            }
            pool.push(if layer.shares_with == 0 { index } else { pool[layer.shares_with as usize - 1] });
        }
        let step_limit = groups.iter().map(|group| group.limit).min().expect("a layer");
        let context = if config.max_context == 0 { u32::MAX } else { config.max_context };
        Self { layers, groups, group, pool, step_limit, bound: config.capacity.min(context) }
    }
}

/// A cache under test with its shadow.
#[derive(Clone)]
pub(crate) struct Shadow {
    pub(crate) cache: SequenceCache<LAYERS>,
    pub(crate) tally: Tally,
    model: Rc<Model>,
    sequence: u32,
    generation: u32,
    /// The newest plan's generation and epoch.
    epoch: (u32, u32),
    /// The committed tokens.
    tokens: Vec<Token>,
    step: Option<Step>,
    /// A pool a group in which every layer writes as soon as a step begins: the worst case.
    groups: Vec<Vec<Option<Token>>>,
    /// A pool a layer, which writes when it is planned; some never are.
    layers: Vec<Vec<Option<Token>>>,
    /// Which layers were planned in this step.
    written: Vec<bool>,
}

impl Shadow {
    pub(crate) fn new(config: &Config<'_>, tally: &Tally) -> Self {
        let cache = SequenceCache::new(config).unwrap_or_else(|error| panic!("{error}: {config:?}"));
        let model = Model::new(config);
        let rows = |naive: &Naive| vec![None; usize::try_from(naive.rows).expect("a small pool")];
        let shadow = Self {
            cache,
            tally: Rc::clone(tally),
            sequence: 0,
            generation: 0,
            epoch: (0, 0),
            tokens: Vec::new(),
            step: None,
            groups: model.groups.iter().map(rows).collect(),
            layers: model.group.iter().map(|&group| rows(&model.groups[group])).collect(),
            written: vec![false; model.layers.len()],
            model: Rc::new(model),
        };
        shadow.audit_layers();
        shadow.audit();
        shadow
    }

    pub(crate) fn length(&self) -> u32 {
        self.tokens.len() as u32
    }

    pub(crate) fn n_layers(&self) -> u32 {
        self.model.layers.len() as u32
    }

    pub(crate) fn n_groups(&self) -> usize {
        self.model.groups.len()
    }

    /// Tokens that a step may have here and now, 0 if none.
    pub(crate) fn room(&self) -> u32 {
        u64::from(self.model.bound - self.length()).min(self.model.step_limit) as u32
    }

    /// The newest step, unless it was rewound.
    pub(crate) fn step(&self) -> Option<Step> {
        self.step
    }

    /// What the step must be answered with, and whether it is a new one.
    fn admission(&self, position: u32, n: u32) -> Result<bool, Error> {
        let same = |step: &Step| {
            step.position == position && step.n == n && step.accepted.is_none_or(|accepted| accepted == n)
        };
        let room = self.model.bound - self.length();
        match n {
            0 => Err(Error::InvalidArgument),
            _ if self.step.as_ref().is_some_and(same) => Ok(false),
            _ if position != self.length() => Err(Error::BadPosition),
            _ if u64::from(n) > self.model.step_limit => Err(Error::StepTooLarge),
            _ if n > self.model.bound => Err(Error::NeverFits),
            _ if n > room => Err(Error::OutOfCapacity),
            _ => Ok(true),
        }
    }

    /// A new step takes the rows that it will write, in every layer, whatever happens next.
    fn begin(&mut self, position: u32, n: u32) {
        self.generation += 1;
        self.step = Some(Step { position, n, accepted: None, generation: self.generation });
        self.written.fill(false);
        for group in 0..self.groups.len() {
            for position in position..position + n {
                let row = self.model.groups[group].row(position.into()) as usize;
                self.groups[group][row] = Some(self.token(position));
            }
        }
    }

    /// The token that the newest step writes at a position, or that was committed there.
    fn token(&self, position: u32) -> Token {
        match self.step {
            Some(step) if position >= step.position => {
                Token { sequence: self.sequence, position, generation: step.generation }
            }
            _ => self.tokens[position as usize],
        }
    }

    pub(crate) fn plan(&mut self, layer: u32, position: u32, n: u32) -> Result<Planned, Error> {
        let bad_layer = n > 0 && layer >= self.n_layers();
        let expected = if bad_layer { Err(Error::BadLayer) } else { self.admission(position, n) };
        let answer = self.call("plan", expected.map(|_| ()), |cache| cache.plan(layer, position, n));
        if expected == Ok(true) {
            self.begin(position, n);
        }
        let plan = answer?;
        self.check_plan(layer as usize, &plan);
        self.audit();
        Ok(Planned { plan, generation: self.generation })
    }

    pub(crate) fn plan_step(&mut self, position: u32, n: u32) -> Result<Vec<Planned>, Error> {
        // What stood in the caller's memory must not show through.
        let run = Run { start: 99, len: 99, pos: 99 };
        let dirty = SeqPlan { write: [run; 2], read: [run; 3], n_read: 99, ..SeqPlan::EMPTY };
        let mut plans = vec![dirty; self.n_groups()];
        let short = &mut vec![SeqPlan::EMPTY; self.n_groups() - 1];
        self.call("plan_step", Err(Error::BufferTooSmall), |cache| cache.plan_step(position, n, short))
            .expect_err("one plan a group");
        let expected = self.admission(position, n);
        let result = expected.map(|_| ());
        let answer = self.call("plan_step", result, |cache| cache.plan_step(position, n, &mut plans));
        if expected == Ok(true) {
            self.begin(position, n);
        }
        if let Err(error) = answer {
            assert!(plans.iter().all(|plan| *plan == dirty), "a refusal wrote a plan");
            return Err(error);
        }
        assert_eq!(answer, Ok(self.n_groups()));
        for layer in 0..self.model.layers.len() {
            let plan = plans[self.model.group[layer]];
            self.check_plan(layer, &plan);
            let alone = self.cache.plan(layer as u32, position, n);
            assert_eq!(alone, Ok(plan), "plan and plan_step agree");
        }
        self.audit();
        Ok(plans.into_iter().map(|plan| Planned { plan, generation: self.generation }).collect())
    }

    /// The plan by the formulas, what it reads by the rows, and the layer's own writes.
    fn check_plan(&mut self, layer: usize, plan: &SeqPlan) {
        let step = self.step.expect("a step was planned");
        let group = self.model.group[layer];
        naive::assert_plan(&self.model.groups[group], plan, step.position, step.n);
        assert_eq!(plan.group as usize, group);
        let (generation, epoch) = self.epoch;
        assert_eq!(plan.epoch == epoch, step.generation == generation, "an epoch is a step's own");
        assert_ne!(plan.epoch, 0);
        self.epoch = (step.generation, plan.epoch);
        let (pool, writes) = (self.model.pool[layer], naive::expand(plan.writes()));
        if pool == layer {
            for (row, position) in writes {
                self.layers[layer][row as usize] = Some(self.token(position as u32));
            }
            self.written[layer] = true;
        }
        let has_new_rows = self.written[pool];
        for (row, position) in naive::expand(plan.reads()) {
            let token = Some(self.token(position as u32));
            assert_eq!(self.groups[group][row as usize], token, "a stale read: row {row} of {plan:?}");
            // A sharer that is planned before its donor wrote can find only what was there before.
            if has_new_rows || position < u64::from(step.position) {
                assert_eq!(self.layers[pool][row as usize], token, "layer {layer}: row {row} of {plan:?}");
            }
        }
        self.check_mask(group, plan);
    }

    fn check_mask(&self, group: usize, plan: &SeqPlan) {
        self.count("read runs", plan.n_read as i32);
        self.count("write runs", plan.n_write as i32);
        self.count("mask", plan.mask as i32);
        let (naive, len) = (&self.model.groups[group], plan.read_len as usize);
        let mut positions = vec![0; len];
        assert_eq!(plan.positions(&mut positions), Ok(len));
        let reads = naive.reads(plan.position.into(), plan.n_tokens.into());
        assert!(reads.eq(positions.iter().map(|&position| u64::from(position))));
        let mut bytes = vec![9; len * plan.n_tokens as usize];
        plan.mask_bytes(None, Columns::Read, &mut bytes, len).expect("the mask has read_len columns");
        let expected = naive::mask(naive, plan, None, false, len);
        assert!(bytes.iter().map(|&byte| byte == 1).eq(expected.into_iter().flatten()), "{plan:?}");
        assert!(bytes.iter().all(|&byte| byte <= 1));
    }

    /// Commits. Before tokens are kept, the layers that were left out are planned: a forward has run.
    pub(crate) fn commit(&mut self, planned: &Planned, accepted: u32) -> Result<(), Error> {
        let Planned { plan, generation } = planned;
        let current = self.step.filter(|step| step.generation == *generation);
        let expected = match current {
            _ if accepted > plan.n_tokens => Err(Error::InvalidArgument),
            Some(step) if step.accepted.is_none_or(|before| before == accepted) => Ok(()),
            _ => Err(Error::StalePlan),
        };
        if let (Ok(()), Some(Step { position, n, accepted: None, .. })) = (expected, current)
            && accepted > 0
        {
            for layer in 0..self.n_layers() {
                self.plan(layer, position, n)?;
            }
        }
        // Only these three fields matter to a commit.
        let bare = SeqPlan {
            position: plan.position,
            n_tokens: plan.n_tokens,
            epoch: plan.epoch,
            read_len: 77,
            ..SeqPlan::EMPTY
        };
        self.call("commit", expected, |cache| cache.commit(&bare, accepted))?;
        if let Some(Step { position, accepted: None, .. }) = current {
            let tokens: Vec<_> = (position..position + accepted).map(|at| self.token(at)).collect();
            self.tokens.extend(tokens);
            self.step = current.map(|step| Step { accepted: Some(accepted), ..step });
        }
        self.audit();
        Ok(())
    }

    pub(crate) fn rewind(&mut self, length: u32) -> Result<(), Error> {
        let expected = match length {
            _ if length > self.length() => Err(Error::CannotGrow),
            _ if self.can_rewind()[length as usize] => Ok(()),
            _ => Err(Error::Evicted),
        };
        self.call("rewind", expected, |cache| cache.rewind(length))?;
        self.tokens.truncate(length as usize);
        self.step = None;
        self.audit();
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.cache.clear();
        self.tokens.clear();
        self.step = None;
        self.sequence += 1;
        self.audit();
    }

    /// Calls the cache. It must answer as expected, and change nothing if it refuses.
    fn call<T>(
        &mut self,
        name: &'static str,
        expected: Result<(), Error>,
        call: impl FnOnce(&mut SequenceCache<LAYERS>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let before = expected.is_err().then(|| format!("{:?}", self.cache));
        let answer = call(&mut self.cache);
        assert_eq!(answer.as_ref().map(|_| ()).map_err(|error| *error), expected, "{:?}", self.cache);
        self.count(name, answer.as_ref().err().map_or(0, |error| error.code()));
        if let Some(before) = before {
            assert_eq!(before, format!("{:?}", self.cache), "a refusal changed the cache");
        }
        answer
    }

    fn count(&self, what: &'static str, which: i32) {
        *self.tally.borrow_mut().entry((what, which)).or_default() += 1;
    }

    /// For every length up to the present one, whether the rows still hold what the next token would see.
    fn can_rewind(&self) -> Vec<bool> {
        let mut allowed = vec![true; self.tokens.len() + 1];
        for (naive, pool) in self.model.groups.iter().zip(&self.groups) {
            let held = |token: &Token| pool[naive.row(token.position.into()) as usize] == Some(*token);
            let resident: Vec<bool> = self.tokens.iter().map(held).collect();
            let all = resident.iter().all(|resident| *resident);
            for (length, allowed) in allowed.iter_mut().enumerate() {
                let mut seen = naive.reads(length as u64, 1).take_while(|&key| key < length as u64);
                *allowed &= all || seen.all(|key| resident[key as usize]);
            }
        }
        allowed
    }

    /// All that decides what can happen from here on: two shadows of one config that agree in it will answer
    /// alike for good. Epochs and generations are only told apart, so they and dead rows are left out.
    pub(crate) fn state(&self) -> String {
        let cache = format!("{:?}", self.cache);
        let (before, after) = cache.split_once("epoch: ").expect("a cache has an epoch");
        let after = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let end = self.step.map_or(self.length(), |step| self.length().max(step.position + step.n));
        let is_live = |token: &Token| token.position < end && *token == self.token(token.position);
        let live = |pool: &Vec<Option<Token>>| -> Vec<Option<u32>> {
            pool.iter().map(|row| row.filter(is_live).map(|token| token.position)).collect()
        };
        let pools: Vec<_> = self.groups.iter().chain(&self.layers).map(live).collect();
        let step = self.step.map(|Step { position, n, accepted, .. }| (position, n, accepted));
        format!("{before}{after} {step:?} {:?} {pools:?}", self.written)
    }

    /// What the cache says about itself.
    pub(crate) fn audit(&self) {
        let (length, room) = (self.length(), self.model.bound - self.length());
        assert_eq!(self.cache.length(), length);
        let refused = self.can_rewind().iter().rposition(|allowed| !allowed);
        assert_eq!(self.cache.rewind_floor() as usize, refused.map_or(0, |length| length + 1));
        assert!(self.cache.rewind_floor() <= length);
        assert_eq!(self.cache.can_extend(0), Err(Error::InvalidArgument));
        for n in [1, room, room.saturating_add(1), u32::MAX].into_iter().filter(|n| *n > 0) {
            assert_eq!(self.cache.can_extend(n), Ok(n <= room), "{n} tokens at {length}");
        }
    }

    fn audit_layers(&self) {
        assert_eq!(self.cache.n_groups(), self.n_groups());
        for (index, layer) in self.model.layers.iter().enumerate() {
            let (group, capacity) = (self.model.group[index], self.cache.capacity());
            let (rows, limit) = (self.model.groups[group].rows, self.model.groups[group].limit);
            let max_write = limit.min(capacity.into()) as u32;
            let info = LayerInfo { layer: *layer, group: group as u32, rows: rows as u32, max_write };
            assert_eq!(self.cache.layer(index as u32), Ok(info));
        }
        assert_eq!(self.cache.layer(self.n_layers()), Err(Error::BadLayer));
    }
}
