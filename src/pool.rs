//! How large a layer's K/V pool must be, in rows and in bytes.

use crate::error::Error;

/// The next size of a growing pool: `current` doubled until it holds `needed` rows, at most `max`; 0 if
/// `needed` is over `max`. A pool that is large enough keeps its size. Doubles from `max(current, 1)`.
/// O(log(needed / current)).
///
/// ```
/// use kvcore::pool::grow_rows;
/// assert_eq!(grow_rows(1, 257, 1024), 512);
/// assert_eq!(grow_rows(512, 600, 700), 700);
/// assert_eq!(grow_rows(512, 100, 700), 512);
/// assert_eq!(grow_rows(512, 701, 700), 0);
/// ```
#[must_use]
pub const fn grow_rows(current: u32, needed: u32, max: u32) -> u32 {
    if needed > max {
        return 0;
    }
    let mut rows = if current == 0 { 1 } else { current };
    while rows < needed {
        rows = rows.saturating_mul(2);
    }
    if rows > max { max } else { rows }
}

/// Bytes of K or of V alone: `rows * n_kv_heads * head_dim` elements of `bits` bits, packed, rounded up to a
/// whole byte at the end. O(1).
///
/// # Errors
/// `InvalidArgument` for zero heads, dimension or bits, more than 64 bits an element, or more elements or bytes than 64
/// bits count.
///
/// ```
/// use kvcore::pool::pool_bytes;
/// assert_eq!(pool_bytes(1 << 31, 8, 128, 16)?, 1 << 42);
/// assert_eq!(pool_bytes(3, 1, 3, 4)?, 5); // 36 bits
/// # Ok::<(), kvcore::Error>(())
/// ```
pub fn pool_bytes(rows: u32, n_kv_heads: u32, head_dim: u32, bits: u32) -> Result<u64, Error> {
    if n_kv_heads == 0 || head_dim == 0 || !(1..=64).contains(&bits) {
        return Err(Error::InvalidArgument);
    }
    let row = u64::from(n_kv_heads) * u64::from(head_dim);
    let elements = row.checked_mul(u64::from(rows)).ok_or(Error::InvalidArgument)?;
    // Eight elements are `bits` bytes; the bits of the remaining ones fit 9 bits.
    let rest = (elements % 8 * u64::from(bits)).div_ceil(8);
    let whole = (elements / 8).checked_mul(u64::from(bits));
    whole.and_then(|bytes| bytes.checked_add(rest)).ok_or(Error::InvalidArgument)
}

#[cfg(test)]
mod tests {
    use super::{Error, grow_rows, pool_bytes};

    #[test]
    fn growth_covers_what_is_needed_in_one_call() {
        for max in [1, 2, 255, 256, 1000, u32::MAX] {
            for current in [0, 1, 3, 512, u32::MAX] {
                for needed in [0, 1, 2, 257, 999, 1 << 31, u32::MAX] {
                    let rows = grow_rows(current, needed, max);
                    if needed > max {
                        assert_eq!(rows, 0);
                    } else {
                        assert!(rows >= needed && rows <= max, "{current} {needed} {max}: {rows}");
                        assert!(rows >= current.min(max), "a pool does not shrink");
                    }
                }
            }
        }
        assert_eq!(grow_rows(1, 257, 4096), 512);
    }

    #[test]
    fn bytes_are_exact_or_refused() {
        assert_eq!(pool_bytes(1 << 31, 8, 128, 16), Ok((1 << 31) * 8 * 128 * 2));
        assert_eq!(pool_bytes(0, 8, 128, 16), Ok(0));
        assert_eq!(pool_bytes(u32::MAX, u32::MAX, u32::MAX, 8), Err(Error::InvalidArgument));
        assert_eq!(pool_bytes(1, u32::MAX, u32::MAX, 64), Err(Error::InvalidArgument));
        assert_eq!(pool_bytes(1, 1, 1, 65), Err(Error::InvalidArgument));
        assert_eq!(pool_bytes(5, 1, 3, 3), Ok(6)); // 45 bits
        assert_eq!(pool_bytes(1, 0, 1, 8), Err(Error::InvalidArgument));
        assert_eq!(pool_bytes(1, 1, 1, 0), Err(Error::InvalidArgument));
    }
}
