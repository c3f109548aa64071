//! The input of one case, which remembers what an adapter read of it.

#![allow(dead_code)] // a toolbox for adapters: one for each shape an input can have

use std::cell::RefCell;
use std::collections::HashSet;

use warpline_core::json::{JsString, Map, Value};

/// The `input` object of a case.
///
/// Every look-up is recorded: a key that no adapter asked for is a rule nobody tested.
pub struct Input {
    object: Map,
    expected: Vec<JsString>,
    read: RefCell<HashSet<JsString>>,
}

impl Input {
    /// Wraps the `input` of a case and the names that its `expect` holds.
    pub fn new(object: Map, expected: Vec<JsString>) -> Self {
        Self { object, expected, read: RefCell::default() }
    }

    /// The value of a key; `None` where the case leaves it out. A written `null` is a value.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.read.borrow_mut().insert(key.into());
        self.object.get(key)
    }

    /// The value of a key that every case of the family has.
    pub fn value(&self, key: &str) -> Result<&Value, String> {
        self.get(key).ok_or_else(|| format!("the input has no `{key}`"))
    }

    /// A string.
    pub fn string(&self, key: &str) -> Result<&JsString, String> {
        self.value(key)?.as_string().ok_or_else(|| format!("`{key}` is not a string"))
    }

    /// The text of a string without unpaired surrogates.
    pub fn text(&self, key: &str) -> Result<&str, String> {
        self.string(key)?.as_str().ok_or_else(|| format!("`{key}` is not well-formed text"))
    }

    /// A text; `None` where the key is `null` or left out.
    pub fn optional_text(&self, key: &str) -> Result<Option<&str>, String> {
        match self.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.text(key).map(Some),
        }
    }

    /// A string; `None` where the key is `null` or left out.
    pub fn optional_string(&self, key: &str) -> Result<Option<&JsString>, String> {
        match self.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.string(key).map(Some),
        }
    }

    /// A number.
    pub fn number(&self, key: &str) -> Result<f64, String> {
        self.value(key)?.as_number().ok_or_else(|| format!("`{key}` is not a number"))
    }

    /// A truth value.
    pub fn flag(&self, key: &str) -> Result<bool, String> {
        self.value(key)?.as_bool().ok_or_else(|| format!("`{key}` is not true or false"))
    }

    /// An array.
    pub fn array(&self, key: &str) -> Result<&[Value], String> {
        self.value(key)?.as_array().ok_or_else(|| format!("`{key}` is not an array"))
    }

    /// An array of objects that hold no other keys than these.
    pub fn rows(&self, key: &str, known: &[&str]) -> Result<Vec<&Map>, String> {
        let mut rows = Vec::new();
        for (index, row) in self.array(key)?.iter().enumerate() {
            let row = row.as_object().ok_or_else(|| format!("`{key}[{index}]` is no object"))?;
            if let Some(odd) = row.keys().find(|name| known.iter().all(|known| *name != known)) {
                return Err(format!("unknown key in the input: {key}[{index}].{odd}"));
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// An array of strings.
    pub fn strings(&self, key: &str) -> Result<Vec<JsString>, String> {
        let strings = self.array(key)?.iter().map(|item| item.as_string().cloned());
        strings.collect::<Option<_>>().ok_or_else(|| format!("`{key}` does not hold strings alone"))
    }

    /// An object.
    pub fn object(&self, key: &str) -> Result<&Map, String> {
        self.value(key)?.as_object().ok_or_else(|| format!("`{key}` is not an object"))
    }

    /// Whether the case's `expect` holds this key.
    pub fn expects(&self, key: &str) -> bool {
        self.expected.iter().any(|name| *name == key)
    }

    /// The keys that nobody asked for.
    pub fn unread(&self) -> Vec<String> {
        let read = self.read.borrow();
        self.object.keys().filter(|key| !read.contains(*key)).map(JsString::to_text).collect()
    }
}
