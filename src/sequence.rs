//! The one-sequence cache: one logical length for the whole model, a layout per layer group.
//!
//! No lock and no sharing: calls take `&mut self`. See [`crate::CacheRef`] for the shared form.

mod group;
mod step;
mod steps;

pub use group::{LayerSlot, LayerTable};
pub(crate) use step::epoch_after;

use crate::config::Config;
use crate::error::Error;
use crate::layer::{Layer, LayerInfo};
use crate::layout::{Layout, step_limit};
use crate::limits::{MAX_GROUPS, UNBOUNDED};
use group::Group;
use step::{PENDING, Step};

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
    pub(crate) step_limit: u32,
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
    pub(crate) const BLANK: Self = Self::blank([LayerSlot { group: 0, shares_with: 0 }; N]);

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

impl<L> SequenceInner<L> {
    /// A cache of nothing over a layer table.
    pub(crate) const fn blank(layers: L) -> Self {
        Self {
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
            layers,
        }
    }
}

impl<L: ?Sized + LayerTable> SequenceInner<L> {
    /// Builds the cache in place, from a blank one and a config that was checked.
    pub(crate) fn configure(&mut self, config: &Config<'_>) -> Result<(), Error> {
        self.step_limit = UNBOUNDED;
        let mut most_rows = 0;
        for (index, layer) in config.each_layer().enumerate() {
            let known = self.groups.iter().position(|group| group.layer().same_group(layer));
            // A group number is below MAX_GROUPS, a donor below MAX_LAYERS: both fit.
            let group = known.unwrap_or(self.groups.len()) as u8;
            self.layers.set(index, group, layer.shares_with as u8).ok_or(Error::BufferTooSmall)?;
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
        let shares_with = self.layers.shares_with(layer as usize).into();
        let layer = Layer { shares_with, ..group.layer() };
        let max_write = step_limit(&layer, self.max_write).min(self.capacity);
        Ok(LayerInfo { layer, group: group_index, rows: group.layout.rows(), max_write })
    }

    fn group_of(&self, layer: u32) -> Result<(u32, &Group), Error> {
        if layer >= self.n_layers {
            return Err(Error::BadLayer);
        }
        let index = self.layers.group(layer as usize).ok_or(Error::BadLayer)?;
        let group = self.groups.get(index as usize).ok_or(Error::BadLayer)?;
        Ok((index.into(), group))
    }

    /// The group of a layer and its layout.
    pub(crate) fn layout_of(&self, layer: u32) -> Result<(u32, Layout), Error> {
        self.group_of(layer).map(|(index, group)| (index, group.layout))
    }

    /// The layouts, in the order of the groups.
    pub(crate) fn layouts(&self) -> impl Iterator<Item = Layout> {
        self.groups.iter().map(|group| group.layout)
    }

    /// The end up to which the next step may go without losing a position of any group.
    fn lossless_end(&self) -> u32 {
        let ends = self.groups.iter().map(|group| group.residency.lossless_end(&group.layout));
        ends.min().unwrap_or(UNBOUNDED)
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
