//! Builders in a registry: (backend id, kind) to the functions that build such a cache.

use core::ffi::CStr;
use core::mem::MaybeUninit;

use crate::config::Config;
use crate::error::Error;
use crate::event::observe;
use crate::registry::{BuilderEntry, Registry, Tables};
use crate::shared::builder::{BuildCache, Builder};
use crate::shared::handle::{CacheRef, check_name};
use crate::shared::storage::{sequence_in_quietly, sequence_size};

/// The backend id of the built-in kinds.
pub const BUILT_IN: &CStr = c"kvcore";
/// The kind of [`SequenceBuilder`].
pub const SEQUENCE: &CStr = c"sequence";

/// Builds plain one-sequence caches.
///
/// ```
/// use kvcore::{BuildCache, Config, Layer, SequenceBuilder};
/// let layers = [Layer::flat()];
/// assert!(SequenceBuilder.size(&Config::new(64, 1, &layers))? > 0);
/// # Ok::<(), kvcore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SequenceBuilder;

impl BuildCache for SequenceBuilder {
    fn size(&self, config: &Config<'_>) -> Result<usize, Error> {
        sequence_size(config)
    }

    fn build<'s>(
        &self,
        config: &Config<'_>,
        storage: &'s mut [MaybeUninit<u64>],
    ) -> Result<CacheRef<'s>, Error> {
        sequence_in_quietly(storage, config)
    }
}

impl<'a> Registry<'a> {
    /// Registers a builder. O(builders).
    ///
    /// # Errors
    /// `NameTooLong`, `AlreadyExists` for a taken pair, `TableFull`, `Busy`.
    ///
    /// ```
    /// use kvcore::{Error, Registry, SequenceBuilder};
    /// let registry = Registry::new();
    /// registry.register_builder(c"cpu", c"single", &SequenceBuilder)?;
    /// let again = registry.register_builder(c"cpu", c"single", &SequenceBuilder);
    /// assert_eq!(again, Err(Error::AlreadyExists));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn register_builder<B: BuildCache>(
        &self,
        backend: &'static CStr,
        kind: &'static CStr,
        builder: &'a B,
    ) -> Result<(), Error> {
        observe(check_names(backend, kind))?;
        self.add_builder(BuilderEntry { backend, kind, builder: Builder::of(builder) })
    }

    /// Registers the built-in one-sequence kind under [`BUILT_IN`] and [`SEQUENCE`]. O(builders).
    ///
    /// # Errors
    /// As [`Registry::register_builder`].
    ///
    /// ```
    /// use kvcore::{BUILT_IN, Registry, SEQUENCE};
    /// let registry = Registry::new();
    /// registry.register_sequence()?;
    /// assert_eq!(registry.kind_at(BUILT_IN, 0)?, SEQUENCE);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn register_sequence(&self) -> Result<(), Error> {
        self.register_builder(BUILT_IN, SEQUENCE, &SequenceBuilder)
    }

    pub(crate) fn add_builder(&self, entry: BuilderEntry) -> Result<(), Error> {
        let add = |tables: &mut Tables<'a>| {
            if tables.find_builder(entry.backend, entry.kind).is_some() {
                return Err(Error::AlreadyExists);
            }
            tables.builders.push(entry).map_err(|_| Error::TableFull)
        };
        observe(self.with(add))
    }

    /// Takes a builder out. A build that has already begun goes on. O(builders).
    ///
    /// # Errors
    /// `NotFound`, `NameTooLong`, `Busy`.
    ///
    /// ```
    /// use kvcore::{Error, Registry};
    /// assert_eq!(Registry::new().unregister_builder(c"cpu", c"single"), Err(Error::NotFound));
    /// ```
    pub fn unregister_builder(&self, backend: &CStr, kind: &CStr) -> Result<(), Error> {
        observe(check_names(backend, kind).and_then(|()| {
            self.with(|tables| {
                let at = tables.find_builder(backend, kind).ok_or(Error::NotFound)?;
                // The order of the others is what `kind_at` counts by.
                if let Some(after) = tables.builders.get_mut(at..) {
                    after.rotate_left(1.min(after.len()));
                }
                tables.builders.pop();
                Ok(())
            })
        }))
    }

    pub(crate) fn builder(&self, backend: &CStr, kind: &CStr) -> Result<Builder, Error> {
        check_names(backend, kind)?;
        self.with(|tables| {
            let entry = tables.find_builder(backend, kind).and_then(|at| tables.builders.get(at));
            entry.map(|entry| entry.builder).ok_or(Error::NotFound)
        })
    }

    /// Bytes of storage that a cache of this kind and config wants. The builder runs outside the lock.
    ///
    /// # Errors
    /// `NotFound`, `NameTooLong`, as [`Config::check`], `Busy`, and what the builder answers.
    ///
    /// ```
    /// use kvcore::{BUILT_IN, Config, Layer, Registry, SEQUENCE};
    /// let registry = Registry::new();
    /// registry.register_sequence()?;
    /// let layers = [Layer::flat()];
    /// assert!(registry.builder_size(BUILT_IN, SEQUENCE, &Config::new(64, 1, &layers))? > 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn builder_size(&self, backend: &CStr, kind: &CStr, config: &Config<'_>) -> Result<usize, Error> {
        observe(self.builder(backend, kind).and_then(|builder| {
            config.check()?;
            builder.size(config)
        }))
    }

    /// Builds a cache in the storage. The builder runs outside the lock.
    ///
    /// # Errors
    /// `NotFound`, `NameTooLong`, as [`Config::check`], `Busy`, what the builder answers, and `Corrupt` for
    /// a builder that reports success without a cache.
    ///
    /// ```
    /// use core::mem::MaybeUninit;
    /// use kvcore::{BUILT_IN, Config, Layer, Registry, SEQUENCE};
    /// let mut storage = [MaybeUninit::uninit(); 64];
    /// let registry = Registry::new();
    /// registry.register_sequence()?;
    /// let layers = [Layer::flat()];
    /// let cache = registry.build(BUILT_IN, SEQUENCE, &Config::new(64, 1, &layers), &mut storage)?;
    /// assert_eq!(cache.capacity()?, 64);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn build<'s>(
        &self,
        backend: &CStr,
        kind: &CStr,
        config: &Config<'_>,
        storage: &'s mut [MaybeUninit<u64>],
    ) -> Result<CacheRef<'s>, Error> {
        observe(self.builder(backend, kind).and_then(|builder| {
            config.check()?;
            builder.build_in(config, storage)
        }))
    }

    /// The kind of the `index`-th builder of a backend. O(builders).
    ///
    /// # Errors
    /// `NotFound` behind the last one, `NameTooLong`, `Busy`.
    ///
    /// ```
    /// use kvcore::{Error, Registry};
    /// assert_eq!(Registry::new().kind_at(c"cpu", 0), Err(Error::NotFound));
    /// ```
    pub fn kind_at(&self, backend: &CStr, index: usize) -> Result<&'static CStr, Error> {
        observe(check_name(backend).and_then(|()| {
            self.with(|tables| {
                let mut kinds = tables.builders.iter().filter(|entry| entry.backend == backend);
                kinds.nth(index).map(|entry| entry.kind).ok_or(Error::NotFound)
            })
        }))
    }
}

impl Tables<'_> {
    fn find_builder(&self, backend: &CStr, kind: &CStr) -> Option<usize> {
        self.builders.iter().position(|entry| entry.backend == backend && entry.kind == kind)
    }
}

fn check_names(backend: &CStr, kind: &CStr) -> Result<(), Error> {
    check_name(backend)?;
    check_name(kind)
}
