//! An object as JavaScript orders it: canonical array indices first, ascending, then insertion.

use std::borrow::Borrow;
use std::collections::HashMap;

use indexmap::IndexMap;

use super::{JsString, Value};

/// String-keyed entries in the order they were inserted.
pub type Record<T> = IndexMap<JsString, T>;

/// Up to so many properties are looked through one by one, which costs less than a hash of the name.
const FEW: usize = 16;

/// The own properties of an object, always in JavaScript's enumeration order.
///
/// A repeated key keeps its first position and takes the last value. No key is special: `__proto__`
/// is a property like any other.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Vec<(JsString, Value)>,
    /// Where each name stands, all of them, from when there were more than [`FEW`].
    places: Option<HashMap<Name, usize>>,
}

/// A name that is found by its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Name(JsString);

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl Map {
    /// Returns an object without properties.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes entries as they come, names that repeat included.
    pub(super) fn from_entries(entries: Vec<(JsString, Value)>) -> Self {
        if entries.len() <= FEW && is_plain(&entries) {
            return Self { entries, ..Self::default() };
        }
        let mut map = Self { entries: Vec::with_capacity(entries.len()), ..Self::default() };
        let mut has_indices = false;
        for (key, value) in entries {
            has_indices |= array_index(&key).is_some();
            map.put(key, value);
        }
        if has_indices {
            // The sort is stable: names that are no index keep their order behind the indices.
            map.entries.sort_by_key(|(key, _)| array_index(key).unwrap_or(u32::MAX));
            map.places = map.places.is_some().then(|| map.all_places());
        }
        map
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
        self.entries.get(self.find(key.as_bytes())?).map(|(_, value)| value)
    }

    /// The value of an own property whose name came from outside.
    pub fn get_js(&self, key: &JsString) -> Option<&Value> {
        self.entries.get(self.find(key.as_bytes())?).map(|(_, value)| value)
    }

    /// The value of an own property, for changing in place.
    pub fn get_mut(&mut self, key: &JsString) -> Option<&mut Value> {
        let at = self.find(key.as_bytes())?;
        self.entries.get_mut(at).map(|(_, value)| value)
    }

    /// Whether an own property of this name exists.
    pub fn contains(&self, key: &JsString) -> bool {
        self.find(key.as_bytes()).is_some()
    }

    /// Sets a property.
    pub fn insert(&mut self, key: impl Into<JsString>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        let Some(index) = array_index(&key) else {
            self.put(key, value);
            return;
        };
        if let Some(slot) = self.get_mut(&key) {
            *slot = value;
            return;
        }
        let before = |(name, _): &(JsString, Value)| array_index(name).is_some_and(|it| it < index);
        let at = self.entries.partition_point(before);
        self.entries.insert(at, (key, value));
        self.note_new(at);
    }

    /// Sets a property where there is a value, and leaves it out where there is none.
    pub fn insert_some<T: Into<Value>>(&mut self, key: &str, value: Option<T>) {
        if let Some(value) = value {
            self.insert(key, value);
        }
    }

    /// Removes a property and returns its value.
    pub fn remove(&mut self, key: &JsString) -> Option<Value> {
        let at = self.find(key.as_bytes())?;
        let (key, value) = self.entries.remove(at);
        if let Some(places) = &mut self.places {
            places.remove(key.as_bytes());
            places.values_mut().filter(|place| **place > at).for_each(|place| *place -= 1);
        }
        Some(value)
    }

    /// Iterates in enumeration order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&JsString, &Value)> + '_ {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// Iterates over the values for changing them in place.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> + '_ {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Iterates over the names in enumeration order.
    pub fn keys(&self) -> impl Iterator<Item = &JsString> + '_ {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The property at a position of the enumeration order.
    pub(super) fn at(&self, position: usize) -> Option<(&JsString, &Value)> {
        self.entries.get(position).map(|(key, value)| (key, value))
    }

    /// Takes all values out, for the drop that must not recurse.
    pub(super) fn drain_values(&mut self) -> impl Iterator<Item = Value> + '_ {
        self.places = None;
        self.entries.drain(..).map(|(_, value)| value)
    }

    fn find(&self, name: &[u8]) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(name).copied(),
            None => self.entries.iter().position(|(key, _)| key.as_bytes() == name),
        }
    }

    /// Sets a property in its place or, where there is none of the name, behind all others.
    fn put(&mut self, key: JsString, value: Value) {
        if let Some(slot) = self.get_mut(&key) {
            *slot = value;
            return;
        }
        self.entries.push((key, value));
        self.note_new(self.entries.len() - 1);
    }

    /// Notes that the entry at this position is new, and that those behind it have moved.
    fn note_new(&mut self, at: usize) {
        match (&mut self.places, self.entries.get(at)) {
            (Some(places), Some((key, _))) => {
                if at + 1 < self.entries.len() {
                    places.values_mut().filter(|place| **place >= at).for_each(|place| *place += 1);
                }
                places.insert(Name(key.clone()), at);
            }
            _ if self.entries.len() > FEW => self.places = Some(self.all_places()),
            _ => {}
        }
    }

    fn all_places(&self) -> HashMap<Name, usize> {
        self.keys().enumerate().map(|(at, key)| (Name(key.clone()), at)).collect()
    }
}

/// Whether these few names differ from each other, and none is an array index.
fn is_plain(entries: &[(JsString, Value)]) -> bool {
    entries.iter().enumerate().all(|(at, (key, _))| {
        array_index(key).is_none() && !entries.iter().take(at).any(|(other, _)| other == key)
    })
}

/// Equal as objects: the order of the properties does not matter.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.iter().all(|(key, value)| other.get_js(key) == Some(value))
    }
}

/// Collects entries and orders them once, whatever their number.
impl<K: Into<JsString>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::from_entries(
            entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
        )
    }
}

impl IntoIterator for Map {
    type Item = (JsString, Value);
    type IntoIter = std::vec::IntoIter<(JsString, Value)>;

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
    fn many_properties_are_found_and_ordered_like_few() {
        let names: Vec<String> = (0..100).map(|number| format!("n{number}")).collect();
        let mut map: Map = names.iter().map(|name| (name.as_str(), Value::Null)).collect();
        for (at, name) in names.iter().enumerate() {
            map.insert(name.as_str(), f64::from(u32::try_from(at).expect("few")));
        }
        map.insert("7", true);
        assert_eq!(map.remove(&"n50".into()), Some(Value::Number(50.0)));
        assert_eq!((map.get("n50"), map.get("n99")), (None, Some(&Value::Number(99.0))));
        assert_eq!((map.get("7"), map.len()), (Some(&Value::Bool(true)), 100));
        assert_eq!(keys(&map)[..3], ["7", "n0", "n1"]);
        let mut grown = Map::new();
        for (name, value) in map.iter().rev() {
            grown.insert(name.clone(), value.clone());
        }
        assert_eq!(grown, map, "in whatever order they came");
        grown.insert("n1", Value::Null);
        assert_ne!(grown, map);
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
    fn properties_are_found_while_many_become_few_and_many_again() {
        let mut map: Map = (0..20).map(|number| (format!("n{number}"), number)).collect();
        for number in 0..15 {
            assert_eq!(map.remove(&format!("n{number}").into()), Some(number.into()));
            let last = map.iter().next_back().map(|(key, value)| (key.clone(), value.clone()));
            assert_eq!(last, Some(("n19".into(), 19.into())));
            assert_eq!(map.get("n19"), Some(&19.into()), "behind {} removals", number + 1);
        }
        for number in 0..30 {
            map.insert(format!("m{number}"), number);
            map.insert(format!("m{number}"), number + 1);
            map.insert(number.to_string().as_str(), number);
            assert_eq!(map.get(&format!("m{number}")), Some(&(number + 1).into()));
            assert_eq!(map.get("n19"), Some(&19.into()));
        }
        assert_eq!(map.len(), 65, "none is there twice");
    }

    #[test]
    fn members_of_the_object_prototype_are_ordinary_keys() {
        let mut map = Map::new();
        assert_eq!(map.get("__proto__"), None);
        map.insert("__proto__", true);
        assert_eq!(map.get("__proto__"), Some(&Value::Bool(true)));
    }
}
