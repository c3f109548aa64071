//! Finds, many bytes at a time, where a text stops being the same in and out of JSON.

/// One in each byte of a word.
const EACH: u64 = 0x0101_0101_0101_0101;

/// How many bytes come before the first quote, backslash or control character.
pub(super) fn plain(bytes: &[u8]) -> usize {
    until(bytes, [b'"', b'\\'])
}

/// The same, and no byte among them that a surrogate may begin with.
pub(super) fn plain_text(bytes: &[u8]) -> usize {
    until(bytes, [b'"', b'\\', 0xed])
}

fn until<const N: usize>(bytes: &[u8], marks: [u8; N]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    let clear = |word: &&[u8; 8]| !holds(u64::from_ne_bytes(**word), marks);
    let passed = words.iter().take_while(clear).count() * 8;
    let rest = bytes.get(passed..).unwrap_or_default();
    let stops = |byte: &u8| *byte < b' ' || marks.contains(byte);
    passed + rest.iter().position(stops).unwrap_or(rest.len())
}

/// Whether one of these bytes, or a control character, is in a word. A byte that is less than another
/// has its highest bit set once that is taken away from it, and had not before.
fn holds<const N: usize>(word: u64, marks: [u8; N]) -> bool {
    let less = |word: u64, least: u64| word.wrapping_sub(EACH * least) & !word;
    let found = marks
        .iter()
        .fold(less(word, 0x20), |found, mark| found | less(word ^ (EACH * u64::from(*mark)), 1));
    found & (EACH * 0x80) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_needs_care_is_found_wherever_it_stands() {
        for length in 0..70 {
            let text = vec![b'~'; length];
            assert_eq!((plain(&text), plain_text(&text)), (length, length));
            for at in 0..length {
                for byte in [b'"', b'\\', 0, 0x1f] {
                    let mut text = text.clone();
                    text[at] = byte;
                    text[length - 1] = text[length - 1].min(byte);
                    assert_eq!((plain(&text), plain_text(&text)), (at, at));
                }
                let mut text = text.clone();
                text[at] = 0xed;
                assert_eq!((plain(&text), plain_text(&text)), (length, at));
            }
        }
        assert_eq!(plain(" !#[]^\u{7f}é😀".as_bytes()), 13);
    }
}
