//! A Python value that is written out: dictionaries, lists, text, numbers, truth values and None.

use crate::json::{JsString, Map, Value, parse};

use super::tokens::{Kind, Token};

/// How deep a value may nest; what is deeper is left to running it.
const MAX_DEPTH: usize = 100;

/// Reads a value that ends where the tokens end; `None` where it is not written out.
pub(super) fn value(tokens: &[Token]) -> Option<Value> {
    whole(Reader { tokens, at: 0, keys: None })
}

/// [`value`], and adds every key with its path and line to `keys`, as far as was read.
pub(super) fn keyed_value(tokens: &[Token], keys: &mut Vec<(String, usize)>) -> Option<Value> {
    whole(Reader { tokens, at: 0, keys: Some(keys) })
}

fn whole(mut reader: Reader<'_, '_>) -> Option<Value> {
    let value = reader.value("", 0)?;
    (reader.at == reader.tokens.len()).then_some(value)
}

struct Reader<'t, 'r> {
    tokens: &'t [Token],
    at: usize,
    keys: Option<&'r mut Vec<(String, usize)>>,
}

impl<'t> Reader<'t, '_> {
    fn peek(&self) -> Option<&'t Kind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn next(&mut self) -> Option<&'t Token> {
        let token = self.tokens.get(self.at);
        self.at += 1;
        token
    }

    fn takes(&mut self, mark: char) -> bool {
        let there = self.peek() == Some(&Kind::Mark(mark));
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, around: &str, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match &self.next()?.kind {
            Kind::Mark('{') => self.dictionary(around, depth),
            Kind::Mark('[') => {
                let mut items = Vec::new();
                while !self.takes(']') {
                    items.push(self.value(around, depth + 1)?);
                    if !self.takes(',') && self.peek() != Some(&Kind::Mark(']')) {
                        return None;
                    }
                }
                Some(items.into())
            }
            Kind::Mark('(') => {
                let value = self.value(around, depth + 1)?;
                self.takes(')').then_some(value)
            }
            Kind::Mark('-') => match &self.next()?.kind {
                // An integer has no negative zero.
                Kind::Number(text) if is_integer(text) => Some(Value::Number(0.0 - number(text)?)),
                Kind::Number(text) => Some(Value::Number(-number(text)?)),
                _ => None,
            },
            Kind::Number(text) => number(text).map(Value::Number),
            Kind::Text(first) => self.text(first.as_deref()?).map(Value::from),
            Kind::Name(name) => match name.as_str() {
                "True" => Some(true.into()),
                "False" => Some(false.into()),
                "None" => Some(Value::Null),
                _ => None,
            },
            _ => None,
        }
    }

    /// Strings side by side are one.
    fn text(&mut self, first: &str) -> Option<JsString> {
        let mut whole = first.to_owned();
        while let Some(Kind::Text(more)) = self.peek() {
            whole.push_str(more.as_deref()?);
            self.at += 1;
        }
        Some(whole.into())
    }

    /// The path of a key, where anybody wants it: together, those of one value may be far longer than its text.
    fn path(&mut self, around: &str, key: &JsString, line: usize) -> String {
        let Some(keys) = &mut self.keys else { return String::new() };
        let path = if around.is_empty() { key.to_text() } else { format!("{around}.{key}") };
        keys.push((path.clone(), line));
        path
    }

    fn dictionary(&mut self, around: &str, depth: usize) -> Option<Value> {
        let mut entries = Vec::new();
        while !self.takes('}') {
            let Token { kind: Kind::Text(Some(first)), line } = self.next()? else { return None };
            let key = self.text(first)?;
            let path = self.path(around, &key, *line);
            if !self.takes(':') {
                return None;
            }
            entries.push((key, self.value(&path, depth + 1)?));
            if !self.takes(',') && self.peek() != Some(&Kind::Mark('}')) {
                return None;
            }
        }
        Some(Map::from_iter(entries).into())
    }
}

/// The most digits that an integer may have to be the same number everywhere.
const SAFE_DIGITS: usize = 15;

fn is_integer(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'_'))
}

/// A decimal number as Python writes it, with an underscore between two digits at most. `None` for other
/// forms (`0x1F`, `007`, `1j`) and for what floating-point numbers cannot hold.
fn number(text: &str) -> Option<f64> {
    let neat = |digits: &str| {
        digits
            .split('_')
            .all(|group| group.bytes().all(|byte| byte.is_ascii_digit()) && !group.is_empty())
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let part = if part.is_empty() { "0" } else { part };
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if ![whole, part, digits].into_iter().all(neat) || whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    if is_integer(text) && text.bytes().filter(u8::is_ascii_digit).count() > SAFE_DIGITS {
        return None;
    }
    let plain = format!("{whole}.{part}e{exponent}").replace('_', "");
    parse(&plain).ok()?.as_number().filter(|number| number.is_finite())
}
