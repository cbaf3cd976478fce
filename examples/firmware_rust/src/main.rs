//! A chat on a Cortex-M: the application, a backend that knows no more than a key, and a log of what
//! happened to the cache between them. The exit status is the number of failures.

#![no_std]
#![no_main]
// A `usize` is 32 bits here.
#![allow(clippy::cast_possible_truncation)]

mod backend;
mod chat;
mod report;
mod target;

use report::Report;

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut report = Report::new();
    if let Err(error) = chat::run(&mut report) {
        report.failed("the chat ended early", error);
    }
    defmt::info!("{} checks, {} failures", report.checks(), report.failures());
    target::exit(report.failures())
}
