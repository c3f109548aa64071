//! Clocks of documents and of preferences.

use warpline_core::clock::Instant;
use warpline_core::json::JsString;
use warpline_core::schema::preferences::minute_of_day;

pub fn instant(data: &[u8]) {
    if let Some(ms) = data.first_chunk().map(|bytes| i64::from_le_bytes(*bytes))
        && let Some(instant) = Instant::from_ms(ms % 9_000_000_000_000_000)
    {
        assert_same(instant);
        let moved = instant.plus_ms(ms).map(|later| later.since(instant));
        assert!(moved.is_none_or(|moved| moved == ms));
    }
    let Ok(text) = str::from_utf8(data) else { return };
    if let Some(minute) = minute_of_day(text) {
        assert_eq!(format!("{:02}:{:02}", minute / 60, minute % 60), text);
        assert!(minute < 24 * 60);
    }
    let Some(instant) = Instant::parse(text) else { return };
    assert_same(instant);
    // A time without an offset is one of this machine; with one, another reader agrees.
    if let Ok(other) = chrono::DateTime::parse_from_rfc3339(text) {
        assert_eq!(instant.ms(), other.timestamp_millis(), "{text}");
    }
    warpline_core::cli::text::at(&JsString::from(text));
}

/// An instant is written as one text, which reads as the same one.
fn assert_same(instant: Instant) {
    let text = instant.to_iso();
    assert_eq!(Instant::parse(&text), Some(instant), "{text}");
    assert!(matches!(text.len(), 24 | 27), "{text}");
    assert!(instant.local_minute() < 24 * 60);
    assert!(!instant.to_local_second().is_empty());
}
