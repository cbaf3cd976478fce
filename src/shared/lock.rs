//! The lock: no call ever hangs. Either a spin lock with a bounded number of tries, or a critical section.

use crate::error::Error;

/// How often a call tries before it answers `Busy`. With an operating system the holder will run again (on
/// two cores with 8 threads 2^20 tries never failed, 200 failed in 4 %); on bare metal the holder may be
/// what this very interrupt preempted.
#[cfg(not(any(feature = "critical-section", loom)))]
pub(crate) const TRIES: u32 = if cfg!(target_os = "none") { 64 } else { 1 << 20 };

/// A value that one call at a time may touch.
#[cfg(not(any(feature = "critical-section", loom)))]
#[repr(C, align(4))]
pub(crate) struct Lock<T>(spin::mutex::SpinMutex<T>);

#[cfg(not(any(feature = "critical-section", loom)))]
impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(spin::mutex::SpinMutex::new(value))
    }

    /// Runs `f` on the value. `f` must not lock again and must not call foreign code.
    #[inline]
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, Error> {
        match self.take() {
            Some(mut value) => Ok(f(&mut value)),
            None => Err(Error::Busy),
        }
    }

    /// Apart from [`Self::with`], of which there is one for each `f`: code for size shares this.
    fn take(&self) -> Option<spin::mutex::SpinMutexGuard<'_, T>> {
        self.0.try_lock().or_else(|| self.wait())
    }

    #[cold]
    fn wait(&self) -> Option<spin::mutex::SpinMutexGuard<'_, T>> {
        for _ in 1..TRIES {
            core::hint::spin_loop();
            if let Some(value) = self.0.try_lock() {
                return Some(value);
            }
        }
        None
    }
}

/// A value that one call at a time may touch.
#[cfg(all(feature = "critical-section", not(loom)))]
#[repr(C, align(4))]
pub(crate) struct Lock<T>(core::cell::UnsafeCell<T>);

// SAFETY: the value is only touched inside a critical section, which excludes every other context that
// could touch it; so it moves between contexts, and `T: Send` is what that takes.
#[cfg(all(feature = "critical-section", not(loom)))]
unsafe impl<T: Send> Sync for Lock<T> {}

#[cfg(all(feature = "critical-section", not(loom)))]
impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// Runs `f` on the value. `f` must not lock again and must not call foreign code.
    #[inline]
    #[allow(clippy::unnecessary_wraps)] // the other lock can fail
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, Error> {
        // SAFETY: interrupts are off, so nobody else is in here, and `f` does not lock again.
        Ok(super::critical::with(|| f(unsafe { &mut *self.0.get() })))
    }
}

/// A value that one call at a time may touch, known to the model checker. It works like the spin lock, and
/// gives up at the first failed try, the shortest bound there is. (Loom's own mutex would not do: a failed
/// `try_lock` is no step to it, so that no interleaving would ever see `Busy`.)
#[cfg(loom)]
pub(crate) struct Lock<T> {
    held: super::sync::AtomicU32,
    value: loom::cell::UnsafeCell<T>,
}

// SAFETY: only the call that holds the lock touches the value, so it moves between threads, and `T: Send` is
// what that takes. Loom checks it.
#[cfg(loom)]
unsafe impl<T: Send> Sync for Lock<T> {}

#[cfg(loom)]
impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { held: super::sync::AtomicU32::new(0), value: loom::cell::UnsafeCell::new(value) }
    }

    /// Runs `f` on the value. `f` must not lock again and must not call foreign code.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, Error> {
        use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
        if self.held.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            return Err(Error::Busy);
        }
        // SAFETY: the lock is held, so this is the only access.
        let result = self.value.with_mut(|value| f(unsafe { &mut *value }));
        self.held.store(0, Release);
        Ok(result)
    }
}
