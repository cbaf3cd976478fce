//! Steps: admitted, planned for each layer, kept or given up.

use super::SequenceInner;
use super::group::{Group, LayerTable};
use super::step::{PENDING, Step};
use crate::error::Error;
use crate::layout::GroupStep;
use crate::plan::SeqPlan;

impl<L: ?Sized + LayerTable> SequenceInner<L> {
    /// Whether `n` more tokens, in steps of at most `max_write`, fit. O(1).
    ///
    /// # Errors
    /// `InvalidArgument` for zero tokens.
    ///
    /// ```
    /// # use kvcore::SequenceCache;
    /// let cache = SequenceCache::<1>::flat(64, 1)?;
    /// assert!(cache.can_extend(64)?);
    /// assert!(!cache.can_extend(65)?);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn can_extend(&self, n: u32) -> Result<bool, Error> {
        if n == 0 { Err(Error::InvalidArgument) } else { Ok(n <= self.bound - self.length) }
    }

    /// Plans a step of `n` tokens at `position`, which is the length, for one layer. The same step may be
    /// planned again, for every layer and in any order, until it is partly committed or another begins. The
    /// rows of the step count as overwritten from now on. O(1).
    ///
    /// # Errors
    /// In this order: `InvalidArgument` for zero tokens, `BadLayer`, `BadPosition`, `StepTooLarge`,
    /// `NeverFits`, `OutOfCapacity`. A step that any layer would refuse is refused.
    ///
    /// ```
    /// use kvcore::{Error, SequenceCache};
    /// let mut cache = SequenceCache::<2>::ring(4, 2, 2)?;
    /// let plan = cache.plan(0, 0, 2)?;
    /// assert_eq!(cache.plan(1, 0, 2)?, plan); // the other layer: the same step
    /// assert_eq!(cache.plan(0, 1, 1), Err(Error::BadPosition));
    /// assert_eq!(cache.plan(0, 0, 3), Err(Error::StepTooLarge));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn plan(&mut self, layer: u32, position: u32, n: u32) -> Result<SeqPlan, Error> {
        let mut plan = SeqPlan::EMPTY;
        self.step_of_layer(layer, position, n)?.0.write_plan(&mut plan);
        Ok(plan)
    }

    /// Admits a step and answers what its plan for this layer is computed from; also tells whether a window
    /// dropped positions.
    #[inline]
    pub(crate) fn step_of_layer(
        &mut self,
        layer: u32,
        position: u32,
        n: u32,
    ) -> Result<(GroupStep, bool), Error> {
        if n == 0 {
            return Err(Error::InvalidArgument);
        }
        let (index, _) = self.group_of(layer)?;
        let evicted = self.admit(position, n)?;
        let step = self.step_of_group(index as usize).ok_or(Error::BadLayer)?;
        Ok((step, evicted))
    }

    /// Plans a step for all layer groups at once: one plan each, in the order of the groups. Answers how
    /// many there are. Agrees with [`Self::plan`]. O(groups).
    ///
    /// # Errors
    /// `BufferTooSmall` for fewer than [`Self::n_groups`] elements, else as [`Self::plan`].
    ///
    /// ```
    /// use kvcore::{Config, Layer, SeqPlan, SequenceCache};
    /// let layers = [Layer::ring(4), Layer::flat(), Layer::ring(4)];
    /// let mut cache = SequenceCache::<3>::new(&Config::new(64, 3, &layers))?;
    /// let mut plans = [SeqPlan::EMPTY; 2];
    /// assert_eq!(cache.plan_step(0, 1, &mut plans)?, 2);
    /// assert_eq!(plans[cache.layer(2)?.group as usize], cache.plan(2, 0, 1)?);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn plan_step(&mut self, position: u32, n: u32, plans: &mut [SeqPlan]) -> Result<usize, Error> {
        if plans.len() < self.n_groups() {
            return Err(Error::BufferTooSmall);
        }
        self.admit_step(position, n)?;
        for (group, plan) in plans.iter_mut().enumerate().take(self.n_groups()) {
            if let Some(step) = self.step_of_group(group) {
                step.write_plan(plan);
            }
        }
        Ok(self.n_groups())
    }

    /// Admits a step before any of its plans is written; tells whether a window dropped positions.
    pub(crate) fn admit_step(&mut self, position: u32, n: u32) -> Result<bool, Error> {
        if n == 0 { Err(Error::InvalidArgument) } else { self.admit(position, n) }
    }

    /// What the plan of the admitted step is computed from in one group.
    #[expect(clippy::inline_always, reason = "a copy of the answer through memory costs more than the call")]
    #[inline(always)]
    pub(crate) fn step_of_group(&mut self, index: usize) -> Option<GroupStep> {
        let Group { layout, residency, .. } = self.groups.get_mut(index)?;
        let Step { position, n_tokens, epoch, .. } = self.step;
        Some(GroupStep {
            layout: *layout,
            index: residency.index(layout, position),
            position,
            n_tokens,
            group: index as u32,
            epoch,
        })
    }

    /// Begins the step, or finds that it is the present one.
    #[inline]
    fn admit(&mut self, position: u32, n: u32) -> Result<bool, Error> {
        if self.step.is_same(position, n) {
            return Ok(false);
        }
        if position != self.length {
            return Err(Error::BadPosition);
        }
        if n > self.step_limit {
            return Err(Error::StepTooLarge);
        }
        let bound = self.bound;
        // A step as long as the marker of a pending one could not be told from it; no pool is that large.
        if n > bound || n == PENDING {
            return Err(Error::NeverFits);
        }
        if n > bound - self.length {
            return Err(Error::OutOfCapacity);
        }
        Ok(self.begin_step(position, n))
    }

    #[inline]
    fn begin_step(&mut self, position: u32, n: u32) -> bool {
        let end = position + n;
        let evicted = end > self.reach;
        self.reach = self.reach.max(end);
        let epoch = self.step.next_epoch();
        self.step = Step { position, n_tokens: n, accepted: PENDING, epoch };
        evicted
    }

    /// Keeps the first `accepted` tokens of the newest step: the length becomes `position + accepted`. Reads
    /// only `position`, `n_tokens` and `epoch` of the plan, so that the plan of any layer will do; once per
    /// step or once per layer, the result is the same. A partial commit closes the step: plan every layer
    /// before it. With `accepted` 0 a step that failed is closed. O(1).
    ///
    /// # Errors
    /// `InvalidArgument` for more tokens than the step has; `StalePlan` for a plan older than the newest
    /// step, rewind or clear, and for another `accepted` than before.
    ///
    /// ```
    /// use kvcore::{Error, SequenceCache};
    /// let mut cache = SequenceCache::<1>::flat(64, 1)?;
    /// let plan = cache.plan(0, 0, 4)?;
    /// cache.commit(&plan, 3)?;
    /// cache.commit(&plan, 3)?; // for the next layer: nothing more happens
    /// assert_eq!(cache.length(), 3);
    /// assert_eq!(cache.commit(&plan, 4), Err(Error::StalePlan));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn commit(&mut self, plan: &SeqPlan, accepted: u32) -> Result<(), Error> {
        plan.check_accepted(accepted)?;
        self.keep(plan, accepted)
    }

    /// The same, for an `accepted` that was checked.
    #[inline]
    pub(crate) fn keep(&mut self, plan: &SeqPlan, accepted: u32) -> Result<(), Error> {
        let step = &mut self.step;
        let current = plan.epoch == step.epoch
            && plan.position == step.position
            && plan.n_tokens == step.n_tokens
            && (step.accepted == PENDING || step.accepted == accepted);
        if !current {
            return Err(Error::StalePlan);
        }
        // No row leaves: what the plan gave up is below the position that the step began at.
        step.accepted = accepted;
        self.length = step.position + accepted;
        Ok(())
    }
}
