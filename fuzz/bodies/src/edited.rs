//! Documents from bytes: the text they are, or a sample changed in the ways that they choose.
//!
//! Random text seldom is JSON, and random JSON never a whole document. Bytes that begin with a
//! control character therefore pick a sample and what is put in, left out or renamed in it.

use arbitrary::{Result, Unstructured};
use warpline_core::json::{JsString, Map, Value, parse};

/// The most changes of a sample.
const MOST_EDITS: usize = 8;

/// What stands in values to see whether a refusal shows them.
const CANARY: &str = "q7Zx9";

/// The value that an input stands for; `None` where it is no JSON.
pub fn value(data: &[u8], samples: &[&str]) -> Option<Value> {
    match data.split_first() {
        Some((0..9, rest)) => edited(&mut Unstructured::new(rest), samples).ok(),
        _ => parse(str::from_utf8(data).ok()?).ok(),
    }
}

/// A sample with some changes.
fn edited(choices: &mut Unstructured<'_>, samples: &[&str]) -> Result<Value> {
    let samples: Vec<Value> = samples.iter().filter_map(|sample| parse(sample).ok()).collect();
    let words = words(&samples);
    let mut value = choices.choose(&samples)?.clone();
    for _ in 0..choices.int_in_range(0..=MOST_EDITS)? {
        edit(&mut value, choices, &words)?;
    }
    Ok(value)
}

/// Every text and key of the samples, so that a change can put a known one elsewhere.
fn words(samples: &[Value]) -> Vec<JsString> {
    let mut words = vec!["__proto__".into(), "toString".into(), JsString::from_utf16(&[0xd83d])];
    let mut open: Vec<&Value> = samples.iter().collect();
    while let Some(value) = open.pop() {
        words.extend(value.as_string().cloned());
        open.extend(value.as_array().unwrap_or_default());
        for (key, value) in value.as_object().into_iter().flat_map(Map::iter) {
            words.push(key.clone());
            open.push(value);
        }
    }
    words
}

fn edit(value: &mut Value, choices: &mut Unstructured<'_>, words: &[JsString]) -> Result<()> {
    let mut place = value;
    while choices.ratio(3, 4)? {
        let count = match &*place {
            Value::Array(list) => list.as_slice().len(),
            Value::Object(object) => object.len(),
            _ => 0,
        };
        if count == 0 {
            break;
        }
        let at = choices.choose_index(count)?;
        place = match place {
            Value::Array(list) => &mut list.as_mut_slice()[at],
            Value::Object(object) => object.values_mut().nth(at).expect("counted"),
            _ => break,
        };
    }
    let new = leaf(choices, words)?;
    match (choices.int_in_range(0..=3)?, place) {
        (1, Value::Object(object)) if !object.is_empty() => {
            let at = choices.choose_index(object.len())?;
            let key = object.keys().nth(at).expect("counted").clone();
            let _ = object.remove(&key);
        }
        (2, Value::Object(object)) => object.insert(choices.choose(words)?.clone(), new),
        (3, Value::Object(object)) => object.insert(text(choices)?, new),
        (1..=3, place @ Value::Array(_)) => {
            let items = place.as_array().unwrap_or_default();
            *place = items.iter().cloned().chain([new]).collect::<Vec<Value>>().into();
        }
        (_, place) => *place = new,
    }
    Ok(())
}

/// A value without others in it, or with few.
fn leaf(choices: &mut Unstructured<'_>, words: &[JsString]) -> Result<Value> {
    Ok(match choices.int_in_range(0..=9)? {
        0 => Value::Null,
        1 => choices.arbitrary::<bool>()?.into(),
        2 => f64::from(choices.arbitrary::<i32>()?).into(),
        3 => choices.arbitrary::<f64>()?.into(),
        4 => Vec::<Value>::new().into(),
        5 => Map::new().into(),
        6 => text(choices)?.into(),
        7 => vec![Value::from(choices.choose(words)?)].into(),
        _ => choices.choose(words)?.into(),
    })
}

fn text(choices: &mut Unstructured<'_>) -> Result<JsString> {
    let units: Vec<u16> = choices.arbitrary()?;
    Ok(JsString::from_utf16(&units))
}

/// The value with a mark in each text and number that stands in it; `None` where a mark cannot be
/// told from what was there. Keys stay: a refusal names them.
pub fn marked(value: &Value) -> Option<Value> {
    if value.to_compact().contains(CANARY) {
        return None;
    }
    let mut marked = value.clone();
    let mut open = vec![&mut marked];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => *text = text.concat(&CANARY.into()),
            Value::Array(list) => open.extend(list.as_mut_slice()),
            Value::Object(object) => open.extend(object.values_mut()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    Some(marked)
}

/// A refusal speaks in one sentence and shows no value.
pub fn assert_hides_values(refusal: &str) {
    assert!(!refusal.is_empty(), "a refusal says why");
    assert!(!refusal.contains(CANARY), "a refusal shows a value: {refusal}");
}
