//! The two forms of a one-sequence cache, so that what is asked of one is asked of the other.
#![allow(dead_code)] // each test binary uses its own part

use kvcore::{CacheRef, Config, Error, LayerInfo, SeqPlan, SequenceCache, SequenceStorage};

/// Room for layers in the tested caches.
pub(crate) const LAYERS: usize = 6;

/// What both forms answer.
pub(crate) trait OneSequence {
    fn layer(&self, layer: u32) -> Result<LayerInfo, Error>;
    fn can_extend(&self, n: u32) -> Result<bool, Error>;
    fn length(&self) -> u32;
    fn floor(&self) -> u32;
    fn plan(&mut self, layer: u32, position: u32, n: u32) -> Result<SeqPlan, Error>;
    fn plan_step(&mut self, position: u32, n: u32, plans: &mut [SeqPlan]) -> Result<usize, Error>;
    fn commit(&mut self, plan: &SeqPlan, accepted: u32) -> Result<(), Error>;
    fn rewind(&mut self, length: u32) -> Result<(), Error>;
    fn clear(&mut self);

    /// Plans a step of `n` tokens on the first layer and keeps them all.
    fn step(&mut self, n: u32) -> SeqPlan {
        let plan = self.plan(0, self.length(), n).expect("the step fits");
        self.commit(&plan, n).expect("the newest step");
        plan
    }

    /// The same for steps of these sizes.
    fn steps(&mut self, sizes: &[u32]) {
        for n in sizes {
            self.step(*n);
        }
    }
}

impl<const N: usize> OneSequence for SequenceCache<N> {
    fn layer(&self, layer: u32) -> Result<LayerInfo, Error> {
        self.layer(layer)
    }

    fn can_extend(&self, n: u32) -> Result<bool, Error> {
        self.can_extend(n)
    }

    fn length(&self) -> u32 {
        self.length()
    }

    fn floor(&self) -> u32 {
        self.rewind_floor()
    }

    fn plan(&mut self, layer: u32, position: u32, n: u32) -> Result<SeqPlan, Error> {
        self.plan(layer, position, n)
    }

    fn plan_step(&mut self, position: u32, n: u32, plans: &mut [SeqPlan]) -> Result<usize, Error> {
        self.plan_step(position, n, plans)
    }

    fn commit(&mut self, plan: &SeqPlan, accepted: u32) -> Result<(), Error> {
        self.commit(plan, accepted)
    }

    fn rewind(&mut self, length: u32) -> Result<(), Error> {
        self.rewind(length)
    }

    fn clear(&mut self) {
        self.clear();
    }
}

/// Nobody else holds the lock here, so what cannot be refused otherwise is not refused.
impl OneSequence for CacheRef<'_> {
    fn layer(&self, layer: u32) -> Result<LayerInfo, Error> {
        self.layer(layer)
    }

    fn can_extend(&self, n: u32) -> Result<bool, Error> {
        self.can_extend(n)
    }

    fn length(&self) -> u32 {
        self.length().expect("the lock is free")
    }

    fn floor(&self) -> u32 {
        self.rewind_floor().expect("the lock is free")
    }

    fn plan(&mut self, layer: u32, position: u32, n: u32) -> Result<SeqPlan, Error> {
        CacheRef::plan(self, layer, position, n)
    }

    fn plan_step(&mut self, position: u32, n: u32, plans: &mut [SeqPlan]) -> Result<usize, Error> {
        CacheRef::plan_step(self, position, n, plans)
    }

    fn commit(&mut self, plan: &SeqPlan, accepted: u32) -> Result<(), Error> {
        CacheRef::commit(self, plan, accepted)
    }

    fn rewind(&mut self, length: u32) -> Result<(), Error> {
        CacheRef::rewind(self, length)
    }

    fn clear(&mut self) {
        CacheRef::clear(self).expect("the lock is free");
    }
}

/// Runs a test on a cache that is owned, then on one that is shared.
pub(crate) fn on_both(config: &Config<'_>, test: impl Fn(&mut dyn OneSequence)) {
    test(&mut SequenceCache::<LAYERS>::new(config).expect("a sound config"));
    let storage = SequenceStorage::<LAYERS>::new();
    test(&mut storage.init(config).expect("a sound config"));
}
