//! The header at the start of every shared cache: what it is, who owns it, how to call it.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

use super::batch::BatchOps;
use super::count::RefCount;
use super::face::{DropFn, Faces};
use super::lock::Lock;
use crate::error::Error;
use crate::event::{Event, emit};

/// Alignment of every object in caller's storage.
pub(crate) const ALIGN: usize = 8;

/// `KVC` and the private tag of the kind.
const MAGIC: u32 = 0x4B56_4300;

/// Which code a cache belongs to. Casts go by this, never by the kind that a cache claims.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    Sequence = 1,
    External = 2,
    Cells = 3,
    Rows = 4,
}

/// Runs once, after the last reference went; the storage may be freed or used again.
pub(crate) type ReleaseFn = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// The calls that every kind answers. What a kind has here is in each image that has such a cache, so what fewer answer
/// goes by the tag.
pub(crate) struct Ops {
    pub(crate) capacity: unsafe fn(NonNull<Header>) -> Result<u32, Error>,
    pub(crate) clear: unsafe fn(NonNull<Header>) -> Result<(), Error>,
    /// What our own many-sequence kinds answer.
    pub(crate) batch: Option<&'static BatchOps>,
}

/// The header. Everything that changes after the cache was built is an atomic or behind the lock.
#[repr(C, align(8))]
pub struct Header {
    magic: u32,
    count: RefCount,
    lock: Lock<()>,
    kind: u32,
    ops: &'static Ops,
    release: UnsafeCell<Option<(ReleaseFn, *mut c_void)>>,
    faces: UnsafeCell<Faces>,
}

impl Header {
    /// Builds a header in place, with the creator's reference. `kind` is the family the cache plays.
    ///
    /// # Safety
    /// `at` is valid for writes and aligned, and nobody else uses the memory.
    pub(crate) unsafe fn write(at: NonNull<Self>, tag: Tag, kind: u32, ops: &'static Ops) {
        let at = at.as_ptr();
        // SAFETY: fields of valid, aligned memory; field by field, so that no whole header is on the stack.
        unsafe {
            (&raw mut (*at).lock).write(Lock::new(()));
            (&raw mut (*at).kind).write(kind);
            (&raw mut (*at).ops).write(ops);
            (&raw mut (*at).release).write(UnsafeCell::new(None));
            (&raw mut (*at).faces).write(UnsafeCell::new(Faces::new()));
            (&raw mut (*at).count).write(RefCount::one());
            (&raw mut (*at).magic).write(MAGIC | tag as u32);
        }
    }

    /// The cache at an address that came from C.
    ///
    /// # Safety
    /// A pointer that is neither null nor misaligned points to readable memory of a header's size.
    pub(crate) unsafe fn check(at: *const Self) -> Result<NonNull<Self>, Error> {
        let at = NonNull::new(at.cast_mut()).filter(|at| at.is_aligned()).ok_or(Error::InvalidArgument)?;
        // SAFETY: readable by contract; the magic does not change while a cache stands there.
        let magic = unsafe { (&raw const (*at.as_ptr()).magic).read() };
        if magic.wrapping_sub(MAGIC | Tag::Sequence as u32) > Tag::Rows as u32 - Tag::Sequence as u32 {
            return Err(Error::Corrupt);
        }
        // SAFETY: the magic says that a header was built here, and the count is an atomic.
        if unsafe { (*at.as_ptr()).count.is_zero() } {
            return Err(Error::Stale);
        }
        Ok(at)
    }

    pub(crate) const fn is(&self, tag: Tag) -> bool {
        self.magic == (MAGIC | tag as u32)
    }

    pub(crate) const fn kind(&self) -> u32 {
        self.kind
    }

    pub(crate) const fn ops(&self) -> &'static Ops {
        self.ops
    }

    pub(crate) const fn lock(&self) -> &Lock<()> {
        &self.lock
    }

    pub(crate) fn retain(&self) -> Result<(), Error> {
        self.count.retain()
    }

    /// Lets go of one reference; the last one ends the cache.
    ///
    /// # Safety
    /// `at` is a cache, and the caller gives up a reference that it owns.
    pub(crate) unsafe fn release(at: NonNull<Self>) -> Result<(), Error> {
        // SAFETY: the caller's reference keeps the header alive until the count is stepped.
        if unsafe { (*at.as_ptr()).count.release() }? {
            // SAFETY: the count went from one to zero here, so this call is alone with the cache.
            unsafe { Self::end(at) };
        }
        Ok(())
    }

    /// Drops the faces, newest first, then tells the owner of the storage, which is not touched any more.
    unsafe fn end(at: NonNull<Self>) {
        // SAFETY: nobody else is in the cache: calls without a reference see the zero count. The pointer is
        // used, never a reference across foreign code, which may free the storage.
        let next = || unsafe { (*(*at.as_ptr()).faces.get()).pop() };
        while let Some(face) = next() {
            face.drop();
        }
        // SAFETY: as above.
        let release = unsafe { (*at.as_ptr()).release.get().read() };
        emit(Event::Ended, None, None);
        if let Some((release, context)) = release {
            // SAFETY: the owner's function, with what it asked for.
            unsafe { release(context, at.as_ptr().cast()) };
        }
    }

    /// Sets the release callback, once.
    pub(crate) fn on_release(&self, release: ReleaseFn, context: *mut c_void) -> Result<(), Error> {
        self.lock.with(|()| {
            // SAFETY: behind the lock.
            let slot = unsafe { &mut *self.release.get() };
            if slot.is_some() {
                return Err(Error::AlreadyExists);
            }
            *slot = Some((release, context));
            Ok(())
        })?
    }

    fn with_faces<R>(&self, f: impl FnOnce(&mut Faces) -> Result<R, Error>) -> Result<R, Error> {
        // SAFETY: behind the lock.
        self.lock.with(|()| f(unsafe { &mut *self.faces.get() }))?
    }

    pub(crate) fn set_face(
        &self,
        name: &'static CStr,
        object: NonNull<c_void>,
        drop: Option<DropFn>,
    ) -> Result<(), Error> {
        self.with_faces(|faces| faces.set(name, object, drop))
    }

    pub(crate) fn face(&self, name: &CStr) -> Result<NonNull<c_void>, Error> {
        self.with_faces(|faces| faces.get(name))
    }

    pub(crate) fn drop_face(&self, name: &CStr) -> Result<(), Error> {
        self.with_faces(|faces| faces.remove(name))?.drop();
        Ok(())
    }
}
