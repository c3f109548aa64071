//! `JSON.parse` and `JSON.stringify`, slowly: by recursion, unit by unit.

/// A value as the model has it: strings in UTF-16, objects as entries in the order of enumeration.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    Word(&'static str),
    Number(f64),
    Text(Vec<u16>),
    Array(Vec<Model>),
    Object(Vec<(Vec<u16>, Model)>),
}

use Model::{Array, Number, Object, Text, Word};

/// `JSON.parse`, unit by unit, by recursion.
struct Reader {
    units: Vec<u16>,
    at: usize,
}

pub fn read(text: &str) -> Option<Model> {
    let mut reader = Reader { units: text.encode_utf16().collect(), at: 0 };
    let value = reader.value()?;
    reader.space();
    (reader.at == reader.units.len()).then_some(value)
}

impl Reader {
    fn next(&self) -> Option<char> {
        self.units.get(self.at).map(|unit| char::from_u32((*unit).into()).unwrap_or('\u{fffd}'))
    }

    fn takes(&mut self, token: &str) -> bool {
        let token: Vec<u16> = token.encode_utf16().collect();
        let there = self.units[self.at..].starts_with(&token);
        self.at += if there { token.len() } else { 0 };
        there
    }

    fn space(&mut self) {
        while [" ", "\t", "\n", "\r"].iter().any(|space| self.takes(space)) {}
    }

    fn value(&mut self) -> Option<Model> {
        self.space();
        for word in ["null", "true", "false"] {
            if self.takes(word) {
                return Some(Word(word));
            }
        }
        if self.takes("[") {
            return self.list("]", Self::value).map(Array);
        }
        if self.takes("{") {
            let mut object = Vec::new();
            for (key, value) in self.list("}", Self::member)? {
                set(&mut object, key, value);
            }
            return Some(Object(object));
        }
        if self.next()? == '"' { self.text().map(Text) } else { self.number().map(Number) }
    }

    fn list<T>(&mut self, close: &str, read: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        self.space();
        if self.takes(close) {
            return Some(items);
        }
        loop {
            items.push(read(self)?);
            self.space();
            if self.takes(close) {
                return Some(items);
            }
            self.takes(",").then_some(())?;
        }
    }

    fn member(&mut self) -> Option<(Vec<u16>, Model)> {
        self.space();
        let key = self.text()?;
        self.space();
        self.takes(":").then_some(())?;
        Some((key, self.value()?))
    }

    fn text(&mut self) -> Option<Vec<u16>> {
        self.takes("\"").then_some(())?;
        let mut text = Vec::new();
        while !self.takes("\"") {
            let unit = *self.units.get(self.at)?;
            self.at += 1;
            if unit != u16::from(b'\\') {
                (unit >= 0x20).then(|| text.push(unit))?;
                continue;
            }
            let letter = self.next()?;
            self.at += 1;
            if letter == 'u' {
                let digits = String::from_utf16(self.units.get(self.at..self.at + 4)?).ok()?;
                digits.chars().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
                self.at += 4;
                text.push(u16::from_str_radix(&digits, 16).ok()?);
                continue;
            }
            let plain = "\"\\/bfnrt".find(letter)?;
            text.push(u16::from(b"\"\\/\x08\x0c\n\r\t"[plain]));
        }
        Some(text)
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.next().is_some_and(|digit| digit.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn number(&mut self) -> Option<f64> {
        let start = self.at;
        self.takes("-");
        if !self.takes("0") {
            self.digits()?;
        }
        if self.takes(".") {
            self.digits()?;
        }
        if self.takes("e") || self.takes("E") {
            let _ = self.takes("+") || self.takes("-");
            self.digits()?;
        }
        String::from_utf16(&self.units[start..self.at]).ok()?.parse().ok()
    }
}

/// Where a name stands among the indices, if it is one.
fn index(key: &[u16]) -> Option<u32> {
    let text = String::from_utf16(key).ok()?;
    let number: u32 = text.parse().ok()?;
    (number != u32::MAX && number.to_string() == text).then_some(number)
}

pub fn set(object: &mut Vec<(Vec<u16>, Model)>, key: Vec<u16>, value: Model) {
    if let Some((_, old)) = object.iter_mut().find(|(name, _)| *name == key) {
        *old = value;
        return;
    }
    let behind = |name: &[u16]| match (index(&key), index(name)) {
        (Some(own), Some(other)) => other > own,
        (Some(_), None) => true,
        (None, _) => false,
    };
    let at = object.iter().position(|(name, _)| behind(name)).unwrap_or(object.len());
    object.insert(at, (key, value));
}

/// `JSON.stringify`, with so many spaces a level.
pub fn written(value: &Model, indent: usize, depth: usize) -> String {
    let (open, close, items) = match value {
        Word(word) => return (*word).into(),
        Number(number) => return number_written(*number),
        Text(text) => return quoted(text),
        Array(items) => {
            ('[', ']', items.iter().map(|item| written(item, indent, depth + 1)).collect())
        }
        Object(entries) => {
            let colon = if indent > 0 { ": " } else { ":" };
            let member = |(key, item): &(Vec<u16>, Model)| {
                format!("{}{colon}{}", quoted(key), written(item, indent, depth + 1))
            };
            ('{', '}', entries.iter().map(member).collect::<Vec<_>>())
        }
    };
    let line = |depth| {
        if indent > 0 { "\n".to_owned() + &" ".repeat(indent * depth) } else { String::new() }
    };
    if items.is_empty() {
        return format!("{open}{close}");
    }
    let inner = items.join(&(",".to_owned() + &line(depth + 1)));
    format!("{open}{}{inner}{}{close}", line(depth + 1), line(depth))
}

pub fn quoted(text: &[u16]) -> String {
    let mut out = "\"".to_owned();
    for unit in char::decode_utf16(text.iter().copied()) {
        match unit {
            Ok('"') => out += "\\\"",
            Ok('\\') => out += "\\\\",
            Ok('\u{8}') => out += "\\b",
            Ok('\u{c}') => out += "\\f",
            Ok('\n') => out += "\\n",
            Ok('\r') => out += "\\r",
            Ok('\t') => out += "\\t",
            Ok(control @ ..'\u{20}') => out += &format!("\\u{:04x}", u32::from(control)),
            Ok(scalar) => out.push(scalar),
            Err(half) => out += &format!("\\u{:04x}", half.unpaired_surrogate()),
        }
    }
    out + "\""
}

/// The shortest digits, placed as JavaScript places them.
fn number_written(number: f64) -> String {
    if !number.is_finite() {
        return "null".into();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    // So many digits as the shortest has; of two that are equally near, the even one.
    let shortest = format!("{:e}", number.abs());
    let after_first = shortest.find('e').expect("an exponent").saturating_sub(2);
    let nearest = format!("{:.after_first$e}", number.abs());
    let (digits, exponent) = nearest.split_once('e').expect("an exponent");
    let digits = digits.replace('.', "");
    let exponent: i32 = exponent.parse().expect("a number");
    let (count, point) = (i32::try_from(digits.len()).expect("few"), exponent + 1);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).expect("at least none"));
    let plain = if count <= point && point <= 21 {
        digits.clone() + &zeros(point - count)
    } else if 0 < point && point <= 21 {
        let (whole, rest) = digits.split_at(usize::try_from(point).expect("more than none"));
        format!("{whole}.{rest}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{}{}", if exponent < 0 { "-" } else { "+" }, exponent.abs())
    };
    sign.to_owned() + &plain
}
