//! The seeded faults of `make faults` fit the source: one that does not would show nothing.

use std::collections::BTreeSet;
use std::path::Path;

use warpline_core::json::{JsString, Value, parse};

fn text(fault: &Value, key: &str) -> String {
    let value = fault.get(key).unwrap_or_else(|| panic!("no {key} in {}", fault.to_compact()));
    match value.as_array() {
        Some(lines) => {
            let lines = lines.iter().map(|line| line.as_string().map(JsString::to_text));
            lines.map(|line| line.expect("a line")).collect::<Vec<_>>().join("\n")
        }
        None => value.as_string().map(JsString::to_text).expect("text or lines"),
    }
}

#[test]
fn every_seeded_fault_fits_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let file = std::fs::read_to_string(root.join("tests/faults/faults.json")).expect("the table");
    let faults = parse(&file).expect("JSON");
    let faults = faults.as_array().expect("a list");
    assert!(faults.len() >= 15, "{} faults", faults.len());
    let mut names = BTreeSet::new();
    for fault in faults.iter() {
        let (name, file) = (text(fault, "fault"), text(fault, "file"));
        let source = std::fs::read_to_string(root.join(&file)).expect("the source");
        let (from, to) = (text(fault, "from"), text(fault, "to"));
        assert_eq!(
            source.matches(&from).count(),
            1,
            "`{name}`: how often its text stands in {file}"
        );
        assert_ne!(from, to, "`{name}` changes nothing");
        assert!(names.insert(name.clone()), "`{name}` twice");
    }
}
