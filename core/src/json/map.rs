//! An object as JavaScript orders it: canonical array indices first, ascending, then insertion.

use indexmap::{Equivalent, IndexMap};

use super::{JsString, Value};

/// String-keyed entries in the order they were inserted.
pub type Record<T> = IndexMap<JsString, T>;

/// The own properties of an object, always in JavaScript's enumeration order.
///
/// A repeated key keeps its first position and takes the last value. No key is special: `__proto__`
/// is a property like any other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    entries: Record<Value>,
    /// How many entries at the front are array indices.
    indices: usize,
}

impl Map {
    /// Returns an object without properties.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of properties.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no properties.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of an own property.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(&Key(key.as_bytes()))
    }

    /// The value of an own property whose name came from outside.
    pub fn get_js(&self, key: &JsString) -> Option<&Value> {
        self.entries.get(key)
    }

    /// The value of an own property, for changing in place.
    pub fn get_mut(&mut self, key: &JsString) -> Option<&mut Value> {
        self.entries.get_mut(key)
    }

    /// Whether an own property of this name exists.
    pub fn contains(&self, key: &JsString) -> bool {
        self.entries.contains_key(key)
    }

    /// Sets a property.
    pub fn insert(&mut self, key: impl Into<JsString>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        if let Some(slot) = self.entries.get_mut(&key) {
            *slot = value;
            return;
        }
        let Some(index) = array_index(&key) else {
            self.entries.insert(key, value);
            return;
        };
        let at = self.entries.as_slice()[..self.indices]
            .partition_point(|name, _| array_index(name).is_some_and(|other| other < index));
        self.entries.shift_insert(at, key, value);
        self.indices += 1;
    }

    /// Sets a property where there is a value, and leaves it out where there is none.
    pub fn insert_some<T: Into<Value>>(&mut self, key: &str, value: Option<T>) {
        if let Some(value) = value {
            self.insert(key, value);
        }
    }

    /// Removes a property and returns its value.
    pub fn remove(&mut self, key: &JsString) -> Option<Value> {
        let (at, _, value) = self.entries.shift_remove_full(key)?;
        if at < self.indices {
            self.indices -= 1;
        }
        Some(value)
    }

    /// Iterates in enumeration order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&JsString, &Value)> + '_ {
        self.entries.iter()
    }

    /// Iterates over the values for changing them in place.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> + '_ {
        self.entries.values_mut()
    }

    /// Iterates over the names in enumeration order.
    pub fn keys(&self) -> impl Iterator<Item = &JsString> + '_ {
        self.entries.keys()
    }

    /// The property at a position of the enumeration order.
    pub(super) fn at(&self, position: usize) -> Option<(&JsString, &Value)> {
        self.entries.get_index(position)
    }

    /// Takes all values out, for the drop that must not recurse.
    pub(super) fn drain_values(&mut self) -> impl Iterator<Item = Value> + '_ {
        self.indices = 0;
        self.entries.drain(..).map(|(_, value)| value)
    }
}

/// Collects entries and orders them once, whatever their number.
impl<K: Into<JsString>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut record = Record::new();
        let mut indices = 0;
        for (key, value) in entries {
            let key = key.into();
            let is_index = array_index(&key).is_some();
            if record.insert(key, value.into()).is_none() && is_index {
                indices += 1;
            }
        }
        if indices > 0 {
            // The sort is stable: names that are no index keep their order behind the indices.
            record.sort_by_key(|key, _| array_index(key).unwrap_or(u32::MAX));
        }
        Self { entries: record, indices }
    }
}

impl IntoIterator for Map {
    type Item = (JsString, Value);
    type IntoIter = indexmap::map::IntoIter<JsString, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

/// The number that a canonical array index names: "0" to "4294967294", without leading zeros.
fn array_index(key: &JsString) -> Option<u32> {
    let bytes = key.as_bytes();
    let canonical = matches!(bytes, [b'0'] | [b'1'..=b'9', ..])
        && bytes.len() <= 10
        && bytes.iter().all(u8::is_ascii_digit);
    if !canonical {
        return None;
    }
    key.as_str()?.parse().ok().filter(|index| *index != u32::MAX)
}

/// Borrowed bytes that find a [`JsString`] key without building one.
#[derive(Hash)]
struct Key<'a>(&'a [u8]);

impl Equivalent<JsString> for Key<'_> {
    fn equivalent(&self, key: &JsString) -> bool {
        self.0 == key.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(map: &Map) -> Vec<String> {
        map.keys().map(JsString::to_text).collect()
    }

    #[test]
    fn array_indices_come_first_and_ascending_however_they_were_added() {
        let names = ["b", "10", "2", "01", "4294967294", "4294967295", "-1", "a"];
        let collected: Map = names.iter().map(|name| (*name, Value::Null)).collect();
        let mut inserted = Map::new();
        for name in names {
            inserted.insert(name, Value::Null);
        }
        let expected = ["2", "10", "4294967294", "b", "01", "4294967295", "-1", "a"];
        assert_eq!(keys(&collected), expected);
        assert_eq!(keys(&inserted), expected);
    }

    #[test]
    fn a_repeated_key_keeps_its_place_and_takes_the_last_value() {
        let map: Map = [("a", 1.0), ("b", 2.0), ("a", 3.0)].into_iter().collect();
        assert_eq!(keys(&map), ["a", "b"]);
        assert_eq!(map.get("a"), Some(&Value::Number(3.0)));
    }

    #[test]
    fn removal_keeps_the_order_right() {
        let mut map: Map = [("x", 1.0), ("1", 2.0), ("2", 3.0)].into_iter().collect();
        assert_eq!(map.remove(&"1".into()), Some(Value::Number(2.0)));
        map.insert("0", 4.0);
        assert_eq!(keys(&map), ["0", "2", "x"]);
    }

    #[test]
    fn members_of_the_object_prototype_are_ordinary_keys() {
        let mut map = Map::new();
        assert_eq!(map.get("__proto__"), None);
        map.insert("__proto__", true);
        assert_eq!(map.get("__proto__"), Some(&Value::Bool(true)));
    }
}
