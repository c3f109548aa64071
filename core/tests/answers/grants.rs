//! The grant file: what an advance leaves alone, and what odd files amount to.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use warpline_core::answers::{MergeRequest, deny, is_approved, merge_grant, revoke_grant};
use warpline_core::engine::{AdvanceOptions, Clock, PluginState};
use warpline_core::home::{Paths, events};
use warpline_core::schema::grant::{Grant, Scopes};

use crate::support::{Home, NOW, at, done, name};

fn request(plugins: &[&str], ttl_ms: Option<i64>) -> MergeRequest {
    let scopes = Scopes::of(plugins.iter().map(|plugin| name(plugin)).collect());
    MergeRequest { scopes, ttl_ms, replace: false, long: false }
}

fn written(paths: &Paths) -> Grant {
    let text = fs::read_to_string(&paths.approval).expect("a grant");
    Grant::parse_lenient(&text).expect("a grant")
}

#[tokio::test(start_paused = true)]
async fn an_advance_leaves_the_grant_file_as_it_is_to_the_byte_and_the_clock() {
    let directory = tempfile::tempdir().expect("a directory");
    let home = Home::at(directory.path().to_owned());
    home.plugin("acts", r#""side_effects":["sends_email"]"#);
    home.plugin("asks", r#""autonomy_level":"supervised","side_effects":["writes_db"]"#);
    home.plugin("denied", r#""side_effects":["creates_issue"]"#);
    home.plugin("unapproved", r#""side_effects":["external_api"]"#);
    home.plugin("fails", r#""side_effects":["modifies_file"]"#);
    let granted = request(&["acts", "asks", "denied", "fails"], None);
    merge_grant(&home.paths, &granted, at(NOW)).expect("a grant");
    let manifest = home.manifest("denied");
    deny(&home.paths, &[(&name("denied"), &manifest)], None, at(NOW)).expect("a denial");
    let facts = || {
        let found = fs::metadata(&home.paths.approval).expect("the grant");
        let bytes = fs::read(&home.paths.approval).expect("the grant");
        (bytes, found.ino(), found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec())
    };
    let before = facts();
    for force in [false, true] {
        let options = AdvanceOptions { force, ..AdvanceOptions::default() };
        let clock = Clock::starting_at(at(NOW));
        let pass = home.advance(clock, options, |attempt| async move {
            if attempt.plugin.name == "fails" {
                warpline_core::json::Value::Null
            } else {
                done("a.md")
            }
        });
        let states = pass.await.expect("it returns").plugin_states;
        let expected = [
            ("acts", PluginState::Completed),
            ("asks", PluginState::Gated),
            ("denied", PluginState::Skipped),
            ("fails", PluginState::Failed),
            ("unapproved", PluginState::Skipped),
        ];
        for (plugin, state) in expected {
            assert_eq!(states.get(&name(plugin)), Some(&state), "{plugin}");
        }
    }
    assert_eq!(facts(), before);
}

/// Cases: T055, T056.
#[test]
fn an_odd_file_grants_nothing_breaks_nothing_and_is_not_merged_onto() {
    let clocks =
        r#""granted_at":"2026-08-20T11:00:00.000Z","expires_at":"2026-08-20T13:00:00.000Z""#;
    let anchored = format!(r#"{clocks},"first_granted_at":"2026-08-20T11:00:00.000Z""#);
    let unapproved = [
        String::new(),
        "nonsense".to_owned(),
        "null".to_owned(),
        r#"{"scopes":["x"]"#.to_owned(),
        r#"{"scopes":"*"}"#.to_owned(),
        r#"{"scopes":"*","expires_at":null}"#.to_owned(),
        r#"{"scopes":"*","expires_at":"nonsense"}"#.to_owned(),
        r#"{"scopes":"*","expires_at":1787230800000}"#.to_owned(),
        format!("{{{anchored}}}"),
        format!(r#"{{{anchored},"scopes":null}}"#),
        format!(r#"{{{anchored},"scopes":"x"}}"#),
        format!(r#"{{{anchored},"scopes":{{"x":true}}}}"#),
        format!(r#"{{{anchored},"scopes":["x",7]}}"#),
        format!(r#"{{{anchored},"scopes":{{"__proto__":["x"]}}}}"#),
        format!(r#"{{{},"scopes":"*"}}"#, anchored.replace("13:00", "11:59")),
    ];
    // These do grant, but their anchor cannot carry a ceiling: the next yes starts over.
    let unanchored = [
        format!(r#"{{{clocks},"scopes":["x"],"first_granted_at":"nonsense"}}"#),
        format!(r#"{{{clocks},"scopes":["x"],"first_granted_at":7}}"#),
        r#"{"expires_at":"2026-08-20T13:00:00.000Z","scopes":["x"]}"#.to_owned(),
    ];
    let cases = unapproved.iter().map(|text| (text, false));
    for (text, approved) in cases.chain(unanchored.iter().map(|text| (text, true))) {
        let directory = tempfile::tempdir().expect("a directory");
        let paths = Paths::new(directory.path().to_owned());
        fs::write(&paths.approval, text).expect("a file");
        fs::set_permissions(&paths.approval, PermissionsExt::from_mode(0o666)).expect("a mode");
        assert_eq!(is_approved(&paths, &name("x"), at(NOW)), approved, "{text}");
        let merged = merge_grant(&paths, &request(&["b", "a"], None), at(NOW)).expect("a grant");
        assert_eq!((merged.capped, merged.extended), (false, false), "{text}");
        let grant = written(&paths);
        assert_eq!(grant.scopes, Scopes::Plugins(vec![name("a"), name("b")]), "{text}");
        assert_eq!((&grant.first_granted_at, &grant.granted_at), (&NOW.into(), &NOW.into()));
        assert_eq!(grant.expires_at, "2026-08-20T16:00:00.000Z", "{text}");
        assert!(
            is_approved(&paths, &name("a"), at(NOW)) && !is_approved(&paths, &name("x"), at(NOW))
        );
        let mode = fs::metadata(&paths.approval).expect("the grant").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{text}");
        assert!(revoke_grant(&paths, at(NOW)).expect("revoked").removed);
        assert!(!is_approved(&paths, &name("a"), at(NOW)));
    }
}

#[test]
fn a_refused_lifetime_leaves_grant_and_events_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let paths = Paths::new(directory.path().to_owned());
    merge_grant(&paths, &request(&["a"], None), at(NOW)).expect("a grant");
    let before = fs::read(&paths.approval).expect("the grant");
    for ttl_ms in [0, -1, i64::MAX, 8_640_000_000_000_000] {
        merge_grant(&paths, &request(&["b"], Some(ttl_ms)), at(NOW)).expect_err("refused");
    }
    assert_eq!(fs::read(&paths.approval).expect("the grant"), before);
    assert_eq!(events::read(&paths).len(), 1);
}

#[test]
fn an_empty_list_of_plugins_grants_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let paths = Paths::new(directory.path().to_owned());
    merge_grant(&paths, &request(&[], None), at(NOW)).expect("a grant");
    assert_eq!(written(&paths).scopes, Scopes::Plugins(Vec::new()));
    assert!(!is_approved(&paths, &name("a"), at(NOW)));
}
