//! A borrowed cache of any kind: the calls, without ownership. The handle and the C layer stand on it.

mod batch;
mod steps;

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::external::{self, External};
use super::header::{Header, Tag};
use super::sequence::with_sequence;
use crate::config::Config;
use crate::error::Error;
use crate::event::{Event, emit};
use crate::layer::LayerInfo;
use crate::plan::SeqPlan;
use crate::sequence::SequenceView;

/// A cache that somebody else keeps alive.
#[derive(Clone, Copy)]
pub(crate) struct Object(NonNull<Header>);

impl Object {
    /// # Safety
    /// The caller holds a reference to the cache for as long as the object and its copies are used.
    pub(crate) const unsafe fn new(cache: NonNull<Header>) -> Self {
        Self(cache)
    }

    #[cfg(feature = "capi")]
    pub(crate) const fn as_ptr(self) -> NonNull<Header> {
        self.0
    }

    pub(crate) const fn header(&self) -> &Header {
        // SAFETY: alive by the contract of `new`; what changes in a header is behind its lock or atomic.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn capacity(self) -> Result<u32, Error> {
        // SAFETY: the table came with the cache.
        unsafe { (self.header().ops().capacity)(self.0) }
    }

    pub(crate) fn clear(self) -> Result<(), Error> {
        // SAFETY: the table came with the cache.
        unsafe { (self.header().ops().clear)(self.0) }
    }

    pub(crate) fn config(self) -> Result<Config<'static>, Error> {
        let mut config = MaybeUninit::uninit();
        match self.header().ops().batch {
            // SAFETY: the table came with the cache.
            Some(batch) => unsafe { (batch.config)(self.0, &mut config) },
            None => self.sequence(|cache| {
                config.write(cache.config());
                Ok(())
            }),
        }?;
        // SAFETY: both ways write it where they succeed.
        Ok(unsafe { config.assume_init() })
    }

    /// Writes what is known about a layer, on success only.
    pub(crate) fn layer(self, layer: u32, info: &mut MaybeUninit<LayerInfo>) -> Result<(), Error> {
        match self.header().ops().batch {
            // SAFETY: the table came with the cache.
            Some(batch) => unsafe { (batch.layer)(self.0, layer, info) },
            None => self.sequence(|cache| {
                info.write(cache.layer(layer)?);
                Ok(())
            }),
        }
    }

    /// A call on our own one-sequence cache, behind the lock.
    #[inline]
    fn sequence<R>(self, ours: impl FnOnce(&mut SequenceView) -> Result<R, Error>) -> Result<R, Error> {
        if !self.header().is(Tag::Sequence) {
            return Err(Error::WrongKind);
        }
        // SAFETY: the tag says what stands behind the header.
        unsafe { with_sequence(self.0, ours) }.and_then(|result| result)
    }

    /// A call of the one-sequence face: on our own kind behind the lock, on a foreign one through its table.
    #[inline]
    fn one_sequence<R>(
        self,
        ours: impl FnOnce(&mut SequenceView) -> Result<R, Error>,
        theirs: impl FnOnce(&External) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let header = self.header();
        if header.is(Tag::Sequence) {
            // SAFETY: the tag says what stands behind the header.
            return unsafe { with_sequence(self.0, ours) }.and_then(|result| result);
        }
        // Many-sequence kinds have a table. Two comparisons of the tag in a row would become a switch, with ours not the first.
        if header.ops().batch.is_none() && header.is(Tag::External) {
            // SAFETY: as above.
            return theirs(unsafe { external::body(self.0) });
        }
        Err(Error::WrongKind)
    }

    /// The same for calls that nobody makes once a token: one copy of the code for all of them.
    #[inline(never)]
    fn ask(
        self,
        argument: u32,
        ours: fn(&mut SequenceView, u32) -> Result<u32, Error>,
        theirs: fn(&External, u32) -> Result<u32, Error>,
    ) -> Result<u32, Error> {
        self.one_sequence(|cache| ours(cache, argument), |cache| theirs(cache, argument))
    }

    pub(crate) fn can_extend(self, n: u32) -> Result<bool, Error> {
        let answer = self.ask(
            n,
            |cache, n| cache.can_extend(n).map(u32::from),
            |cache, n| cache.can_extend(n).map(u32::from),
        );
        answer.map(|answer| answer != 0)
    }

    pub(crate) fn length(self) -> Result<u32, Error> {
        self.ask(0, |cache, _| Ok(cache.length()), |cache, _| cache.length())
    }

    pub(crate) fn rewind(self, length: u32) -> Result<(), Error> {
        let done = self.ask(
            length,
            |cache, length| cache.rewind(length).map(|()| 0),
            |cache, length| cache.rewind(length).map(|()| 0),
        );
        done.map(|_| ())
    }

    pub(crate) fn rewind_floor(self) -> Result<u32, Error> {
        self.ask(0, |cache, _| Ok(cache.rewind_floor()), |cache, _| cache.rewind_floor())
    }

    /// `plan` is written on success only.
    ///
    /// # Safety
    /// `plan` is valid for writes and aligned.
    pub(crate) unsafe fn plan(
        self,
        layer: u32,
        position: u32,
        n: u32,
        plan: *mut SeqPlan,
    ) -> Result<(), Error> {
        let step = self.one_sequence(
            |cache| cache.step_of_layer(layer, position, n).map(Some),
            // SAFETY: by contract.
            |cache| unsafe { cache.plan(layer, position, n, plan) }.map(|()| None),
        )?;
        if let Some((step, evicted)) = step {
            // SAFETY: valid by contract, and any bytes are a plan.
            step.write_plan(unsafe { &mut *plan });
            tell_evicted(evicted);
        }
        Ok(())
    }

    /// Tells the number of groups, on success and beside `BufferTooSmall`.
    ///
    /// # Safety
    /// `plans` is valid for writes of `cap` elements and aligned, or `cap` is 0; `groups` is valid for writes and aligned.
    pub(crate) unsafe fn plan_step(
        self,
        position: u32,
        n: u32,
        plans: *mut SeqPlan,
        cap: u32,
        groups: *mut u32,
    ) -> Result<(), Error> {
        let evicted = self.one_sequence(
            |cache| {
                let n_groups = cache.n_groups();
                if (cap as usize) < n_groups {
                    // SAFETY: by contract.
                    unsafe { groups.write(n_groups as u32) };
                    return Err(Error::BufferTooSmall);
                }
                let evicted = cache.admit_step(position, n)?;
                for group in 0..n_groups {
                    if let Some(step) = cache.step_of_group(group) {
                        // SAFETY: below `cap`, so within the caller's array; any bytes are a plan.
                        step.write_plan(unsafe { &mut *plans.add(group) });
                    }
                }
                // SAFETY: by contract.
                unsafe { groups.write(n_groups as u32) };
                Ok(evicted)
            },
            |cache| {
                // SAFETY: by contract.
                unsafe { cache.plan_step(position, n, plans, cap, groups) }.map(|()| false)
            },
        )?;
        tell_evicted(evicted);
        Ok(())
    }

    /// `accepted` was checked.
    pub(crate) fn commit(self, plan: &SeqPlan, accepted: u32) -> Result<(), Error> {
        self.one_sequence(|cache| cache.keep(plan, accepted), |cache| cache.commit(plan, accepted))
    }
}

#[inline]
fn tell_evicted(evicted: bool) {
    if evicted {
        emit(Event::Evicted, None, None);
    }
}
