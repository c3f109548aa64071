//! What a handler is told of the engine, and the question every caller has to answer.

use warpline_core::engine::{InvokeOptions, Witness};
use warpline_core::json::parse;
use warpline_core::schema::engine_state::PluginRun;

use crate::support::{Fleet, at, keys, ok, text_at};

/// Cases: T337, T542.
#[tokio::test(start_paused = true)]
async fn a_handler_is_told_who_calls_its_secrets_and_its_dependencies_and_nothing_more() {
    let fleet = Fleet::new();
    fleet.plugin("prod", "", |_| async { ok("made", r#""artifacts_produced":["a.md"]"#) });
    fleet.spy("other", "");
    let seen = fleet.spy("reader", r#""dependencies":["prod","never"]"#);
    let result = fleet.advance().await;
    let seen = seen.lock().unwrap();
    let context = &seen[0].context;
    assert_eq!(keys(context), ["caller", "secrets", "dependencies"]);
    assert_eq!(text_at(context, "caller.plugin"), "reader");
    assert_eq!(text_at(context, "caller.runId"), result.run_id.to_text());
    assert_eq!(keys(at(context, "dependencies")), ["prod", "never"]);
    assert_eq!(text_at(context, "dependencies.prod.output.path"), "a.md");
    assert_eq!(at(context, "dependencies.never").to_compact(), r#"{"output":null,"run":null}"#);
    assert_eq!(text_at(&seen[0].manifest, "name"), "reader");
    assert!(!seen[0].prints, "an advance has no transcript, and there is no secret");
}

#[tokio::test(start_paused = true)]
async fn a_direct_invocation_knows_what_its_caller_says_of_dependencies() {
    let fleet = Fleet::new();
    let seen = fleet.spy("reader", r#""dependencies":["prod"]"#);
    let run = parse(r#"{"last_run_at":"2026-08-20","status":"partial"}"#).unwrap();
    let run = PluginRun::parse(&run).unwrap();
    let dependency_runs =
        [("prod".into(), run.clone()), ("undeclared".into(), run)].into_iter().collect();
    let told = InvokeOptions { dependency_runs, ..InvokeOptions::default() };
    for (options, expected) in [
        (InvokeOptions::default(), r#"{"prod":{"output":null,"run":null}}"#),
        (told, r#"{"prod":{"output":null,"run":"partial"}}"#),
    ] {
        fleet.invoke("reader", options).await;
        let seen = seen.lock().unwrap();
        let context = &seen.last().unwrap().context;
        assert_eq!(at(context, "dependencies").to_compact(), expected);
    }
    assert!(!fleet.paths.state_file.exists(), "no state is read or written");
}

#[tokio::test(start_paused = true)]
async fn a_witness_that_cannot_be_true_is_refused() {
    let fleet = Fleet::new();
    fleet.spy("plain", "");
    fleet.spy("sender", r#""side_effects":["sends_email"]"#);
    let granted = |scope: &str| Witness::Granted { scope: scope.into() };
    for (plugin, witness, runs) in [
        ("plain", Witness::NoDeclaredSideEffects, true),
        ("plain", Witness::ManualRun, true),
        ("sender", Witness::NoDeclaredSideEffects, false),
        ("sender", Witness::ManualRun, true),
        ("sender", granted("sender"), true),
        ("sender", granted("*"), true),
        ("sender", granted("plain"), false),
        ("sender", granted(""), false),
    ] {
        let before = fleet.started().len();
        let outcome = fleet
            .engine
            .invoke(
                &fleet.environment,
                &plugin.into(),
                &InvokeOptions::default(),
                &witness,
                1,
                &fleet.cancel,
            )
            .await;
        assert_eq!(outcome.is_ok(), runs, "{plugin} {witness:?}");
        assert_eq!(fleet.started().len() - before, usize::from(runs));
        if let Err(error) = outcome {
            assert!(error.to_string().contains("`witness`"), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_id_that_cannot_be_a_file_name_is_refused() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    for (id, accepted) in
        [("run.1_a-B", true), (".hidden", false), ("../up", false), ("a/b", false), ("", false)]
    {
        let options = InvokeOptions {
            run_id: Some(id.into()),
            persist_artifact: true,
            ..InvokeOptions::default()
        };
        let witness = Witness::ManualRun;
        let outcome = fleet
            .engine
            .invoke(&fleet.environment, &"p".into(), &options, &witness, 1, &fleet.cancel)
            .await;
        assert_eq!(outcome.is_ok(), accepted, "{id:?}");
    }
    assert_eq!(fleet.calls("p"), 1);
}
