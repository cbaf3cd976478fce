//! Key to cache: where an application and a backend that cannot hand each other pointers meet.

use crate::builders::BuilderEntry;
use crate::error::Error;
use crate::event::{Event, emit, observe};
use crate::limits::{MAX_BUILDERS, MAX_CACHES};
use crate::name::Key;
use crate::shared::count::unique;
use crate::shared::handle::CacheRef;
use crate::shared::lock::Lock;

/// One installed cache.
pub(crate) struct Entry<'a> {
    key: Key,
    cache: CacheRef<'a>,
    /// Never the same twice in one registry; tells a session whether the entry is still its own.
    id: u64,
}

/// The life of a registry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Being emptied: refuses everything but going on with that.
    Closing,
    Closed,
}

/// What the lock guards.
pub(crate) struct Tables<'a> {
    state: State,
    last_id: u64,
    pub(crate) entries: heapless::Vec<Entry<'a>, MAX_CACHES>,
    pub(crate) builders: heapless::Vec<BuilderEntry, MAX_BUILDERS>,
}

/// A table of caches by key, and of builders. Shared between threads: each call is atomic and takes the
/// lock for its own time; foreign code never runs inside it. Size: about 100 bytes an entry.
///
/// Caches of any lifetime up to the registry's own `'a`; the global one takes caches in statics.
///
/// ```
/// use kvcore::{Config, Layer, Registry, SequenceStorage};
/// let storage = SequenceStorage::<2>::new();
/// let registry = Registry::new();
/// let cache = storage.init(&Config::new(64, 2, &[Layer::flat()]))?;
/// registry.install("chat", &cache)?;
/// let backend = registry.get("chat")?; // elsewhere, with only the key
/// registry.erase("chat")?; // in the middle of a forward: `backend` still owns it
/// assert_eq!(backend.capacity()?, 64);
/// # Ok::<(), kvcore::Error>(())
/// ```
///
/// A cache does not outlive its storage by standing in a registry:
///
/// ```compile_fail,E0597
/// use kvcore::{Config, Layer, Registry, SequenceStorage};
/// let registry = Registry::new();
/// {
///     let storage = SequenceStorage::<2>::new();
///     let cache = storage.init(&Config::new(64, 2, &[Layer::flat()])).unwrap();
///     registry.install("chat", &cache).unwrap();
/// }
/// registry.get("chat");
/// ```
///
/// and one on the stack does not enter the global registry:
///
/// ```compile_fail,E0597
/// use kvcore::{Config, Layer, Registry, SequenceStorage};
/// let storage = SequenceStorage::<2>::new();
/// let cache = storage.init(&Config::new(64, 2, &[Layer::flat()])).unwrap();
/// Registry::global().install("chat", &cache).unwrap();
/// ```
#[repr(C, align(8))]
pub struct Registry<'a> {
    /// Tells C's pointers to registries from others.
    pub(crate) magic: u32,
    pub(crate) tables: Lock<Tables<'a>>,
}

/// `KVR` and the version of the layout.
pub(crate) const MAGIC: u32 = 0x4B56_5201;

impl<'a> Registry<'a> {
    /// An empty registry.
    ///
    /// ```
    /// static REGISTRY: kvcore::Registry<'static> = kvcore::Registry::new();
    /// assert_eq!(REGISTRY.count()?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self { magic: MAGIC, tables: Lock::new(Tables::new(0)) }
    }

    /// An empty registry.
    #[must_use]
    #[cfg(loom)]
    pub fn new() -> Self {
        Self { magic: MAGIC, tables: Lock::new(Tables::new(0)) }
    }

    /// Whether this word stands at the start of a registry other than the global one.
    #[cfg_attr(not(feature = "capi"), allow(dead_code))]
    pub(crate) const fn is_magic(word: u32) -> bool {
        word == MAGIC
    }

    /// Runs `f` on the tables of a registry that is still open.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Tables<'a>) -> Result<R, Error>) -> Result<R, Error> {
        self.tables.with(|tables| if tables.state == State::Open { f(tables) } else { Err(Error::Stale) })?
    }

    /// Puts a cache under a key; the entry holds a reference of its own. O(entries).
    ///
    /// # Errors
    /// `NameTooLong`, `InvalidArgument` for a NUL in the key, `AlreadyExists`, `TableFull`, `OutOfCapacity` for a
    /// cache with 2^32 - 1 references, `Busy`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Layer, Registry, SequenceStorage};
    /// # let storage = SequenceStorage::<2>::new();
    /// let registry = Registry::new();
    /// let cache = storage.init(&Config::new(64, 2, &[Layer::flat()]))?;
    /// registry.install("chat", &cache)?;
    /// assert_eq!(registry.install("chat", &cache), Err(Error::AlreadyExists));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn install(&self, key: &str, cache: &CacheRef<'a>) -> Result<(), Error> {
        observe(Key::new(key).and_then(|key| self.install_key(&key, cache))).map(|_| ())
    }

    /// The same, quietly. Answers the entry's id.
    pub(crate) fn install_key(&self, key: &Key, cache: &CacheRef<'a>) -> Result<u64, Error> {
        let id = self.with(|tables| tables.insert(key, cache))?;
        emit(Event::Installed, None, Some(key));
        Ok(id)
    }

    /// Installs a cache under a generated key that nobody took, which is put into `key`. Quiet.
    pub(crate) fn install_unique(&self, key: &mut Key, cache: &CacheRef<'a>) -> Result<u64, Error> {
        loop {
            key.set_number(unique::take(|_| true).ok_or(Error::OutOfCapacity)?);
            match self.install_key(key, cache) {
                // A user's own "cache-7": a table of so many entries cannot hold many of those.
                Err(Error::AlreadyExists) => {}
                done => return done,
            }
        }
    }

    /// The cache under a key, with a reference for the caller. O(entries).
    ///
    /// # Errors
    /// `NotFound`, `NameTooLong`, `InvalidArgument`, `OutOfCapacity` for a cache with 2^32 - 1 references, `Busy`.
    ///
    /// ```
    /// # use kvcore::{Error, Registry};
    /// assert_eq!(Registry::new().get("chat").err(), Some(Error::NotFound));
    /// ```
    pub fn get(&self, key: &str) -> Result<CacheRef<'a>, Error> {
        observe(Key::new(key).and_then(|key| self.get_key(&key)))
    }

    /// The same, quietly.
    pub(crate) fn get_key(&self, key: &Key) -> Result<CacheRef<'a>, Error> {
        self.with(|tables| match tables.entries.iter().find(|entry| entry.key == *key) {
            // Only the count moves: no lock of the cache inside this one.
            Some(entry) => entry.cache.retain_quietly(),
            None => Err(Error::NotFound),
        })
    }

    /// Takes an entry out and lets go of its reference. O(entries).
    ///
    /// # Errors
    /// `NotFound`, `NameTooLong`, `InvalidArgument`, `Busy`.
    ///
    /// ```
    /// # use kvcore::{Error, Registry};
    /// assert_eq!(Registry::new().erase("chat"), Err(Error::NotFound));
    /// ```
    pub fn erase(&self, key: &str) -> Result<(), Error> {
        observe(Key::new(key).and_then(|key| self.erase_key(&key)))
    }

    /// The same, quietly.
    pub(crate) fn erase_key(&self, key: &Key) -> Result<(), Error> {
        self.erase_where(&|entry| entry.key == *key)?.then_some(()).ok_or(Error::NotFound)
    }

    /// Erases the entry of this id, if it is still there. Quiet.
    pub(crate) fn erase_own(&self, id: u64) -> Result<(), Error> {
        self.erase_where(&|entry| entry.id == id).map(|_| ())
    }

    /// Erases an entry and tells whether there was one.
    fn erase_where(&self, chosen: &dyn Fn(&Entry<'a>) -> bool) -> Result<bool, Error> {
        let entry = self.with(|tables| {
            let at = tables.entries.iter().position(chosen);
            Ok(at.and_then(|at| tables.remove(at)))
        })?;
        if let Some(entry) = &entry {
            emit(Event::Erased, None, Some(&entry.key));
        }
        Ok(entry.is_some())
    }

    /// Caches installed. O(1).
    ///
    /// # Errors
    /// `Busy`.
    ///
    /// ```
    /// assert_eq!(kvcore::Registry::new().count()?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn count(&self) -> Result<usize, Error> {
        observe(self.with(|tables| Ok(tables.entries.len())))
    }

    /// The key at an index below [`Self::count`]. The order changes when entries go. O(index).
    ///
    /// # Errors
    /// `NotFound`, `Busy`.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, Registry, SequenceStorage};
    /// # let storage = SequenceStorage::<2>::new();
    /// let registry = Registry::new();
    /// registry.install("chat", &storage.init(&Config::new(64, 2, &[Layer::flat()]))?)?;
    /// assert_eq!(registry.key_at(0)?.as_str(), Some("chat"));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn key_at(&self, index: usize) -> Result<Key, Error> {
        observe(self.with(|tables| tables.key_at(index).copied()))
    }

    /// Closes the registry for every other call, then lets go of all entries, each outside the lock. After
    /// `Busy` call again. O(entries).
    #[cfg_attr(not(feature = "capi"), allow(dead_code))]
    pub(crate) fn close(&self) -> Result<(), Error> {
        while let Some(entry) = self.tables.with(Tables::close_one)?? {
            drop(entry);
        }
        Ok(())
    }
}

impl Default for Registry<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// Known by its address, not by its magic: all of its bytes are zero, so that a firmware image does not hold them.
#[cfg(not(loom))]
static GLOBAL: Registry<'static> = Registry { magic: 0, tables: Lock::new(Tables::new(0)) };

#[cfg(not(loom))]
impl Registry<'static> {
    /// The registry of the process. (An application and a delegate that are two shared objects, each with
    /// kvcore inside, have two of them: link both to one shared kvcore.)
    ///
    /// ```
    /// use kvcore::Registry;
    /// assert!(core::ptr::eq(Registry::global(), Registry::global()));
    /// ```
    #[must_use]
    pub fn global() -> &'static Self {
        &GLOBAL
    }
}

impl<'a> Tables<'a> {
    /// Empty tables whose ids begin after `last_id`.
    pub(crate) const fn new(last_id: u64) -> Self {
        Self { state: State::Open, last_id, entries: heapless::Vec::new(), builders: heapless::Vec::new() }
    }

    pub(crate) fn key_at(&self, index: usize) -> Result<&Key, Error> {
        self.entries.get(index).map(|entry| &entry.key).ok_or(Error::NotFound)
    }

    fn insert(&mut self, key: &Key, cache: &CacheRef<'a>) -> Result<u64, Error> {
        if self.entries.iter().any(|entry| entry.key == *key) {
            return Err(Error::AlreadyExists);
        }
        if self.entries.is_full() {
            return Err(Error::TableFull);
        }
        let id = self.last_id + 1;
        // Only the count moves: no lock of the cache inside this one. There is room: nothing comes back.
        let _ = self.entries.push(Entry { key: *key, cache: cache.retain_quietly()?, id });
        self.last_id = id;
        Ok(id)
    }

    /// Takes out an entry; the last one gets its place.
    fn remove(&mut self, at: usize) -> Option<Entry<'a>> {
        let last = self.entries.pop()?;
        match self.entries.get_mut(at) {
            Some(entry) => Some(core::mem::replace(entry, last)),
            None => Some(last),
        }
    }

    /// One more entry of a registry that is being closed; none when it is closed for good.
    fn close_one(&mut self) -> Result<Option<Entry<'a>>, Error> {
        if self.state == State::Closed {
            return Err(Error::Stale);
        }
        self.state = State::Closing;
        self.builders.clear();
        let entry = self.remove(0);
        if entry.is_none() {
            self.state = State::Closed;
        }
        Ok(entry)
    }
}

/// A key that no other call in this process ever gets: `cache-N`. Never `Busy`. O(1).
///
/// # Errors
/// `OutOfCapacity` when all numbers were given: 2^64, or 2^32 on a core without 64-bit atomics.
///
/// ```
/// assert_ne!(kvcore::unique_key()?, kvcore::unique_key()?);
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn unique_key() -> Result<Key, Error> {
    observe(unique::take(|_| true).map(Key::numbered).ok_or(Error::OutOfCapacity))
}
