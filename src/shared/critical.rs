//! Critical sections: interrupts off for a moment. Only with the feature `critical-section`.
#![cfg(feature = "critical-section")]

/// Runs `f` in a critical section of the `critical-section` crate.
#[cfg(not(feature = "panic-handler"))]
pub(crate) fn with<R>(f: impl FnOnce() -> R) -> R {
    critical_section::with(|_| f())
}

/// Runs `f` between the two functions of the firmware. An archive calls them directly, so that two archives
/// in one image do not both bring an implementation of the crate's symbols.
#[cfg(feature = "panic-handler")]
pub(crate) fn with<R>(f: impl FnOnce() -> R) -> R {
    unsafe extern "C" {
        fn kvc_port_irq_save() -> u32;
        fn kvc_port_irq_restore(state: u32);
    }
    // SAFETY: the firmware's contract is that these nest: restore takes what its save gave.
    let state = unsafe { kvc_port_irq_save() };
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
    let result = f();
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
    // SAFETY: as above; `f` does not unwind, panics abort in such an archive.
    unsafe { kvc_port_irq_restore(state) };
    result
}
