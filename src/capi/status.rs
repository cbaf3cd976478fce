//! Statuses, the version, the event hook.

use core::ffi::{c_char, c_void};

use super::{KVC_ABI_VERSION, kvc_status_t};
use crate::error::status_name;
use crate::shared::hook;

/// What an event hook looks like: context, event (`KVC_EVENT_…`), status (`KVC_OK` if none is concerned), key or
/// NULL. Runs without any lock in the context of the call that caused the event, an interrupt too; it must not
/// block. It may call the library; calls that cause events come back to it.
pub type kvc_event_fn = Option<unsafe extern "C" fn(*mut c_void, u32, kvc_status_t, *const c_char)>;

/// Name of a status constant, such as `KVC_ERR_EVICTED`. Never NULL; a constant. Any thread. O(1).
#[unsafe(no_mangle)]
pub extern "C" fn kvc_status_name(status: kvc_status_t) -> *const c_char {
    status_name(status).as_ptr().cast()
}

/// Version of the interface that the library was built with; see `kvc_check_header`. Any thread. O(1).
#[unsafe(no_mangle)]
pub extern "C" fn kvc_abi_version() -> u32 {
    KVC_ABI_VERSION
}

/// Sets the event hook of the process, or none with NULL. Set it before caches are shared between threads: a
/// call that runs meanwhile may still use the old one. O(1).
///
/// # Safety
/// The hook accepts `ctx`, from any thread that calls the library, until it is replaced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvc_set_event_hook(hook: kvc_event_fn, ctx: *mut c_void) {
    hook::c::set(hook, ctx);
}
