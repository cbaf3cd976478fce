//! Key to cache: where an application and a backend that cannot hand each other pointers meet.

use crate::error::Error;
use crate::event::{Event, emit, observe};
use crate::limits::{MAX_BUILDERS, MAX_CACHES};
use crate::name::Key;
use crate::shared::builder::Builder;
use crate::shared::count::unique;
use crate::shared::handle::CacheRef;
use crate::shared::lock::Lock;

/// A builder's entry: backend id and kind, borrowed for good.
pub(crate) struct BuilderEntry {
    pub(crate) backend: &'static core::ffi::CStr,
    pub(crate) kind: &'static core::ffi::CStr,
    pub(crate) builder: Builder,
}

/// One installed cache.
struct Entry<'a> {
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
    caches: heapless::LinearMap<Key, Entry<'a>, MAX_CACHES>,
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
        Self::with_ids_after(0)
    }

    /// An empty registry.
    #[must_use]
    #[cfg(loom)]
    pub fn new() -> Self {
        Self::with_ids_after(0)
    }

    /// Whose entries' ids begin after `last_id`.
    #[cfg(not(loom))]
    pub(crate) const fn with_ids_after(last_id: u64) -> Self {
        Self { magic: MAGIC, tables: Lock::new(Tables::new(last_id)) }
    }

    /// Whose entries' ids begin after `last_id`.
    #[cfg(loom)]
    fn with_ids_after(last_id: u64) -> Self {
        Self { magic: MAGIC, tables: Lock::new(Tables::new(last_id)) }
    }

    /// Whether this word stands at the start of a registry.
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
        let key = observe(Key::new(key))?;
        self.install_key(&key, cache.retain()?).map(|_| ())
    }

    /// Installs a reference, which is let go outside the lock if that fails. Answers the entry's id.
    pub(crate) fn install_key(&self, key: &Key, cache: CacheRef<'a>) -> Result<u64, Error> {
        observe(self.insert(key, cache))
    }

    fn insert(&self, key: &Key, cache: CacheRef<'a>) -> Result<u64, Error> {
        let mut cache = Some(cache);
        let id = self.with(|tables| tables.insert(key, &mut cache))?;
        emit(Event::Installed, None, Some(key));
        Ok(id)
    }

    /// Installs a reference under a generated key that nobody took, which is put into `slot`.
    pub(crate) fn install_unique<'k>(
        &self,
        cache: CacheRef<'a>,
        slot: &'k mut Option<Key>,
    ) -> Result<(&'k Key, u64), Error> {
        let mut cache = Some(cache);
        loop {
            let key = slot.insert(unique_key()?);
            match self.with(|tables| tables.insert(key, &mut cache)) {
                Ok(id) => {
                    emit(Event::Installed, None, Some(key));
                    // Borrowed anew: a borrow that is returned from a loop is not given back in the others.
                    return slot.as_ref().map(|key| (key, id)).ok_or(Error::Corrupt);
                }
                // A user's own "cache-7": a table of so many entries cannot hold many of those.
                Err(Error::AlreadyExists) => {}
                Err(error) => return observe(Err(error)),
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
        let key = observe(Key::new(key))?;
        self.get_key(&key)
    }

    pub(crate) fn get_key(&self, key: &Key) -> Result<CacheRef<'a>, Error> {
        let find = |tables: &mut Tables<'a>| match tables.caches.get(key) {
            // Only the count moves: no lock of the cache inside this one.
            Some(entry) => entry.cache.retain_quietly(),
            None => Err(Error::NotFound),
        };
        observe(self.with(find))
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
        let key = observe(Key::new(key))?;
        self.erase_key(&key)
    }

    pub(crate) fn erase_key(&self, key: &Key) -> Result<(), Error> {
        let entry = observe(self.with(|tables| tables.remove(key).ok_or(Error::NotFound)))?;
        emit(Event::Erased, None, Some(key));
        drop(entry);
        Ok(())
    }

    /// Erases the entry of this id, if it is still there.
    pub(crate) fn erase_own(&self, id: u64) -> Result<(), Error> {
        if let Some((key, entry)) = observe(self.with(|tables| Ok(tables.remove_id(id))))? {
            emit(Event::Erased, None, Some(&key));
            drop(entry);
        }
        Ok(())
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
        observe(self.with(|tables| Ok(tables.caches.len())))
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
        observe(self.with(|tables| tables.caches.keys().nth(index).copied().ok_or(Error::NotFound)))
    }

    /// Closes the registry for every other call, then lets go of all entries, each outside the lock. After
    /// `Busy` call again. O(entries).
    #[cfg_attr(not(feature = "capi"), allow(dead_code))]
    pub(crate) fn close(&self) -> Result<(), Error> {
        while let Some(entry) = observe(self.tables.with(Tables::close_one).and_then(|entry| entry))? {
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

#[cfg(not(loom))]
static GLOBAL: Registry<'static> = Registry::new();

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
        Self {
            state: State::Open,
            last_id,
            caches: heapless::LinearMap::new(),
            builders: heapless::Vec::new(),
        }
    }

    fn insert(&mut self, key: &Key, cache: &mut Option<CacheRef<'a>>) -> Result<u64, Error> {
        if self.caches.contains_key(key) {
            return Err(Error::AlreadyExists);
        }
        if self.caches.len() == MAX_CACHES {
            return Err(Error::TableFull);
        }
        let id = self.last_id + 1;
        if let Some(cache) = cache.take() {
            // There is room and the key is new: nothing comes back.
            let _ = self.caches.insert(*key, Entry { cache, id });
            self.last_id = id;
        }
        Ok(id)
    }

    fn remove(&mut self, key: &Key) -> Option<Entry<'a>> {
        // Not `LinearMap::remove`, whose check of an index stays in the code as a panic.
        match self.caches.entry(*key) {
            heapless::linear_map::Entry::Occupied(entry) => Some(entry.remove()),
            heapless::linear_map::Entry::Vacant(_) => None,
        }
    }

    fn remove_id(&mut self, id: u64) -> Option<(Key, Entry<'a>)> {
        let (key, _) = self.caches.iter().find(|(_, entry)| entry.id == id)?;
        let key = *key;
        self.remove(&key).map(|entry| (key, entry))
    }

    /// One more entry of a registry that is being closed; none when it is closed for good.
    fn close_one(&mut self) -> Result<Option<Entry<'a>>, Error> {
        if self.state == State::Closed {
            return Err(Error::Stale);
        }
        self.state = State::Closing;
        self.builders.clear();
        let key = self.caches.keys().next().copied();
        let entry = key.and_then(|key| self.remove(&key));
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
