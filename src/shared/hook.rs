//! The one event hook of the process, as two words that need no compare-and-swap.

use core::ffi::{CStr, c_char, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::error::Error;
use crate::event::{Event, Hook};
use crate::name::Key;

/// What a C event hook looks like: context, event, status (0: none), key or null.
pub(crate) type EventFn = unsafe extern "C" fn(*mut c_void, u32, i32, *const c_char);

static FUNCTION: AtomicPtr<()> = AtomicPtr::new(null_mut());
static CONTEXT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Sets or removes the hook.
pub(crate) fn set(function: Option<EventFn>, context: *mut c_void) {
    // The context is in place before the function that gets it is.
    FUNCTION.store(null_mut(), Ordering::Release);
    CONTEXT.store(context, Ordering::Release);
    FUNCTION.store(function.map_or(null_mut(), |function| function as *mut ()), Ordering::Release);
}

/// Sets or removes a Rust hook, which travels as the context of a C one.
pub(crate) fn set_rust(hook: Option<Hook>) {
    match hook {
        Some(hook) => set(Some(call_rust), hook as *mut c_void),
        None => set(None, null_mut()),
    }
}

unsafe extern "C" fn call_rust(context: *mut c_void, event: u32, status: i32, key: *const c_char) {
    // SAFETY: `set_rust` made the context from a `Hook`, and this function is only set together with it.
    let hook = unsafe { transmute::<*mut c_void, Hook>(context) };
    // SAFETY: `call` passes null or a NUL-terminated key that lives as long as the call.
    let key = if key.is_null() { None } else { Some(unsafe { CStr::from_ptr(key) }) };
    let event = match event {
        1 => Event::Installed,
        2 => Event::Erased,
        3 => Event::Evicted,
        5 => Event::Busy,
        6 => Event::Leaked,
        7 => Event::Ended,
        _ => Event::Refused,
    };
    hook(event, Error::from_code(status), key);
}

/// Calls the hook, if there is one. No lock is held.
pub(crate) fn call(event: Event, error: Option<Error>, key: Option<&Key>) {
    let function = FUNCTION.load(Ordering::Acquire);
    if function.is_null() {
        return;
    }
    // SAFETY: a non-null word was stored from an `EventFn`.
    let function = unsafe { transmute::<*mut (), EventFn>(function) };
    let key = key.map_or(core::ptr::null(), |key| key.as_padded().as_ptr().cast());
    // SAFETY: the hook's contract is to be called with its own context, from anywhere.
    unsafe { function(CONTEXT.load(Ordering::Acquire), event as u32, error.map_or(0, Error::code), key) };
}
