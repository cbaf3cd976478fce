//! The application: one conversation, with everything that can happen to its cache.

use kvcore::{CacheRef, Config, Error, Layer, Registry, SequenceStorage, Session};

use crate::backend::{Backend, CAPACITY, LAYERS};
use crate::report::Report;

/// What the model would say, prompt and all.
const TEXT: &[u8; CAPACITY] = b"a ring forgets; a flat list not.";
const PROMPT: u32 = 10;
const MAX_WRITE: u32 = 4;
const ROLLBACK: u32 = 2;
/// Rings of 8 + 4 - 1 + 2 = 13 rows: position 13 is the first to take the row of another.
const WINDOW: u32 = 8;
const SINKS: u32 = 2;
const KEY: &str = "chat";

static STORAGE: SequenceStorage<LAYERS> = SequenceStorage::new();

pub(crate) fn run(report: &mut Report) -> Result<(), Error> {
    let sliding = Layer::ring(WINDOW);
    let layers = [sliding, Layer::flat(), sliding.with_sinks(SINKS), Layer::flat()];
    let config = Config::new(CAPACITY as u32, LAYERS as u32, &layers);
    let cache = STORAGE.init(&Config { max_write: MAX_WRITE, rollback: ROLLBACK, ..config })?;
    let mut session = Session::open(Registry::global(), Some(KEY), &cache)?;
    let mut chat = Chat { backend: Backend::load(KEY)?, cache, report };

    chat.prefill()?;
    chat.decode(11)?;
    chat.speculate()?;
    chat.decode(18)?;
    chat.rewind()?;
    chat.decode(20)?;

    session.close()?;
    defmt::info!("session closed, the backend goes on");
    chat.report.check("the key is gone", Registry::global().get(KEY).err() == Some(Error::NotFound));
    chat.decode(21)?;
    // The last references.
    drop(session);
    drop(chat);
    Ok(())
}

struct Chat<'r> {
    backend: Backend,
    cache: CacheRef<'static>,
    report: &'r mut Report,
}

impl Chat<'_> {
    /// The prompt, in the largest steps that the rings allow.
    fn prefill(&mut self) -> Result<(), Error> {
        let mut position = 0;
        while position < PROMPT {
            let n = MAX_WRITE.min(PROMPT - position);
            let plan = self.backend.forward(self.report, position, text(position, n))?;
            self.cache.commit(&plan, n)?;
            position += n;
        }
        defmt::info!("prefill: {} tokens", self.cache.length()?);
        Ok(())
    }

    /// One token a step.
    fn decode(&mut self, end: u32) -> Result<(), Error> {
        let start = self.cache.length()?;
        for position in start..end {
            let plan = self.backend.forward(self.report, position, text(position, 1))?;
            self.cache.commit(&plan, 1)?;
        }
        defmt::info!("decode: {} to {}", start, self.cache.length()?);
        Ok(())
    }

    /// A step of drafts, of which the model takes the first two. It crosses the end of the ring.
    fn speculate(&mut self) -> Result<(), Error> {
        let position = self.cache.length()?;
        let mut drafts = *b"????";
        drafts[..2].copy_from_slice(text(position, 2));
        let plan = self.backend.forward(self.report, position, &drafts)?;
        defmt::info!("the ring comes round: {}", plan.writes());
        self.report.check("the step crosses the end of the ring", plan.writes().len() == 2);

        let right = drafts.iter().zip(text(position, MAX_WRITE)).take_while(|(draft, token)| draft == token);
        let accepted = right.count() as u32;
        self.cache.commit(&plan, accepted)?;
        defmt::info!("drafts: {} of {} accepted", accepted, drafts.len());
        self.report.check("rejected drafts are not kept", self.cache.length()? == position + 2);
        Ok(())
    }

    /// One rewind too far, which must change nothing, and one as far as can be, in the middle of a step.
    fn rewind(&mut self) -> Result<(), Error> {
        let length = self.cache.length()?;
        let plan = self.backend.forward(self.report, length, text(length, 1))?;
        let floor = self.cache.rewind_floor()?;
        let refused = self.cache.rewind(floor - 1);
        self.report.check("below the floor is evicted", refused == Err(Error::Evicted));
        self.report.check("a refused rewind moves nothing", self.cache.length()? == length);

        self.cache.rewind(floor)?;
        defmt::info!("rewind: {} to {}", length, self.cache.length()?);
        self.report.check("a rewind stales plans", self.cache.commit(&plan, 1) == Err(Error::StalePlan));
        Ok(())
    }
}

fn text(position: u32, n: u32) -> &'static [u8] {
    &TEXT[position as usize..][..n as usize]
}
