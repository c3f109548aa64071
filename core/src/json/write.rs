//! Text exactly as `JSON.stringify` writes it.

use super::{JsString, Map, Value};

/// One open container of the writer's own stack.
enum Frame<'a> {
    Array(&'a [Value], usize),
    Object(&'a Map, usize),
}

/// Writes a value compactly, or with `indent` spaces a level.
pub(super) fn write(value: &Value, indent: Option<usize>) -> String {
    let mut out = String::new();
    let mut stack: Vec<Frame<'_>> = Vec::new();
    open(&mut out, value, &mut stack);
    while let Some(frame) = stack.last_mut() {
        let (next, position, close) = match frame {
            Frame::Array(items, at) => {
                *at += 1;
                (items.get(*at - 1).map(|item| (None, item)), *at, ']')
            }
            Frame::Object(map, at) => {
                *at += 1;
                (map.at(*at - 1).map(|(key, item)| (Some(key), item)), *at, '}')
            }
        };
        let Some((key, item)) = next else {
            stack.pop();
            if position > 1 {
                new_line(&mut out, indent, stack.len());
            }
            out.push(close);
            continue;
        };
        if position > 1 {
            out.push(',');
        }
        new_line(&mut out, indent, stack.len());
        if let Some(key) = key {
            push_quoted(&mut out, key);
            out.push_str(if indent.is_some() { ": " } else { ":" });
        }
        open(&mut out, item, &mut stack);
    }
    out
}

/// Writes a scalar whole, or the opening bracket of a container that then goes on the stack.
fn open<'a>(out: &mut String, value: &'a Value, stack: &mut Vec<Frame<'a>>) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(*number)),
        Value::String(text) => push_quoted(out, text),
        Value::Array(list) => {
            out.push('[');
            stack.push(Frame::Array(list.as_slice(), 0));
        }
        Value::Object(object) => {
            out.push('{');
            stack.push(Frame::Object(object, 0));
        }
    }
}

fn new_line(out: &mut String, indent: Option<usize>, depth: usize) {
    if let Some(width) = indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', width * depth));
    }
}

/// A number as JavaScript prints it inside JSON: shortest digits, `-0` as `0`, no infinities.
pub fn number_text(number: f64) -> String {
    if number == 0.0 {
        "0".into()
    } else if number.is_finite() {
        ryu_js::Buffer::new().format_finite(number).into()
    } else {
        "null".into()
    }
}

/// A string as JSON text, quotes included.
pub fn quote(text: &JsString) -> String {
    let mut out = String::with_capacity(text.utf8_len() + 2);
    push_quoted(&mut out, text);
    out
}

fn push_quoted(out: &mut String, text: &JsString) {
    out.push('"');
    match text.as_str() {
        Some(text) => push_escaped(out, text),
        None => {
            for decoded in char::decode_utf16(text.units()) {
                match decoded {
                    Ok(scalar) => push_escaped(out, scalar.encode_utf8(&mut [0; 4])),
                    Err(unpaired) => push_unit(out, unpaired.unpaired_surrogate()),
                }
            }
        }
    }
    out.push('"');
}

fn push_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    // What needs an escape is ASCII, so each cut lies between characters.
    while let Some((plain, tail)) = rest
        .find(|c: char| c < ' ' || c == '"' || c == '\\')
        .and_then(|at| rest.split_at_checked(at))
    {
        out.push_str(plain);
        let mut chars = tail.chars();
        match chars.next().unwrap_or_default() {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control => push_unit(out, u16::try_from(u32::from(control)).unwrap_or_default()),
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
}

fn push_unit(out: &mut String, unit: u16) {
    out.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        out.push(char::from_digit(u32::from(unit >> shift & 0xf), 16).unwrap_or('0'));
    }
}
