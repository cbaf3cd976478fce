//! The reference count of a cache, and the counter behind unique keys. Neither ever waits.

use core::sync::atomic::Ordering;

use super::sync::AtomicU32;
use crate::error::Error;

/// How many references there are; 0 for a cache that has ended.
#[repr(transparent)]
pub(crate) struct RefCount(AtomicU32);

/// The next count after one more reference.
const fn one_more(count: u32) -> Result<u32, Error> {
    match count {
        0 => Err(Error::Stale),
        u32::MAX => Err(Error::OutOfCapacity),
        _ => Ok(count + 1),
    }
}

/// The next count after one reference less.
const fn one_less(count: u32) -> Result<u32, Error> {
    match count {
        0 => Err(Error::Stale),
        _ => Ok(count - 1),
    }
}

impl RefCount {
    /// The creator's reference.
    #[allow(clippy::missing_const_for_fn)] // loom's atomics are not const
    pub(crate) fn one() -> Self {
        Self(AtomicU32::new(1))
    }

    /// One more reference. O(1).
    pub(crate) fn retain(&self) -> Result<(), Error> {
        self.step(one_more).map(|_| ())
    }

    /// One reference less; true when it was the last one, with everything that the other owners did before
    /// they let go visible to the caller. O(1).
    pub(crate) fn release(&self) -> Result<bool, Error> {
        let count = self.step(one_less)?;
        if count == 0 {
            // Meets every earlier release: each step took over from the one before. (A fence would do as well, but
            // ThreadSanitizer does not know fences.)
            self.0.load(Ordering::Acquire);
        }
        Ok(count == 0)
    }

    /// Whether the last reference is gone. O(1).
    pub(crate) fn is_zero(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    #[cfg(not(feature = "critical-section"))]
    fn step(&self, next: impl Fn(u32) -> Result<u32, Error>) -> Result<u32, Error> {
        let mut count = self.0.load(Ordering::Relaxed);
        loop {
            let wanted = next(count)?;
            match self.0.compare_exchange_weak(count, wanted, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return Ok(wanted),
                Err(found) => count = found,
            }
        }
    }

    #[cfg(feature = "critical-section")]
    fn step(&self, next: impl Fn(u32) -> Result<u32, Error>) -> Result<u32, Error> {
        super::critical::with(|| {
            let wanted = next(self.0.load(Ordering::Relaxed))?;
            self.0.store(wanted, Ordering::Relaxed);
            Ok(wanted)
        })
    }
}

/// A thing that one party at a time may take.
#[repr(transparent)]
pub(crate) struct Flag(AtomicU32);

impl Flag {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Takes it, or answers `AlreadyExists`. O(1).
    #[cfg(not(feature = "critical-section"))]
    pub(crate) fn take(&self) -> Result<(), Error> {
        let taken = self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
        taken.map(|_| ()).map_err(|_| Error::AlreadyExists)
    }

    /// Takes it, or answers `AlreadyExists`. O(1).
    #[cfg(feature = "critical-section")]
    pub(crate) fn take(&self) -> Result<(), Error> {
        super::critical::with(|| match self.0.load(Ordering::Relaxed) {
            0 => {
                self.0.store(1, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(Error::AlreadyExists),
        })
    }

    /// Gives it back, with everything done before visible to the next one who takes it. O(1).
    pub(crate) fn give_back(&self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Numbers that are never given twice in a process.
pub(crate) mod unique {
    /// 64 bits where they can be counted up in one go, else 32.
    #[cfg(not(target_has_atomic = "64"))]
    pub(crate) type Number = u32;
    /// 64 bits where they can be counted up in one go, else 32.
    #[cfg(target_has_atomic = "64")]
    pub(crate) type Number = u64;

    #[cfg(feature = "critical-section")]
    mod imp {
        use core::cell::UnsafeCell;

        use super::Number;

        struct Counter(UnsafeCell<Number>);

        // SAFETY: only touched in a critical section.
        unsafe impl Sync for Counter {}

        static COUNTER: Counter = Counter(UnsafeCell::new(0));

        pub(crate) fn take(accept: impl Fn(Number) -> bool) -> Option<Number> {
            super::super::super::critical::with(|| {
                // SAFETY: interrupts are off, and `accept` does not come back here.
                let counter = unsafe { &mut *COUNTER.0.get() };
                let number = *counter;
                let next = number.checked_add(1).filter(|_| accept(number))?;
                *counter = next;
                Some(number)
            })
        }
    }

    #[cfg(not(feature = "critical-section"))]
    mod imp {
        #[cfg(not(target_has_atomic = "64"))]
        use core::sync::atomic::AtomicU32 as Counter;
        #[cfg(target_has_atomic = "64")]
        use core::sync::atomic::AtomicU64 as Counter;
        use core::sync::atomic::Ordering;

        use super::Number;

        static COUNTER: Counter = Counter::new(0);

        pub(crate) fn take(accept: impl Fn(Number) -> bool) -> Option<Number> {
            let next = |number: Number| accept(number).then_some(number)?.checked_add(1);
            COUNTER.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()
        }
    }

    /// The next number, if `accept` likes it; none also when all numbers were given. O(1).
    pub(crate) fn take(accept: impl Fn(Number) -> bool) -> Option<Number> {
        imp::take(accept)
    }
}
