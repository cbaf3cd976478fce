//! The calls that many-sequence caches share: ours through their table, foreign ones through theirs.

use super::{External, Object, Tag, external, tell_evicted};
use crate::error::Error;
use crate::shared::batch::Call;

impl Object {
    /// The foreign part of an external cache.
    pub(super) fn foreign(&self) -> Option<&External> {
        // SAFETY: the tag says what stands behind the header, alive by the contract of `new`.
        self.header().is(Tag::External).then(|| unsafe { external::body(self.0) })
    }

    /// A call that was checked.
    pub(crate) fn batch(self, call: Call) -> Result<u32, Error> {
        match self.header().ops().batch {
            // SAFETY: the table came with the cache.
            Some(batch) => unsafe { (batch.answer)(self.0, call) },
            None => self.foreign().ok_or(Error::WrongKind)?.answer(call),
        }
    }

    /// For one token or more.
    pub(crate) fn declare_step(self, seq_ids: &[u32]) -> Result<(), Error> {
        let Some(batch) = self.header().ops().batch else {
            return self.foreign().ok_or(Error::WrongKind)?.declare_step(seq_ids);
        };
        // SAFETY: the table came with the cache.
        let evicted = unsafe { (batch.declare)(self.0, seq_ids)? };
        tell_evicted(evicted);
        Ok(())
    }
}
