//! Every way a call can fail.

use core::ffi::CStr;

/// Why a call was refused. The numbers are the C status codes and are fixed for good; 0 is success.
///
/// A call that fails leaves everything as it was.
///
/// ```
/// use kvcore::Error;
/// assert_eq!(Error::Evicted.code(), 8);
/// assert_eq!(Error::Evicted.name(), "KVC_ERR_EVICTED");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(i32)]
pub enum Error {
    /// A null or misaligned pointer, zero tokens, a number outside its range, a wrong `struct_size`.
    InvalidArgument = 1,
    /// A config that contradicts itself or passes a limit; nothing is built.
    InvalidConfig = 2,
    /// No room now; room may come by a rewind, a removal or a release.
    OutOfCapacity = 3,
    /// Would not fit into the same cache even when empty.
    NeverFits = 4,
    /// More tokens than `max_write` allows.
    StepTooLarge = 5,
    /// No such layer.
    BadLayer = 6,
    /// A gap, or a position already held: a step continues its sequence.
    BadPosition = 7,
    /// The target needs rows that a window has already dropped.
    Evicted = 8,
    /// A rewind beyond the length.
    CannotGrow = 9,
    /// The cache was rewound, cleared or stepped since this plan was made.
    StalePlan = 10,
    /// Nothing stands under that name or index.
    NotFound = 11,
    /// The name or the slot is taken.
    AlreadyExists = 12,
    /// A fixed table has no free entry.
    TableFull = 13,
    /// A key, backend id, kind or face name over its limit, or empty.
    NameTooLong = 14,
    /// This cache does not offer that face.
    WrongKind = 15,
    /// The caller's buffer is too small.
    BufferTooSmall = 16,
    /// The lock is held and the caller may not wait.
    Busy = 17,
    /// The object was released.
    Stale = 18,
    /// Damaged storage or snapshot.
    Corrupt = 19,
    /// Not supported by this object.
    Unsupported = 20,
    /// Unknown sequence id.
    BadSequence = 21,
    /// A placement or commit without a declared step.
    NoStep = 22,
    /// Would change rows that another sequence also owns.
    Shared = 23,
}

impl Error {
    /// The C status code, 1 or more. O(1).
    ///
    /// ```
    /// assert_eq!(kvcore::Error::Busy.code(), 17);
    /// ```
    #[must_use]
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The error of a C status code; none for 0 and for unknown numbers. O(1).
    ///
    /// ```
    /// use kvcore::Error;
    /// assert_eq!(Error::from_code(23), Some(Error::Shared));
    /// assert_eq!(Error::from_code(0), None);
    /// ```
    #[must_use]
    pub const fn from_code(code: i32) -> Option<Self> {
        Some(match code {
            1 => Self::InvalidArgument,
            2 => Self::InvalidConfig,
            3 => Self::OutOfCapacity,
            4 => Self::NeverFits,
            5 => Self::StepTooLarge,
            6 => Self::BadLayer,
            7 => Self::BadPosition,
            8 => Self::Evicted,
            9 => Self::CannotGrow,
            10 => Self::StalePlan,
            11 => Self::NotFound,
            12 => Self::AlreadyExists,
            13 => Self::TableFull,
            14 => Self::NameTooLong,
            15 => Self::WrongKind,
            16 => Self::BufferTooSmall,
            17 => Self::Busy,
            18 => Self::Stale,
            19 => Self::Corrupt,
            20 => Self::Unsupported,
            21 => Self::BadSequence,
            22 => Self::NoStep,
            23 => Self::Shared,
            _ => return None,
        })
    }

    /// The name of the C constant. O(1).
    ///
    /// ```
    /// assert_eq!(kvcore::Error::NotFound.name(), "KVC_ERR_NOT_FOUND");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        let name = CStr::from_bytes_until_nul(status_name(self.code())).unwrap_or_default();
        // Every name is ASCII.
        name.to_str().unwrap_or_default()
    }
}

/// The names of the C constants, in the order of their numbers.
const NAMES: &[u8] = b"KVC_OK\0\
    KVC_ERR_INVALID_ARGUMENT\0\
    KVC_ERR_INVALID_CONFIG\0\
    KVC_ERR_OUT_OF_CAPACITY\0\
    KVC_ERR_NEVER_FITS\0\
    KVC_ERR_STEP_TOO_LARGE\0\
    KVC_ERR_BAD_LAYER\0\
    KVC_ERR_BAD_POSITION\0\
    KVC_ERR_EVICTED\0\
    KVC_ERR_CANNOT_GROW\0\
    KVC_ERR_STALE_PLAN\0\
    KVC_ERR_NOT_FOUND\0\
    KVC_ERR_ALREADY_EXISTS\0\
    KVC_ERR_TABLE_FULL\0\
    KVC_ERR_NAME_TOO_LONG\0\
    KVC_ERR_WRONG_KIND\0\
    KVC_ERR_BUFFER_TOO_SMALL\0\
    KVC_ERR_BUSY\0\
    KVC_ERR_STALE\0\
    KVC_ERR_CORRUPT\0\
    KVC_ERR_UNSUPPORTED\0\
    KVC_ERR_BAD_SEQUENCE\0\
    KVC_ERR_NO_STEP\0\
    KVC_ERR_SHARED\0";

/// The name of a status, up to the first NUL of what is answered.
pub(crate) fn status_name(status: i32) -> &'static [u8] {
    let mut names = NAMES.iter();
    // Behind as many NULs as the number says.
    let known = status >= 0 && (0..status).all(|_| names.any(|&byte| byte == 0));
    match names.as_slice() {
        names @ [_, ..] if known => names,
        _ => b"KVC_ERR_UNKNOWN\0",
    }
}

/// The C status of a call.
pub(crate) fn status(result: Result<(), Error>) -> i32 {
    result.map_or_else(Error::code, |()| 0)
}

/// A status from foreign code. One that is not ours is a broken contract.
#[inline(never)]
pub(crate) fn outcome(status: i32) -> Result<(), Error> {
    match status {
        0 => Ok(()),
        code => Err(Error::from_code(code).unwrap_or(Error::Corrupt)),
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn codes_and_names_are_one_to_one() {
        for code in 1..=23 {
            let error = Error::from_code(code).expect("a code of the table");
            assert_eq!(error.code(), code);
            assert!(error.name().starts_with("KVC_ERR_"));
            for other in 1..code {
                assert_ne!(Error::from_code(other).map(Error::name), Some(error.name()));
            }
        }
        for code in [i32::MIN, -1, 0, 24, i32::MAX] {
            assert_eq!(Error::from_code(code), None);
        }
    }
}
