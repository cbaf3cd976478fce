//! What happened, for diagnostics: a hook for C and Rust, frames for `defmt`.

use crate::error::Error;
use crate::name::Key;
use crate::shared::hook;

/// A thing that happened in the registry or in a shared cache. The numbers are those of C.
///
/// ```
/// assert_eq!(kvcore::Event::Leaked as u32, 6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u32)]
pub enum Event {
    /// A cache went into a registry, under the key.
    Installed = 1,
    /// An entry left its registry.
    Erased = 2,
    /// A step made a window drop positions.
    Evicted = 3,
    /// A call failed with the status.
    Refused = 4,
    /// A call gave up waiting for a lock.
    Busy = 5,
    /// A session's guard could not erase its entry, which stays.
    Leaked = 6,
    /// The last reference of a cache went.
    Ended = 7,
}

/// What a Rust event hook looks like: the event, why a call was refused, and the key if one is concerned.
pub type Hook = fn(Event, Option<Error>, Option<&core::ffi::CStr>);

/// Sets the hook of the process, or none. It runs without any lock, in the context of the call that caused
/// the event (an interrupt too); it must not block. It may call the library; calls that cause events come back
/// to it. Set it before caches are shared. O(1).
///
/// ```
/// use kvcore::{Error, Event, Registry, set_event_hook};
/// use std::sync::atomic::{AtomicU32, Ordering};
/// static REFUSED: AtomicU32 = AtomicU32::new(0);
/// set_event_hook(Some(|event, error, _key| {
///     if event == Event::Refused && error == Some(Error::NotFound) {
///         REFUSED.fetch_add(1, Ordering::Relaxed);
///     }
/// }));
/// assert!(Registry::new().get("nobody").is_err());
/// assert_eq!(REFUSED.load(Ordering::Relaxed), 1);
/// set_event_hook(None);
/// ```
pub fn set_event_hook(hook: Option<Hook>) {
    hook::set_rust(hook);
}

/// Tells whoever listens.
#[inline]
pub(crate) fn emit(event: Event, error: Option<Error>, key: Option<&Key>) {
    #[cfg(feature = "defmt")]
    defmt::debug!("kvcore: {} {} {}", event, error, key.copied());
    hook::call(event, error, key);
}

/// Passes a result on, and tells of a refusal.
#[inline]
pub(crate) fn observe<T>(result: Result<T, Error>) -> Result<T, Error> {
    result.map_err(refused)
}

/// Tells of a refusal.
#[cold]
#[inline(never)]
pub(crate) fn refused(error: Error) -> Error {
    let event = if error == Error::Busy { Event::Busy } else { Event::Refused };
    emit(event, Some(error), None);
    error
}
