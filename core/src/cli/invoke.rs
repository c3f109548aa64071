//! `run`: one handler, started by a person. Typing the command is itself the yes.

use crate::decide::attempt::is_handoff;
use crate::engine::{Invocation, InvokeOptions, Isolation, Witness};
use crate::json::{JsString, Map, Value, number_text};
use crate::schema::skill_result::ResultStatus;

use super::context::Context;
use super::fleet::Fleet;
use super::refusal::hint_line;
use super::{exit, names, paint, text};

/// The options of the verb.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub plugin: JsString,
    pub action: JsString,
    pub input: Map,
    pub retries: Option<u32>,
    pub isolation: Isolation,
    pub json: bool,
}

/// Invokes, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>, options: Options) -> i32 {
    let Options { plugin, action, mut input, retries, isolation, json } = options;
    let loaded = context.fleet.load_in(&context.paths.plugins, isolation).await;
    match loaded.manifest(&plugin) {
        Some(manifest) if manifest.side_effects.is_empty() => {}
        Some(manifest) => {
            let effects: Vec<&str> =
                manifest.side_effects.iter().map(|effect| effect.as_str()).collect();
            let name = text::line(&plugin);
            context.note(&format!("{name} declares side effects: {}", effects.join(", ")));
        }
        None => {
            if let Some(hint) = names::refusal(&[&plugin], &loaded).hint {
                context.note(&hint_line(&hint));
            }
        }
    }
    if input.get("action").is_some() {
        context.note(&format!(
            "note: `--input action=...` is ignored, the action is {}",
            text::line(&action)
        ));
    }
    input.insert("action", &action);
    let asked = InvokeOptions {
        paths: context.overrides(),
        max_retries: retries,
        persist_artifact: true,
        user_initiated: true,
        args: input,
        isolation,
        ..InvokeOptions::default()
    };
    let call = context.fleet.invoke(
        &context.environment,
        &plugin,
        &asked,
        &Witness::ManualRun,
        &context.cancel,
    );
    match call.await {
        Ok(ended) => {
            context.report(json, || to_value(&ended), || render(&ended, &action));
            exit_code(&ended)
        }
        Err(error) => context.fail(&error),
    }
}

fn exit_code(ended: &Invocation) -> i32 {
    match ended.result.status {
        _ if ended.cancelled => exit::INTERRUPTED,
        ResultStatus::Failed => exit::FAILED,
        ResultStatus::Success | ResultStatus::Partial | ResultStatus::Skipped => exit::DONE,
    }
}

/// What went wrong, for a result that is failed.
fn error(ended: &Invocation) -> Option<JsString> {
    if ended.result.status != ResultStatus::Failed {
        return None;
    }
    let first = ended.result.errors.first().map(|error| error.message.clone());
    Some(ended.final_error.clone().or(first).unwrap_or_else(|| ended.result.summary.clone()))
}

/// `{ok, error?, duration_ms, attempt_count, cancelled, timed_out}`.
fn to_value(ended: &Invocation) -> Value {
    let mut map = Map::new();
    map.insert("ok", ended.result.status != ResultStatus::Failed);
    map.insert_some("error", error(ended));
    map.insert("duration_ms", ended.duration_ms);
    map.insert("attempt_count", ended.attempt_count);
    map.insert("cancelled", ended.cancelled);
    map.insert("timed_out", ended.timed_out);
    map.into()
}

fn render(ended: &Invocation, action: &JsString) -> String {
    let how = match ended.result.status {
        _ if ended.cancelled => "was interrupted",
        _ if ended.timed_out => "timed out",
        ResultStatus::Failed => "failed",
        ResultStatus::Partial => "succeeded in part",
        ResultStatus::Skipped if is_handoff(&ended.result) => "handed its work to a model",
        ResultStatus::Skipped => "skipped its work",
        ResultStatus::Success => "succeeded",
    };
    let how = match ended.result.status {
        ResultStatus::Failed => paint::failed(how),
        ResultStatus::Partial => paint::waits(how),
        ResultStatus::Success => paint::ok(how),
        ResultStatus::Skipped => paint::faint(how),
    };
    let mut lines = vec![format!(
        "{} {} {how}: {} ms, {} (run {})",
        text::line(&ended.plugin),
        text::line(action),
        number_text(ended.duration_ms),
        text::count(ended.attempt_count as usize, "attempt"),
        text::line(&ended.run_id)
    )];
    match error(ended) {
        Some(error) => lines.push(format!("  {}", text::line(&error))),
        None if ended.result.summary.is_empty() => {}
        None => lines.push(format!("  {}", text::line(&ended.result.summary))),
    }
    if let Some(undo) = &ended.result.undo_instruction {
        lines.push(format!("  to undo: {}", text::line(undo)));
    }
    lines.join("\n") + "\n"
}
