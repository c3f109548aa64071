//! What an advance waits for the disk: once for each effect that begins and each that has ended, and never
//! for a plugin that declares none.

use std::fs;

use crate::child::{left, meet};
use crate::place::Place;

/// How often an advance over a fleet flushes a file, the directories of new ones aside.
fn flushes(plugins: usize, effectful: usize) -> usize {
    let around = tempfile::tempdir().expect("a directory");
    let place = Place::new(around.path().to_owned());
    place.grant(r#""*""#);
    for index in 0..plugins {
        let effect = if index < effectful { r#""side_effects":["sends_email"]"# } else { "" };
        place.plugin(&format!("p{index}"), effect);
    }
    meet(&["advance"], &[(place.clone(), None)]);
    assert_eq!(left(&place).0, Some(0), "{}", left(&place).2);
    let passed = fs::read_to_string(place.root.join("passed")).expect("a list");
    passed.lines().filter(|line| line.starts_with("Sync ")).count()
}

#[test]
fn only_declared_effects_wait_for_the_disk() {
    let none = flushes(2, 0);
    assert_eq!(flushes(12, 0), none, "as many as for fewer plugins");
    // The first line of a journal is flushed in any case: here it is that of the first effect.
    assert_eq!(flushes(12, 5), none - 1 + 2 * 5, "one before, one after each");
}
