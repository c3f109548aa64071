//! Gives every committed input to its target: the seeds of the fuzzer, and what it found once.

use std::fs;
use std::path::{Path, PathBuf};

use warpline_fuzz_bodies::TARGETS;

/// The corpora may have this many bytes together, so that a clone stays small.
const MOST_BYTES: u64 = 300 * 1024;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The inputs of a target below a directory, by name.
fn inputs(directory: &str, target: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root().join(directory).join(target)) else { return Vec::new() };
    let mut found: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.sort();
    found
}

#[test]
fn every_committed_input_keeps_the_promises_of_its_target() {
    let mut failed = Vec::new();
    for (target, body) in TARGETS {
        for path in inputs("corpus", target).into_iter().chain(inputs("regressions", target)) {
            let data = fs::read(&path).expect("an input");
            if std::panic::catch_unwind(|| body(&data)).is_err() {
                failed.push(path);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_target_has_seeds_and_a_fuzz_target_and_nothing_else_does() {
    let named = |directory: &str| {
        let entries = fs::read_dir(root().join(directory)).expect("a directory");
        let mut names: Vec<String> = entries
            .map(|entry| {
                let name = entry.expect("an entry").file_name();
                name.to_string_lossy().trim_end_matches(".rs").to_owned()
            })
            .collect();
        names.sort();
        names
    };
    let targets = TARGETS.map(|(name, _)| name.to_owned());
    assert_eq!(named("corpus"), targets);
    assert_eq!(named("fuzz_targets"), targets);
    let found = if root().join("regressions").exists() { named("regressions") } else { Vec::new() };
    for target in found {
        assert!(targets.contains(&target), "{target} is no target");
    }
    for (target, _) in TARGETS {
        assert!(!inputs("corpus", target).is_empty(), "{target} has seeds");
    }
}

#[test]
fn the_corpora_stay_small() {
    let size = |path: PathBuf| fs::metadata(path).expect("an input").len();
    let all = TARGETS.iter().flat_map(|(target, _)| {
        inputs("corpus", target).into_iter().chain(inputs("regressions", target))
    });
    let total: u64 = all.map(size).sum();
    assert!(total < MOST_BYTES, "{total} bytes");
}
