//! The atomics: those of `core`, or loom's when its model checker drives the crate.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::AtomicU32;
#[cfg(loom)]
pub(crate) use loom::sync::atomic::AtomicU32;
