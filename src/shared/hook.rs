//! The one event hook of the process, as words that need no compare-and-swap. The newest one set is called.

use core::ffi::CStr;
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::error::Error;
use crate::event::{Event, Hook};
use crate::name::Key;

/// A [`Hook`], or null. One word, so that whoever reads it meets a whole hook, however late it was set.
static RUST: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// Sets or removes a Rust hook.
pub(crate) fn set_rust(hook: Option<Hook>) {
    #[cfg(feature = "capi")]
    c::set(None, null_mut());
    RUST.store(hook.map_or(null_mut(), |hook| hook as *mut ()), Ordering::Release);
}

/// Calls the hook, if there is one. No lock is held. Out of line: many callers, none of them hot.
#[inline(never)]
pub(crate) fn call(event: Event, error: Option<Error>, key: Option<&Key>) {
    #[cfg(feature = "capi")]
    c::call(event, error, key);
    let hook = RUST.load(Ordering::Acquire);
    if !hook.is_null() {
        // SAFETY: a non-null word was stored from a `Hook`.
        let hook = unsafe { transmute::<*mut (), Hook>(hook) };
        hook(event, error, key.map(key_text));
    }
}

/// A key as Rust's hooks get it.
fn key_text(key: &Key) -> &CStr {
    CStr::from_bytes_until_nul(key.as_padded()).unwrap_or_default()
}

#[cfg(feature = "capi")]
pub(crate) mod c {
    use core::ffi::{c_char, c_void};

    use super::{AtomicPtr, Error, Event, Key, Ordering, RUST, null_mut, transmute};

    /// What a C event hook looks like: context, event, status (0: none), key or null.
    pub(crate) type EventFn = unsafe extern "C" fn(*mut c_void, u32, i32, *const c_char);

    static FUNCTION: AtomicPtr<()> = AtomicPtr::new(null_mut());
    static CONTEXT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

    /// Sets or removes a C hook; C's contract is not to do that while another thread calls.
    pub(crate) fn set(function: Option<EventFn>, context: *mut c_void) {
        RUST.store(null_mut(), Ordering::Release);
        // The context is in place before the function that gets it is.
        FUNCTION.store(null_mut(), Ordering::Release);
        CONTEXT.store(context, Ordering::Release);
        FUNCTION.store(function.map_or(null_mut(), |function| function as *mut ()), Ordering::Release);
    }

    pub(super) fn call(event: Event, error: Option<Error>, key: Option<&Key>) {
        let function = FUNCTION.load(Ordering::Acquire);
        if function.is_null() {
            return;
        }
        // SAFETY: a non-null word was stored from an `EventFn`.
        let function = unsafe { transmute::<*mut (), EventFn>(function) };
        let key = key.map_or(core::ptr::null(), |key| key.as_padded().as_ptr().cast());
        let context = CONTEXT.load(Ordering::Acquire);
        // SAFETY: the hook's contract is to be called with its own context, from anywhere.
        unsafe { function(context, event as u32, error.map_or(0, Error::code), key) };
    }
}
