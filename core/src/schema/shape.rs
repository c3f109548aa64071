//! Reads values into shapes and notes every fault on the way, with its path.

use crate::json::{JsString, Map, Record, Value};

use super::{ClosedSet, Issue, PathPart};

/// What stands at a place of a document; `None` where the key is left out.
pub(super) type Place<'a> = Option<&'a Value>;

/// The faults found so far and the path of the place that is being read.
#[derive(Default)]
pub(super) struct Faults {
    path: Vec<Step>,
    issues: Vec<Issue>,
}

/// One step of the path: those that the code names cost nothing.
enum Step {
    Named(&'static str),
    Found(PathPart),
}

impl Faults {
    /// Notes that another shape was expected here. Always `None`, for use as a reader's answer.
    pub(super) fn add<T>(&mut self, expected: impl Into<String>) -> Option<T> {
        let part = |step: &Step| match step {
            Step::Named(name) => PathPart::Key((*name).into()),
            Step::Found(part) => part.clone(),
        };
        let path = self.path.iter().map(part).collect();
        self.issues.push(Issue { path, expected: expected.into() });
        None
    }

    /// Reads what lies one step further down.
    pub(super) fn at<T>(&mut self, part: PathPart, read: impl FnOnce(&mut Self) -> T) -> T {
        self.within(Step::Found(part), read)
    }

    fn within<T>(&mut self, step: Step, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = read(self);
        self.path.pop();
        result
    }

    /// Reads with a fresh list of faults, whose paths start here.
    fn apart<T>(read: impl FnOnce(&mut Self) -> Option<T>) -> Result<T, Vec<Issue>> {
        let mut faults = Self::default();
        match read(&mut faults) {
            Some(result) if faults.issues.is_empty() => Ok(result),
            _ => Err(faults.issues),
        }
    }
}

/// Reads a whole document: all faults at once, or the result.
pub(super) fn document<T>(
    value: &Value,
    read: impl FnOnce(Place<'_>, &mut Faults) -> Option<T>,
) -> Result<T, Vec<Issue>> {
    Faults::apart(|faults| read(Some(value), faults))
}

/// The properties of an object that is being read.
pub(super) struct Fields<'a, 'f> {
    map: &'a Map,
    faults: &'f mut Faults,
}

impl<'a, 'f> Fields<'a, 'f> {
    /// Opens an object.
    pub(super) fn of(place: Place<'a>, faults: &'f mut Faults) -> Option<Self> {
        match place.and_then(Value::as_object) {
            Some(map) => Some(Self { map, faults }),
            None => faults.add("an object"),
        }
    }

    /// A property that must be there.
    pub(super) fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Place<'_>, &mut Faults) -> Option<T>,
    ) -> Option<T> {
        let place = self.map.get(key);
        self.faults.within(Step::Named(key), |faults| read(place, faults))
    }

    /// A property that may be left out. `null` is not left out.
    pub(super) fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Place<'_>, &mut Faults) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.map.get(key) {
            None => Some(None),
            Some(_) => self.required(key, read).map(Some),
        }
    }

    /// A property with a value for when it is left out.
    pub(super) fn or<T>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(Place<'_>, &mut Faults) -> Option<T>,
    ) -> Option<T> {
        self.optional(key, read).map(|value| value.unwrap_or(default))
    }

    /// A property that may be a value, `null` or left out; the last two are the same.
    pub(super) fn nullable<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Place<'_>, &mut Faults) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.map.get(key) {
            None | Some(Value::Null) => Some(None),
            Some(_) => self.required(key, read).map(Some),
        }
    }

    /// Notes every property that is none of the known ones.
    pub(super) fn refuse_others(&mut self, known: &[&str]) {
        for key in self.map.keys().filter(|key| !known.iter().any(|name| **key == *name)) {
            let expected = format!("one of the keys {}", names(known.iter().copied()));
            self.faults.at(PathPart::Key(key.clone()), |faults| faults.add::<()>(expected));
        }
    }

    /// The properties that are none of the known ones, in their order.
    pub(super) fn others(&self, known: &[&str]) -> Map {
        let unknown = |key: &JsString| !known.iter().any(|name| *key == *name);
        let entries = self.map.iter().filter(|(key, _)| unknown(key));
        entries.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Notes a fault of the object as a whole.
    pub(super) fn fault<T>(&mut self, expected: impl Into<String>) -> Option<T> {
        self.faults.add(expected)
    }
}

/// Any text.
pub(super) fn string(place: Place<'_>, faults: &mut Faults) -> Option<JsString> {
    match place {
        Some(Value::String(text)) => Some(text.clone()),
        _ => faults.add("a string"),
    }
}

/// A text with at least one character.
pub(super) fn non_empty(place: Place<'_>, faults: &mut Faults) -> Option<JsString> {
    match place {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        _ => faults.add("a string that is not empty"),
    }
}

/// A truth value.
pub(super) fn boolean(place: Place<'_>, faults: &mut Faults) -> Option<bool> {
    match place {
        Some(Value::Bool(truth)) => Some(*truth),
        _ => faults.add("true or false"),
    }
}

/// A finite number.
pub(super) fn number(place: Place<'_>, faults: &mut Faults) -> Option<f64> {
    match place {
        Some(Value::Number(number)) if number.is_finite() => Some(*number),
        _ => faults.add("a number"),
    }
}

/// A whole number.
pub(super) fn integer(place: Place<'_>, faults: &mut Faults) -> Option<f64> {
    match place {
        Some(Value::Number(number)) if is_integer(*number) => Some(*number),
        _ => faults.add("an integer"),
    }
}

/// A whole number from `least` on.
pub(super) fn integer_from(least: f64) -> impl FnOnce(Place<'_>, &mut Faults) -> Option<f64> {
    move |place, faults| match place {
        Some(Value::Number(number)) if is_integer(*number) && *number >= least => Some(*number),
        _ => faults.add(format!("an integer of at least {least}")),
    }
}

/// A whole number between two bounds that belong to it.
pub(super) fn count(least: u32, most: u32) -> impl FnOnce(Place<'_>, &mut Faults) -> Option<u32> {
    move |place, faults| match place {
        Some(Value::Number(number))
            if is_integer(*number) && (f64::from(least)..=f64::from(most)).contains(number) =>
        {
            // In range, so the conversion is exact.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Some(*number as u32)
        }
        _ if most == u32::MAX => faults.add(format!("an integer of at least {least}")),
        _ => faults.add(format!("an integer from {least} to {most}")),
    }
}

fn is_integer(number: f64) -> bool {
    number.is_finite() && number.fract() == 0.0
}

/// Anything that is there, `null` included.
pub(super) fn anything(place: Place<'_>, faults: &mut Faults) -> Option<Value> {
    match place {
        Some(value) => Some(value.clone()),
        None => faults.add("a value"),
    }
}

/// A member of a closed set, by its name.
pub(super) fn member<T: ClosedSet>(place: Place<'_>, faults: &mut Faults) -> Option<T> {
    let found = place.and_then(Value::as_string).and_then(JsString::as_str).and_then(T::find);
    found.or_else(|| {
        faults.add(format!("one of {}", names(T::members().iter().map(|member| member.name()))))
    })
}

/// Names as a reader sees them: "`daily`, `weekly`".
fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// An array whose elements have one shape.
pub(super) fn list<T>(
    mut read: impl FnMut(Place<'_>, &mut Faults) -> Option<T>,
) -> impl FnOnce(Place<'_>, &mut Faults) -> Option<Vec<T>> {
    move |place, faults| {
        let Some(items) = place.and_then(Value::as_array) else {
            return faults.add("an array");
        };
        let mut result = Some(Vec::with_capacity(items.len()));
        for (index, item) in items.iter().enumerate() {
            let item = faults.at(PathPart::Index(index), |faults| read(Some(item), faults));
            collect(&mut result, item, Vec::push);
        }
        result
    }
}

/// An object used as a record: any keys, values of one shape.
pub(super) fn record<T>(
    mut read: impl FnMut(Place<'_>, &mut Faults) -> Option<T>,
) -> impl FnOnce(Place<'_>, &mut Faults) -> Option<Record<T>> {
    move |place, faults| {
        let Some(map) = place.and_then(Value::as_object) else {
            return faults.add("an object");
        };
        let mut result = Some(Record::with_capacity(map.len()));
        for (key, item) in map.iter() {
            let item = faults.at(PathPart::Key(key.clone()), |faults| read(Some(item), faults));
            collect(&mut result, item, |entries, item| {
                entries.insert(key.clone(), item);
            });
        }
        result
    }
}

/// Adds an item that could be read; one that could not leaves no collection at all.
fn collect<C, T>(result: &mut Option<C>, item: Option<T>, add: impl FnOnce(&mut C, T)) {
    match (result.as_mut(), item) {
        (Some(items), Some(item)) => add(items, item),
        _ => *result = None,
    }
}

/// An object with any properties.
pub(super) fn open_object(place: Place<'_>, faults: &mut Faults) -> Option<Map> {
    match place.and_then(Value::as_object) {
        Some(map) => Some(map.clone()),
        None => faults.add("an object"),
    }
}

/// Reports faults inside of a value at the value itself: "`what` (faults)".
pub(super) fn whole<T>(
    what: &str,
    read: impl FnOnce(Place<'_>, &mut Faults) -> Option<T>,
) -> impl FnOnce(Place<'_>, &mut Faults) -> Option<T> {
    move |place, faults| match Faults::apart(|inner| read(place, inner)) {
        Ok(result) => Some(result),
        Err(issues) => faults.add(format!("{what} ({})", super::issue::issues_text(&issues))),
    }
}

/// An array of values from items that know their value.
pub(super) fn list_value<T>(items: &[T], to_value: impl FnMut(&T) -> Value) -> Value {
    Value::from(items.iter().map(to_value).collect::<Vec<_>>())
}

/// An object of values from entries that know their value.
pub(super) fn record_value<T>(entries: &Record<T>, mut to_value: impl FnMut(&T) -> Value) -> Value {
    let entries = entries.iter().map(|(key, item)| (key.clone(), to_value(item)));
    Value::from(entries.collect::<Map>())
}
