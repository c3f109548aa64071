//! `preferences.json`: the operator's choices. Anything unknown or ill-formed is refused.

use std::fmt;

use crate::json::{JsString, Map, Value};

use super::Issue;
use super::shape::{self, Faults, Fields, Place};

/// Minutes of the local day, 0 to 1439.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// First quiet minute.
    pub start: u32,
    /// First minute that is not quiet any more.
    pub end: u32,
}

/// The preferences, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Preferences {
    /// How many messages a day may be sent; an integer of at least 0.
    pub max_sends_per_day: f64,
    /// Whether autonomous results are parked as well.
    pub review_gate: bool,
    /// When no plugin runs.
    pub quiet_hours: Option<QuietHours>,
}

impl Default for Preferences {
    /// What holds where there is no file.
    fn default() -> Self {
        Self { max_sends_per_day: 20.0, review_gate: false, quiet_hours: None }
    }
}

impl Preferences {
    /// Reads the document. Unlike other documents it may hold no key that nobody knows: a misspelt
    /// preference that is silently ignored lets plugins run when they should be quiet.
    ///
    /// # Errors
    ///
    /// Every fault, with its path.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read)
    }

    /// The document, in the documented order.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("max_sends_per_day", self.max_sends_per_day);
        map.insert("review_gate", self.review_gate);
        map.insert("quiet_hours", self.quiet_hours.map(QuietHours::to_value));
        map.into()
    }
}

impl QuietHours {
    /// The window as the file has it: `{start, end}`, each `HH:MM`.
    pub fn to_value(self) -> Value {
        let mut map = Map::new();
        map.insert("start", clock(self.start));
        map.insert("end", clock(self.end));
        map.into()
    }
}

impl fmt::Display for QuietHours {
    /// As a reader says it: `22:00 to 07:00`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} to {}", clock(self.start), clock(self.end))
    }
}

/// A minute of the day as `HH:MM`.
fn clock(minute: u32) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

fn read(place: Place<'_>, faults: &mut Faults) -> Option<Preferences> {
    let default = Preferences::default();
    let mut fields = Fields::of(place, faults)?;
    let max_sends_per_day =
        fields.or("max_sends_per_day", default.max_sends_per_day, shape::integer_from(0.0));
    let review_gate = fields.or("review_gate", default.review_gate, shape::boolean);
    let quiet_hours = fields.nullable("quiet_hours", read_quiet_hours);
    // Newer homes hold `retention`, which this build accepts and does not apply.
    fields.refuse_others(&["max_sends_per_day", "review_gate", "quiet_hours", "retention"]);
    Some(Preferences {
        max_sends_per_day: max_sends_per_day?,
        review_gate: review_gate?,
        quiet_hours: quiet_hours?,
    })
}

fn read_quiet_hours(place: Place<'_>, faults: &mut Faults) -> Option<QuietHours> {
    let mut fields = Fields::of(place, faults)?;
    let start = fields.or("start", 22 * 60, read_clock);
    let end = fields.or("end", 7 * 60, read_clock);
    fields.refuse_others(&["start", "end"]);
    Some(QuietHours { start: start?, end: end? })
}

fn read_clock(place: Place<'_>, faults: &mut Faults) -> Option<u32> {
    let text = place.and_then(Value::as_string).and_then(JsString::as_str);
    text.and_then(minute_of_day).or_else(|| faults.add("a time from `00:00` to `23:59`"))
}

/// The minute of the day that `HH:MM` names.
pub fn minute_of_day(text: &str) -> Option<u32> {
    let &[h1 @ b'0'..=b'2', h2 @ b'0'..=b'9', b':', m1 @ b'0'..=b'5', m2 @ b'0'..=b'9'] =
        text.as_bytes()
    else {
        return None;
    };
    let pair = |tens: u8, ones: u8| u32::from(tens - b'0') * 10 + u32::from(ones - b'0');
    let hour = pair(h1, h2);
    (hour < 24).then(|| hour * 60 + pair(m1, m2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn read(text: &str) -> Result<Preferences, Vec<String>> {
        let value = parse(text).expect("json");
        Preferences::parse(&value).map_err(|issues| issues.iter().map(Issue::to_string).collect())
    }

    #[test]
    fn each_key_and_each_clock_defaults_alone() {
        assert_eq!(read("{}"), Ok(Preferences::default()));
        let window = |text: &str| read(text).expect(text).quiet_hours.map(|q| (q.start, q.end));
        assert_eq!(window(r#"{"quiet_hours":{}}"#), Some((1320, 420)));
        assert_eq!(window(r#"{"quiet_hours":{"start":"21:30"}}"#), Some((1290, 420)));
        assert_eq!(window(r#"{"quiet_hours":{"end":"00:00"}}"#), Some((1320, 0)));
        assert_eq!(window(r#"{"quiet_hours":null,"retention":{"days":30}}"#), None);
        assert_eq!(read(r#"{"max_sends_per_day":5}"#).map(|p| p.max_sends_per_day), Ok(5.0));
    }

    /// Cases: T393, T394, T395.
    #[test]
    fn a_retention_of_newer_homes_is_accepted_and_changes_nothing() {
        for retention in
            ["{}", r#"{"days":-1}"#, r#"{"max_bytes":0}"#, r#"{"keep_per_plugin":5}"#, "null"]
        {
            let text = format!(r#"{{"retention":{retention}}}"#);
            assert_eq!(read(&text), Ok(Preferences::default()), "{text}");
        }
        let text = r#"{"max_sends_per_day":5,"review_gate":false,"quiet_hours":null}"#;
        let expected =
            Preferences { max_sends_per_day: 5.0, review_gate: false, quiet_hours: None };
        assert_eq!(read(text), Ok(expected));
    }

    /// Cases: T397.
    #[test]
    fn preferences_are_read_back_as_they_were_shown() {
        let night = Some(QuietHours { start: 1290, end: 5 });
        for quiet_hours in [None, night] {
            let shown = Preferences { max_sends_per_day: 7.0, review_gate: true, quiet_hours };
            assert_eq!(read(&shown.to_value().to_compact()), Ok(shown));
        }
    }

    #[test]
    fn what_is_misspelt_or_ill_formed_is_refused_by_key_and_shape() {
        for (text, fault) in [
            ("[]", "expected an object"),
            (
                r#"{"quiet_hour":null}"#,
                "`quiet_hour`: expected one of the keys `max_sends_per_day`, `review_gate`, `quiet_hours`, `retention`",
            ),
            (r#"{"quiet_hours":"22:00"}"#, "`quiet_hours`: expected an object"),
            (
                r#"{"quiet_hours":{"from":"1"}}"#,
                "`quiet_hours.from`: expected one of the keys `start`, `end`",
            ),
            (
                r#"{"max_sends_per_day":-1}"#,
                "`max_sends_per_day`: expected an integer of at least 0",
            ),
            (
                r#"{"max_sends_per_day":1.5}"#,
                "`max_sends_per_day`: expected an integer of at least 0",
            ),
            (r#"{"review_gate":"yes"}"#, "`review_gate`: expected true or false"),
        ] {
            assert_eq!(read(text), Err(vec![fault.to_owned()]), "{text}");
        }
        for clock in ["24:00", "7:00", "07:60", "07:00:00", "", "ab:cd", "07-00", "29:00"] {
            let text = format!(r#"{{"quiet_hours":{{"start":"{clock}"}}}}"#);
            let fault = "`quiet_hours.start`: expected a time from `00:00` to `23:59`";
            assert_eq!(read(&text), Err(vec![fault.to_owned()]), "{clock}");
        }
    }
}
