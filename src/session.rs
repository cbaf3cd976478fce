//! A session: a cache that stands in a registry for as long as the application works with it.

use crate::error::Error;
use crate::event::{Event, emit, observe};
use crate::name::Key;
use crate::registry::Registry;
use crate::shared::handle::CacheRef;

/// Installs a cache when opened, and erases the entry when closed or dropped: only the entry that it made,
/// never one that somebody else has put under the same key since.
///
/// Leaking a session is safe: the entry stays, and owns its reference. A drop tries at most as long as the
/// lock waits; if the lock stays held it leaves the entry and reports [`Event::Leaked`]. In an interrupt,
/// call [`Session::close`] and look at the answer.
///
/// ```
/// use kvcore::{Config, Error, Layer, Registry, SequenceStorage, Session};
/// let storage = SequenceStorage::<2>::new();
/// let registry = Registry::new();
/// let cache = storage.init(&Config::new(64, 2, &[Layer::flat()]))?;
/// let session = Session::open(&registry, None, &cache)?;
/// let key = *session.key(); // hand this to the backend
/// assert!(registry.get(key.as_str().unwrap()).is_ok());
/// drop(session);
/// assert_eq!(registry.get(key.as_str().unwrap()).err(), Some(Error::NotFound));
/// # Ok::<(), Error>(())
/// ```
///
/// A session does not outlive its registry:
///
/// ```compile_fail,E0505
/// use kvcore::{Config, Layer, Registry, SequenceStorage, Session};
/// let storage = SequenceStorage::<2>::new();
/// let registry = Registry::new();
/// let cache = storage.init(&Config::new(64, 2, &[Layer::flat()])).unwrap();
/// let session = Session::open(&registry, None, &cache).unwrap();
/// drop(registry);
/// session.key();
/// ```
pub struct Session<'r, 'a> {
    registry: &'r Registry<'a>,
    cache: CacheRef<'a>,
    key: Key,
    /// 0 when closed.
    id: u64,
}

impl<'r, 'a> Session<'r, 'a> {
    /// Installs the cache under a key of its own, or a generated one that nobody took. O(entries).
    ///
    /// # Errors
    /// As [`Registry::install`].
    ///
    /// ```
    /// # use kvcore::{Config, Layer, Registry, SequenceStorage, Session};
    /// # let storage = SequenceStorage::<2>::new();
    /// # let registry = Registry::new();
    /// # let cache = storage.init(&Config::new(64, 2, &[Layer::flat()]))?;
    /// let session = Session::open(&registry, Some("chat"), &cache)?;
    /// assert_eq!(session.key().as_str(), Some("chat"));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn open(registry: &'r Registry<'a>, key: Option<&str>, cache: &CacheRef<'a>) -> Result<Self, Error> {
        let own = cache.retain()?;
        let mut slot = Key::BLANK;
        let installed = match key {
            Some(key) => Key::new(key).and_then(|key| {
                slot = key;
                registry.install_key(&key, cache)
            }),
            None => registry.install_unique(&mut slot, cache),
        };
        Ok(Self { registry, cache: own, id: observe(installed)?, key: slot })
    }

    /// The key that the backend needs. O(1).
    ///
    /// ```
    /// # use kvcore::{Config, Layer, Registry, SequenceStorage, Session};
    /// # let storage = SequenceStorage::<2>::new();
    /// # let registry = Registry::new();
    /// # let cache = storage.init(&Config::new(64, 2, &[Layer::flat()]))?;
    /// let session = Session::open(&registry, None, &cache)?;
    /// assert!(session.key().as_bytes().starts_with(b"cache-"));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The cache. O(1).
    ///
    /// ```
    /// # use kvcore::{Config, Layer, Registry, SequenceStorage, Session};
    /// # let storage = SequenceStorage::<2>::new();
    /// # let registry = Registry::new();
    /// # let cache = storage.init(&Config::new(64, 2, &[Layer::flat()]))?;
    /// let session = Session::open(&registry, None, &cache)?;
    /// assert_eq!(session.cache().length()?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn cache(&self) -> &CacheRef<'a> {
        &self.cache
    }

    /// Erases the entry, if it is still this session's. Closing twice is fine. O(entries).
    ///
    /// # Errors
    /// `Busy`: the session is still open, call again.
    ///
    /// ```
    /// # use kvcore::{Config, Layer, Registry, SequenceStorage, Session};
    /// # let storage = SequenceStorage::<2>::new();
    /// # let registry = Registry::new();
    /// # let cache = storage.init(&Config::new(64, 2, &[Layer::flat()]))?;
    /// let mut session = Session::open(&registry, None, &cache)?;
    /// session.close()?;
    /// assert_eq!(registry.count()?, 0);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn close(&mut self) -> Result<(), Error> {
        observe(close(self.registry, &mut self.id))
    }
}

/// Erases the entry of the session, whose id becomes 0.
pub(crate) fn close(registry: &Registry<'_>, id: &mut u64) -> Result<(), Error> {
    if *id != 0 {
        registry.erase_own(*id)?;
        *id = 0;
    }
    Ok(())
}

impl Drop for Session<'_, '_> {
    fn drop(&mut self) {
        if self.close().is_err() {
            emit(Event::Leaked, None, Some(&self.key));
        }
    }
}

impl core::fmt::Debug for Session<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Session").field("key", &self.key).field("open", &(self.id != 0)).finish()
    }
}
