//! Counts what was checked and what failed.

use kvcore::Error;

pub(crate) struct Report {
    checks: u32,
    failures: u32,
}

impl Report {
    pub(crate) const fn new() -> Self {
        Self { checks: 0, failures: 0 }
    }

    pub(crate) const fn checks(&self) -> u32 {
        self.checks
    }

    pub(crate) const fn failures(&self) -> u32 {
        self.failures
    }

    pub(crate) fn check(&mut self, what: &str, holds: bool) {
        self.checks += 1;
        if !holds {
            self.failures += 1;
            defmt::error!("failed: {=str}", what);
        }
    }

    /// A call failed that should not have.
    pub(crate) fn failed(&mut self, what: &str, error: Error) {
        self.failures += 1;
        defmt::error!("failed: {=str}: {}", what, error);
    }
}
