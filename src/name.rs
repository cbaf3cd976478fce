//! Keys: short names, copied, compared as words.

use core::fmt;

use crate::error::Error;
use crate::limits::MAX_NAME;
use crate::shared::count::unique::Number;

/// Bytes of a key with its closing NUL.
pub const KEY_BYTES: usize = MAX_NAME + 1;

const WORD: usize = size_of::<usize>();

/// A key of the registry: 1 to [`MAX_NAME`] bytes without a NUL, padded with zeros.
///
/// ```
/// use kvcore::{Error, Key};
/// let key = Key::new("chat-1")?;
/// assert_eq!(key.as_bytes(), b"chat-1");
/// assert_eq!(Key::new(""), Err(Error::NameTooLong));
/// assert_eq!(Key::new(&"x".repeat(64)), Err(Error::NameTooLong));
/// assert_eq!(Key::new("a\0b"), Err(Error::InvalidArgument));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Eq)]
#[repr(C, align(8))]
pub struct Key([u8; KEY_BYTES]);

impl Key {
    /// No key yet: none is empty.
    pub(crate) const BLANK: Self = Self([0; KEY_BYTES]);

    /// A key from text. O(length).
    ///
    /// # Errors
    /// `NameTooLong` for an empty text or more than [`MAX_NAME`] bytes, `InvalidArgument` for a NUL inside.
    ///
    /// ```
    /// assert!(kvcore::Key::new("cache-0").is_ok());
    /// ```
    pub fn new(text: &str) -> Result<Self, Error> {
        Self::from_bytes(text.as_bytes())
    }

    /// A key from bytes, as C has them. O(length).
    ///
    /// # Errors
    /// As [`Key::new`].
    ///
    /// ```
    /// assert!(kvcore::Key::from_bytes(b"cache-0").is_ok());
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.is_empty() || bytes.len() > MAX_NAME {
            return Err(Error::NameTooLong);
        }
        let mut key = Self::BLANK;
        for (slot, &byte) in key.0.iter_mut().zip(bytes) {
            if byte == 0 {
                return Err(Error::InvalidArgument);
            }
            *slot = byte;
        }
        Ok(key)
    }

    /// A blank key becomes the bytes before the first NUL, which `byte` reads one by one, [`KEY_BYTES`] of them at
    /// most. In place, since an answer by value is copied from caller to caller.
    #[cfg(feature = "capi")]
    #[inline]
    pub(crate) fn read(&mut self, byte: impl Fn(usize) -> u8) -> Result<(), Error> {
        for (at, slot) in self.0.iter_mut().enumerate() {
            match byte(at) {
                0 if at == 0 => return Err(Error::NameTooLong),
                0 => return Ok(()),
                byte => *slot = byte,
            }
        }
        Err(Error::NameTooLong)
    }

    /// `cache-N`.
    pub(crate) fn numbered(number: Number) -> Self {
        let mut key = Self::BLANK;
        key.set_number(number);
        key
    }

    /// Becomes `cache-N`.
    pub(crate) fn set_number(&mut self, number: Number) {
        let mut digits = [0; 20];
        let (mut rest, mut n_digits) = (number, 0);
        for digit in &mut digits {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
            n_digits += 1;
            if rest == 0 {
                break;
            }
        }
        *self = Self::BLANK;
        let text = b"cache-".iter().chain(digits.iter().take(n_digits).rev());
        for (slot, byte) in self.0.iter_mut().zip(text) {
            *slot = *byte;
        }
    }

    /// The bytes, without the padding. O(length).
    ///
    /// ```
    /// assert_eq!(kvcore::Key::new("chat")?.as_bytes().len(), 4);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let len = self.0.iter().position(|&byte| byte == 0).unwrap_or(MAX_NAME);
        self.0.get(..len).unwrap_or(&self.0)
    }

    /// The text, if the bytes are UTF-8. O(length).
    ///
    /// ```
    /// assert_eq!(kvcore::Key::new("chat")?.as_str(), Some("chat"));
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(self.as_bytes()).ok()
    }

    /// With the closing NUL and the padding, as C wants it. O(1).
    ///
    /// ```
    /// assert_eq!(kvcore::Key::new("chat")?.as_padded()[3..5], [b't', 0]);
    /// # Ok::<(), kvcore::Error>(())
    /// ```
    #[must_use]
    pub const fn as_padded(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

/// Refuses an empty name and one over the limit.
pub(crate) fn check_name(name: &core::ffi::CStr) -> Result<(), Error> {
    match name.count_bytes() {
        1..=MAX_NAME => Ok(()),
        _ => Err(Error::NameTooLong),
    }
}

impl PartialEq for Key {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.0.as_chunks::<WORD>().0, other.0.as_chunks::<WORD>().0);
        ours.iter()
            .zip(theirs)
            .all(|(ours, theirs)| usize::from_ne_bytes(*ours) == usize::from_ne_bytes(*theirs))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_bytes().escape_ascii())
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Key {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=[u8]:a}", self.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Number};

    #[test]
    fn numbered_keys_are_decimal() {
        for number in [0, 7, 10, 4_294_967_295, Number::MAX] {
            assert_eq!(Key::numbered(number), Key::new(&format!("cache-{number}")).expect("short"));
        }
    }

    #[test]
    fn keys_differ_in_any_byte() {
        let long = "k".repeat(63);
        let key = Key::new(&long).expect("63 bytes");
        for at in 0..63 {
            let mut other = long.clone().into_bytes();
            other[at] = b'x';
            assert_ne!(Key::from_bytes(&other).expect("63 bytes"), key);
        }
        assert_ne!(Key::new("ab").expect("short"), Key::new("a").expect("short"));
    }
}
