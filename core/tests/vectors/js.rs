//! Evaluates the JavaScript notation of the js-json family: literals, one operator, dates.

use warpline_core::clock::Instant;
use warpline_core::json::{JsString, Map, Value, parse};

/// The value of an expression as `JSON.stringify` sees it: `undefined` gone, dates as text.
pub fn evaluate(source: &str) -> Result<Value, String> {
    let mut reader = Reader { rest: source };
    let value = reader.expression();
    match value {
        Some(Some(value)) if reader.rest.is_empty() => Ok(value),
        _ => Err(format!("cannot evaluate the JavaScript {source:?}")),
    }
}

struct Reader<'a> {
    rest: &'a str,
}

/// The outer option says whether the source could be read, the inner one is `None` for `undefined`.
type Read = Option<Option<Value>>;

impl Reader<'_> {
    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expression(&mut self) -> Read {
        let left = self.primary()?;
        for operator in ["**", "+", "/"] {
            if self.take(operator) {
                let (left, right) = (left?.as_number()?, self.primary()??.as_number()?);
                let number = match operator {
                    "**" => left.powf(right),
                    "+" => left + right,
                    _ => left / right,
                };
                return Some(Some(number.into()));
            }
        }
        Some(left)
    }

    fn primary(&mut self) -> Read {
        for (word, value) in [
            ("undefined", None),
            ("null", Some(Value::Null)),
            ("true", Some(true.into())),
            ("false", Some(false.into())),
            ("NaN", Some(f64::NAN.into())),
            ("Infinity", Some(f64::INFINITY.into())),
        ] {
            if self.take(word) {
                return Some(value);
            }
        }
        if self.take("-") {
            return Some(Some((-self.primary()??.as_number()?).into()));
        }
        if self.take("new Date(") {
            let ms = self.number()?;
            #[allow(clippy::cast_possible_truncation)] // whole milliseconds
            let text = Instant::from_ms(ms as i64)?.to_iso();
            return self.take(")").then(|| Some(text.into()));
        }
        if self.take("[") {
            return self.array();
        }
        if self.take("{") {
            return self.object();
        }
        if self.rest.starts_with('"') {
            return Some(Some(self.string()?.into()));
        }
        Some(Some(self.number()?.into()))
    }

    fn array(&mut self) -> Read {
        let mut items: Vec<Value> = Vec::new();
        while !self.take("]") {
            items.push(self.expression()?.unwrap_or_default());
            self.take(",");
        }
        Some(Some(items.into()))
    }

    fn object(&mut self) -> Read {
        let mut map = Map::new();
        while !self.take("}") {
            let key = if self.rest.starts_with('"') { self.string()? } else { self.bare_key()? };
            self.take(":").then_some(())?;
            if let Some(value) = self.expression()? {
                map.insert(key, value);
            }
            self.take(",");
        }
        Some(Some(map.into()))
    }

    fn bare_key(&mut self) -> Option<JsString> {
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric())?;
        let (key, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!key.is_empty()).then(|| key.into())
    }

    /// A string literal; its escapes are those of JSON.
    fn string(&mut self) -> Option<JsString> {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, letter)| {
            let closes = *letter == '"' && !escaped;
            escaped = *letter == '\\' && !escaped;
            closes
        })?;
        let (literal, rest) = self.rest.split_at(end.0 + 1);
        self.rest = rest;
        parse(literal).ok()?.as_string().cloned()
    }

    fn number(&mut self) -> Option<f64> {
        let mut before = ' ';
        let end = self.rest.find(|letter: char| {
            let exponent_sign = matches!(letter, '-' | '+') && matches!(before, 'e' | 'E');
            before = letter;
            !(letter.is_ascii_digit() || matches!(letter, '.' | 'e' | 'E') || exponent_sign)
        });
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        digits.parse().ok()
    }
}
