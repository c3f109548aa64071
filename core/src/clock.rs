//! Instants: ECMA-262 date-time strings in, `toISOString` text out, milliseconds between.

use chrono::{DateTime, Local, TimeZone, Timelike, Utc};

/// Milliseconds in one hour.
pub const HOUR_MS: f64 = 3_600_000.0;

const DAY_MS: i64 = 86_400_000;

/// The largest distance from the epoch that a JavaScript `Date` can hold, in milliseconds.
const MAX_DATE_MS: i64 = 8_640_000_000_000_000;

/// An instant in milliseconds since 1970-01-01T00:00:00Z, within the range of a JavaScript `Date`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(i64);

impl Instant {
    /// The instant `ms` milliseconds after the epoch; `None` outside of what a `Date` can hold.
    pub fn from_ms(ms: i64) -> Option<Self> {
        (ms.unsigned_abs() <= MAX_DATE_MS.unsigned_abs()).then_some(Self(ms))
    }

    /// The system clock's now.
    pub fn now() -> Self {
        Self(Utc::now().timestamp_millis().clamp(-MAX_DATE_MS, MAX_DATE_MS))
    }

    /// Milliseconds since the epoch.
    pub fn ms(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to this instant, negative when it lies in the future.
    pub fn since(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }

    /// This instant moved by `ms`; `None` outside of what a `Date` can hold.
    pub fn plus_ms(self, ms: i64) -> Option<Self> {
        Self::from_ms(self.0.checked_add(ms)?)
    }

    /// Reads an ECMA-262 date-time string: a date alone is UTC, a time without offset is local.
    ///
    /// ```
    /// use warpline_core::clock::Instant;
    ///
    /// let written = Instant::parse("2026-05-04T14:00:00+02:00").expect("a date-time");
    /// assert_eq!(written.to_iso(), "2026-05-04T12:00:00.000Z");
    /// assert_eq!(Instant::parse("2026-05-04").map(|day| written.since(day)), Some(12 * 3_600_000));
    /// assert_eq!(Instant::parse("yesterday"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let Some((date, time)) = text.split_once('T') else {
            return Self::from_ms(parse_date(text)? * DAY_MS);
        };
        let (clock, offset) = split_offset(time)?;
        let wall = parse_date(date)? * DAY_MS + parse_clock(clock)?;
        match offset {
            Some(minutes) => Self::from_ms(wall - minutes * 60_000),
            None => {
                let wall = DateTime::<Utc>::from_timestamp_millis(wall)?.naive_utc();
                Self::from_ms(Local.from_local_datetime(&wall).earliest()?.timestamp_millis())
            }
        }
    }

    /// The text that `toISOString` gives: `YYYY-MM-DDTHH:mm:ss.sssZ`.
    pub fn to_iso(self) -> String {
        let (year, month, day) = civil(self.0.div_euclid(DAY_MS));
        let in_day = self.0.rem_euclid(DAY_MS);
        let (hour, minute) = (in_day / 3_600_000, in_day / 60_000 % 60);
        let (second, ms) = (in_day / 1000 % 60, in_day % 1000);
        let year = match year {
            0..=9999 => format!("{year:04}"),
            _ => format!("{}{:06}", if year < 0 { '-' } else { '+' }, year.abs()),
        };
        format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
    }

    /// Local date and time to the minute with the offset of the zone, for a person:
    /// `2026-08-20 17:30 +05:30`.
    pub fn to_local(self) -> String {
        self.in_local("%Y-%m-%d %H:%M %:z")
    }

    /// [`to_local`](Self::to_local) to the second: `2026-08-20 17:30:05 +05:30`.
    pub fn to_local_second(self) -> String {
        self.in_local("%Y-%m-%d %H:%M:%S %:z")
    }

    fn in_local(self, format: &str) -> String {
        let local = Local.timestamp_millis_opt(self.0).earliest();
        local.map_or_else(|| self.to_iso(), |local| local.format(format).to_string())
    }

    /// The local wall-clock minute of the day, 0 to 1439.
    pub fn local_minute(self) -> u32 {
        let local = Local.timestamp_millis_opt(self.0).earliest();
        local.map_or(0, |local| local.hour() * 60 + local.minute())
    }
}

/// Days from the epoch to a day of the proleptic Gregorian calendar, counted from March so that
/// the leap day ends its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month > 2 { year } else { year - 1 };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The calendar day (year, month, day) that lies `days` after the epoch.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * from_march + 2) / 5 + 1)
}

fn number(text: &str, digits: usize) -> Option<i64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// Days from the epoch of `YYYY`, `YYYY-MM`, `YYYY-MM-DD`; the year may be six signed digits.
fn parse_date(text: &str) -> Option<i64> {
    let (year, rest) = match text.as_bytes().first()? {
        b'+' => (number(text.get(1..7)?, 6)?, text.get(7..)?),
        b'-' => (-number(text.get(1..7)?, 6).filter(|year| *year > 0)?, text.get(7..)?),
        _ => (number(text.get(..4)?, 4)?, text.get(4..)?),
    };
    let (month, day) = match rest.len() {
        0 => (1, 1),
        3 => (number(rest.strip_prefix('-')?, 2)?, 1),
        6 => {
            let (month, day) = rest.strip_prefix('-')?.split_once('-')?;
            (number(month, 2)?, number(day, 2)?)
        }
        _ => return None,
    };
    let date = days(year, month, day);
    (1..=12).contains(&month).then_some(())?;
    (civil(date) == (year, month, day)).then_some(date)
}

/// Splits `Z` or `+HH:mm` off a time; `None` inside means that no offset is written.
fn split_offset(time: &str) -> Option<(&str, Option<i64>)> {
    if let Some(clock) = time.strip_suffix('Z') {
        return Some((clock, Some(0)));
    }
    let Some(at) = time.find(['+', '-']) else {
        return Some((time, None));
    };
    let (clock, offset) = time.split_at(at);
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let total = hours * 60 + minutes;
    Some((clock, Some(if offset.starts_with('-') { -total } else { total })))
}

/// Milliseconds into the day of `HH:mm`, `HH:mm:ss`, or that with a fraction; 24:00 ends the day.
fn parse_clock(clock: &str) -> Option<i64> {
    let (whole, fraction) = match clock.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (clock, None),
    };
    let mut parts = whole.split(':');
    let hour = number(parts.next()?, 2)?;
    let minute = number(parts.next()?, 2)?;
    let second = match parts.next() {
        Some(text) => number(text, 2)?,
        None if fraction.is_some() => return None,
        None => 0,
    };
    if parts.next().is_some() {
        return None;
    }
    let ms = match fraction {
        // JavaScript keeps milliseconds and drops the rest.
        Some(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => text
            .bytes()
            .chain([b'0'; 3])
            .take(3)
            .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')),
        Some(_) => return None,
        None => 0,
    };
    let total = hour * 3_600_000 + minute * 60_000 + second * 1000 + ms;
    let valid = minute < 60 && second < 60 && (hour < 24 || total == DAY_MS);
    valid.then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecma_262_date_time_strings_parse_and_nothing_else() {
        let ms = |text: &str| Instant::parse(text).map(Instant::ms);
        assert_eq!(ms("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(ms("1970-01-01"), Some(0));
        assert_eq!(ms("1970-01"), Some(0));
        assert_eq!(ms("1970"), Some(0));
        assert_eq!(ms("1970-01-01T01:00+01:00"), Some(0));
        assert_eq!(ms("1970-01-01T00:00:00.1239Z"), Some(123));
        assert_eq!(ms("1970-01-01T24:00:00Z"), Some(86_400_000));
        assert_eq!(ms("+275760-09-13T00:00:00.000Z"), Some(MAX_DATE_MS));
        for bad in [
            "",
            "nonsense",
            "2026-08-20 12:00:00Z",
            "2026-13-01",
            "2026-02-30",
            "2026-08-20T25:00Z",
            "2026-08-20T12Z",
            "2026-08-20T12:00:00.Z",
            "-000000-01-01",
            "+275760-09-13T00:00:00.001Z",
            "2026-8-20",
            "2026-08-20T12:00:60Z",
            "2026-08-20T",
            "Thu, 20 Aug 2026",
            "2026-08-20T12:00+1:00",
            "2026-08-20T24:00:00.001Z",
            "20é6",
        ] {
            assert_eq!(ms(bad), None, "{bad:?} must not parse");
        }
    }

    #[test]
    fn iso_text_is_what_javascript_prints() {
        let iso = |ms| Instant::from_ms(ms).expect("in range").to_iso();
        assert_eq!(iso(1_787_227_200_000), "2026-08-20T12:00:00.000Z");
        assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(iso(-62_198_755_200_000), "-000001-01-01T00:00:00.000Z");
        assert_eq!(iso(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(iso(MAX_DATE_MS), "+275760-09-13T00:00:00.000Z");
        assert_eq!(iso(-MAX_DATE_MS), "-271821-04-20T00:00:00.000Z");
        assert_eq!(Instant::from_ms(MAX_DATE_MS + 1), None);
    }
}
