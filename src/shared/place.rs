//! A registry in caller's storage.
#![cfg(feature = "capi")]

use core::ptr::NonNull;

use super::lock::Lock;
use crate::registry::{MAGIC, Registry, Tables};

impl Registry<'static> {
    /// Builds an empty registry in place.
    ///
    /// # Safety
    /// `at` is valid for writes and aligned, and nobody else uses the memory.
    pub(crate) unsafe fn write(at: NonNull<Self>, last_id: u64) {
        // SAFETY: fields of valid, aligned memory.
        unsafe {
            (&raw mut (*at.as_ptr()).tables).write(Lock::new(Tables::new(last_id)));
            (&raw mut (*at.as_ptr()).magic).write(MAGIC);
        }
    }
}
