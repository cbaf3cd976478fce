//! What this firmware has of an operating system: a logger, and two ways to end.

use core::panic::PanicInfo;

// The logger, and the critical sections it needs.
use cortex_m as _;
use defmt_semihosting as _;
use semihosting::process;

/// Ends with a status that a host takes: one byte.
pub(crate) fn exit(failures: u32) -> ! {
    process::exit(failures.min(u8::MAX.into()).cast_signed())
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    defmt::error!("{}", defmt::Display2Format(info));
    process::exit(1)
}

/// Without this a fault would hang.
#[cortex_m_rt::exception]
unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
    defmt::error!("hard fault at {=u32:#x}", frame.pc());
    process::exit(1)
}
