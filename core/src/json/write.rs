//! Text exactly as `JSON.stringify` writes it.

use super::string::leading_surrogate;
use super::{JsString, Map, Value, scan};

/// One open container of the writer's own stack.
enum Frame<'a> {
    Array(&'a [Value], usize),
    Object(&'a Map, usize),
}

/// Writes a value compactly, or with `indent` spaces a level.
pub(super) fn write(value: &Value, indent: Option<usize>) -> String {
    let mut out = Vec::new();
    let mut stack: Vec<Frame<'_>> = Vec::new();
    open(&mut out, value, &mut stack);
    while let Some(frame) = stack.last_mut() {
        let (next, position, close) = match frame {
            Frame::Array(items, at) => {
                *at += 1;
                (items.get(*at - 1).map(|item| (None, item)), *at, b']')
            }
            Frame::Object(map, at) => {
                *at += 1;
                (map.at(*at - 1).map(|(key, item)| (Some(key), item)), *at, b'}')
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
            out.push(b',');
        }
        new_line(&mut out, indent, stack.len());
        if let Some(key) = key {
            push_quoted(&mut out, key);
            out.extend_from_slice(if indent.is_some() { b": " } else { b":" });
        }
        open(&mut out, item, &mut stack);
    }
    text(out)
}

/// Writes a scalar whole, or the opening bracket of a container that then goes on the stack.
fn open<'a>(out: &mut Vec<u8>, value: &'a Value, stack: &mut Vec<Frame<'a>>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Value::Number(number) => out.extend_from_slice(number_text(*number).as_bytes()),
        Value::String(text) => push_quoted(out, text),
        Value::Array(list) => {
            out.push(b'[');
            stack.push(Frame::Array(list.as_slice(), 0));
        }
        Value::Object(object) => {
            out.push(b'{');
            stack.push(Frame::Object(object, 0));
        }
    }
}

fn new_line(out: &mut Vec<u8>, indent: Option<usize>, depth: usize) {
    if let Some(width) = indent {
        out.push(b'\n');
        out.resize(out.len() + width * depth, b' ');
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
pub fn quote(string: &JsString) -> String {
    let mut out = Vec::with_capacity(string.utf8_len() + 2);
    push_quoted(&mut out, string);
    text(out)
}

/// What was written: surrogates without a partner are escaped, so that nothing but UTF-8 is left.
fn text(out: Vec<u8>) -> String {
    String::from_utf8(out).unwrap_or_else(|fault| String::from_utf8_lossy(fault.as_bytes()).into())
}

fn push_quoted(out: &mut Vec<u8>, text: &JsString) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some((plain, [first, tail @ ..])) = rest.split_at_checked(scan::plain_text(rest)) {
        out.extend_from_slice(plain);
        rest = tail;
        match *first {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            lead @ 0xed => match (leading_surrogate(&[lead, byte(tail, 0), byte(tail, 1)]), tail) {
                (Some(unit), [_, _, tail @ ..]) => {
                    push_unit(out, unit);
                    rest = tail;
                }
                _ => out.push(lead),
            },
            control => push_unit(out, control.into()),
        }
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}

fn push_unit(out: &mut Vec<u8>, unit: u16) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(byte(DIGITS, usize::from(unit >> shift & 0xf)));
    }
}
