//! `advance`: one pass over the fleet, reported.

use std::path::Path;

use crate::decide::{gate, quiet};
use crate::engine::{AdvanceOptions, AdvanceResult, Isolation, PluginState};
use crate::error::Error;
use crate::home::{preferences, state};
use crate::json::{JsString, Value};
use crate::schema::manifest::RunProfile;
use crate::schema::preferences::QuietHours;
use crate::schema::run_log::{AdvanceStatus, EntryStatus};

use super::context::{Context, Refused, path_text};
use super::fleet::Fleet;
use super::plan::{can_be_accepted, prospect_text};
use super::progress::watched;
use super::{exit, paint, text};

/// What can be done where there is no home. Under a timer it is mostly somewhere else.
const NO_HOME: &str = "`--home` or WARPLINE_HOME says where the home is; `warpline init` makes one where there is none";

/// The options of the verb.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    pub profile: Option<RunProfile>,
    pub force: bool,
    pub dry_run: bool,
    pub strict: bool,
    pub isolation: Isolation,
    pub json: bool,
}

/// Advances, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>, options: Options) -> i32 {
    if context.paths.lacks_home() && !options.dry_run {
        let home = path_text(&context.paths.home);
        let refused = Refused::new(format!("there is no home at {home}"));
        context.refuse(&refused.hint(NO_HOME));
        return exit::COULD_NOT_RUN;
    }
    let asked = AdvanceOptions {
        dry_run: options.dry_run,
        force: options.force,
        profile: options.profile,
        paths: context.overrides(),
        isolation: options.isolation,
        ..AdvanceOptions::default()
    };
    let pass = context.fleet.advance(&context.environment, &asked, &context.cancel);
    let (environment, cancel) = (&context.environment, &context.cancel);
    let running = || context.fleet.running();
    let result = match watched(context.io, environment, cancel, running, pass).await {
        Ok(result) => result,
        Err(error) => {
            let refused = Refused::from(&error);
            let lost = lacks_home(&error, &context.paths.home);
            context.refuse(&if lost { refused.hint(NO_HOME) } else { refused });
            return refusal_code(&error);
        }
    };
    let code = exit_code(&result, options.strict, || {
        let document = state::load_read_only(&context.paths, context.now());
        document.pending_gates.iter().any(|gate| gate.applied_at.is_none())
    });
    let questions = match options.json {
        true => String::new(),
        false => questions(context, &result, options.isolation).await,
    };
    if options.strict && code == exit::FAILED && !has_failed(&result) {
        context.note("note: --strict makes this exit 1: a result waits for an answer, or a plugin for a grant");
    }
    context.report(
        options.json,
        || {
            let mut report = result.to_value();
            if let Some(map) = report.as_object_mut() {
                map.insert("exit_code", Value::Number(code.into()));
            }
            report
        },
        || render(&result, &options, quiet(context, &result, &options)) + &questions,
    );
    code
}

/// Whether it is the home itself that is missing, and with it the folder of plugins.
fn lacks_home(error: &Error, home: &Path) -> bool {
    match error {
        Error::PluginRoot { path, code } => {
            code == "ENOENT" && path.starts_with(home) && !home.is_dir()
        }
        _ => false,
    }
}

/// The exit code of an advance without a result. Only what was refused before anything was written
/// invites a scheduler to try again.
fn refusal_code(error: &Error) -> i32 {
    match error {
        Error::NotRecorded { .. } => exit::FAILED,
        Error::Option { .. } | Error::UnknownOption { .. } | Error::Host { .. } => exit::FAILED,
        _ => exit::COULD_NOT_RUN,
    }
}

fn has_failed(result: &AdvanceResult) -> bool {
    result.status == AdvanceStatus::Failed
        || result.plugin_states.values().any(|state| *state == PluginState::Failed)
}

fn exit_code(result: &AdvanceResult, strict: bool, gate_waits: impl FnOnce() -> bool) -> i32 {
    let failed = has_failed(result);
    match result.status {
        AdvanceStatus::Interrupted => exit::INTERRUPTED,
        AdvanceStatus::Failed => exit::FAILED,
        AdvanceStatus::Complete | AdvanceStatus::Partial if failed => exit::FAILED,
        AdvanceStatus::Complete | AdvanceStatus::Partial if strict => {
            let waits = !result.unapproved_plugins.is_empty()
                || !result.gated_plugins.is_empty()
                || gate_waits();
            if waits { exit::FAILED } else { exit::DONE }
        }
        AdvanceStatus::Complete | AdvanceStatus::Partial => exit::DONE,
    }
}

/// The quiet hours that kept everything from running.
fn quiet<F>(
    context: &Context<'_, F>,
    result: &AdvanceResult,
    options: &Options,
) -> Option<QuietHours> {
    let window = preferences::read(&context.paths).ok()?.quiet_hours;
    let minute = context.now().local_minute();
    let skipped = quiet::skips_advance(window, minute, options.force, options.dry_run);
    window.filter(|_| skipped && result.run_log_path.is_none())
}

fn render(result: &AdvanceResult, options: &Options, quiet: Option<QuietHours>) -> String {
    let dry_run = options.dry_run;
    let kind = if dry_run { "Dry run" } else { "Run" };
    let status = paint::outcome(result.status.as_str(), result.status);
    let mut lines = vec![format!("{kind} {}: {status}", text::line(&result.run_id))];
    let entries = result.plugin_entries.iter().map(|entry| {
        let summary = text::line(&entry.result_summary);
        let summary = summary.strip_prefix("skipped: ").unwrap_or(&summary);
        let took = match entry.status {
            EntryStatus::Completed | EntryStatus::Failed | EntryStatus::Gated => {
                paint::faint(format!(" ({} ms)", crate::json::number_text(entry.elapsed_ms)))
            }
            EntryStatus::Skipped | EntryStatus::Denied => String::new(),
        };
        row(&entry_state(entry.status), &entry.plugin, &format!(" — {summary}{took}"))
    });
    lines.extend(entries);
    for (name, state) in &result.plugin_states {
        if *state == PluginState::Pending {
            lines.push(row(&paint::faint(format!("{state:<9}")), name, ""));
        }
    }
    if let Some(window) = quiet {
        lines.push(format!(
            "Quiet hours from {window} by preferences.json; `--force` runs all the same."
        ));
    }
    match &result.run_log_path {
        Some(path) => lines.push(format!("Run log: {}", path_text(path))),
        None if dry_run => lines.push("Nothing was written.".to_owned()),
        None => lines.push("No run log was written.".to_owned()),
    }
    lines.join("\n") + "\n"
}

/// What a person is asked now: whether what was parked counts, and what its plugins declare.
async fn questions<F: Fleet>(
    context: &Context<'_, F>,
    result: &AdvanceResult,
    isolation: Isolation,
) -> String {
    let gated = &result.gated_plugins;
    if gated.is_empty() {
        return String::new();
    }
    let loaded = context.fleet.load_in(&context.paths.plugins, isolation).await;
    let now = context.now();
    let document = state::load_read_only(&context.paths, now);
    let mut accepted = Vec::new();
    let mut lines = vec![paint::waits(format!("Waiting for an answer ({}):", gated.len()))];
    for name in gated {
        let effects = loaded.manifest(name).map_or_else(
            || "unknown, it does not load any more".to_owned(),
            |manifest| text::effects(&manifest.side_effects),
        );
        lines.push(format!("  {} — declared side effects: {effects}", text::line(name)));
        // What was parked now may have been answered, or have met its end, since.
        let waiting = gate::waiting(&document, name).filter(|gate| gate.run_id == result.run_id);
        let prospect = waiting
            .zip(loaded.manifest(name))
            .map(|(gate, manifest)| gate::prospect(&document, gate, manifest, now));
        if let Some(prospect) = &prospect {
            lines.push(format!("    {}", prospect_text(prospect, now)));
        }
        if prospect.as_ref().is_none_or(can_be_accepted) {
            accepted.push(name);
        }
    }
    if !accepted.is_empty() {
        let run = format!("--run {}", text::word(&result.run_id));
        lines.push(format!("  yes: {}", text::command("approve", accepted, &run)));
    }
    lines.push(format!("  no:  {}", text::command("deny", gated, "")));
    lines.join("\n") + "\n"
}

/// How a plugin ended, as wide as the widest word for it.
fn entry_state(status: EntryStatus) -> String {
    paint::outcome(status.as_str(), format!("{:<9}", status.as_str()))
}

fn row(state: &str, plugin: &JsString, rest: &str) -> String {
    format!("  {state}  {}{rest}", text::line(plugin))
}
