//! The grant file: what is corrupt grants nothing, and a yes merged into anything is a grant.

use warpline_core::clock::Instant;
use warpline_core::decide::grant::{self, MergeRequest};
use warpline_core::json::JsString;
use warpline_core::schema::grant::{Grant, Scopes};

use crate::edited::value;

const GRANT: &str = include_str!("../../corpus/grant/sample.json");
const NOW: &str = "2026-08-20T12:30:00.000Z";

pub fn grant(data: &[u8]) {
    let Some(text) = value(data, &[GRANT]).map(|value| value.to_compact()) else {
        let Ok(text) = str::from_utf8(data) else { return };
        assert!(Grant::parse_lenient(text).is_none(), "what is no JSON is no grant");
        return;
    };
    let now = Instant::parse(NOW).expect("an instant");
    let plugin = JsString::from("a");
    let approved = grant::is_approved(Some(&text), &plugin, now);
    match Grant::parse_lenient(&text) {
        None => assert!(!approved, "a corrupt file grants nothing"),
        Some(read) => {
            let again = Grant::parse_lenient(&read.to_value().to_compact());
            assert_eq!(again.as_ref(), Some(&read));
            let end = read.expires_at.as_str().and_then(Instant::parse);
            assert!(!approved || end.is_some_and(|end| now <= end), "what is over grants nothing");
        }
    }
    for replace in [false, true] {
        let scopes = Scopes::Plugins(vec!["b".into()]);
        let request = MergeRequest { scopes, ttl_ms: Some(60_000), replace, long: false };
        let merged = grant::merge(Some(&text), &request, now).expect("a minute can be granted");
        let file = merged.grant.to_text();
        assert!(grant::is_approved(Some(&file), &"b".into(), now), "a yes counts");
        let still = grant::is_approved(Some(&file), &plugin, now);
        assert!(!still || approved, "a yes to one plugin is no yes to another");
    }
}
