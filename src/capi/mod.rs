//! The C interface: thin functions over the rest of the crate. `include/kvcore.h` is generated from here.
//!
//! Every pointer goes through one checked conversion, arguments are checked before objects, and an
//! out-parameter is written on success only.
//!
//! ```
//! use kvcore::capi;
//! let mut rows = 0;
//! // SAFETY: the pointer is to a local.
//! let status = unsafe { capi::plan::kvc_pool_bytes(1024, 8, 128, 16, &raw mut rows) };
//! assert_eq!((status, rows), (capi::KVC_OK, 1024 * 8 * 128 * 2));
//! ```
#![allow(unsafe_code, non_camel_case_types)]

use core::ffi::{CStr, c_char};
use core::ptr::NonNull;

use crate::error::{self, Error};
use crate::event::observe;
use crate::limits::MAX_NAME;
use crate::name::{KEY_BYTES, Key};
use crate::registry::Registry;
pub use crate::shared::external::ExternalTable;
pub use crate::shared::header::Header;
use crate::shared::object::Object;
pub use crate::shared::raw::RawConfig;

mod abi;
pub mod batch;
pub mod builder;
pub mod cache;
pub mod cells;
pub mod consts;
pub mod plan;
pub mod registry;
pub mod rows;
pub mod sequence;
pub mod status;
pub mod tree;

pub use consts::*;

/// `kvc_cache_t`: a cache of any kind, in its owner's storage.
pub type kvc_cache_t = Header;
/// `kvc_registry_t`: a registry.
pub type kvc_registry_t = Registry<'static>;
/// A status: `KVC_OK` or one of `KVC_ERR_…`.
pub type kvc_status_t = i32;

/// The status of a call. Whatever refused it is reported here, where it leaves the library.
fn status(result: Result<(), Error>) -> kvc_status_t {
    error::status(observe(result))
}

/// A pointer that is neither null nor misaligned.
fn pointer<T>(pointer: *const T) -> Result<NonNull<T>, Error> {
    match NonNull::new(pointer.cast_mut()) {
        Some(pointer) if pointer.is_aligned() => Ok(pointer),
        _ => Err(Error::InvalidArgument),
    }
}

/// Writes the value of `call` to `out`, a pointer that is checked before anything happens.
///
/// # Safety
/// `out` is null or valid for writes.
unsafe fn put<T>(out: *mut T, call: impl FnOnce() -> Result<T, Error>) -> kvc_status_t {
    status(pointer(out).and_then(|out| {
        // SAFETY: by contract; aligned and not null as checked.
        call().map(|value| unsafe { out.write(value) })
    }))
}

/// Writes the count that `call` leaves to `out`, on success and beside `BufferTooSmall`; the pointer is checked before
/// anything happens.
///
/// # Safety
/// `out` is null or valid for writes.
unsafe fn put_count(out: *mut u32, call: impl FnOnce(&mut u32) -> Result<(), Error>) -> kvc_status_t {
    status(pointer(out).and_then(|out| {
        let mut count = 0;
        let result = call(&mut count);
        if matches!(result, Ok(()) | Err(Error::BufferTooSmall)) {
            // SAFETY: by contract; aligned and not null as checked.
            unsafe { out.write(count) };
        }
        result
    }))
}

/// A caller's array of one element or more, which is only read.
///
/// # Safety
/// `at` is null or valid for `len` elements, which nobody writes during `'i`.
unsafe fn input<'i, T>(at: *const T, len: u32) -> Result<&'i [T], Error> {
    let at = elements(at, len as usize)?;
    if len == 0 {
        return Err(Error::InvalidArgument);
    }
    // SAFETY: by contract.
    Ok(unsafe { core::slice::from_raw_parts(at.as_ptr(), len as usize) })
}

/// A caller's array for results; with `len` 0 it may be null.
///
/// # Safety
/// `at` is null or valid for `len` elements, which the caller has initialised or does not mind, and which nobody else
/// uses during `'o`.
unsafe fn output<'o, T>(at: *mut T, len: u32) -> Result<&'o mut [T], Error> {
    match len {
        0 => Ok(&mut []),
        // SAFETY: by contract.
        _ => unsafe { slice(at, len as usize) },
    }
}

/// A caller's buffer.
///
/// # Safety
/// As [`output`].
unsafe fn slice<'o, T>(at: *mut T, len: usize) -> Result<&'o mut [T], Error> {
    let at = elements(at, len)?;
    // SAFETY: by contract.
    Ok(unsafe { core::slice::from_raw_parts_mut(at.as_ptr(), len) })
}

/// A pointer to no more elements than an object can have.
fn elements<T>(at: *const T, len: usize) -> Result<NonNull<T>, Error> {
    let most = isize::MAX as usize / size_of::<T>();
    if len > most { Err(Error::InvalidArgument) } else { pointer(at) }
}

/// Whether two arrays of a caller have a byte in common: such are refused, since one is read while the other is
/// written.
fn overlap<A, B>(a: *const A, a_len: u32, b: *const B, b_len: u32) -> bool {
    let end = |start: usize, len: u32, size: usize| start.saturating_add((len as usize).saturating_mul(size));
    let (a_start, b_start) = (a.addr(), b.addr());
    a_start < end(b_start, b_len, size_of::<B>()) && b_start < end(a_start, a_len, size_of::<A>())
}

/// The cache behind a pointer.
///
/// # Safety
/// The pointer is null, or to readable memory of a header's size, and a cache that stands there is kept
/// alive by the caller's reference.
unsafe fn object(cache: *const kvc_cache_t) -> Result<Object, Error> {
    // SAFETY: by contract.
    unsafe { Header::check(cache).map(|cache| Object::new(cache)) }
}

/// The registry behind a pointer.
///
/// # Safety
/// The pointer is null, or to readable memory of a registry's size that stays for the call.
unsafe fn registry_at<'r>(registry: *const kvc_registry_t) -> Result<&'r kvc_registry_t, Error> {
    let registry = pointer(registry)?;
    // SAFETY: by contract. The word at the start is all that is read before it is known for a registry.
    unsafe {
        let magic = registry.cast::<u32>().read();
        if Registry::is_magic(magic) || core::ptr::eq(registry.as_ptr(), Registry::global()) {
            Ok(registry.as_ref())
        } else {
            Err(Error::Corrupt)
        }
    }
}

/// Length of a name, read at most `KVC_MAX_NAME + 1` deep.
///
/// # Safety
/// The pointer is null, or to a NUL-terminated string.
unsafe fn name_len(name: *const c_char) -> Result<(NonNull<c_char>, usize), Error> {
    let name = pointer(name)?;
    // SAFETY: no byte behind the NUL is read.
    let is_end = |at: &usize| unsafe { name.add(*at).read() } == 0;
    match (0..=MAX_NAME).find(is_end) {
        None | Some(0) => Err(Error::NameTooLong),
        Some(len) => Ok((name, len)),
    }
}

/// Copies a key into a blank one; read at most `KVC_MAX_NAME + 1` deep.
///
/// # Safety
/// The pointer is null, or to a NUL-terminated string.
unsafe fn read_key(key: *const c_char, into: &mut Key) -> Result<(), Error> {
    let key = pointer(key)?.cast::<u8>();
    // SAFETY: no byte behind the NUL is read.
    into.read(|at| unsafe { key.add(at).read() })
}

/// A backend id, kind or face name, borrowed for good.
///
/// # Safety
/// As [`name_len`]; a name that is kept is a string constant.
unsafe fn name_at(name: *const c_char) -> Result<&'static CStr, Error> {
    // SAFETY: by contract; `len` is where the first NUL stands.
    unsafe {
        let (name, len) = name_len(name)?;
        let bytes = core::slice::from_raw_parts(name.as_ptr().cast::<u8>(), len + 1);
        Ok(CStr::from_bytes_with_nul_unchecked(bytes))
    }
}

/// Copies a key with its NUL into a caller's buffer.
///
/// # Safety
/// `out` is valid for writes of `size` bytes.
unsafe fn copy_key(key: &Key, out: NonNull<c_char>, size: usize) -> Result<(), Error> {
    let len = key.as_bytes().len() + 1;
    if size < len {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: there is room, and a key is padded beyond its NUL.
    unsafe { key.as_padded().as_ptr().copy_to_nonoverlapping(out.as_ptr().cast(), len) };
    Ok(())
}

const _: () = assert!(KVC_KEY_BYTES == KEY_BYTES);
