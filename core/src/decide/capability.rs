//! What a handler may read of the engine: only what its own manifest declares.

use crate::json::{JsString, Map, Record, Value};
use crate::schema::engine_state::PluginRun;
use crate::schema::manifest::Manifest;

/// The value from which a host builds a handler's capabilities.
///
/// `{caller: {plugin, runId}, secrets: [name], dependencies: {name: {output, run}}}`: the names of
/// the secrets that were resolved (never a value), and for each declared dependency the last Output
/// it produced and the status of its last run, `null` where there is none. Neither member needs an
/// approval; records of undeclared plugins are left out, whatever `dependency_runs` holds.
pub fn context(
    manifest: &Manifest,
    plugin: &JsString,
    run_id: &JsString,
    resolved_secret_names: &[JsString],
    dependency_runs: &Record<PluginRun>,
) -> Value {
    let mut caller = Map::new();
    caller.insert("plugin", plugin);
    caller.insert("runId", run_id);
    let secrets: Vec<JsString> = manifest
        .secrets
        .iter()
        .filter(|name| resolved_secret_names.contains(name))
        .cloned()
        .collect();
    let dependencies: Map = manifest
        .dependencies
        .iter()
        .map(|name| (name.clone(), dependency(dependency_runs.get(name))))
        .collect();
    let mut context = Map::new();
    context.insert("caller", caller);
    context.insert("secrets", secrets);
    context.insert("dependencies", dependencies);
    context.into()
}

fn dependency(run: Option<&PluginRun>) -> Value {
    let output = run.and_then(|run| run.last_output.as_ref());
    let mut member = Map::new();
    member.insert("output", output.map(|output| output.to_value()));
    member.insert("run", run.map(|run| run.status));
    member.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures::{manifest, names, output, run};
    use crate::schema::engine_state::RunStatus;
    use crate::schema::manifest::SideEffect;

    /// Cases: T338.
    #[test]
    fn a_handler_is_told_who_calls_and_what_its_manifest_declares() {
        let manifest = Manifest {
            secrets: names(&["TOKEN", "UNRESOLVED", "OTHER"]),
            dependencies: names(&["ran", "produced", "never", "__proto__"]),
            ..manifest()
        };
        let mut produced = run("t", RunStatus::Failed);
        produced.last_output = Some(output("a.md", "r0"));
        let runs: Record<PluginRun> = [
            ("ran".into(), run("t", RunStatus::Success)),
            ("produced".into(), produced),
            ("undeclared".into(), run("t", RunStatus::Success)),
        ]
        .into_iter()
        .collect();
        let resolved = names(&["OTHER", "UNDECLARED", "TOKEN"]);
        let context = context(&manifest, &"dir".into(), &"r1".into(), &resolved, &runs);
        assert_eq!(
            context.to_compact(),
            concat!(
                r#"{"caller":{"plugin":"dir","runId":"r1"},"secrets":["TOKEN","OTHER"],"#,
                r#""dependencies":{"ran":{"output":null,"run":"success"},"#,
                r#""produced":{"output":{"type":"report","format":"markdown","run_id":"r0","#,
                r#""path":"a.md"},"run":"failed"},"#,
                r#""never":{"output":null,"run":null},"__proto__":{"output":null,"run":null}}}"#,
            )
        );
    }

    /// Cases: T332, T333.
    #[test]
    fn no_member_performs_an_effect_so_declaring_effects_adds_and_takes_nothing() {
        let minted = |side_effects: &[SideEffect]| {
            let manifest = Manifest { side_effects: side_effects.to_vec(), ..manifest() };
            context(&manifest, &"p".into(), &"r1".into(), &[], &Record::new()).to_compact()
        };
        let nothing = r#"{"caller":{"plugin":"p","runId":"r1"},"secrets":[],"dependencies":{}}"#;
        assert_eq!(minted(&[]), nothing);
        assert_eq!(SideEffect::ALL.len(), 5);
        assert_eq!(minted(SideEffect::ALL), nothing);
    }

    /// Cases: T335.
    #[test]
    fn effects_compare_by_exact_name() {
        assert_eq!(SideEffect::from_name("external_api"), Some(SideEffect::ExternalApi));
        for name in ["EXTERNAL_API", "external_api ", "external-api", ""] {
            assert_eq!(SideEffect::from_name(name), None);
        }
    }
}
