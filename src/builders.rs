//! Builders in a registry: (backend id, kind) to the functions that build such a cache.

use core::ffi::CStr;
use core::mem::MaybeUninit;

use crate::config::Config;
use crate::error::Error;
use crate::event::observe;
use crate::name::check_name;
use crate::registry::{Registry, Tables};
use crate::shared::builder::{BuildCache, Builder};
use crate::shared::cells::CellView;
use crate::shared::handle::CacheRef;
use crate::shared::raw::RawConfig;
use crate::shared::rows::RowsView;
use crate::shared::storage::batch::{cells_size, in_quietly, rows_size};
use crate::shared::storage::{sequence_in_quietly, sequence_size};

/// The backend id of the built-in kinds.
pub const BUILT_IN: &CStr = c"kvcore";
/// The kind of [`SequenceBuilder`].
pub const SEQUENCE: &CStr = c"sequence";
/// The kind of [`CellsBuilder`].
pub const CELLS: &CStr = c"cells";
/// The kind of [`RowsBuilder`].
pub const ROWS: &CStr = c"rows";

/// What a builder is found by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct BuilderId<'n> {
    pub(crate) backend: &'n CStr,
    pub(crate) kind: &'n CStr,
}

impl<'n> BuilderId<'n> {
    fn new(backend: &'n CStr, kind: &'n CStr) -> Result<Self, Error> {
        check_name(backend)?;
        check_name(kind)?;
        Ok(Self { backend, kind })
    }
}

/// A builder as the table has it; both names are borrowed for good.
pub(crate) struct BuilderEntry {
    id: BuilderId<'static>,
    builder: Builder,
}

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

/// Builds plain cell caches.
///
/// ```
/// use kvcore::{BuildCache, Config, Layer, CellsBuilder};
/// let layers = [Layer::flat()];
/// let config = Config { max_seqs: 4, ..Config::new(64, 1, &layers) };
/// assert_eq!(CellsBuilder.size(&config)?, kvcore::cells_size(&config)?);
/// # Ok::<(), kvcore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CellsBuilder;

impl BuildCache for CellsBuilder {
    fn size(&self, config: &Config<'_>) -> Result<usize, Error> {
        cells_size(config)
    }

    fn build<'s>(
        &self,
        config: &Config<'_>,
        storage: &'s mut [MaybeUninit<u64>],
    ) -> Result<CacheRef<'s>, Error> {
        in_quietly::<CellView>(storage, config)
    }
}

/// Builds plain private-row caches.
///
/// ```
/// use kvcore::{BuildCache, Config, Layer, RowsBuilder};
/// let layers = [Layer::flat()];
/// let config = Config { max_seqs: 4, ..Config::new(64, 1, &layers) };
/// assert_eq!(RowsBuilder.size(&config)?, kvcore::rows_size(&config)?);
/// # Ok::<(), kvcore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RowsBuilder;

impl BuildCache for RowsBuilder {
    fn size(&self, config: &Config<'_>) -> Result<usize, Error> {
        rows_size(config)
    }

    fn build<'s>(
        &self,
        config: &Config<'_>,
        storage: &'s mut [MaybeUninit<u64>],
    ) -> Result<CacheRef<'s>, Error> {
        in_quietly::<RowsView>(storage, config)
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
        observe(BuilderId::new(backend, kind).and_then(|id| self.add_builder(id, Builder::of(builder))))
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
        observe(self.add_sequence())
    }

    /// The same, quietly.
    pub(crate) fn add_sequence(&self) -> Result<(), Error> {
        self.add_builder(BuilderId { backend: BUILT_IN, kind: SEQUENCE }, Builder::of(&SequenceBuilder))
    }

    /// Registers the built-in cell cache under [`BUILT_IN`] and [`CELLS`]. O(builders).
    ///
    /// # Errors
    /// As [`Registry::register_builder`].
    ///
    /// ```
    /// use kvcore::{BUILT_IN, CELLS, Registry};
    /// let registry = Registry::new();
    /// registry.register_cells()?;
    /// assert_eq!(registry.kind_at(BUILT_IN, 0)?, CELLS);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn register_cells(&self) -> Result<(), Error> {
        observe(self.add_cells())
    }

    /// The same, quietly.
    pub(crate) fn add_cells(&self) -> Result<(), Error> {
        self.add_builder(BuilderId { backend: BUILT_IN, kind: CELLS }, Builder::of(&CellsBuilder))
    }

    /// Registers the built-in private-row cache under [`BUILT_IN`] and [`ROWS`]. O(builders).
    ///
    /// # Errors
    /// As [`Registry::register_builder`].
    ///
    /// ```
    /// use kvcore::{BUILT_IN, ROWS, Registry};
    /// let registry = Registry::new();
    /// registry.register_rows()?;
    /// assert_eq!(registry.kind_at(BUILT_IN, 0)?, ROWS);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn register_rows(&self) -> Result<(), Error> {
        observe(self.add_rows())
    }

    /// The same, quietly.
    pub(crate) fn add_rows(&self) -> Result<(), Error> {
        self.add_builder(BuilderId { backend: BUILT_IN, kind: ROWS }, Builder::of(&RowsBuilder))
    }

    /// The same, quietly.
    pub(crate) fn add_builder(&self, id: BuilderId<'static>, builder: Builder) -> Result<(), Error> {
        self.with(|tables| {
            if tables.find_builder(id).is_ok() {
                return Err(Error::AlreadyExists);
            }
            tables.builders.push(BuilderEntry { id, builder }).map_err(|_| Error::TableFull)
        })
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
        observe(BuilderId::new(backend, kind).and_then(|id| self.remove_builder(id)))
    }

    /// The same, quietly.
    pub(crate) fn remove_builder(&self, id: BuilderId<'_>) -> Result<(), Error> {
        self.with(|tables| {
            let at = tables.find_builder(id)?;
            // The order of the others is what `kind_at` counts by.
            if let Some(after) = tables.builders.get_mut(at..) {
                after.rotate_left(1.min(after.len()));
            }
            tables.builders.pop();
            Ok(())
        })
    }

    /// The builder of a config that does not contradict itself. Quiet.
    pub(crate) fn builder(&self, id: BuilderId<'_>, config: &Config<'_>) -> Result<Builder, Error> {
        let builder = self.with(|tables| {
            let at = tables.find_builder(id)?;
            tables.builders.get(at).map(|entry| entry.builder).ok_or(Error::NotFound)
        })?;
        config.check()?;
        Ok(builder)
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
        let id = BuilderId::new(backend, kind);
        observe(id.and_then(|id| self.builder(id, config)?.size(&RawConfig::from(config))))
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
        let id = BuilderId::new(backend, kind);
        observe(id.and_then(|id| self.builder(id, config)?.build_in(config, storage)))
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
        observe(check_name(backend).and_then(|()| self.with(|tables| tables.kind_at(backend, index))))
    }
}

impl Tables<'_> {
    fn find_builder(&self, id: BuilderId<'_>) -> Result<usize, Error> {
        self.builders.iter().position(|entry| entry.id == id).ok_or(Error::NotFound)
    }

    pub(crate) fn kind_at(&self, backend: &CStr, index: usize) -> Result<&'static CStr, Error> {
        let mut kinds = self.builders.iter().filter(|entry| entry.id.backend == backend);
        kinds.nth(index).map(|entry| entry.id.kind).ok_or(Error::NotFound)
    }
}
