//! Open faces: objects that a backend attaches to a cache under a name.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

use crate::error::Error;
use crate::limits::MAX_FACES;

/// Runs on a face's object when the face is removed or its cache ends.
pub(crate) type DropFn = unsafe extern "C" fn(*mut c_void);

/// One attached object.
#[derive(Clone, Copy)]
struct Face {
    name: NonNull<core::ffi::c_char>,
    object: NonNull<c_void>,
    drop: Option<DropFn>,
}

impl Face {
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
pub(crate) struct Removed(Face);

impl Removed {
    pub(crate) fn drop(self) {
        if let Some(drop) = self.0.drop {
            // SAFETY: whoever attached the object gave this function for it, and it left the table once.
            unsafe { drop(self.0.object.as_ptr()) };
        }
    }
}

/// The faces of one cache, in the order in which they were attached.
pub(crate) struct Faces(heapless::Vec<Face, MAX_FACES, u8>);

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
        self.0.push(Face { name, object, drop }).map_err(|_| Error::TableFull)
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
