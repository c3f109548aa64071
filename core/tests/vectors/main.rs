//! Runs the golden vectors: every case of every family file through the code it pins.
//!
//! `WARPLINE_VECTORS` names another folder of family files; a relative one counts from the root of
//! the workspace, wherever the tests were started. A folder without family files is a fault, and so
//! is a family file without an adapter here, and a key of an input that its adapter never looked
//! at, at any depth where the shape is the family's own. What lies inside a manifest, a state
//! document, a result or an output is theirs: there an unknown key may be the point of the case.

mod compare;
mod decide_families;
mod input;
mod js;
mod runner;
mod schema_families;

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use runner::{Adapter, Family, coverage_faults, folder, folder_of, read_folder, run_folder};

/// Every family there is.
const FAMILIES: [&str; 23] = [
    "attempt-status",
    "board-event",
    "config-resolve",
    "denial-fingerprint",
    "denial-standing",
    "dueness",
    "engine-state-read",
    "engine-state-write",
    "freshness",
    "gate-apply",
    "gate-retention",
    "grant-check",
    "grant-merge",
    "js-json",
    "levels",
    "manifest-parse",
    "quiet-hours",
    "redact",
    "result-builders",
    "retention",
    "retry-delay",
    "skill-result-parse",
    "tier",
];

fn registered() -> Vec<(&'static str, Adapter)> {
    let mut families = schema_families::families();
    families.extend(decide_families::families());
    families
}

fn adapters() -> HashMap<&'static str, Adapter> {
    registered().into_iter().collect()
}

fn families() -> Vec<Family> {
    read_folder(&folder()).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Cases: T498, T499.
#[test]
fn every_family_passes() {
    // Written straight to the stream, so that the counts show without asking for them.
    let mut out = std::io::stderr();
    let faults = run_folder(&families(), &adapters(), |family, faults| {
        let count = family.cases.len();
        writeln!(out, "{}: {count} cases, {faults} faults", family.name).expect("stderr is open");
    });
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_known_family_has_a_file_and_an_adapter_and_nothing_else_is_there() {
    let names: Vec<&str> = registered().iter().map(|(name, _)| *name).collect();
    let faults = coverage_faults(&FAMILIES, &families(), &names);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_flipped_expectation_is_reported() {
    let adapters = adapters();
    for family in families() {
        let Some(adapter) = adapters.get(family.name.as_str()) else { continue };
        for case in &family.cases {
            let actual = case.run(*adapter).unwrap_or_else(|fault| panic!("{}: {fault}", case.id));
            let flipped = compare::flips(&case.expect);
            assert!(!flipped.is_empty(), "{}: nothing to flip", case.id);
            for (what, expect) in flipped {
                let found = compare::differences(&expect, &actual);
                assert!(!found.is_empty(), "{}: a flip of `{what}` goes unseen", case.id);
            }
        }
    }
}

#[test]
fn a_folder_that_is_not_whole_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file");
        read_folder(folder.path())
    };
    let whole = r#"{"family":"tier","cases":[{"id":"t","name":"","input":{},"expect":{}}]}"#;
    let families = write("tier.json", whole).expect("a whole family");
    assert!(coverage_faults(&["tier"], &families, &["tier"]).is_empty());
    for (known, adapters) in [
        (vec![], vec![]),
        (vec!["tier", "levels"], vec!["tier", "levels"]),
        (vec!["tier"], vec![]),
        (vec!["tier"], vec!["tier", "tier"]),
        (vec!["tier"], vec!["tier", "levels"]),
    ] {
        let faults = coverage_faults(&known, &families, &adapters);
        assert!(!faults.is_empty(), "{known:?} {adapters:?}");
    }
    for broken in [
        r#"{"family":"levels","cases":[{"id":"t","name":"","input":{},"expect":{}}]}"#,
        r#"{"family":"tier","cases":[]}"#,
        r#"{"family":"tier"}"#,
        r#"{"family":"tier","case":[],"cases":[{"id":"t","input":{},"expect":{}}]}"#,
        r#"{"family":"tier","cases":[{"id":"t","name":"","input":{}}]}"#,
        r#"{"family":"tier","cases":[{"id":"t","input":{},"expect":{},"skip":true}]}"#,
        r#"{"family":"tier","cases":[{"id":"t","input":{},"expect":{}},{"id":"t","input":{},"expect":{}}]}"#,
        "[",
    ] {
        assert!(write("tier.json", broken).is_err(), "{broken}");
    }
}

#[test]
fn a_key_of_an_input_that_is_never_read_is_a_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = r#"{"family":"tier","cases":[{"id":"t","input":{"now":1,"then":2},"expect":{}}]}"#;
    std::fs::write(folder.path().join("tier.json"), text).expect("a file");
    let families = read_folder(folder.path()).expect("a whole family");
    let adapter: Adapter = |input| {
        input.number("now")?;
        Ok(warpline_core::json::Map::new().into())
    };
    let fault = families[0].cases[0].run(adapter).expect_err("`then` was not read");
    assert_eq!(fault, "unknown key in the input: then");
}

#[test]
fn a_named_folder_counts_from_the_root_of_the_workspace() {
    let root = Path::new("/the/workspace");
    for (named, expected) in [
        (None, "/the/workspace/tests/vectors"),
        (Some(""), "/the/workspace/tests/vectors"),
        (Some("other/vectors"), "/the/workspace/other/vectors"),
        (Some("/elsewhere"), "/elsewhere"),
    ] {
        assert_eq!(folder_of(named.map(str::as_ref), root), Path::new(expected), "{named:?}");
    }
}

#[test]
fn a_folder_without_family_files_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("README.md"), "no vectors").expect("a file");
    let refused = |path: &Path| read_folder(path).err().expect("nothing to run");
    let path = folder.path().display().to_string();
    assert_eq!(refused(folder.path()), format!("{path}: there are no family files (*.json)"));
    let absent = folder.path().join("absent");
    assert!(refused(&absent).starts_with(&format!("{}: ", absent.display())));
}

/// The faults of one case, run by the adapter of its family from a folder of its own.
fn faults_of(family: &str, input: &str, expect: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let case = format!(r#"{{"id":"c","input":{input},"expect":{expect}}}"#);
    let text = format!(r#"{{"family":"{family}","cases":[{case}]}}"#);
    std::fs::write(folder.path().join(format!("{family}.json")), text).expect("a file");
    run_folder(&read_folder(folder.path()).expect("a whole family"), &adapters(), |_, _| {})
}

#[test]
fn a_key_that_nobody_knows_is_a_fault_at_any_depth_of_a_familys_own_shape() {
    let file = r#""name":"a.json","mtime":"2026-08-01T00:00:00.000Z","content":"""#;
    let gate = r#""plugin":"p","run_id":"r","run_started_at":null,"run_completed_at":null,
        "applied_at":null"#;
    let prune = |files: &str| {
        format!(r#"{{"op":"prune","now":"2026-08-02T00:00:00.000Z","files":[{{{files}}}]}}"#)
    };
    let retain = |gates: &str| {
        format!(r#"{{"now":"2026-08-02T00:00:00.000Z","parked_now":[],"gates":[{{{gates}}}]}}"#)
    };
    let resolve =
        |env: &str| format!(r#"{{"inputs":{{}},"secrets":[],"args":{{}},"env":{{{env}}}}}"#);
    let none_deleted = r#"{"deleted":[],"count":0}"#;
    let none_left = r#"{"survivors":[]}"#;
    let resolved = r#"{"ok":true,"json":"{}"}"#;
    for (family, input, expect, fault) in [
        ("retention", prune(file), none_deleted, None),
        (
            "retention",
            prune(&format!("{file},\"size\":1")),
            none_deleted,
            Some("c: unknown key in the input: files[0].size"),
        ),
        ("gate-retention", retain(gate), none_left, None),
        (
            "gate-retention",
            retain(&format!("{gate},\"expires\":1")),
            none_left,
            Some("c: unknown key in the input: gates[0].expires"),
        ),
        ("config-resolve", resolve(r#""A":"x""#), resolved, None),
        ("config-resolve", resolve(r#""A":1"#), resolved, Some("c: `env.A` is not a string")),
    ] {
        let found = faults_of(family, &input, expect);
        assert_eq!(found, fault.into_iter().collect::<Vec<_>>(), "{input}");
    }
}
