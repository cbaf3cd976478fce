//! Another Rust archive, by somebody else, that shares an image with kvcore: its own panic handler, an implementation of
//! the critical-section crate's symbols, and code that panics, divides and copies.
#![no_std]

use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

#[unsafe(no_mangle)]
extern "C" fn _critical_section_1_0_acquire() -> u8 {
    0
}

#[unsafe(no_mangle)]
extern "C" fn _critical_section_1_0_release(_: u8) {}

/// The mean of the numbers at the places that a table names. Panics where a table is wrong.
///
/// # Safety
/// `numbers` and `places` point to `n` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn other_mean(numbers: *const u64, places: *const u8, n: usize) -> u64 {
    // SAFETY: the caller's promise.
    let (numbers, places) =
        unsafe { (core::slice::from_raw_parts(numbers, n), core::slice::from_raw_parts(places, n)) };
    let mut copy = [0u64; 16];
    copy[..n].copy_from_slice(numbers);
    let sum: u64 = places.iter().map(|place| copy[usize::from(*place)]).sum();
    sum / n as u64
}
