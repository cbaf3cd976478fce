//! The application's side of a pool of cells: conversations that begin with the same system prompt, take their steps
//! together, try several drafts at once, and drop the oldest part of their text when there is no room.

use kvcore::UNBOUNDED;

use crate::Outcome;
use crate::cell_backend::{CellBackend, Part, Planner};
use crate::check::Checker;
use crate::drafts::{DEEPEST, Tree};
use crate::log::Log;
use crate::model::{Logits, Model};
use crate::modes::WINDOW;
use crate::owners::{LETTERS, Owners};
use crate::pool_record::PoolRecord;
use crate::reference::Reading;
use crate::sample::sample;
use crate::trace::Kind;

const SYSTEM_PROMPT: &[u8] = b"You are a cache. You answer in rows, shortly. ";
const OPENING: &[u8] = b"Who else is in here? ";
/// Longer than the room that is left in the context, or in the pool, however short the prompt is.
const SECOND_TURN: &[u8] =
    b" Go on: tell me what becomes of the oldest rows when there is no room left for the new ones. ";
const THIRD_TURN: &[u8] =
    b" I see. Somebody has come in meanwhile, I hear; tell me how many rows they have taken by now. ";
const OTHER_TURN: &[u8] =
    b" And of mine? Whoever talks longest has to let go of most, I suppose, and I talk a lot. ";
const LAST_TURN: &[u8] = b" Where are they now? ";
const THIRD_VOICE: &[u8] = b"Has anybody been here before me? ";

/// The conversation that only reads the system prompt, so that others can begin with it.
const SYSTEM: usize = 0;
/// Few, so that making the pool compact takes several calls.
const MOVES_AT_ONCE: usize = 4;

struct Talk {
    /// Changes when a draft in another sequence turns out right.
    seq: u32,
    /// Chooses the draws of what is said.
    attempt: u32,
    /// What the cache was given.
    log: Log,
    /// What it will be given next; while the model speaks, the newest token.
    unread: Vec<u8>,
    /// Tokens that the model has yet to say.
    left: usize,
    said: Vec<u8>,
    /// Logits of the newest tokens of the log, not compared yet.
    pending: Vec<Logits>,
}

/// What one sequence has in a step.
struct Share {
    seq: u32,
    talk: usize,
    first: u32,
    tokens: Vec<u8>,
}

/// A tree of drafts: the shares of its paths are in a row.
struct Branches {
    talk: usize,
    tree: Tree,
    paths: Vec<Vec<usize>>,
}

pub(crate) struct Talks<'c, 'w, 'm> {
    model: &'m Model,
    cache: &'c mut (dyn Planner<'w> + 'c),
    backend: CellBackend<'m>,
    checker: Checker<'m>,
    /// The system prompt, then A, B and C.
    all: Vec<Talk>,
    record: PoolRecord,
}

impl<'c, 'w, 'm> Talks<'c, 'w, 'm> {
    pub(crate) fn new(
        model: &'m Model,
        cache: &'c mut (dyn Planner<'w> + 'c),
        checker: Checker<'m>,
    ) -> Outcome<Self> {
        let backend = CellBackend::new(cache.cache(), model)?;
        let record = PoolRecord::new(Owners::new(cache.cache(), &backend));
        Ok(Self { model, cache, backend, checker, all: Vec::new(), record })
    }

    /// The story: the system prompt is read once, and A begins with it; B joins while A reads until its context is full;
    /// both read until the pool is full; B ends, the pool is made compact, and C begins where A and B did.
    pub(crate) fn run(&mut self, prompt: &[u8], n: usize) -> Outcome<()> {
        self.checker.expect(7 * n);
        self.record.owners.act("system prompt");
        let seq = self.cache.cache().seq_new()?;
        self.begin(seq, Log::default());
        self.tell(&[(SYSTEM, SYSTEM_PROMPT)], 0)?;

        self.record.owners.act("A begins");
        let a = self.open()?;
        self.tell(&[(a, prompt)], n)?;

        self.record.owners.act("B begins");
        let b = self.open()?;
        self.tell(&[(a, SECOND_TURN), (b, OPENING)], n)?;

        self.record.owners.act("both go on");
        self.tell(&[(a, THIRD_TURN), (b, OTHER_TURN)], n)?;

        self.record.owners.act("B ends, C begins");
        self.end(b)?;
        self.record.compacted += self.defrag()?;
        let c = self.open()?;
        self.tell(&[(a, LAST_TURN), (c, THIRD_VOICE)], n)
    }

    fn begin(&mut self, seq: u32, log: Log) -> usize {
        let talk = self.all.len();
        let (unread, said, pending) = (Vec::new(), Vec::new(), Vec::new());
        self.all.push(Talk { seq, attempt: talk as u32, log, unread, left: 0, said, pending });
        talk
    }

    /// A conversation that begins with the system prompt: its cells are shared, not copied, and nothing is computed.
    fn open(&mut self) -> Outcome<usize> {
        let seq = self.cache.cache().seq_clone(self.all[SYSTEM].seq, UNBOUNDED)?;
        Ok(self.begin(seq, self.all[SYSTEM].log.clone()))
    }

    fn end(&mut self, talk: usize) -> Outcome<()> {
        self.cache.cache().seq_release(self.all[talk].seq)?;
        // The id may soon be another's.
        self.all[talk].seq = UNBOUNDED;
        self.record.owners.note(format!("{} ends", LETTERS[talk]));
        Ok(())
    }

    /// Gives each conversation a text to read, and lets the model answer each with `n` tokens: a third of them one by
    /// one, the others with drafts.
    fn tell(&mut self, texts: &[(usize, &[u8])], n: usize) -> Outcome<()> {
        for &(talk, text) in texts {
            self.all[talk].unread.extend_from_slice(text);
            self.all[talk].left = n;
        }
        loop {
            let busy = |talk: &usize| self.all[*talk].is_busy(*talk);
            let active: Vec<usize> = texts.iter().map(|(talk, _)| *talk).filter(busy).collect();
            let drafting = |talk: &usize| {
                let Talk { unread, left, .. } = &self.all[*talk];
                unread.len() == 1 && 3 * *left <= 2 * n
            };
            match active.iter().all(drafting) {
                _ if active.is_empty() => return Ok(()),
                true => self.advance_trees(&active)?,
                false => self.advance(&active)?,
            }
        }
    }

    /// One step for all of them, of as much as there is to read.
    fn advance(&mut self, active: &[usize]) -> Outcome<()> {
        let most = self.cache.cache().config().max_write as usize / active.len();
        let counts: Vec<_> =
            active.iter().map(|talk| (*talk, self.all[*talk].unread.len().min(most))).collect();
        self.make_room(&counts, counts.iter().map(|(_, n)| n).sum())?;
        let mut shares = Vec::new();
        for &(talk, n) in &counts {
            shares.push(self.share(self.all[talk].seq, talk, self.all[talk].unread[..n].to_vec())?);
        }
        let decodes = counts.iter().all(|(_, n)| *n == 1);
        let answers = self.step(if decodes { Kind::Decode } else { Kind::Prefill }, &shares)?;
        for (&(talk, n), logits) in counts.iter().zip(answers) {
            self.all[talk].has_read(n, &logits);
            if self.all[talk].speak(&logits[n - 1]) {
                self.checker.generated();
            }
        }
        Ok(())
    }

    /// One step for all of them, each with a tree of drafts. A branch is a sequence here: a clone for every path but the
    /// first. The path on which the model went furthest becomes the conversation, the others are released.
    fn advance_trees(&mut self, active: &[usize]) -> Outcome<()> {
        let grow = |&talk: &usize| {
            let Talk { log, unread, left, attempt, .. } = &self.all[talk];
            let depth = DEEPEST.min(left - 1);
            let tree = Tree::grow(self.model, unread[0], log.tokens() + 1, *attempt, depth);
            Branches { talk, paths: tree.paths(), tree }
        };
        let grown: Vec<Branches> = active.iter().map(grow).collect();
        let longest = |branches: &Branches| branches.paths.iter().map(Vec::len).max().unwrap_or(0);
        let counts: Vec<_> = grown.iter().map(|branches| (branches.talk, longest(branches))).collect();
        self.make_room(&counts, grown.iter().flat_map(|branches| &branches.paths).map(Vec::len).sum())?;

        let mut shares = Vec::new();
        for Branches { talk, tree, paths } in &grown {
            for (index, path) in paths.iter().enumerate() {
                let own = self.all[*talk].seq;
                let seq = if index == 0 { own } else { self.cache.cache().seq_clone(own, UNBOUNDED)? };
                shares.push(self.share(seq, *talk, tree.tokens_of(path))?);
            }
        }
        let mut answers = self.step(Kind::Draft, &shares)?.into_iter();
        let mut shares = shares.into_iter();
        for branches in grown {
            let n = branches.paths.len();
            let shares: Vec<Share> = shares.by_ref().take(n).collect();
            let answers: Vec<Vec<Logits>> = answers.by_ref().take(n).collect();
            self.judge(&branches, &shares, &answers);
            self.choose(&branches, &shares, &answers)?;
        }
        self.record.owners.verdict(self.cache.cache())
    }

    /// Compares what each branch answered.
    fn judge(&mut self, branches: &Branches, shares: &[Share], answers: &[Vec<Logits>]) {
        let reading = self.settle(branches.talk);
        for (share, logits) in shares.iter().zip(answers) {
            let states = reading.clone().read(&share.tokens);
            self.checker.judge(logits, &states);
        }
    }

    fn choose(&mut self, branches: &Branches, shares: &[Share], answers: &[Vec<Logits>]) -> Outcome<()> {
        let Branches { talk, tree, paths } = branches;
        let talk = &mut self.all[*talk];
        let with = |node: usize| paths.iter().position(|path| path.contains(&node)).unwrap_or(0);
        let logits = |node: usize| &answers[with(node)][tree.path(node).len() - 1];
        let said = tree.follow(logits, talk.log.tokens() + 1, talk.attempt);
        let (chosen, accepted) = (with(said.leaf), said.tokens.len());

        let cache = self.cache.cache();
        cache.rewind(shares[chosen].seq, shares[chosen].first + accepted as u32)?;
        for (_, share) in shares.iter().enumerate().filter(|(index, _)| *index != chosen) {
            cache.seq_release(share.seq)?;
        }
        talk.seq = shares[chosen].seq;
        talk.log.read(&shares[chosen].tokens[..accepted]);
        talk.unread.clear();
        said.tokens.iter().for_each(|token| talk.say(*token));
        said.tokens.iter().for_each(|_| self.checker.generated());
        talk.unread.drain(..accepted - 1);
        self.record.changed += usize::from(chosen != 0);
        self.record.drafted += tree.tokens.len() - 1;
        self.record.kept += accepted - 1;
        Ok(())
    }

    fn share(&mut self, seq: u32, talk: usize, tokens: Vec<u8>) -> Outcome<Share> {
        Ok(Share { seq, talk, first: self.cache.cache().next_pos(seq)?, tokens })
    }

    /// Answers the logits of each share.
    fn step(&mut self, kind: Kind, shares: &[Share]) -> Outcome<Vec<Vec<Logits>>> {
        let ids: Vec<u32> = shares.iter().flat_map(|share| share.tokens.iter().map(|_| share.seq)).collect();
        self.cache.cache().declare_step(&ids)?;
        let mut parts = Vec::new();
        for share in shares {
            let text = [self.all[share.talk].log.text(), share.tokens.clone()].concat();
            parts.push(Part { text, first: share.first });
        }
        let logits = self.backend.forward(self.cache, &parts)?;
        let branches = shares.iter().map(|share| (share.seq, share.talk));
        let owners: Vec<_> =
            self.all.iter().enumerate().map(|(talk, it)| (it.seq, talk)).chain(branches).collect();
        self.record.step(kind, self.cache.cache(), &self.backend, &owners, shares.len())?;
        let mut left = logits.into_iter();
        Ok(shares.iter().map(|share| left.by_ref().take(share.tokens.len()).collect()).collect())
    }

    /// Makes room for so many more tokens of each conversation, in so many cells.
    fn make_room(&mut self, counts: &[(usize, usize)], cells: usize) -> Outcome<()> {
        let context = self.cache.cache().config().max_context as usize;
        loop {
            let mut too_long = None;
            for &(talk, n) in counts {
                let next = self.cache.cache().next_pos(self.all[talk].seq)? as usize;
                too_long = too_long.or((next + n > context).then_some(talk));
            }
            if let Some(talk) = too_long {
                self.record.context_full += 1;
                self.shift(talk)?;
            // Cells are everybody's: any sequence can ask, and this one is far from the end of its context.
            } else if !self.cache.cache().can_admit(self.all[SYSTEM].seq, cells as u32)? {
                self.record.pool_full += 1;
                let longest = self.longest();
                self.shift(longest)?;
            } else {
                return Ok(());
            }
        }
    }

    fn longest(&mut self) -> usize {
        let mut longest = (0, SYSTEM);
        for (talk, it) in self.all.iter().enumerate().skip(1) {
            // One that has ended holds nothing.
            let length = self.cache.cache().next_pos(it.seq).unwrap_or(0);
            longest = longest.max((length, talk));
        }
        longest.1
    }

    /// A context shift: the older half of what is the conversation's own goes, the rest moves up to the system prompt, which
    /// stays where it is: its cells are shared.
    fn shift(&mut self, talk: usize) -> Outcome<()> {
        let cache = self.cache.cache();
        let (seq, from) = (self.all[talk].seq, cache.next_pos(self.all[SYSTEM].seq)?);
        let next = cache.next_pos(seq)?;
        // What a window let go of never comes back, so no window may reach over the gap.
        let left = ((next - from) / 2).max(WINDOW + DEEPEST as u32);
        let Some(len @ 1..) = (next - from).checked_sub(left) else {
            return Err("the pool is too small for these conversations".into());
        };
        cache.seq_remove(seq, from, from + len)?;
        cache.seq_shift(seq, from + len, next, -len.cast_signed())?;
        self.all[talk].log.shift(from as usize, len as usize);
        self.record.owners.note(format!("{}: context shift by {len}", LETTERS[talk]));
        if self.record.moved_while_pending == 0 {
            // The keys are not turned yet: what is pending has to go along.
            self.record.moved_while_pending = self.defrag()?;
        }
        Ok(())
    }

    fn defrag(&mut self) -> Outcome<usize> {
        let moved = self.backend.defrag(self.cache, MOVES_AT_ONCE)?;
        self.record.owners.note(format!("defrag: {moved} rows"));
        Ok(moved)
    }

    /// Compares what is pending of a conversation, and answers the reference's reading of it.
    fn settle(&mut self, talk: usize) -> Reading<'m> {
        let mut reading = self.checker.blank();
        let talk = &mut self.all[talk];
        let states = talk.log.replay(&mut reading);
        let pending = std::mem::take(&mut talk.pending);
        self.checker.judge(&pending, &states[states.len() - pending.len()..]);
        reading
    }

    pub(crate) fn finish(mut self) -> PoolRecord {
        for talk in 0..self.all.len() {
            self.settle(talk);
        }
        self.record.turned = self.backend.turned;
        self.record.replies = self.all.into_iter().skip(1).map(|talk| talk.said).collect();
        (self.record.compared, self.record.largest) = self.checker.finish(&[]);
        self.record
    }
}

impl Talk {
    /// Whether there is something to read or to say. The last token said is not read until more comes.
    fn is_busy(&self, index: usize) -> bool {
        self.left > 0 || index == SYSTEM && !self.unread.is_empty()
    }

    fn has_read(&mut self, n: usize, logits: &[Logits]) {
        self.log.read(&self.unread[..n]);
        self.unread.drain(..n);
        self.pending.extend_from_slice(logits);
    }

    /// Says the next token if it is its turn.
    fn speak(&mut self, logits: &Logits) -> bool {
        let speaks = self.left > 0 && self.unread.is_empty();
        if speaks {
            self.say(sample(logits, self.log.tokens(), self.attempt));
        }
        speaks
    }

    fn say(&mut self, token: u8) {
        self.unread.push(token);
        self.said.push(token);
        self.left -= 1;
    }
}
