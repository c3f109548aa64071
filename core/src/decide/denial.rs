//! Denials: which proposal a human's no answers, and whether it still does.

use sha2::{Digest, Sha256};

use crate::json::{JsString, Map};
use crate::schema::engine_state::{Denial, EngineState};
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

    #[test]
    fn a_fingerprint_is_sixty_four_lower_case_hex_digits() {
        let value = hash("p", &[SideEffect::SendsEmail], &[body("report", "x")]);
        assert_eq!(value.len(), 64);
        assert!(value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    }

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
}
