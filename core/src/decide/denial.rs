//! Denials: which proposal a human's no answers, and whether it still does.

use sha2::{Digest, Sha256};

use crate::clock::Instant;
use crate::json::{JsString, Map};
use crate::schema::engine_state::{Denial, EngineState, PendingGate};
use crate::schema::manifest::{Manifest, SideEffect};
use crate::schema::output::{OutputContent, OutputRecord};

/// A proposal, reduced to a value that moves whenever the proposal does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The text that is hashed, as UTF-8.
    pub hashed: String,
    /// Its SHA-256 in lower-case hex.
    pub sha256: String,
}

/// How a recorded denial relates to the live proposal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing<'a> {
    /// None is recorded.
    None,
    /// It answers the live proposal.
    Live(&'a Denial),
    /// The proposal has changed since.
    Superseded(&'a Denial),
}

/// What became of a human's no.
#[derive(Clone, Debug, PartialEq)]
pub enum Denied {
    /// This denial answers the same proposal already, and no result waits: nothing changed.
    Unchanged(Denial),
    /// It is on record.
    Recorded {
        /// The record.
        denial: Denial,
        /// The runs whose parked result was discarded with it, oldest first.
        discarded: Vec<JsString>,
    },
}

/// Records a no to what `plugin` proposes now, and discards the results of it that wait.
///
/// The gate of a result that was accepted stays: it is the trace of a yes that was given. The
/// plugin's run record stays as well, since the denial is bound to the output in it.
pub fn deny(
    state: &mut EngineState,
    plugin: &JsString,
    manifest: &Manifest,
    note: Option<&JsString>,
    now: Instant,
) -> Denied {
    let waits = |gate: &PendingGate| gate.plugin == *plugin && gate.applied_at.is_none();
    let waiting = state.pending_gates.iter().filter(|gate| waits(gate));
    let discarded: Vec<JsString> = waiting.map(|gate| gate.run_id.clone()).collect();
    if discarded.is_empty()
        && let Standing::Live(denial) = standing(plugin, manifest, state)
    {
        return Denied::Unchanged(denial.clone());
    }
    let reason = match discarded.last() {
        Some(run_id) => {
            JsString::from("the operator declined the parked result from run ").concat(run_id)
        }
        None => "the operator declined this proposal".into(),
    };
    let denial = Denial {
        plugin: plugin.clone(),
        reason,
        denied_at: now.to_iso().into(),
        note: note.cloned(),
        fingerprint: proposal_fingerprint(plugin, manifest, state).into(),
    };
    state.pending_gates.retain(|gate| !waits(gate));
    state.denials.insert(plugin.clone(), denial.clone());
    Denied::Recorded { denial, discarded }
}

/// The fingerprint of what a plugin proposes. It is made of its directory name, its declared effects
/// and its outputs; their order does not matter.
pub fn fingerprint(
    plugin: &JsString,
    side_effects: &[SideEffect],
    outputs: &[OutputRecord],
) -> Fingerprint {
    let mut effects: Vec<&str> = side_effects.iter().map(|effect| effect.as_str()).collect();
    effects.sort_unstable();
    let mut keys: Vec<JsString> = outputs.iter().map(output_key).collect();
    keys.sort_unstable();
    let mut proposal = Map::new();
    proposal.insert("plugin", plugin);
    proposal.insert("side_effects", effects);
    proposal.insert("outputs", keys);
    let hashed = crate::json::Value::from(proposal).to_compact();
    let sha256 = sha256_hex(&hashed);
    Fingerprint { hashed, sha256 }
}

/// The fingerprint of what the plugin proposes now: its last output enters, a parked gate does not.
pub fn proposal_fingerprint(plugin: &JsString, manifest: &Manifest, state: &EngineState) -> String {
    let run = state.plugin_runs.get(plugin);
    let output = run.map_or(&[][..], |run| run.last_output.as_slice());
    fingerprint(plugin, &manifest.side_effects, output).sha256
}

/// Whether the denial on file, if any, answers what the plugin proposes now.
pub fn standing<'a>(
    plugin: &JsString,
    manifest: &Manifest,
    state: &'a EngineState,
) -> Standing<'a> {
    let Some(denial) = state.denials.get(plugin) else {
        return Standing::None;
    };
    if denial.fingerprint == *proposal_fingerprint(plugin, manifest, state).as_str() {
        Standing::Live(denial)
    } else {
        Standing::Superseded(denial)
    }
}

/// `<type>|path:<path>` or `<type>|body:<sha256 of the body>`.
fn output_key(output: &OutputRecord) -> JsString {
    let content = match &output.content {
        OutputContent::Path(path) => JsString::from("|path:").concat(path),
        OutputContent::Body(body) => format!("|body:{}", sha256_hex(&body.to_text())).into(),
    };
    output.kind.concat(&content)
}

fn sha256_hex(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    digest.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures;
    use crate::schema::engine_state::RunStatus;

    fn path(kind: &str, path: &str) -> OutputRecord {
        OutputRecord { kind: kind.into(), ..fixtures::output(path, "r") }
    }

    fn body(kind: &str, body: &str) -> OutputRecord {
        OutputRecord { content: OutputContent::Body(body.into()), ..path(kind, "") }
    }

    fn hash(plugin: &str, effects: &[SideEffect], outputs: &[OutputRecord]) -> String {
        fingerprint(&plugin.into(), effects, outputs).sha256
    }

    /// Cases: T079, T087.
    #[test]
    fn a_fingerprint_is_sixty_four_lower_case_hex_digits() {
        let value = hash("p", &[SideEffect::SendsEmail], &[body("report", "x")]);
        assert_eq!(value.len(), 64);
        assert!(value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    }

    /// Cases: T080, T083, T084, T086, T087, T088.
    #[test]
    fn everything_that_makes_a_proposal_moves_it() {
        let values = [
            hash("p", &[], &[]),
            hash("q", &[], &[]),
            hash("p", &[SideEffect::WritesDb], &[]),
            hash("p", &[], &[path("draft", "brief.md")]),
            hash("p", &[], &[path("report", "brief.md")]),
            hash("p", &[], &[path("report", "other.md")]),
            hash("p", &[], &[body("report", "brief.md")]),
            hash("p", &[], &[body("brief", "brief.md")]),
            hash("p", &[], &[body("brief", "brief.md!")]),
        ];
        for (at, value) in values.iter().enumerate() {
            assert!(!values[..at].contains(value), "value {at} is not new");
        }
        assert_eq!(values[0], hash("p", &[], &[]));
    }

    /// Cases: T082.
    #[test]
    fn the_order_of_effects_and_outputs_does_not_matter() {
        let (a, b) = (path("report", "a"), body("brief", "x"));
        let (mail, db) = (SideEffect::SendsEmail, SideEffect::WritesDb);
        assert_eq!(
            hash("p", &[mail, db], &[a.clone(), b.clone()]),
            hash("p", &[db, mail], &[b, a])
        );
    }

    #[test]
    fn an_unpaired_surrogate_is_hashed_as_javascript_writes_it() {
        let name = JsString::from_utf16(&[0xd800]);
        let fingerprint = fingerprint(&name, &[], &[]);
        assert!(fingerprint.hashed.contains(r#""\ud800""#));
        let lone = OutputRecord { content: OutputContent::Body(name), ..path("report", "") };
        let replaced = body("report", "\u{fffd}");
        assert_eq!(hash("p", &[], &[lone]), hash("p", &[], &[replaced]));
    }

    /// Cases: T090, T091.
    #[test]
    fn the_last_output_moves_the_proposal_and_a_gate_does_not() {
        let (plugin, manifest) = (JsString::from("p"), fixtures::manifest());
        let mut state = fixtures::state();
        let never_ran = proposal_fingerprint(&plugin, &manifest, &state);
        assert_eq!(never_ran, hash("p", &[], &[]));
        let mut run = fixtures::run(fixtures::NOW, RunStatus::Success);
        run.last_output = Some(path("report", "a"));
        state.plugin_runs.insert(plugin.clone(), run);
        let ran = proposal_fingerprint(&plugin, &manifest, &state);
        assert_eq!(ran, hash("p", &[], &[path("report", "a")]));
        state.pending_gates.push(fixtures::gate("p", "r"));
        assert_eq!(proposal_fingerprint(&plugin, &manifest, &state), ran);
    }

    /// Cases: T092.
    #[test]
    fn a_denial_stands_while_the_proposal_does() {
        let (plugin, manifest) = (JsString::from("p"), fixtures::manifest());
        let mut state = fixtures::state();
        assert_eq!(standing(&plugin, &manifest, &state), Standing::None);
        let denial = fixtures::denial("p", &hash("p", &[], &[]));
        state.denials.insert(plugin.clone(), denial.clone());
        assert_eq!(standing(&plugin, &manifest, &state), Standing::Live(&denial));
        let mut changed = manifest.clone();
        changed.side_effects = vec![SideEffect::SendsEmail];
        assert_eq!(standing(&plugin, &changed, &state), Standing::Superseded(&denial));
        assert_eq!(standing(&"constructor".into(), &manifest, &state), Standing::None);
    }

    fn no(state: &mut EngineState, note: Option<&str>, at: &str) -> Denied {
        let note = note.map(JsString::from);
        deny(state, &"p".into(), &fixtures::manifest(), note.as_ref(), fixtures::at(at))
    }

    #[test]
    fn a_no_is_bound_to_the_proposal_and_says_when_and_why() {
        let mut state = fixtures::state();
        let expected = Denial {
            plugin: "p".into(),
            reason: "the operator declined this proposal".into(),
            denied_at: fixtures::NOW.into(),
            note: Some("too chatty this week".into()),
            fingerprint: hash("p", &[], &[]).into(),
        };
        let answer = no(&mut state, Some("too chatty this week"), fixtures::NOW);
        assert_eq!(answer, Denied::Recorded { denial: expected.clone(), discarded: vec![] });
        assert_eq!(state.denials.get(&JsString::from("p")), Some(&expected));
        assert_eq!(state.denials.len(), 1);
    }

    #[test]
    fn the_same_no_again_changes_nothing_and_a_moved_proposal_takes_a_new_one() {
        let mut state = fixtures::state();
        assert!(matches!(no(&mut state, None, fixtures::NOW), Denied::Recorded { .. }));
        let (once, first) = (state.clone(), state.denials[0].clone());
        let again = no(&mut state, Some("other words"), "2026-08-20T13:00:00.000Z");
        assert_eq!(again, Denied::Unchanged(first.clone()));
        assert_eq!(state, once);
        let mut run = fixtures::run(fixtures::NOW, RunStatus::Success);
        run.last_output = Some(path("report", "a"));
        state.plugin_runs.insert("p".into(), run);
        let moved = no(&mut state, None, "2026-08-20T14:00:00.000Z");
        assert!(matches!(moved, Denied::Recorded { .. }));
        assert_eq!(state.denials.len(), 1);
        assert_ne!(state.denials[0].fingerprint, first.fingerprint);
        assert_eq!(state.denials[0].denied_at, "2026-08-20T14:00:00.000Z");
    }

    #[test]
    fn a_no_discards_what_waits_and_leaves_what_was_accepted() {
        let mut state = fixtures::state();
        let mut run = fixtures::run(fixtures::NOW, RunStatus::Gated);
        run.last_output = Some(path("report", "a"));
        state.plugin_runs.insert("p".into(), run);
        let mut applied = fixtures::gate("p", "run-0");
        applied.applied_at = Some(fixtures::NOW.into());
        let mut unusable = fixtures::gate("p", "run-a");
        unusable.run_completed_at = None;
        let other = fixtures::gate("q", "run-a");
        state.pending_gates = vec![applied.clone(), unusable, other.clone()];
        let runs = state.plugin_runs.clone();
        let Denied::Recorded { denial, discarded } = no(&mut state, None, fixtures::NOW) else {
            panic!("it is recorded")
        };
        assert_eq!(denial.reason, "the operator declined the parked result from run run-a");
        assert_eq!(discarded, [JsString::from("run-a")]);
        assert_eq!(state.pending_gates, [applied, other]);
        assert_eq!(state.plugin_runs, runs);
        let manifest = fixtures::manifest();
        assert!(matches!(standing(&"p".into(), &manifest, &state), Standing::Live(_)));
    }

    #[test]
    fn a_result_that_was_parked_under_a_standing_no_is_discarded_by_the_next_one() {
        let mut state = fixtures::state();
        no(&mut state, None, fixtures::NOW);
        state.pending_gates.push(fixtures::gate("p", "r1"));
        let answer = no(&mut state, None, "2026-08-20T13:00:00.000Z");
        assert!(matches!(answer, Denied::Recorded { discarded, .. } if discarded == ["r1"]));
        assert!(state.pending_gates.is_empty());
    }
}
