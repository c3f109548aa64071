//! The trace of an answer and the answer: neither is called undone where it was done.

use rustix::io::Errno;
use warpline_core::home::faults::Fault;

use crate::child::{left, meet_at};
use crate::place::Place;

fn sender(place: &Place) {
    place.plugin("sender", r#""side_effects":["sends_email"]"#);
}

#[test]
fn a_log_that_cannot_be_cut_down_refuses_no_answer() {
    let around = tempfile::tempdir().expect("a directory");
    let prepare = |place: &Place| {
        sender(place);
        // One append away from being cut down.
        place.write("state/events.jsonl", &"{}\n".repeat(22_000));
    };
    let cut = |line: &str| line.starts_with("Write ") && line.contains("/.events.jsonl.");
    let fault = Fault::Fail(Errno::NOSPC.raw_os_error());
    let place = meet_at(around.path(), &["deny", "sender"], prepare, cut, fault);
    let lines = place.read("state/events.jsonl").expect("events").lines().count();
    assert_eq!((left(&place).0, lines), (Some(0), 22_001));
    assert!(place.state(&["denials", "sender"]).is_some(), "the answer stands");
}

#[test]
fn a_grant_that_is_gone_is_traced_though_its_removal_may_not_last() {
    let around = tempfile::tempdir().expect("a directory");
    let prepare = |place: &Place| {
        sender(place);
        place.grant(r#"["sender"]"#);
        place.write("state/events.jsonl", "");
    };
    // The home is flushed once: when the grant is removed from it.
    let flush = |line: &str| line.starts_with("SyncDirectory ") && line.ends_with("/home");
    let fault = Fault::Fail(Errno::IO.raw_os_error());
    let place = meet_at(around.path(), &["revoke"], prepare, flush, fault);
    let (code, out, err) = left(&place);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains(".session-approval"), "{err}");
    assert!(!place.path(".session-approval").exists());
    let events = place.read("state/events.jsonl").expect("events");
    assert!(events.contains("grant_revoked"), "{events}");
}

#[test]
fn a_plugin_that_is_there_though_it_may_not_last_is_not_told_as_a_name_that_is_taken() {
    let around = tempfile::tempdir().expect("a directory");
    let flush = |line: &str| line.starts_with("SyncDirectory ") && line.ends_with("/plugins");
    let fault = Fault::Fail(Errno::IO.raw_os_error());
    let place = meet_at(around.path(), &["scaffold", "fresh"], |_| {}, flush, fault);
    let (code, out, err) = left(&place);
    assert!(code == Some(1) && !out.contains("/fresh"), "{out}");
    assert!(err.contains("/plugins") && !err.contains("taken"), "{err}");
    assert!(place.path("plugins/fresh/manifest.ts").exists());
}
