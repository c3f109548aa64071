//! The one value type for everything that came from outside.

use std::sync::Arc;

use super::{JsString, Map, Record, write};

/// A JSON value with JavaScript's semantics. Clones share their containers and cost nothing.
#[derive(Clone, Default)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An IEEE double; infinities are possible (`1e400`) and written as `null`.
    Number(f64),
    /// A string, unpaired surrogates included.
    String(JsString),
    /// An array.
    Array(List),
    /// An object.
    Object(Object),
}

/// The elements of an array. Dropping one never recurses.
#[derive(Clone, Default)]
pub struct List(Arc<Vec<Value>>);

/// The properties of an object. Dropping one never recurses.
#[derive(Clone, Default)]
pub struct Object(Arc<Map>);

impl Value {
    /// The text of a string.
    pub fn as_string(&self) -> Option<&JsString> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(list) => Some(&list.0),
            _ => None,
        }
    }

    /// The properties of an object.
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(object) => Some(&object.0),
            _ => None,
        }
    }

    /// The properties of an object, for changing them.
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The number.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The own property `key` of an object; `None` for anything else.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// The text that `JSON.stringify(value)` gives.
    pub fn to_compact(&self) -> String {
        write::write(self, None)
    }

    /// The text that `JSON.stringify(value, null, 2)` gives.
    pub fn to_pretty(&self) -> String {
        write::write(self, Some(2))
    }
}

impl List {
    /// Takes the elements out.
    pub fn into_vec(mut self) -> Vec<Value> {
        std::mem::take(self.as_mut_vec())
    }

    /// The elements.
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }

    /// The elements, for changing them in place.
    pub fn as_mut_slice(&mut self) -> &mut [Value] {
        self.as_mut_vec()
    }

    fn as_mut_vec(&mut self) -> &mut Vec<Value> {
        Arc::make_mut(&mut self.0)
    }
}

impl Object {
    /// Takes the properties out.
    pub fn into_map(mut self) -> Map {
        std::mem::take(&mut *self)
    }
}

impl std::ops::Deref for Object {
    type Target = Map;

    fn deref(&self) -> &Map {
        &self.0
    }
}

impl std::ops::DerefMut for Object {
    fn deref_mut(&mut self) -> &mut Map {
        Arc::make_mut(&mut self.0)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        if let Some(items) = Arc::get_mut(&mut self.0) {
            take_apart(items.drain(..).filter(is_container).collect());
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if let Some(map) = Arc::get_mut(&mut self.0) {
            take_apart(map.drain_values().filter(is_container).collect());
        }
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// Frees nested values with a work list in place of the call stack.
fn take_apart(mut open: Vec<Value>) {
    while let Some(mut value) = open.pop() {
        match &mut value {
            Value::Array(list) => {
                if let Some(items) = Arc::get_mut(&mut list.0) {
                    open.extend(items.drain(..).filter(is_container));
                }
            }
            Value::Object(object) => {
                if let Some(map) = Arc::get_mut(&mut object.0) {
                    open.extend(map.drain_values().filter(is_container));
                }
            }
            _ => {}
        }
    }
}

/// Equal as JSON values: the order of an object's properties does not matter.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        let mut open = vec![(self, other)];
        while let Some(pair) = open.pop() {
            let same = match pair {
                (Self::Null, Self::Null) => true,
                (Self::Bool(left), Self::Bool(right)) => left == right,
                (Self::Number(left), Self::Number(right)) => left == right,
                (Self::String(left), Self::String(right)) => left == right,
                (Self::Array(left), Self::Array(right)) => {
                    open.extend(left.as_slice().iter().zip(right.as_slice()));
                    left.as_slice().len() == right.as_slice().len()
                }
                (Self::Object(left), Self::Object(right)) => {
                    left.len() == right.len()
                        && left.iter().all(|(key, value)| {
                            let other = right.get_js(key);
                            open.extend(other.map(|other| (value, other)));
                            other.is_some()
                        })
                }
                _ => false,
            };
            if !same {
                return false;
            }
        }
        true
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.to_compact())
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<JsString> for Value {
    fn from(text: JsString) -> Self {
        Self::String(text)
    }
}

impl From<&JsString> for Value {
    fn from(text: &JsString) -> Self {
        Self::String(text.clone())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Object(Object(Arc::new(map)))
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::Array(List(Arc::new(items.into_iter().map(Into::into).collect())))
    }
}

/// `None` becomes `null`; to leave a key out, use [`Map::insert_some`].
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Record<T>> for Value {
    fn from(record: Record<T>) -> Self {
        Self::from(record.into_iter().collect::<Map>())
    }
}

#[cfg(test)]
mod tests {
    use crate::json::parse;

    #[test]
    fn depth_never_meets_a_recursion_limit() {
        let depth = 300_000;
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let value = parse(&text).expect("any depth parses");
            assert_eq!(value.to_compact(), text);
            assert!(value == parse(&text).expect("the same again"));
            drop(value.clone());
            drop(value);
        }
    }
}
