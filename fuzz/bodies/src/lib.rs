//! What each fuzz target checks: that outside text of one kind is read without a panic, and that what
//! was read keeps its promises.
//!
//! The fuzzer (`make fuzz`) and a plain test, which replays every input of `fuzz/corpus` and
//! `fuzz/regressions`, call the same functions.

mod arguments;
mod code;
mod config;
mod documents;
mod edited;
mod grants;
mod homes;
mod instants;
mod journals;
mod jsons;
mod messages;
mod redactions;

/// A target by the name that its corpus has.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 22] = [
    ("acknowledgements", documents::acknowledgements),
    ("arguments", arguments::arguments),
    ("config", config::config),
    ("engine_state", documents::engine_state),
    ("erase", code::erase),
    ("events", documents::events),
    ("grant", grants::grant),
    ("home", homes::home),
    ("instant", instants::instant),
    ("journal", journals::journal),
    ("json", jsons::json),
    ("literal_manifest", code::literal_manifest),
    ("manifest", documents::manifest),
    ("manifest_source", code::manifest_source),
    ("preferences", documents::preferences),
    ("protocol", messages::protocol),
    ("python", code::python),
    ("redact", redactions::redact),
    ("run_artifact", documents::run_artifact),
    ("run_log", documents::run_log),
    ("skill_result", documents::skill_result),
    ("typescript", code::typescript),
];

/// Gives one input to a target.
///
/// # Panics
///
/// Where the target finds a promise broken, and for a name that no target has.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, body) = target.unwrap_or_else(|| panic!("no target is called {name}"));
    body(data);
}
