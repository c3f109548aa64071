//! What broken writes left is swept away by an advance, once it is old.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use warpline_core::home::faults::Fault;

use crate::checks::leftovers;
use crate::child::{command, left, meet_at};
use crate::place::{LATER, NOW, Place, at};
use crate::scenarios::ALL;

const NEXT_DAY: &str = "2026-08-21T12:05:00.000Z";

/// Gives what lies in a directory, at any depth, the time of the break.
fn set_times(directory: &std::path::Path) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(at(NOW).ms().unsigned_abs());
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            set_times(&path);
        }
        File::open(&path).expect("it is there").set_modified(time).expect("a time");
    }
}

#[test]
fn the_next_days_advance_sweeps_away_what_a_stop_left_and_no_other_does() {
    for (name, operation, part, fault) in [
        ("deny", "Write ", ".engine-state.json.", Fault::StopInside),
        ("init", "MakeDirectory ", ".warpline-", Fault::StopAfter),
    ] {
        let scenario = ALL.iter().find(|scenario| scenario.name == name).expect("a scenario");
        let around = tempfile::tempdir().expect("a directory");
        let is_meant = |line: &str| line.starts_with(operation) && line.contains(part);
        let place = meet_at(around.path(), scenario.words, scenario.prepare, is_meant, fault);
        assert_eq!(left(&place).0, None, "{name} is stopped");
        place.plugin("reader", "");
        assert_eq!(leftovers(&place) + workshops(&place), 1, "{name}");
        set_times(&place.home());
        assert_eq!(command(&place, &["advance"], LATER).code, 0);
        assert_eq!(leftovers(&place) + workshops(&place), 1, "somebody may be writing it: {name}");
        assert_eq!(command(&place, &["advance"], NEXT_DAY).code, 0);
        assert_eq!(leftovers(&place) + workshops(&place), 0, "{name}");
    }
}

/// Empty directories in which something was to be made.
fn workshops(place: &Place) -> usize {
    [place.home(), place.path("node_modules")]
        .iter()
        .flat_map(|directory| fs::read_dir(directory).into_iter().flatten())
        .filter(|entry| {
            let path = entry.as_ref().expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with(".warpline-")
                && fs::read_dir(&path).expect("a directory").next().is_none()
        })
        .count()
}
