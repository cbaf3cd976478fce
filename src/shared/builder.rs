//! Builders: foreign or Rust functions that say how much storage a cache wants and build it there.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null_mut};

use super::handle::CacheRef;
use super::header::{ALIGN, Header};
use super::raw::RawConfig;
use crate::config::Config;
use crate::error::{Error, outcome, status};

/// Says how many bytes a cache of this config wants.
pub(crate) type SizeFn = unsafe extern "C" fn(*mut c_void, *const RawConfig, *mut usize) -> i32;

/// Builds a cache in the storage, with one reference for the caller.
pub(crate) type BuildFn =
    unsafe extern "C" fn(*mut c_void, *const RawConfig, *mut c_void, usize, *mut *mut Header) -> i32;

/// A kind of cache that a backend can build.
///
/// ```
/// use core::mem::MaybeUninit;
/// use kvcore::{BuildCache, CacheRef, Config, Error, Layer, Registry};
///
/// /// Sequence caches that leave room for four rejected drafts.
/// struct Drafting;
///
/// impl BuildCache for Drafting {
///     fn size(&self, config: &Config<'_>) -> Result<usize, Error> {
///         kvcore::sequence_size(config)
///     }
///     fn build<'s>(&self, config: &Config<'_>, at: &'s mut [MaybeUninit<u64>]) -> Result<CacheRef<'s>, Error> {
///         kvcore::sequence_in(at, &Config { rollback: 4, ..*config })
///     }
/// }
///
/// let mut storage = [MaybeUninit::uninit(); 128];
/// let registry = Registry::new();
/// registry.register_builder(c"mine", c"drafting", &Drafting)?;
/// let layers = [Layer::ring(8)];
/// let cache = registry.build(c"mine", c"drafting", &Config::new(64, 1, &layers), &mut storage)?;
/// assert_eq!(cache.config()?.rollback, 4);
/// # Ok::<(), Error>(())
/// ```
pub trait BuildCache: Sync {
    /// Bytes of storage that a cache of this config wants.
    ///
    /// # Errors
    /// As the kind decides.
    fn size(&self, config: &Config<'_>) -> Result<usize, Error>;

    /// Builds a cache in the storage. Runs outside every lock; may call the registry. A panic aborts: it would
    /// have to cross C's calling convention.
    ///
    /// # Errors
    /// As the kind decides; `BufferTooSmall` for storage below the size.
    fn build<'s>(
        &self,
        config: &Config<'_>,
        storage: &'s mut [MaybeUninit<u64>],
    ) -> Result<CacheRef<'s>, Error>;
}

/// A builder as the registry keeps it.
#[derive(Clone, Copy)]
pub(crate) struct Builder {
    size: SizeFn,
    build: BuildFn,
    context: *mut c_void,
}

// SAFETY: a C builder may be called from any thread by contract, a Rust one is `Sync`.
unsafe impl Send for Builder {}

impl Builder {
    /// # Safety
    /// The functions accept the context, from any thread, as long as the builder is registered.
    #[cfg_attr(not(feature = "capi"), allow(dead_code))]
    pub(crate) const unsafe fn foreign(size: SizeFn, build: BuildFn, context: *mut c_void) -> Self {
        Self { size, build, context }
    }

    /// A Rust builder. It must be borrowed for as long as the builder stays registered.
    pub(crate) fn of<B: BuildCache>(builder: &B) -> Self {
        Self {
            size: call_size::<B>,
            build: call_build::<B>,
            context: core::ptr::from_ref(builder) as *mut c_void,
        }
    }

    pub(crate) fn size(self, config: &RawConfig) -> Result<usize, Error> {
        let mut size = 0;
        // SAFETY: by the contract of `foreign`, or our own shim.
        outcome(unsafe { (self.size)(self.context, config, &raw mut size) })?;
        Ok(size)
    }

    /// Builds in borrowed words.
    pub(crate) fn build_in<'s>(
        self,
        config: &Config<'_>,
        storage: &'s mut [MaybeUninit<u64>],
    ) -> Result<CacheRef<'s>, Error> {
        let size = storage.len() * ALIGN;
        // SAFETY: the words are borrowed for `'s`, and every reference to the cache has that lifetime.
        unsafe {
            let cache = self.build(&RawConfig::from(config), storage.as_mut_ptr().cast(), size)?;
            Ok(CacheRef::from_raw(cache))
        }
    }

    /// # Safety
    /// `storage` is valid for writes of `size` bytes, which nobody else uses until the cache ended.
    pub(crate) unsafe fn build(
        self,
        config: &RawConfig,
        storage: *mut c_void,
        size: usize,
    ) -> Result<NonNull<Header>, Error> {
        let mut cache = null_mut();
        // SAFETY: as above.
        outcome(unsafe { (self.build)(self.context, config, storage, size, &raw mut cache) })?;
        // SAFETY: a builder answers a cache or, against its contract, null; both are checked.
        unsafe { Header::check(cache) }.map_err(|_| Error::Corrupt)
    }
}

unsafe extern "C" fn call_size<B: BuildCache>(
    context: *mut c_void,
    config: *const RawConfig,
    out: *mut usize,
) -> i32 {
    // SAFETY: `of` made the context from a `&B`; `Builder::size` passes a config and a place for the size.
    status(unsafe {
        RawConfig::read(config)
            .and_then(|config| (*context.cast::<B>()).size(&config))
            .map(|size| out.write(size))
    })
}

unsafe extern "C" fn call_build<B: BuildCache>(
    context: *mut c_void,
    config: *const RawConfig,
    storage: *mut c_void,
    size: usize,
    out: *mut *mut Header,
) -> i32 {
    let words = storage.cast::<MaybeUninit<u64>>();
    if words.is_null() || !words.is_aligned() {
        return Error::InvalidArgument.code();
    }
    // SAFETY: as above; the storage is valid by the contract of `Builder::build`, and aligned.
    status(unsafe {
        let storage = core::slice::from_raw_parts_mut(words, size / ALIGN);
        RawConfig::read(config)
            .and_then(|config| (*context.cast::<B>()).build(&config, storage))
            .map(|cache| out.write(cache.into_raw().as_ptr()))
    })
}
