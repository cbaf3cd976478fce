//! The one-sequence cache: one logical length for the whole model, a layout per layer group.
//!
//! No lock and no sharing: calls take `&mut self`. See [`crate::CacheRef`] for the shared form.

use crate::config::Config;
use crate::error::Error;
use crate::layer::{LAYER_FLAT, LAYER_RING, Layer, LayerInfo};
use crate::layout::{GroupStep, Layout, step_limit};
use crate::limits::{MAX_GROUPS, UNBOUNDED};
use crate::plan::SeqPlan;
use crate::residency::Residency;

/// A step that has not been committed.
const PENDING: u32 = u32::MAX;

/// Layers that are planned alike: their layout and what their pools hold.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Group {
    layout: Layout,
    residency: Residency,
    n_kv_heads: u32,
    head_dim: u32,
}

impl Group {
    fn new(layout: Layout, layer: &Layer) -> Self {
        let residency = Residency::new(&layout);
        Self { layout, residency, n_kv_heads: layer.n_kv_heads, head_dim: layer.head_dim }
    }

    fn layer(&self) -> Layer {
        let Layout { window, sinks, .. } = self.layout;
        let kind = if self.layout.is_flat() { LAYER_FLAT } else { LAYER_RING };
        Layer { kind, window, sinks, n_kv_heads: self.n_kv_heads, head_dim: self.head_dim, shares_with: 0 }
    }
}

/// Which group a layer belongs to, and whose rows it uses.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct LayerSlot {
    group: u8,
    shares_with: u8,
}

mod sealed {
    pub trait Sealed {}
    impl<const N: usize> Sealed for [super::LayerSlot; N] {}
    impl Sealed for [super::LayerSlot] {}
}

/// The layer table of a [`SequenceInner`]: an array, or a slice of one.
pub trait LayerTable: sealed::Sealed {
    #[doc(hidden)]
    fn slots(&self) -> &[LayerSlot];
    #[doc(hidden)]
    fn slots_mut(&mut self) -> &mut [LayerSlot];
}

impl<const N: usize> LayerTable for [LayerSlot; N] {
    fn slots(&self) -> &[LayerSlot] {
        self
    }

    fn slots_mut(&mut self) -> &mut [LayerSlot] {
        self
    }
}

impl LayerTable for [LayerSlot] {
    fn slots(&self) -> &[LayerSlot] {
        self
    }

    fn slots_mut(&mut self) -> &mut [LayerSlot] {
        self
    }
}

/// The newest step: `position .. position + n_tokens`, of which `accepted` were kept.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Step {
    /// Where it began; after a rewind the length.
    position: u32,
    /// 0: none since the cache was built, rewound or cleared.
    n_tokens: u32,
    /// [`PENDING`] until committed.
    accepted: u32,
    epoch: u32,
}

impl Step {
    /// Planning this step again is the same step: it is open, or was kept whole.
    const fn is_same(&self, position: u32, n: u32) -> bool {
        position == self.position
            && n == self.n_tokens
            && (self.accepted == PENDING || self.accepted == self.n_tokens)
    }

    /// The next epoch. 0 stays free for plans that no cache made.
    const fn next_epoch(&self) -> u32 {
        let next = self.epoch.wrapping_add(1);
        if next == 0 { 1 } else { next }
    }
}

/// A one-sequence cache over a layer table `L`; see [`SequenceCache`] and [`SequenceView`].
#[derive(Clone, Debug)]
#[repr(C)]
pub struct SequenceInner<L: ?Sized> {
    capacity: u32,
    max_write: u32,
    rollback: u32,
    max_context: u32,
    initial_capacity: u32,
    kv_dtype: i32,
    pub(crate) n_layers: u32,
    /// Most tokens of a step: the smallest limit of any layer.
    step_limit: u32,
    /// Positions that the whole model can reach.
    bound: u32,
    /// How far steps went, at least to where a step loses nothing in any group; see [`Residency`].
    reach: u32,
    length: u32,
    step: Step,
    groups: heapless::Vec<Group, MAX_GROUPS, u8>,
    pub(crate) layers: L,
}

/// A one-sequence cache with room for `N` layers: plans, commits, rewinds.
///
/// A clone is a fork of the bookkeeping (the rows are the caller's to copy). Size: about 290 bytes and 2 a
/// layer.
///
/// ```
/// use kvcore::{Config, Layer, SequenceCache};
/// let layers = [Layer::ring(4), Layer::flat()];
/// let mut cache = SequenceCache::<2>::new(&Config::new(1024, 2, &layers))?;
/// let plan = cache.plan(0, 0, 3)?; // layer 0, position 0, 3 tokens
/// assert_eq!(plan.writes()[0].len, 3);
/// cache.commit(&plan, 2)?; // one token was rejected
/// assert_eq!(cache.length(), 2);
/// cache.rewind(1)?;
/// assert_eq!(cache.length(), 1);
/// # Ok::<(), kvcore::Error>(())
/// ```
pub type SequenceCache<const N: usize> = SequenceInner<[LayerSlot; N]>;

/// The same with the number of layers taken out of the type.
pub type SequenceView = SequenceInner<[LayerSlot]>;

impl<const N: usize> SequenceInner<[LayerSlot; N]> {
    /// A cache of nothing: every call on it is refused until it is configured. All of its bytes are zero
    /// or padding.
    pub(crate) const BLANK: Self = Self {
        capacity: 0,
        max_write: 0,
        rollback: 0,
        max_context: 0,
        initial_capacity: 0,
        kv_dtype: 0,
        n_layers: 0,
        step_limit: 0,
        bound: 0,
        reach: 0,
        length: 0,
        step: Step { position: 0, n_tokens: 0, accepted: 0, epoch: 0 },
        groups: heapless::Vec::new(),
        layers: [LayerSlot { group: 0, shares_with: 0 }; N],
    };

    /// An empty cache. O(layers).
    ///
    /// # Errors
    /// As [`Config::check`]; `BufferTooSmall` for more than `N` layers.
    ///
    /// ```
    /// use kvcore::{Config, Error, Layer, SequenceCache};
    /// let cache = SequenceCache::<34>::new(&Config::new(4096, 34, &[Layer::flat()]))?;
    /// assert_eq!((cache.length(), cache.n_groups()), (0, 1));
    /// let small = SequenceCache::<4>::new(&Config::new(4096, 34, &[Layer::flat()]));
    /// assert_eq!(small.err(), Some(Error::BufferTooSmall));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn new(config: &Config<'_>) -> Result<Self, Error> {
        config.check()?;
        let mut cache = Self::BLANK;
        cache.configure(config)?;
        Ok(cache)
    }

    /// A cache whose layers all keep all history: `capacity` positions. O(layers).
    ///
    /// # Errors
    /// As [`SequenceCache::new`].
    ///
    /// ```
    /// use kvcore::SequenceCache;
    /// let cache = SequenceCache::<26>::flat(2048, 26)?;
    /// assert_eq!(cache.layer(25)?.rows, 2048);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn flat(capacity: u32, n_layers: u32) -> Result<Self, Error> {
        Self::new(&Config::new(capacity, n_layers, &[Layer::flat()]))
    }

    /// A cache whose layers all keep a window, for steps of at most `max_write` tokens (0: the window);
    /// nothing else bounds it. O(layers).
    ///
    /// # Errors
    /// As [`SequenceCache::new`].
    ///
    /// ```
    /// use kvcore::SequenceCache;
    /// let cache = SequenceCache::<26>::ring(512, 1, 26)?;
    /// assert_eq!(cache.layer(0)?.rows, 512);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn ring(window: u32, max_write: u32, n_layers: u32) -> Result<Self, Error> {
        Self::new(&Config { max_write, ..Config::new(UNBOUNDED, n_layers, &[Layer::ring(window)]) })
    }
}

impl<L: ?Sized + LayerTable> SequenceInner<L> {
    /// Builds the cache in place, from a blank one and a config that was checked.
    pub(crate) fn configure(&mut self, config: &Config<'_>) -> Result<(), Error> {
        let slots = self.layers.slots_mut();
        if slots.len() < config.n_layers as usize {
            return Err(Error::BufferTooSmall);
        }
        self.step_limit = UNBOUNDED;
        let mut most_rows = 0;
        for (slot, layer) in slots.iter_mut().zip(config.each_layer()) {
            let known = self.groups.iter().position(|group| group.layer().same_group(layer));
            // A group number is below MAX_GROUPS, a donor below MAX_LAYERS: both fit.
            slot.group = known.unwrap_or(self.groups.len()) as u8;
            slot.shares_with = layer.shares_with as u8;
            if known.is_none() {
                let group = Group::new(config.layout(layer)?, layer);
                most_rows = most_rows.max(group.layout.rows());
                self.step_limit = self.step_limit.min(step_limit(layer, config.max_write));
                self.groups.push(group).map_err(|_| Error::InvalidConfig)?;
            }
        }
        self.initial_capacity = config.initial_capacity.min(most_rows);
        self.capacity = config.capacity;
        self.max_write = config.max_write;
        self.rollback = config.rollback;
        self.max_context = config.max_context;
        self.bound =
            if config.max_context == 0 { config.capacity } else { config.max_context.min(config.capacity) };
        self.kv_dtype = config.kv_dtype;
        self.n_layers = config.n_layers;
        self.reach = self.lossless_end();
        self.step.epoch = self.step.next_epoch();
        Ok(())
    }

    /// Positions that it can hold; [`UNBOUNDED`] where only windows bound it. O(1).
    ///
    /// ```
    /// # use kvcore::SequenceCache;
    /// assert_eq!(SequenceCache::<1>::flat(64, 1)?.capacity(), 64);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Tokens held: the position of the next one. O(1).
    ///
    /// ```
    /// # use kvcore::SequenceCache;
    /// assert_eq!(SequenceCache::<1>::flat(64, 1)?.length(), 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn length(&self) -> u32 {
        self.length
    }

    /// Layer groups, 1 to [`MAX_GROUPS`]. O(1).
    ///
    /// ```
    /// # use kvcore::SequenceCache;
    /// assert_eq!(SequenceCache::<2>::flat(64, 2)?.n_groups(), 1);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// The config as resolved: `max_write` is what a step may really have, `initial_capacity` at most the
    /// largest pool; `layers` is empty ([`Self::layer`] answers for each), fields of other kinds are 0.
    /// O(1).
    ///
    /// ```
    /// # use kvcore::SequenceCache;
    /// let cache = SequenceCache::<2>::ring(8, 0, 2)?;
    /// assert_eq!(cache.config().max_write, 8);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn config(&self) -> Config<'static> {
        Config {
            max_write: self.step_limit.min(self.capacity),
            rollback: self.rollback,
            max_context: self.max_context,
            initial_capacity: self.initial_capacity,
            kv_dtype: self.kv_dtype,
            ..Config::new(self.capacity, self.n_layers, &[])
        }
    }

    /// What is known about a layer. O(1).
    ///
    /// # Errors
    /// `BadLayer`.
    ///
    /// ```
    /// # use kvcore::{Error, SequenceCache};
    /// let cache = SequenceCache::<2>::flat(64, 2)?;
    /// assert_eq!((cache.layer(1)?.group, cache.layer(1)?.rows), (0, 64));
    /// assert_eq!(cache.layer(2), Err(Error::BadLayer));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn layer(&self, layer: u32) -> Result<LayerInfo, Error> {
        let (group_index, group) = self.group_of(layer)?;
        let shares_with = self.layers.slots().get(layer as usize).map_or(0, |slot| slot.shares_with.into());
        let layer = Layer { shares_with, ..group.layer() };
        let max_write = step_limit(&layer, self.max_write).min(self.capacity);
        Ok(LayerInfo { layer, group: group_index, rows: group.layout.rows(), max_write })
    }

    fn group_of(&self, layer: u32) -> Result<(u32, &Group), Error> {
        if layer >= self.n_layers {
            return Err(Error::BadLayer);
        }
        let slot = self.layers.slots().get(layer as usize).ok_or(Error::BadLayer)?;
        let group = self.groups.get(slot.group as usize).ok_or(Error::BadLayer)?;
        Ok((slot.group.into(), group))
    }

    /// The end up to which the next step may go without losing a position of any group.
    fn lossless_end(&self) -> u32 {
        let ends = self.groups.iter().map(|group| group.residency.lossless_end(&group.layout));
        ends.min().unwrap_or(UNBOUNDED)
    }

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

    /// Takes the length back to `length`, if everything that the next token would see is still in its rows.
    /// Plans made before are stale afterwards, with the present length as well. O(groups), with a division
    /// each.
    ///
    /// # Errors
    /// `CannotGrow` beyond the length, `Evicted` when a window has dropped what the target needs.
    ///
    /// ```
    /// use kvcore::{Error, SequenceCache};
    /// let mut cache = SequenceCache::<1>::ring(4, 1, 1)?;
    /// for position in 0..10 {
    ///     let plan = cache.plan(0, position, 1)?;
    ///     cache.commit(&plan, 1)?;
    /// }
    /// assert_eq!(cache.rewind(6), Err(Error::Evicted));
    /// assert_eq!(cache.rewind_floor(), 9);
    /// cache.rewind(9)?;
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn rewind(&mut self, length: u32) -> Result<(), Error> {
        if length > self.length {
            return Err(Error::CannotGrow);
        }
        let reach = self.reach;
        let allowed = |group: &Group| group.residency.allows(&group.layout, reach, length);
        if !self.groups.iter().all(allowed) {
            return Err(Error::Evicted);
        }
        for Group { layout, residency, .. } in &mut self.groups {
            residency.rewind(layout, reach, length);
        }
        self.reach = self.lossless_end();
        let epoch = self.step.next_epoch();
        self.step = Step { position: length, n_tokens: 0, accepted: PENDING, epoch };
        self.length = length;
        Ok(())
    }

    /// The smallest length such that a rewind to every length from there to the present one is allowed now;
    /// 0 when all are. (Lengths within the sinks, and 0, may be allowed below it.) O(groups).
    ///
    /// ```
    /// # use kvcore::SequenceCache;
    /// assert_eq!(SequenceCache::<1>::flat(64, 1)?.rewind_floor(), 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn rewind_floor(&self) -> u32 {
        self.groups.iter().map(|group| group.residency.floor(&group.layout, self.reach)).max().unwrap_or(0)
    }

    /// Forgets everything: the same as a rewind to 0, which is always allowed. O(groups).
    ///
    /// ```
    /// # use kvcore::SequenceCache;
    /// let mut cache = SequenceCache::<1>::flat(64, 1)?;
    /// let plan = cache.plan(0, 0, 4)?;
    /// cache.commit(&plan, 4)?;
    /// cache.clear();
    /// assert_eq!(cache.length(), 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn clear(&mut self) {
        // A rewind to 0 is never refused.
        let _ = self.rewind(0);
    }
}
