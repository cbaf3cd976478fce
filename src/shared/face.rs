//! Open faces: objects that a backend attaches to a cache under a name.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

use super::handle::CacheRef;
use crate::error::Error;
use crate::event::observe;
use crate::limits::MAX_FACES;
use crate::name::check_name;

/// An object that a backend attaches to a cache, and finds again by the name.
///
/// # Safety
/// No two types that implement this, anywhere in the image, C code included, may use the same name.
///
/// ```
/// struct Pool { rows: u32 }
/// // SAFETY: this name belongs to this type alone.
/// unsafe impl kvcore::Face for Pool {
///     const NAME: &'static core::ffi::CStr = c"example.pool";
/// }
/// # assert_eq!(Pool { rows: 1 }.rows, 1);
/// ```
pub unsafe trait Face: Sync + 'static {
    /// 1 to 63 bytes.
    const NAME: &'static CStr;
}

/// Runs on a face's object when the face is removed or its cache ends.
pub(crate) type DropFn = unsafe extern "C" fn(*mut c_void);

/// One attached object.
#[derive(Clone, Copy)]
struct Attached {
    name: NonNull<core::ffi::c_char>,
    object: NonNull<c_void>,
    drop: Option<DropFn>,
}

impl Attached {
    fn is(&self, name: &CStr) -> bool {
        let same = |(at, &byte): (usize, &u8)| {
            // SAFETY: names stay for good, and reading ends with the first difference, at the NUL at the latest.
            unsafe { self.name.cast::<u8>().add(at).read() == byte }
        };
        name.to_bytes_with_nul().iter().enumerate().all(same)
    }
}

/// An object that left its cache and still has to be dropped, outside the lock.
#[must_use]
pub(crate) struct Removed(Attached);

impl Removed {
    pub(crate) fn drop(self) {
        if let Some(drop) = self.0.drop {
            // SAFETY: whoever attached the object gave this function for it, and it left the table once.
            unsafe { drop(self.0.object.as_ptr()) };
        }
    }
}

/// The faces of one cache, in the order in which they were attached.
pub(crate) struct Faces(heapless::Vec<Attached, MAX_FACES, u8>);

impl Faces {
    pub(crate) const fn new() -> Self {
        Self(heapless::Vec::new())
    }

    fn find(&self, name: &CStr) -> Option<usize> {
        self.0.iter().position(|face| face.is(name))
    }

    /// Attaches an object. O(faces).
    pub(crate) fn set(
        &mut self,
        name: &'static CStr,
        object: NonNull<c_void>,
        drop: Option<DropFn>,
    ) -> Result<(), Error> {
        if self.find(name).is_some() {
            return Err(Error::AlreadyExists);
        }
        let name = NonNull::from(name).cast();
        self.0.push(Attached { name, object, drop }).map_err(|_| Error::TableFull)
    }

    /// The object under a name. O(faces).
    pub(crate) fn get(&self, name: &CStr) -> Result<NonNull<c_void>, Error> {
        self.0.iter().find(|face| face.is(name)).map(|face| face.object).ok_or(Error::NotFound)
    }

    /// Takes a face off, keeping the order of the others. O(faces).
    pub(crate) fn remove(&mut self, name: &CStr) -> Result<Removed, Error> {
        let at = self.find(name).ok_or(Error::NotFound)?;
        if let Some(after) = self.0.get_mut(at..) {
            after.rotate_left(1.min(after.len()));
        }
        self.pop().ok_or(Error::NotFound)
    }

    /// Takes the newest face off. O(1).
    pub(crate) fn pop(&mut self) -> Option<Removed> {
        self.0.pop().map(Removed)
    }
}

impl<'a> CacheRef<'a> {
    /// Attaches an object, which is found by its name from every reference to this cache. O(faces).
    ///
    /// # Errors
    /// `NameTooLong`, `AlreadyExists` for a taken name, `TableFull` beyond 4 faces, `Busy`.
    ///
    /// ```
    /// # use kvcore::{Config, Face, Layer, SequenceStorage};
    /// struct Pool(u32);
    /// // SAFETY: this name belongs to this type alone.
    /// unsafe impl Face for Pool {
    ///     const NAME: &'static core::ffi::CStr = c"doc.pool";
    /// }
    /// let (pool, storage) = (Pool(7), SequenceStorage::<1>::new());
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// cache.set_face(&pool)?;
    /// assert_eq!(cache.retain()?.face::<Pool>()?.0, 7);
    /// cache.drop_face::<Pool>()?;
    /// assert!(cache.face::<Pool>().is_err());
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    ///
    /// An object that goes before the cache does cannot be attached:
    ///
    /// ```compile_fail,E0597
    /// # use kvcore::{Config, Face, Layer, SequenceStorage};
    /// # struct Pool(u32);
    /// # unsafe impl Face for Pool { const NAME: &'static core::ffi::CStr = c"doc.pool"; }
    /// let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()])).unwrap();
    /// {
    ///     let pool = Pool(7);
    ///     cache.set_face(&pool).unwrap();
    /// }
    /// cache.face::<Pool>();
    /// ```
    pub fn set_face<F: Face>(&self, face: &'a F) -> Result<(), Error> {
        observe(
            check_name(F::NAME)
                .and_then(|()| self.object().header().set_face(F::NAME, NonNull::from(face).cast(), None)),
        )
    }

    /// The object attached under the face's name. O(faces).
    ///
    /// # Errors
    /// `NotFound`, `Busy`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Face, Layer, SequenceStorage};
    /// # struct Pool(u32);
    /// # unsafe impl Face for Pool { const NAME: &'static core::ffi::CStr = c"doc.pool"; }
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.face::<Pool>().err(), Some(Error::NotFound));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn face<F: Face>(&self) -> Result<&'a F, Error> {
        let object = observe(self.object().header().face(F::NAME))?;
        // SAFETY: by `Face`'s contract only a `&'a F` was attached under this name.
        Ok(unsafe { object.cast::<F>().as_ref() })
    }

    /// Takes a face off; references to the object stay good. O(faces).
    ///
    /// # Errors
    /// `NotFound`, `Busy`.
    ///
    /// ```
    /// # use kvcore::{Config, Error, Face, Layer, SequenceStorage};
    /// # struct Pool(u32);
    /// # unsafe impl Face for Pool { const NAME: &'static core::ffi::CStr = c"doc.pool"; }
    /// # let storage = SequenceStorage::<1>::new();
    /// let cache = storage.init(&Config::new(8, 1, &[Layer::flat()]))?;
    /// assert_eq!(cache.drop_face::<Pool>(), Err(Error::NotFound));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    pub fn drop_face<F: Face>(&self) -> Result<(), Error> {
        observe(self.object().header().drop_face(F::NAME))
    }
}
