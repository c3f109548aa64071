use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::decide::fixtures::{at, now};
use crate::home::runs::tests::home;

fn request(plugin: &str) -> MergeRequest {
    let scopes = Scopes::Plugins(vec![plugin.into()]);
    MergeRequest { scopes, ttl_ms: None, replace: false, long: false }
}

fn approved(paths: &Paths, plugin: &str) -> bool {
    is_approved(paths, &plugin.into(), now())
}

fn traces(paths: &Paths) -> Vec<String> {
    let metadata = events::read(paths).into_iter().filter_map(|event| event.metadata_json);
    metadata.map(|text| text.to_text()).collect()
}

#[test]
fn a_yes_is_written_for_its_owner_alone_and_leaves_a_trace() {
    let (_root, paths) = home();
    assert!(!approved(&paths, "a"));
    files::write_atomic(&paths.approval, b"{}", Some(0o644)).expect("an older, wider file");
    merge_grant(&paths, &request("b"), now()).expect("merge");
    merge_grant(&paths, &request("a"), now()).expect("merge");
    assert!(approved(&paths, "a") && approved(&paths, "b") && !approved(&paths, "c"));
    let mode = fs::metadata(&paths.approval).expect("grant").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(&paths.approval).expect("grant");
    let expected = "{\n  \"granted_at\": \"2026-08-20T12:00:00.000Z\",\n  \"first_granted_at\": \"2026-08-20T12:00:00.000Z\",\n  \"expires_at\": \"2026-08-20T16:00:00.000Z\",\n  \"scopes\": [\n    \"a\",\n    \"b\"\n  ]\n}";
    assert_eq!(text, expected);
    let traces = traces(&paths);
    assert_eq!(traces.len(), 2);
    let last =
        r#"{"event":"grant_merged","scopes":["a","b"],"expires_at":"2026-08-20T16:00:00.000Z"}"#;
    assert_eq!(traces[1], last);
}

#[test]
fn without_a_trace_there_is_no_grant() {
    let (_root, paths) = home();
    fs::create_dir_all(&paths.events).expect("a directory in place of the events");
    assert!(merge_grant(&paths, &request("a"), now()).is_err());
    assert!(write_grant(&paths, Scopes::All, None, now()).is_err());
    assert!(!paths.approval.exists());
}

/// Cases: T060.
#[test]
fn revoking_deletes_the_file_once_and_touches_nothing_where_there_is_none() {
    let (_root, paths) = home();
    assert!(!revoke_grant(&paths, now()).expect("nothing to revoke").removed);
    assert!(!paths.home.exists());
    merge_grant(&paths, &request("a"), now()).expect("merge");
    assert!(revoke_grant(&paths, now()).expect("revoked").removed);
    assert!(!paths.approval.exists() && !approved(&paths, "a"));
    assert!(!revoke_grant(&paths, now()).expect("nothing left").removed);
    assert_eq!(traces(&paths).last().map(String::as_str), Some(r#"{"event":"grant_revoked"}"#));
    symlink("/nowhere", &paths.approval).expect("a link that leads nowhere");
    assert!(revoke_grant(&paths, now()).expect("the link goes").removed);
    assert!(!files::is_there(&paths.approval));
}

#[test]
fn a_grant_that_cannot_be_read_grants_nothing_and_never_fails() {
    let (_root, paths) = home();
    for bytes in [&b"{"[..], b"", b"\xff\xff", b"[]", b"{\"scopes\":\"*\"}"] {
        files::write_atomic(&paths.approval, bytes, None).expect("grant");
        assert!(!approved(&paths, "a"), "{bytes:?}");
        merge_grant(&paths, &request("a"), now()).expect("a fresh window");
        assert!(approved(&paths, "a"));
        fs::remove_file(&paths.approval).expect("grant");
    }
    fs::create_dir(&paths.approval).expect("directory");
    assert!(!approved(&paths, "a"));
    assert!(merge_grant(&paths, &request("a"), now()).is_err(), "it cannot be replaced either");
}

#[test]
fn a_programmatic_grant_has_the_lifetime_it_was_given() {
    let (_root, paths) = home();
    let grant = write_grant(&paths, Scopes::All, Some(60_000), now()).expect("grant");
    assert_eq!(grant.expires_at, at("2026-08-20T12:01:00Z").to_iso().as_str());
    assert_eq!(grant.first_granted_at, grant.granted_at);
    assert!(approved(&paths, "anything"));
    for ttl in [0, -1, i64::MAX] {
        let error = write_grant(&paths, Scopes::All, Some(ttl), now()).expect_err("refused");
        assert_eq!(error.code(), "ERR_WARPLINE_OPTION");
    }
}

#[test]
fn overlapping_approvals_all_survive() {
    let (_root, paths) = home();
    std::thread::scope(|scope| {
        for plugin in ["a", "b", "c", "d", "e", "f"] {
            let paths = &paths;
            scope.spawn(move || merge_grant(paths, &request(plugin), now()).expect("in time"));
        }
    });
    let scopes = grant::live(read(&paths).as_deref(), now()).expect("live").scopes;
    assert_eq!(scopes, Scopes::Plugins(["a", "b", "c", "d", "e", "f"].map(JsString::from).into()));
}

#[test]
fn a_grant_is_revoked_although_neither_lock_nor_trace_can_be_written() {
    let (_root, paths) = home();
    merge_grant(&paths, &request("p"), now()).expect("merge");
    fs::remove_file(&paths.events).expect("the trace of the grant");
    fs::create_dir(&paths.events).expect("in the way of the trace");
    fs::create_dir_all(paths.state_lock()).expect("in the way of the lock");
    let revoked = revoke_grant(&paths, now()).expect("revoked");
    assert!(revoked.removed && revoked.fault.is_some());
    assert!(!paths.approval.exists());
}

#[test]
fn a_grant_that_cannot_be_written_leaves_no_trace_of_one() {
    let (_root, paths) = home();
    fs::create_dir_all(&paths.approval).expect("in the way of the grant");
    assert!(merge_grant(&paths, &request("p"), now()).is_err());
    assert!(!paths.events.exists());
}
