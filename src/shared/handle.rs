//! The counted reference to a cache of any kind, as Rust has it.

mod batch;
mod steps;

use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::header::Header;
use super::object::Object;
use crate::config::Config;
use crate::error::Error;
use crate::event::observe;
use crate::layer::LayerInfo;
use crate::plan::SeqPlan;

/// A counted reference to a cache that lives in storage borrowed for `'a`. Dropping it lets go; the last
/// one ends the cache.
///
/// Every call is atomic, takes the cache's lock for its own time, and may answer `Busy`. All references to
/// one cache have the same `'a`, so a face attached through one is good for all.
///
/// ```
/// use kvcore::{Config, Layer, SequenceStorage};
/// static STORAGE: SequenceStorage<2> = SequenceStorage::new();
/// let cache = STORAGE.init(&Config::new(64, 2, &[Layer::flat()]))?;
/// let backend = cache.retain()?;
/// let plan = backend.plan(0, 0, 3)?;
/// backend.commit(&plan, 3)?;
/// assert_eq!(cache.length()?, 3);
/// # Ok::<(), kvcore::Error>(())
/// ```
///
/// A reference does not outlive its storage:
///
/// ```compile_fail,E0597
/// use kvcore::{Config, Layer, SequenceStorage};
/// let cache;
/// {
///     let storage = SequenceStorage::<2>::new();
///     cache = storage.init(&Config::new(64, 2, &[Layer::flat()])).unwrap();
/// }
/// cache.length();
/// ```
pub struct CacheRef<'a> {
    cache: NonNull<Header>,
    /// Invariant: a face with a shorter life must not be attached through a shortened reference.
    storage: PhantomData<Cell<&'a ()>>,
}

// SAFETY: everything behind the pointer is atomic or locked, and faces are `Sync`.
unsafe impl Send for CacheRef<'_> {}
// SAFETY: as above.
unsafe impl Sync for CacheRef<'_> {}

impl CacheRef<'_> {
    /// # Safety
    /// The caller gives up a reference that it owns, to a cache in storage that stays during `'a`.
    #[must_use]
    pub unsafe fn from_raw(cache: NonNull<Header>) -> Self {
        Self { cache, storage: PhantomData }
    }

    /// The cache as C has it; the reference is the caller's to release.
    ///
    /// ```
    /// # use kvcore::{CacheRef, Config, Layer, SequenceStorage};
    /// let storage = SequenceStorage::<1>::new();
    /// let raw = storage.init(&Config::new(8, 1, &[Layer::flat()]))?.into_raw();
    /// // SAFETY: this is the reference that was given up a line above.
    /// drop(unsafe { CacheRef::from_raw(raw) });
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn into_raw(self) -> NonNull<Header> {
        let cache = self.cache;
        core::mem::forget(self);
        cache
    }

    /// The cache as C has it; the reference stays here.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.as_raw(), cache.retain()?.as_raw());
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn as_raw(&self) -> NonNull<Header> {
        self.cache
    }

    pub(crate) const fn object(&self) -> Object {
        // SAFETY: `self` holds a reference.
        unsafe { Object::new(self.cache) }
    }

    /// One more reference. Never `Busy`. O(1).
    ///
    /// # Errors
    /// `OutOfCapacity` at 2^32 - 1 references.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// let other = cache.retain()?;
    /// drop(cache);
    /// assert_eq!(other.length()?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn retain(&self) -> Result<Self, Error> {
        observe(self.retain_quietly())
    }

    /// The same without an event, for calls under a lock.
    pub(crate) fn retain_quietly(&self) -> Result<Self, Error> {
        self.object().header().retain()?;
        Ok(Self { cache: self.cache, storage: PhantomData })
    }

    /// The family that the cache plays: [`crate::KIND_SEQUENCE`], … O(1), takes no lock.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.kind(), kvcore::KIND_SEQUENCE);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn kind(&self) -> u32 {
        self.object().header().kind()
    }

    /// As [`crate::SequenceInner::capacity`].
    ///
    /// # Errors
    /// `Busy`; `WrongKind` from an external cache without it.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.capacity()?, 8);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn capacity(&self) -> Result<u32, Error> {
        observe(self.object().capacity())
    }

    /// Empties the cache, whatever its kind. Plans made before are stale.
    ///
    /// # Errors
    /// `Busy`; `WrongKind` from an external cache without it.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// cache.clear()?;
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn clear(&self) -> Result<(), Error> {
        observe(self.object().clear())
    }

    /// The resolved config, as [`crate::SequenceInner::config`].
    ///
    /// # Errors
    /// `Busy`; `WrongKind` from an external cache.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.config()?.n_layers, 1);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn config(&self) -> Result<Config<'static>, Error> {
        observe(self.object().config())
    }

    /// What is known about a layer.
    ///
    /// # Errors
    /// `BadLayer`, `Busy`; `WrongKind` from an external cache.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.layer(0)?.rows, 8);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn layer(&self, layer: u32) -> Result<LayerInfo, Error> {
        let mut info = MaybeUninit::uninit();
        observe(self.object().layer(layer, &mut info))?;
        // SAFETY: written on success.
        Ok(unsafe { info.assume_init() })
    }

    /// As [`crate::SequenceInner::can_extend`].
    ///
    /// # Errors
    /// `InvalidArgument` for zero tokens, `Busy`, `WrongKind`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert!(!cache.can_extend(9)?);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn can_extend(&self, n: u32) -> Result<bool, Error> {
        observe(self.object().can_extend(n))
    }

    /// Tokens held.
    ///
    /// # Errors
    /// `Busy`, `WrongKind`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.length()?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn length(&self) -> Result<u32, Error> {
        observe(self.object().length())
    }

    /// As [`crate::SequenceInner::rewind`].
    ///
    /// # Errors
    /// `CannotGrow`, `Evicted`, `Busy`, `WrongKind`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.rewind(1), Err(Error::CannotGrow));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn rewind(&self, length: u32) -> Result<(), Error> {
        observe(self.object().rewind(length))
    }

    /// As [`crate::SequenceInner::rewind_floor`].
    ///
    /// # Errors
    /// `Busy`, `WrongKind`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.rewind_floor()?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn rewind_floor(&self) -> Result<u32, Error> {
        observe(self.object().rewind_floor())
    }

    /// As [`crate::SequenceInner::plan`].
    ///
    /// # Errors
    /// Those of [`crate::SequenceInner::plan`], `Busy`, `WrongKind`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.plan(0, 0, 2)?.read_len, 2);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn plan(&self, layer: u32, position: u32, n: u32) -> Result<SeqPlan, Error> {
        let mut plan = SeqPlan::EMPTY;
        // SAFETY: a plan on this stack.
        observe(unsafe { self.object().plan(layer, position, n, &raw mut plan) })?;
        Ok(plan)
    }

    /// As [`crate::SequenceInner::plan_step`].
    ///
    /// # Errors
    /// Those of [`crate::SequenceInner::plan_step`], `Busy`, `WrongKind`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SeqPlan, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// let mut plans = [SeqPlan::EMPTY; 8];
    /// assert_eq!(cache.plan_step(0, 2, &mut plans)?, 1);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn plan_step(&self, position: u32, n: u32, plans: &mut [SeqPlan]) -> Result<usize, Error> {
        let cap = u32::try_from(plans.len()).unwrap_or(u32::MAX);
        let (plans, mut groups) = (plans.as_mut_ptr(), 0);
        // SAFETY: a slice of at least `cap` plans, and a number on this stack.
        observe(unsafe { self.object().plan_step(position, n, plans, cap, &raw mut groups) })?;
        Ok(groups as usize)
    }

    /// As [`crate::SequenceInner::commit`].
    ///
    /// # Errors
    /// `InvalidArgument`, `StalePlan`, `Busy`, `WrongKind`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, SequenceStorage};
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// let plan = cache.plan(0, 0, 2)?;
    /// cache.commit(&plan, 1)?;
    /// assert_eq!(cache.length()?, 1);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn commit(&self, plan: &SeqPlan, accepted: u32) -> Result<(), Error> {
        observe(plan.check_accepted(accepted).and_then(|()| self.object().commit(plan, accepted)))
    }
}

impl Drop for CacheRef<'_> {
    fn drop(&mut self) {
        // SAFETY: `self` owns a reference and ends here. Its count cannot be zero, so this does not fail.
        let _ = unsafe { Header::release(self.cache) };
    }
}

impl core::fmt::Debug for CacheRef<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CacheRef").field("cache", &self.cache).field("kind", &self.kind()).finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for CacheRef<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "CacheRef(kind {})", self.kind());
    }
}
