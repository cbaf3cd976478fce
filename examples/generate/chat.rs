//! The application's side: a chat that reads, answers, drafts, takes back and tries again. It asks the cache
//! how far it may go; rows and plans are the backend's business.

use kvcore::{Error, LAYER_RING, Session};

use crate::Outcome;
use crate::backend::Backend;
use crate::check::Checker;
use crate::drafts::{DEEPEST, Tree};
use crate::model::{LAYERS, Logits, Model};
use crate::modes::ROLLBACK;
use crate::sample::{draft, sample};
use crate::trace::{Kind, Trace};

/// Tokens guessed ahead in one step.
const DRAFTS: usize = 4;
/// Longer than a ring, so that it comes round however short the prompt is.
const SECOND_TURN: &[u8] = b" Go on, and tell me what became of the rows that the window left behind. ";
const OTHER_TURN: &[u8] = b" No, take that back: tell me of the rows that stayed, and of the first ones. ";

/// What a chat leaves behind.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) steps: usize,
    /// The most steps that one text took to read.
    pub(crate) chunks: usize,
    pub(crate) drafted: usize,
    pub(crate) kept: usize,
    /// Steps of a tree after which rows had to move.
    pub(crate) moved: usize,
    /// Rewinds that went through, those of them after a ring had come round, and those that a window had made
    /// impossible.
    pub(crate) rewinds: usize,
    pub(crate) late_rewinds: usize,
    pub(crate) refused: usize,
    /// The most positions that the cache held.
    pub(crate) longest: usize,
    /// What was generated, reply by reply, those taken back later included.
    pub(crate) replies: Vec<Vec<u8>>,
    /// Logit vectors that came through the cache, how many of them were compared, and the largest difference of
    /// any logit.
    pub(crate) logits: usize,
    pub(crate) compared: usize,
    pub(crate) largest: f32,
    pub(crate) trace: Trace,
}

pub(crate) struct Chat<'s, 'a, 'm> {
    /// For drafts alone: the forwards are the backend's.
    model: &'m Model,
    /// Whether drafts are trees.
    trees: bool,
    session: &'s Session<'s, 'a>,
    backend: &'s mut Backend<'a, 'm>,
    checker: Checker<'m>,
    /// The whole text. Its last token is always one that the cache has not seen.
    history: Vec<u8>,
    attempt: u32,
    max_write: usize,
    /// Rows of a ring layer's pool, if there is one.
    ring_rows: usize,
    record: Record,
}

impl<'s, 'a, 'm> Chat<'s, 'a, 'm> {
    pub(crate) fn new(
        model: &'m Model,
        trees: bool,
        session: &'s Session<'s, 'a>,
        backend: &'s mut Backend<'a, 'm>,
        checker: Checker<'m>,
    ) -> Outcome<Self> {
        let max_write = session.cache().config()?.max_write as usize;
        let ring = (0..LAYERS).map(|layer| backend.layer(layer)).find(|info| info.layer.kind == LAYER_RING);
        let ring_rows = ring.map_or(usize::MAX, |info| info.rows as usize);
        let (history, record) = (Vec::new(), Record::default());
        Ok(Self {
            model,
            trees,
            session,
            backend,
            checker,
            history,
            attempt: 0,
            max_write,
            ring_rows,
            record,
        })
    }

    /// The story of the demo: an answer, the same answer again in other words, a second turn, that turn taken
    /// back as a whole for another, and the end of its answer once more.
    pub(crate) fn run(&mut self, prompt: &[u8], n: usize) -> Outcome<()> {
        // So few can be taken back in every kind of cache.
        let few = n.div_ceil(2).min(ROLLBACK as usize);
        self.checker.expect(4 * n + few);

        self.record.trace.act("prompt");
        self.read(prompt)?;
        let answer = self.history.len();
        self.record.trace.act("reply");
        self.reply(n)?;

        self.record.trace.act("reply again");
        self.back_to(answer)?;
        self.reply(n)?;

        let turn = self.history.len();
        self.record.trace.act("turn 2");
        self.read(SECOND_TURN)?;
        self.reply(n)?;

        self.record.trace.act("turn 2 again");
        self.back_to(turn)?;
        self.read(OTHER_TURN)?;
        self.reply(n)?;

        self.record.trace.act("its end again");
        self.back_to(self.history.len() - few)?;
        self.reply(few)
    }

    /// Tokens in the cache.
    fn length(&self) -> Outcome<usize> {
        Ok(self.session.cache().length()? as usize)
    }

    /// Adds text and prefills: everything but the last token, whose logits will start the reply.
    fn read(&mut self, text: &[u8]) -> Outcome<()> {
        self.history.extend_from_slice(text);
        self.prefill()
    }

    /// Brings the cache up to the last token of the text, in steps of at most `max_write`.
    fn prefill(&mut self) -> Outcome<()> {
        let end = self.history.len() - 1;
        let missing = end - self.length()?;
        if missing > 0 && !self.session.cache().can_extend(missing as u32)? {
            return Err("the text is longer than the cache's capacity".into());
        }
        self.record.chunks = self.record.chunks.max(missing.div_ceil(self.max_write));
        let text = self.history.clone();
        for position in (self.length()?..end).step_by(self.max_write) {
            let n = self.max_write.min(end - position);
            let logits = self.step(Kind::Prefill, &text[..position + n], n, None)?;
            self.checker.take(logits);
            self.commit(n, n)?;
        }
        Ok(())
    }

    /// Generates `n` tokens: half of them one by one, the others with drafts.
    fn reply(&mut self, n: usize) -> Outcome<()> {
        self.prefill()?;
        let start = self.history.len();
        for _ in 0..n.div_ceil(2) {
            self.advance(0)?;
        }
        while self.history.len() - start < n {
            let room = n - (self.history.len() - start) - 1;
            if self.trees {
                self.advance_tree(DEEPEST.min(room))?;
                continue;
            }
            self.advance(DRAFTS.min(room).min(self.max_write - 1))?;
        }
        self.record.replies.push(self.history[start..].to_vec());
        Ok(())
    }

    /// One step of the last token and `n` guesses. A guess stays while it is what the model says itself, so
    /// the text is the same as without drafts; it grows by the guesses that stayed, and one token.
    fn advance(&mut self, n: usize) -> Outcome<()> {
        let place = self.history.len();
        let drafts = draft(self.model, self.history[place - 1], place, self.attempt, n);
        let text = [self.history.as_slice(), &drafts].concat();
        let kind = if n == 0 { Kind::Decode } else { Kind::Draft };
        let last = self.step(kind, &text, n + 1, None)?;
        // Unless a guess is wrong, they are compared with what follows.
        self.checker.take(last.clone());
        let mut accepted = 0;
        for logits in last {
            let token = sample(&logits, place + accepted, self.attempt);
            self.history.push(token);
            self.checker.generated();
            if drafts.get(accepted) != Some(&token) {
                break;
            }
            accepted += 1;
        }
        self.record.drafted += n;
        self.record.kept += accepted;
        if accepted < n {
            self.checker.compare(&text);
        }
        self.commit(n + 1, accepted + 1)
    }

    /// The same with a tree of guesses: in one step the model answers all of them, and the right ones stay.
    fn advance_tree(&mut self, depth: usize) -> Outcome<()> {
        let (place, attempt) = (self.history.len(), self.attempt);
        let tree = Tree::grow(self.model, self.history[place - 1], place, attempt, depth);
        let n = tree.tokens.len();
        let text = [&self.history[..place - 1], &tree.tokens].concat();
        let logits = self.step(Kind::Draft, &text, n, Some(tree.parents))?;
        self.compare_tree(&tree, &logits);
        let said = tree.follow(|node| &logits[node], place, attempt);
        let accepted = self.backend.accept(tree.parents, i32::try_from(said.leaf)?)?;
        self.record.moved += usize::from(said.leaf >= accepted);
        self.record.drafted += n - 1;
        self.record.kept += accepted - 1;
        said.tokens.iter().for_each(|_| self.checker.generated());
        self.history.extend(said.tokens);
        self.committed(n - accepted)
    }

    /// A node that several paths share is compared on the first of them.
    fn compare_tree(&mut self, tree: &Tree, logits: &[Logits]) {
        let mut seen = 0;
        let mut paths = Vec::new();
        for path in tree.paths() {
            let new = path.iter().filter(|node| seen & 1 << **node == 0);
            let logits = new.map(|node| logits[*node]).collect();
            seen = path.iter().fold(seen, |seen, node| seen | 1 << node);
            paths.push((tree.tokens_of(&path), logits));
        }
        self.checker.compare_tree(&self.history[..self.history.len() - 1], &paths);
    }

    /// Runs the backend over the last `n` tokens of `text`.
    fn step(&mut self, kind: Kind, text: &[u8], n: usize, parents: Option<&[i32]>) -> Outcome<Vec<Logits>> {
        let logits = self.backend.forward(text, n, parents)?;
        self.record.logits += logits.len();
        self.record.steps += 1;
        self.record.trace.step(kind, self.backend);
        Ok(logits)
    }

    fn commit(&mut self, n: usize, accepted: usize) -> Outcome<()> {
        self.backend.commit(accepted)?;
        self.committed(n - accepted)
    }

    fn committed(&mut self, rejected: usize) -> Outcome<()> {
        self.record.trace.commit(rejected);
        self.record.longest = self.record.longest.max(self.length()?);
        Ok(())
    }

    /// Cuts the text to `len` tokens and takes the cache back to the one before the last, so that there are
    /// fresh logits to go on from. If a window has dropped what is needed for that, the cache is cleared, and
    /// the next prefill reads the text again.
    fn back_to(&mut self, len: usize) -> Outcome<()> {
        let length = self.length()?;
        self.checker.compare(&self.history[..length]);
        let target = len - 1;
        let cache = self.session.cache();
        match cache.rewind(target as u32) {
            Ok(()) => {
                self.record.rewinds += 1;
                self.record.late_rewinds += usize::from(length > self.ring_rows);
                self.record.trace.rewind(target);
            }
            Err(Error::Evicted) => {
                self.check_refusal(target, length)?;
                cache.clear()?;
                self.record.refused += 1;
                self.record.trace.clear(target);
            }
            Err(error) => return Err(error.into()),
        }
        self.history.truncate(len);
        self.attempt += 1;
        Ok(())
    }

    /// A rewind that was refused has changed nothing, and was below the floor.
    fn check_refusal(&self, target: usize, length: usize) -> Outcome<()> {
        let floor = self.session.cache().rewind_floor()? as usize;
        if self.length()? != length || target >= floor {
            return Err(
                format!("refused to rewind from {length} to {target}, with the floor at {floor}").into()
            );
        }
        Ok(())
    }

    /// Compares what is left to compare.
    pub(crate) fn finish(mut self) -> Outcome<Record> {
        let length = self.length()?;
        (self.record.compared, self.record.largest) = self.checker.finish(&self.history[..length]);
        Ok(self.record)
    }
}
