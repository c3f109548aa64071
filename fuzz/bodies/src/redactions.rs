//! Credentials in whatever a plugin says: none is left, however the text comes in pieces.

use arbitrary::{Result, Unstructured};
use warpline_core::json::{JsString, Value};
use warpline_core::schema::redact::{Redactor, redact as redact_value, redact_text, redact_thrown};

const MARK: &str = "[redacted]";

/// The most pieces that a text comes in: what each one makes certain is checked anew.
const MOST_PIECES: usize = 12;

/// Few letters, so that secrets occur; those of the marks, of the cut, and halves of pairs as well.
const LETTERS: [u16; 24] = {
    let mut letters = [0; 24];
    let plain = b"aaabbbcc[red](cut) ]x";
    let mut at = 0;
    while at < plain.len() {
        letters[at] = plain[at] as u16;
        at += 1;
    }
    letters[at] = 0x2026;
    letters[at + 1] = 0xd83d;
    letters[at + 2] = 0xde00;
    letters
};

/// Secrets and a text in pieces.
struct Case {
    secrets: Vec<JsString>,
    pieces: Vec<JsString>,
}

fn word(choices: &mut Unstructured<'_>, longest: usize) -> Result<JsString> {
    let length = choices.int_in_range(0..=longest)?;
    let units: Result<Vec<u16>> = (0..length).map(|_| choices.choose(&LETTERS).copied()).collect();
    Ok(JsString::from_utf16(&units?))
}

fn case(choices: &mut Unstructured<'_>) -> Result<Case> {
    let secrets =
        (0..choices.int_in_range(0..=4)?).map(|_| word(choices, 9)).collect::<Result<_>>();
    let mut pieces = Vec::new();
    while !choices.is_empty() && pieces.len() < MOST_PIECES {
        pieces.push(word(choices, 12)?);
        // A cut as hosts make it.
        if choices.ratio(1, 16)? {
            pieces.push("… (cut)".into());
        }
    }
    Ok(Case { secrets: secrets?, pieces })
}

/// No text of a value holds a secret, marks aside.
pub fn assert_clean(value: &Value, secrets: &[JsString]) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if let Some(text) = value.as_string() {
            assert_clean_text(text, secrets);
        }
        open.extend(value.as_array().unwrap_or_default());
        open.extend(value.as_object().into_iter().flat_map(|map| map.iter().map(|(_, item)| item)));
    }
}

fn assert_clean_text(text: &JsString, secrets: &[JsString]) {
    let units = text.to_utf16();
    let mark: Vec<u16> = MARK.encode_utf16().collect();
    for part in split(&units, &mark) {
        for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
            let secret = secret.to_utf16();
            assert!(!part.windows(secret.len()).any(|found| found == secret), "a secret is left");
        }
    }
}

/// The parts between the marks.
fn split<'t>(mut text: &'t [u16], mark: &[u16]) -> Vec<&'t [u16]> {
    let mut parts = Vec::new();
    while let Some(at) = text.windows(mark.len()).position(|found| found == mark) {
        parts.push(&text[..at]);
        text = &text[at + mark.len()..];
    }
    parts.push(text);
    parts
}

pub fn redact(data: &[u8]) {
    let Ok(Case { secrets, pieces }) = case(&mut Unstructured::new(data)) else { return };
    let whole = pieces.iter().fold(JsString::new(), |text, piece| text.concat(piece));
    let redacted = redact_text(&whole, &secrets);
    assert_clean_text(&redacted, &secrets);

    let mut redactor = Redactor::new(&secrets);
    let mut given = JsString::new();
    for piece in &pieces {
        given = given.concat(&redactor.push(piece));
        assert_eq!(given.concat(&redactor.rest()), redacted_so_far(&pieces, piece, &secrets));
    }
    assert_eq!(given.concat(&redactor.release()), redacted, "in pieces it comes to the same");

    // What was released cannot be taken back, but the rest of a secret is not shown after it.
    let mut hasty = Redactor::new(&secrets);
    for piece in &pieces {
        hasty.push(piece);
        hasty.release();
        assert!(hasty.release().is_empty(), "what was given is given once");
    }

    assert_clean_text(&redact_thrown(&whole, &secrets), &secrets);
    let value = Value::from(vec![Value::from(&whole), vec![Value::from(&whole)].into()]);
    let clean = redact_value(&value, &secrets);
    assert_clean(&clean, &secrets);
    assert_eq!(clean.as_array().and_then(|items| items[0].as_string()), Some(&redacted));
}

/// What the text up to a piece comes to.
fn redacted_so_far(pieces: &[JsString], last: &JsString, secrets: &[JsString]) -> JsString {
    let upto = pieces.iter().position(|piece| std::ptr::eq(piece, last)).map_or(0, |at| at + 1);
    let text = pieces[..upto].iter().fold(JsString::new(), |text, piece| text.concat(piece));
    redact_text(&text, secrets)
}
