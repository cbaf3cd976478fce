//! What the private-row cache should answer, from the design and not from the source: lists of tokens, pools whose rows
//! remember what was written to them, sums in 64 bits.

use std::collections::HashMap;
use std::rc::Rc;

use kvcore::{Config, Error, Layer, UNBOUNDED};

use crate::naive::Naive;

/// What a row holds: a token of a sequence, and when it was written. A clone's tokens are those of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) sequence: u32,
    pub(crate) position: u32,
    pub(crate) generation: u32,
}

pub(crate) type Pool = Vec<Option<Token>>;

/// A live sequence: its tokens, and a pool for each layer group, in which every layer writes as soon as a step is placed.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) uid: u32,
    pub(crate) tokens: Vec<Token>,
    pub(crate) pools: Vec<Pool>,
}

/// The declared step: whose each token is.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) ids: Vec<u32>,
    pub(crate) placed: Option<Vec<u32>>,
}

/// What does not change.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) capacity: u32,
    pub(crate) layers: Vec<Layer>,
    /// The arithmetic of each layer group.
    pub(crate) groups: Vec<Naive>,
    /// Group of each layer.
    pub(crate) group: Vec<usize>,
    /// The layer whose rows each layer uses: itself or a donor.
    pub(crate) pool: Vec<usize>,
    pub(crate) step_limit: u64,
    /// Positions that a sequence can reach.
    bound: u64,
    /// Rows of the largest pool, if only windows bound them all.
    ring_rows: Option<u64>,
}

impl Fixed {
    fn new(config: &Config<'_>) -> Self {
        let layers: Vec<Layer> = match config.layers {
            [one] => vec![*one; config.n_layers as usize],
            each => each.to_vec(),
        };
        let alike = |layer: &Layer| Layer { shares_with: 0, ..*layer };
        let (mut kinds, mut group, mut pool) = (Vec::<Layer>::new(), vec![], vec![]);
        for (index, layer) in layers.iter().enumerate() {
            let known = kinds.iter().position(|kind| *kind == alike(layer));
            group.push(known.unwrap_or(kinds.len()));
            if known.is_none() {
                kinds.push(alike(layer));
            }
            pool.push(if layer.shares_with == 0 { index } else { pool[layer.shares_with as usize - 1] });
        }
        let naive =
            |capacity| move |kind: &Layer| Naive::new(kind, config.max_write, config.rollback, capacity);
        let groups: Vec<Naive> = kinds.iter().map(naive(config.capacity)).collect();
        let uncut: Vec<Naive> = kinds.iter().map(naive(UNBOUNDED)).collect();
        let only_rings = uncut.iter().all(|group| !group.flat);
        Self {
            capacity: config.capacity,
            step_limit: groups.iter().map(|group| group.limit).min().expect("a layer"),
            bound: if config.max_context == 0 { u64::MAX } else { config.max_context.into() },
            ring_rows: only_rings.then(|| uncut.iter().map(|group| group.rows).max().expect("a layer")),
            layers,
            groups,
            group,
            pool,
        }
    }

    fn rows_of(&self, length: u64) -> u64 {
        self.ring_rows.map_or(length, |rows| rows.min(length))
    }
}

/// The reference.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) fixed: Rc<Fixed>,
    /// By id.
    pub(crate) sequences: Vec<Option<Sequence>>,
    pub(crate) step: Option<Step>,
    next_uid: u32,
    generation: u32,
}

impl Model {
    pub(crate) fn new(config: &Config<'_>) -> Self {
        let sequences = vec![None; config.max_seqs as usize];
        Self { fixed: Rc::new(Fixed::new(config)), sequences, step: None, next_uid: 0, generation: 0 }
    }

    pub(crate) fn live(&self) -> Vec<u32> {
        (0..).zip(&self.sequences).filter(|(_, sequence)| sequence.is_some()).map(|(id, _)| id).collect()
    }

    pub(crate) fn sequence(&self, seq: u32) -> Result<&Sequence, Error> {
        self.sequences.get(seq as usize).and_then(Option::as_ref).ok_or(Error::BadSequence)
    }

    pub(crate) fn length(&self, seq: u32) -> Result<u32, Error> {
        self.sequence(seq).map(|sequence| sequence.tokens.len() as u32)
    }

    pub(crate) fn free_rows(&self) -> u32 {
        let lengths = self.sequences.iter().flatten().map(|sequence| sequence.tokens.len() as u64);
        let used: u64 = lengths.map(|length| self.fixed.rows_of(length)).sum();
        (u64::from(self.fixed.capacity) - used) as u32
    }

    /// Whether the row of a position still holds this sequence's token, in a group's pool.
    fn resident(&self, sequence: &Sequence, group: usize, position: u64) -> bool {
        let row = self.fixed.groups[group].row(position) as usize;
        sequence.pools[group].get(row).copied().flatten() == Some(sequence.tokens[position as usize])
    }

    /// The lowest position that any group still has.
    pub(crate) fn first_pos(&self, seq: u32) -> Result<u32, Error> {
        let sequence = self.sequence(seq)?;
        let held = |position: &u32| {
            (0..self.fixed.groups.len()).any(|group| self.resident(sequence, group, u64::from(*position)))
        };
        Ok((0..sequence.tokens.len() as u32).find(held).unwrap_or(UNBOUNDED))
    }

    /// The positions, but for its own, that a token at `length` sees in a group.
    pub(crate) fn seen(&self, group: usize, length: u32) -> impl Iterator<Item = u64> + use<> {
        let length = u64::from(length);
        self.fixed.groups[group].reads(length, 1).filter(move |position| *position < length)
    }

    fn check_length(&self, seq: u32, length: u32) -> Result<(), Error> {
        let sequence = self.sequence(seq)?;
        for group in 0..self.fixed.groups.len() {
            if !self.seen(group, length).all(|position| self.resident(sequence, group, position)) {
                return Err(Error::Evicted);
            }
        }
        Ok(())
    }

    pub(crate) fn can_admit(&self, seq: u32, n: u32) -> Result<bool, Error> {
        if n == 0 {
            return Err(Error::InvalidArgument);
        }
        let length = u64::from(self.length(seq)?);
        let end = length + u64::from(n);
        let more = self.fixed.rows_of(end) - self.fixed.rows_of(length);
        Ok(end <= self.fixed.bound && more <= self.free_rows().into())
    }

    pub(crate) fn declare(&mut self, ids: &[u32]) -> Result<(), Error> {
        if ids.is_empty() {
            return Err(Error::InvalidArgument);
        }
        let mut tokens = HashMap::<u32, u64>::new();
        for &seq in ids {
            self.sequence(seq)?;
            *tokens.entry(seq).or_default() += 1;
        }
        let fixed = &self.fixed;
        if tokens.values().any(|&n| n > fixed.step_limit) {
            return Err(Error::StepTooLarge);
        }
        if tokens.values().any(|&n| n > fixed.bound) || ids.len() as u64 > fixed.capacity.into() {
            return Err(Error::NeverFits);
        }
        let mut more = 0;
        for (&seq, &n) in &tokens {
            let length = u64::from(self.length(seq)?);
            if length + n > fixed.bound {
                return Err(Error::OutOfCapacity);
            }
            more += fixed.rows_of(length + n) - fixed.rows_of(length);
        }
        if more > self.free_rows().into() {
            return Err(Error::OutOfCapacity);
        }
        self.step = Some(Step { ids: ids.to_vec(), placed: None });
        Ok(())
    }

    /// The spans of the step: sequence, tokens, position of the first.
    pub(crate) fn spans(&self) -> Result<Vec<(u32, u32, u32)>, Error> {
        let step = self.step.as_ref().ok_or(Error::NoStep)?;
        let positions = self.positions();
        let mut spans: Vec<(u32, u32, u32)> = Vec::new();
        for (token, &seq) in step.ids.iter().enumerate() {
            match spans.last_mut() {
                Some((last, n, _)) if *last == seq => *n += 1,
                _ => spans.push((seq, 1, positions[token])),
            }
        }
        Ok(spans)
    }

    /// The positions of the step's tokens, none without a step.
    pub(crate) fn positions(&self) -> Vec<u32> {
        let Some(step) = &self.step else { return Vec::new() };
        if let Some(placed) = &step.placed {
            return placed.clone();
        }
        let mut next = HashMap::<u32, u32>::new();
        let position = |&seq: &u32| {
            let next = next.entry(seq).or_insert_with(|| self.length(seq).expect("a live sequence"));
            *next += 1;
            *next - 1
        };
        step.ids.iter().map(position).collect()
    }

    /// Places the step: `room` is for so many spans.
    pub(crate) fn place(&mut self, layer: u32, positions: &[u32], room: usize) -> Result<usize, Error> {
        if layer as usize >= self.fixed.layers.len() {
            return Err(Error::BadLayer);
        }
        let n_spans = self.spans()?.len();
        let wanted = self.positions();
        let (ids, placed) =
            self.step.as_ref().map(|step| (step.ids.clone(), step.placed.is_some())).expect("a step");
        if positions.len() != ids.len() {
            return Err(Error::NoStep);
        }
        if positions != wanted {
            return Err(if placed { Error::NoStep } else { Error::BadPosition });
        }
        if room < n_spans {
            return Err(Error::BufferTooSmall);
        }
        if !placed {
            self.generation += 1;
            for (&seq, &position) in ids.iter().zip(positions) {
                self.write(seq, position);
            }
            self.step = Some(Step { ids, placed: Some(wanted) });
        }
        Ok(n_spans)
    }

    fn write(&mut self, seq: u32, position: u32) {
        let sequence = self.sequences[seq as usize].as_mut().expect("a live sequence");
        let token = Token { sequence: sequence.uid, position, generation: self.generation };
        assert_eq!(sequence.tokens.len() as u32, position);
        sequence.tokens.push(token);
        for (pool, group) in sequence.pools.iter_mut().zip(&self.fixed.groups) {
            put(pool, group.row(position.into()), token);
        }
    }

    fn free_id(&self) -> Result<usize, Error> {
        self.sequences.iter().position(Option::is_none).ok_or(Error::TableFull)
    }

    pub(crate) fn seq_new(&mut self) -> Result<u32, Error> {
        let id = self.free_id()?;
        let pools = vec![Pool::new(); self.fixed.groups.len()];
        self.sequences[id] = Some(Sequence { uid: self.next_uid, tokens: Vec::new(), pools });
        self.next_uid += 1;
        self.step = None;
        Ok(id as u32)
    }

    pub(crate) fn seq_clone(&mut self, src: u32, upto: u32) -> Result<u32, Error> {
        let length = self.length(src)?.min(upto);
        self.check_length(src, length)?;
        if self.fixed.rows_of(length.into()) > self.free_rows().into() {
            return Err(Error::OutOfCapacity);
        }
        let id = self.free_id()?;
        let source = self.sequence(src)?;
        let tokens = source.tokens[..length as usize].to_vec();
        let mut pools = vec![Pool::new(); self.fixed.groups.len()];
        for (group, pool) in pools.iter_mut().enumerate() {
            for position in self.seen(group, length) {
                put(pool, self.fixed.groups[group].row(position), tokens[position as usize]);
            }
        }
        self.sequences[id] = Some(Sequence { uid: self.next_uid, tokens, pools });
        self.next_uid += 1;
        self.step = None;
        Ok(id as u32)
    }

    pub(crate) fn seq_release(&mut self, seq: u32) -> Result<(), Error> {
        self.sequence(seq)?;
        self.sequences[seq as usize] = None;
        self.step = None;
        Ok(())
    }

    pub(crate) fn seq_keep(&mut self, seq: u32) -> Result<(), Error> {
        self.sequence(seq)?;
        for (id, sequence) in (0..).zip(&mut self.sequences) {
            if id != seq {
                *sequence = None;
            }
        }
        self.step = None;
        Ok(())
    }

    pub(crate) fn rewind(&mut self, seq: u32, length: u32) -> Result<(), Error> {
        if length > self.length(seq)? {
            return Err(Error::CannotGrow);
        }
        self.check_length(seq, length)?;
        let sequence = self.sequences[seq as usize].as_mut().expect("a live sequence");
        sequence.tokens.truncate(length as usize);
        self.step = None;
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.sequences.fill(None);
        self.step = None;
    }
}

/// Writes a row of a pool, which grows as it must.
pub(crate) fn put(pool: &mut Pool, row: u64, token: Token) {
    let row = row as usize;
    pool.resize(pool.len().max(row + 1), None);
    pool[row] = Some(token);
}
