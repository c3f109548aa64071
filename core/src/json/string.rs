//! A JavaScript string: UTF-16 semantics, held as WTF-8 so that unpaired surrogates survive.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// A JavaScript string.
///
/// The bytes are WTF-8: UTF-8, plus three-byte sequences for surrogates that have no partner. Two
/// halves that meet (in [`JsString::concat`]) become one scalar value, so equal strings have equal
/// bytes. Ordering is by UTF-16 code unit, which is what "sorted" means in every file of a home. Clones
/// share the bytes.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct JsString {
    bytes: Arc<[u8]>,
}

impl JsString {
    /// Returns the empty string.
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds a string from UTF-16 code units, paired or not.
    pub fn from_utf16(units: &[u16]) -> Self {
        let mut bytes = Vec::with_capacity(units.len());
        for decoded in char::decode_utf16(units.iter().copied()) {
            match decoded {
                Ok(scalar) => {
                    bytes.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Err(unpaired) => push_surrogate(&mut bytes, unpaired.unpaired_surrogate()),
            }
        }
        Self { bytes: bytes.into() }
    }

    /// Takes bytes that the caller knows to be canonical WTF-8.
    pub(crate) fn from_wtf8(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into() }
    }

    /// The WTF-8 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The text, or `None` where an unpaired surrogate stands in it.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    /// The text with U+FFFD in place of each unpaired surrogate, as `Buffer.from(text)` has it.
    pub fn to_text(&self) -> String {
        match self.as_str() {
            Some(text) => text.to_owned(),
            None => String::from_utf16_lossy(&self.to_utf16()),
        }
    }

    /// Length in bytes of the UTF-8 form (`Buffer.byteLength`); U+FFFD is as long as a surrogate.
    pub fn utf8_len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the string has no code units.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The UTF-16 code units.
    pub fn to_utf16(&self) -> Vec<u16> {
        self.units().collect()
    }

    /// Iterates over the UTF-16 code units.
    pub fn units(&self) -> impl Iterator<Item = u16> + '_ {
        Units { bytes: &self.bytes, at: 0, low: None }
    }

    /// The first `count` UTF-16 code units, as `text.slice(0, count)` cuts: inside a pair too.
    pub fn slice_to(&self, count: usize) -> Self {
        if self.bytes.len() <= count {
            return self.clone();
        }
        let units: Vec<u16> = self.units().take(count).collect();
        Self::from_utf16(&units)
    }

    /// This string followed by `other`; halves of a pair that meet are joined.
    #[must_use]
    pub fn concat(&self, other: &Self) -> Self {
        let joins = matches!(trailing_surrogate(&self.bytes), Some(0xd800..=0xdbff))
            && matches!(leading_surrogate(&other.bytes), Some(0xdc00..=0xdfff));
        if joins {
            let mut units = self.to_utf16();
            units.extend(other.units());
            return Self::from_utf16(&units);
        }
        let mut bytes = Vec::with_capacity(self.bytes.len() + other.bytes.len());
        bytes.extend_from_slice(&self.bytes);
        bytes.extend_from_slice(&other.bytes);
        Self { bytes: bytes.into() }
    }

    /// Whether the string starts with `prefix`.
    pub fn starts_with(&self, prefix: &str) -> bool {
        self.bytes.starts_with(prefix.as_bytes())
    }
}

/// Appends the three WTF-8 bytes of a surrogate.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn push_surrogate(bytes: &mut Vec<u8>, unit: u16) {
    bytes.extend_from_slice(&[
        0xe0 | (unit >> 12) as u8,
        0x80 | (unit >> 6 & 0x3f) as u8,
        0x80 | (unit & 0x3f) as u8,
    ]);
}

/// The surrogate that the bytes start with, if they start with one.
pub(super) fn leading_surrogate(bytes: &[u8]) -> Option<u16> {
    match *bytes {
        [0xed, second @ 0xa0..=0xbf, third, ..] => {
            Some(0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f))
        }
        _ => None,
    }
}

fn trailing_surrogate(bytes: &[u8]) -> Option<u16> {
    leading_surrogate(bytes.get(bytes.len().checked_sub(3)?..)?)
}

struct Units<'a> {
    bytes: &'a [u8],
    at: usize,
    low: Option<u16>,
}

impl Iterator for Units<'_> {
    type Item = u16;

    #[allow(clippy::cast_possible_truncation)]
    fn next(&mut self) -> Option<u16> {
        if let Some(low) = self.low.take() {
            return Some(low);
        }
        let rest = self.bytes.get(self.at..)?;
        let tail = |index: usize| u32::from(rest.get(index).copied().unwrap_or(0) & 0x3f);
        let first = u32::from(*rest.first()?);
        let (code, length) = match first {
            0..=0x7f => (first, 1),
            0xc0..=0xdf => ((first & 0x1f) << 6 | tail(1), 2),
            0xe0..=0xef => ((first & 0x0f) << 12 | tail(1) << 6 | tail(2), 3),
            _ => ((first & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4),
        };
        self.at += length;
        if code < 0x1_0000 {
            return Some(code as u16);
        }
        let offset = code - 0x1_0000;
        self.low = Some(0xdc00 | (offset & 0x3ff) as u16);
        Some(0xd800 | (offset >> 10) as u16)
    }
}

impl Ord for JsString {
    fn cmp(&self, other: &Self) -> Ordering {
        // Byte order differs from code unit order only where a pair meets U+E000 to U+FFFF.
        if self.bytes.is_ascii() || other.bytes.is_ascii() {
            return self.bytes.cmp(&other.bytes);
        }
        self.units().cmp(other.units())
    }
}

impl PartialOrd for JsString {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<&str> for JsString {
    fn from(text: &str) -> Self {
        Self { bytes: text.as_bytes().into() }
    }
}

impl From<String> for JsString {
    fn from(text: String) -> Self {
        Self { bytes: text.into_bytes().into() }
    }
}

impl PartialEq<str> for JsString {
    fn eq(&self, other: &str) -> bool {
        *self.bytes == *other.as_bytes()
    }
}

impl PartialEq<&str> for JsString {
    fn eq(&self, other: &&str) -> bool {
        *self.bytes == *other.as_bytes()
    }
}

/// Shows the text with U+FFFD for unpaired surrogates.
impl fmt::Display for JsString {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.to_text())
    }
}

impl fmt::Debug for JsString {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&super::write::quote(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpaired_surrogates_survive_and_halves_that_meet_are_joined() {
        let high = JsString::from_utf16(&[0x61, 0xd83d]);
        let low = JsString::from_utf16(&[0xde00]);
        assert_eq!(high.as_str(), None);
        assert_eq!(high.to_utf16(), [0x61, 0xd83d]);
        assert_eq!(high.to_text(), "a\u{fffd}");
        assert_eq!(high.concat(&low), JsString::from("a😀"));
        assert_eq!(low.concat(&high).to_utf16(), [0xde00, 0x61, 0xd83d]);
    }

    #[test]
    fn slices_count_utf16_units_and_cut_inside_a_pair() {
        let text = JsString::from("ab😀c");
        assert_eq!(text.slice_to(2), "ab");
        assert_eq!(text.slice_to(3).to_utf16(), [0x61, 0x62, 0xd83d]);
        assert_eq!(text.slice_to(9), "ab😀c");
    }

    #[test]
    fn order_is_by_code_unit_not_by_scalar_value() {
        let emoji = JsString::from("😀");
        let private = JsString::from("\u{e000}");
        assert!(emoji < private, "0xd83d sorts before 0xe000");
        let mut sorted = ["b", "ab", "a", "Z"].map(JsString::from);
        sorted.sort();
        assert_eq!(sorted.map(|text| text.to_text()), ["Z", "a", "ab", "b"]);
    }
}
