//! Reads JSON text with JavaScript's rules: `JSON.parse` accepts it exactly when this does.

use super::string::push_surrogate;
use super::{JsString, Map, Value, scan};

/// Text that is not JSON.
///
/// It carries the position alone: the text may hold a secret, so nothing of it is ever shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not valid JSON at line {line}, column {column}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A container under construction: where its own values begin among those that lie ready, and of an
/// object the name of the property that comes next.
enum Frame {
    Array(usize),
    Object(usize, JsString),
}

/// Parses one JSON value with nothing but white space around it.
///
/// # Errors
///
/// The position of the first byte that cannot continue a JSON text.
pub fn parse(text: &str) -> Result<Value, ParseError> {
    let mut reader = Reader::of(text);
    let value = reader.value().filter(|_| reader.end().is_some());
    value.ok_or_else(|| reader.error())
}

/// What is left of a text; where something is refused, `at` is the first byte that cannot stand there.
pub(super) struct Reader<'a> {
    text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0 }
    }

    pub(super) fn error(&self) -> ParseError {
        let at = self.text.floor_char_boundary(self.at);
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        ParseError {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: line.chars().count() + 1,
        }
    }

    /// The next byte behind white space, not consumed.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Whether nothing but white space is left.
    pub(super) fn end(&mut self) -> Option<()> {
        self.peek().is_none().then_some(())
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Reads one value.
    pub(super) fn value(&mut self) -> Option<Value> {
        let mut stack: Vec<Frame> = Vec::new();
        let mut items: Vec<Value> = Vec::new();
        let mut entries: Vec<(JsString, Value)> = Vec::new();
        loop {
            let mut done = match self.peek()? {
                b'[' => {
                    self.at += 1;
                    if self.peek()? == b']' {
                        self.at += 1;
                        Value::from(Vec::<Value>::new())
                    } else {
                        stack.push(Frame::Array(items.len()));
                        continue;
                    }
                }
                b'{' => {
                    self.at += 1;
                    if self.peek()? == b'}' {
                        self.at += 1;
                        Value::from(Map::new())
                    } else {
                        let key = self.key()?;
                        stack.push(Frame::Object(entries.len(), key));
                        continue;
                    }
                }
                _ => self.scalar()?,
            };
            // Hand the finished value to its container, and close containers it completes.
            loop {
                let Some(frame) = stack.last_mut() else {
                    return Some(done);
                };
                let separator = self.peek()?;
                match frame {
                    Frame::Array(start) => {
                        items.push(done);
                        match separator {
                            b',' => self.at += 1,
                            b']' => {
                                self.at += 1;
                                done = Value::from(items.drain(*start..).collect::<Vec<_>>());
                                stack.pop();
                                continue;
                            }
                            _ => return None,
                        }
                    }
                    Frame::Object(start, key) => {
                        entries.push((std::mem::take(key), done));
                        match separator {
                            b',' => {
                                self.at += 1;
                                *key = self.key()?;
                            }
                            b'}' => {
                                self.at += 1;
                                let own = entries.drain(*start..).collect();
                                done = Value::from(Map::from_entries(own));
                                stack.pop();
                                continue;
                            }
                            _ => return None,
                        }
                    }
                }
                break;
            }
        }
    }

    pub(super) fn key(&mut self) -> Option<JsString> {
        self.name(Self::string)
    }

    /// Reads a name, whose opening quote `read` starts at, and its colon.
    pub(super) fn name<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.peek()? != b'"' {
            return None;
        }
        let name = read(self)?;
        self.take(b':')?;
        Some(name)
    }

    pub(super) fn scalar(&mut self) -> Option<Value> {
        match self.peek()? {
            b'"' => self.string().map(Value::String),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            _ => self.number().map(Value::Number),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        self.bytes.get(self.at..)?.starts_with(word.as_bytes()).then(|| {
            self.at += word.len();
            value
        })
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn number(&mut self) -> Option<f64> {
        let start = self.at;
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        self.text.get(start..self.at)?.parse().ok()
    }

    /// Reads a string whose opening quote is the next byte.
    fn string(&mut self) -> Option<JsString> {
        self.at += 1;
        let plain = self.plain()?;
        if self.bytes.get(self.at) == Some(&b'"') {
            self.at += 1;
            return Some(JsString::from_wtf8(plain));
        }
        let mut out = plain.to_vec();
        let mut high: Option<u16> = None;
        loop {
            match *self.bytes.get(self.at)? {
                b'"' => {
                    flush(&mut out, &mut high);
                    self.at += 1;
                    return Some(JsString::from_wtf8(&out));
                }
                b'\\' => {
                    self.at += 1;
                    self.escape(&mut out, &mut high)?;
                }
                0..=0x1f => return None,
                _ => {
                    flush(&mut out, &mut high);
                    out.extend_from_slice(self.plain()?);
                }
            }
        }
    }

    /// What stands here as it is meant: all up to a quote, an escape or a control character.
    pub(super) fn plain(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let plain = rest.get(..scan::plain(rest))?;
        self.at += plain.len();
        Some(plain)
    }

    pub(super) fn escape(&mut self, out: &mut Vec<u8>, high: &mut Option<u16>) -> Option<()> {
        let plain = match self.bytes.get(self.at)? {
            b'"' => b'"',
            b'\\' => b'\\',
            b'/' => b'/',
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                self.at += 1;
                return self.unit_escape(out, high);
            }
            _ => return None,
        };
        self.at += 1;
        flush(out, high);
        out.push(plain);
        Some(())
    }

    fn unit_escape(&mut self, out: &mut Vec<u8>, high: &mut Option<u16>) -> Option<()> {
        let mut unit = 0_u16;
        for _ in 0..4 {
            let digit = char::from(*self.bytes.get(self.at)?).to_digit(16)?;
            unit = unit << 4 | u16::try_from(digit).ok()?;
            self.at += 1;
        }
        if let (Some(first), 0xdc00..=0xdfff) = (*high, unit) {
            *high = None;
            let scalar = char::decode_utf16([first, unit]).next()?.ok()?;
            out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(());
        }
        flush(out, high);
        match unit {
            0xd800..=0xdbff => *high = Some(unit),
            0xdc00..=0xdfff => push_surrogate(out, unit),
            _ => {
                let scalar = char::from_u32(unit.into())?;
                out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        Some(())
    }
}

/// Writes a high surrogate that found no partner.
fn flush(out: &mut Vec<u8>, high: &mut Option<u16>) {
    if let Some(unit) = high.take() {
        push_surrogate(out, unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_parse_refuses_is_refused_with_its_position_alone() {
        let bad = [
            "",
            " ",
            "{",
            "[1,]",
            "[1 2]",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "\"\t\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "nul",
            "[1]]",
            "NaN",
            "'a'",
            "\u{feff}1",
            "-",
            "{\"a\" 1}",
            "\"abc",
            "tru",
            "1 1",
        ];
        for text in bad {
            assert!(parse(text).is_err(), "{text:?} must be refused");
        }
        let error = parse("{\n  \"token\": hunter2\n}").expect_err("not JSON");
        assert_eq!(error, ParseError { line: 2, column: 12 });
        assert!(!error.to_string().contains("hunter2"));
    }

    #[test]
    fn what_json_parse_accepts_is_kept() {
        for (text, compact) in [
            (" [ ] ", "[]"),
            ("{ }", "{}"),
            ("1e400", "null"),
            ("-0", "0"),
            ("12345678901234567890", "12345678901234567000"),
            ("\"\\ud83d\\ude00\"", "\"😀\""),
            ("\"\\ud83dx\\ude00\"", "\"\\ud83dx\\ude00\""),
            ("\"\\ud83d\\ud83d\\ude00\"", "\"\\ud83d😀\""),
            ("\"\\/\\u0041\"", "\"/A\""),
            ("{\"b\":1,\"a\":2,\"b\":3}", "{\"b\":3,\"a\":2}"),
            ("{\"b\":1,\"7\":2}", "{\"7\":2,\"b\":1}"),
        ] {
            assert_eq!(parse(text).expect(text).to_compact(), compact);
        }
    }
}
