//! The application's side: a chat that reads, answers, drafts, takes back and tries again. It asks the cache
//! how far it may go; rows and plans are the backend's business.

use kvcore::{Error, Session};

use crate::Outcome;
use crate::backend::Backend;
use crate::check::Checker;
use crate::model::{Logits, Model};
use crate::sample::{draft, sample};
use crate::trace::{Kind, Trace};

/// Tokens guessed ahead in one step.
const DRAFTS: usize = 4;

/// What a chat leaves behind.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) steps: usize,
    pub(crate) drafted: usize,
    pub(crate) kept: usize,
    /// Rewinds that went through, and those that a window had made impossible.
    pub(crate) rewinds: usize,
    pub(crate) refused: usize,
    /// The most positions that the cache held.
    pub(crate) longest: usize,
    /// What was generated, reply by reply, those taken back later included.
    pub(crate) replies: Vec<Vec<u8>>,
    /// Logit vectors compared, and the largest difference of any logit.
    pub(crate) compared: usize,
    pub(crate) largest: f32,
    pub(crate) trace: Trace,
}

pub(crate) struct Chat<'s, 'a, 'm> {
    /// For drafts alone: the forwards are the backend's.
    model: &'m Model,
    session: &'s Session<'s, 'a>,
    backend: &'s mut Backend<'a, 'm>,
    checker: Checker<'m>,
    /// The whole text. Its last token is always one that the cache has not seen.
    history: Vec<u8>,
    attempt: u32,
    max_write: usize,
    record: Record,
}

impl<'s, 'a, 'm> Chat<'s, 'a, 'm> {
    pub(crate) fn new(
        model: &'m Model,
        session: &'s Session<'s, 'a>,
        backend: &'s mut Backend<'a, 'm>,
        checker: Checker<'m>,
    ) -> Outcome<Self> {
        let max_write = session.cache().config()?.max_write as usize;
        let record = Record::default();
        Ok(Self { model, session, backend, checker, history: Vec::new(), attempt: 0, max_write, record })
    }

    /// The story of the demo: an answer, the same answer again in other words, a second turn, and that turn
    /// taken back as a whole.
    pub(crate) fn run(&mut self, prompt: &[u8], n: usize) -> Outcome<()> {
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
        self.read(b" Go on, and be brief. ")?;
        self.reply(n)?;

        self.record.trace.act("turn 2 again");
        self.back_to(turn)?;
        self.read(b" No: start over. ")?;
        self.reply(n)
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
        let text = self.history.clone();
        for position in (self.length()?..end).step_by(self.max_write) {
            let n = self.max_write.min(end - position);
            self.step(Kind::Prefill, &text[..position + n], n)?;
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
        let last = self.step(kind, &text, n + 1)?;
        let mut accepted = 0;
        for logits in last {
            let token = sample(&logits, place + accepted, self.attempt);
            self.history.push(token);
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

    /// Runs the backend over the last `n` tokens of `text`.
    fn step(&mut self, kind: Kind, text: &[u8], n: usize) -> Outcome<Vec<Logits>> {
        let logits = self.backend.forward(text, n)?;
        self.checker.take(logits.clone());
        self.record.steps += 1;
        self.record.trace.step(kind, self.backend);
        Ok(logits)
    }

    fn commit(&mut self, n: usize, accepted: usize) -> Outcome<()> {
        self.backend.commit(accepted)?;
        self.record.trace.commit(n - accepted);
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
