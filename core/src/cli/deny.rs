//! `deny`: says no to what plugins propose, lists such answers, and takes them back.

use crate::answers::{self, Denied, Removed};
use crate::clock::Instant;
use crate::decide::denial::{Standing, standing};
use crate::home::state;
use crate::json::{JsString, Map, Value};
use crate::schema::engine_state::{Denial, EngineState};

use super::args::Deny;
use super::context::{Context, Refused};
use super::fleet::{Fleet, Loaded};
use super::{exit, names, text};

/// Answers, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>, options: &Deny) -> i32 {
    let ended = match options {
        Deny::List { json } => {
            list(context, *json).await;
            Ok(())
        }
        Deny::Remove { plugins, json } => remove(context, plugins, *json),
        Deny::Record { plugins, note, json } => {
            let loaded = context.fleet.load(&context.paths.plugins).await;
            record(context, &loaded, plugins, note.as_ref(), *json)
        }
    };
    match ended {
        Ok(()) => exit::DONE,
        Err(refused) => {
            context.refuse(&refused);
            exit::FAILED
        }
    }
}

fn record<F>(
    context: &Context<'_, F>,
    loaded: &Loaded,
    plugins: &[JsString],
    note: Option<&JsString>,
    json: bool,
) -> Result<(), Refused> {
    let named =
        names::known(plugins, loaded).map_err(|refused| refused.leaving("nothing was denied"))?;
    let answers = answers::deny(&context.paths, &named, note, context.now())
        .map_err(|error| Refused::from(&error))?;
    context.report(json, || answers_value(&answers), || answers_text(&answers));
    for (name, answer) in &answers {
        if note.is_some() && matches!(answer, Denied::Unchanged(_)) {
            context.note(&format!(
                "note: --note ignored for {}: the denial on record keeps its words",
                text::line(name)
            ));
        }
    }
    Ok(())
}

/// `{recorded, discarded: [{plugin, run_id}], unchanged}`; the others list stored records.
fn answers_value(answers: &[(JsString, Denied)]) -> Value {
    let (mut recorded, mut discarded, mut unchanged) = (Vec::new(), Vec::new(), Vec::new());
    for (name, answer) in answers {
        match answer {
            Denied::Unchanged(denial) => unchanged.push(denial.to_value()),
            Denied::Recorded { denial, discarded: runs } => {
                recorded.push(denial.to_value());
                discarded.extend(runs.iter().map(|run_id| {
                    Value::from(Map::from_iter([("plugin", name), ("run_id", run_id)]))
                }));
            }
        }
    }
    let lists = [("recorded", recorded), ("discarded", discarded), ("unchanged", unchanged)];
    Map::from_iter(lists).into()
}

fn answers_text(answers: &[(JsString, Denied)]) -> String {
    let mut lines = Vec::new();
    for (name, answer) in answers {
        let name = text::line(name);
        match answer {
            Denied::Unchanged(denial) => lines.push(format!(
                "{name}: already denied at {}; what it proposes has not changed, so nothing was \
                 written\n",
                text::at(&denial.denied_at)
            )),
            Denied::Recorded { discarded, .. } => {
                lines.push(format!(
                    "{name}: denied; it does not run, and nobody is asked, until what it proposes \
                     changes\n"
                ));
                lines.extend(discarded.iter().map(|run_id| {
                    format!(
                        "  The parked result was discarded: run {}. Taking the denial back asks \
                         again, and does not bring it back\n",
                        text::line(run_id)
                    )
                }));
            }
        }
    }
    lines.concat()
}

fn remove<F>(context: &Context<'_, F>, plugins: &[JsString], json: bool) -> Result<(), Refused> {
    let removed = answers::remove_denials(&context.paths, plugins, context.now())
        .map_err(|error| Refused::from(&error))?;
    match removed {
        Removed::Removed(denials) => {
            context.report(json, || removed_value(&denials), || removed_text(&denials));
            Ok(())
        }
        Removed::Unknown { missing, denied } => {
            let message = format!("no denial is recorded for {}", names::list(&missing));
            let refused = Refused::new(message).leaving("nothing was removed");
            let list = "`warpline deny --list` shows the denials on record";
            Err(refused.hint_near(&missing, &denied, list))
        }
    }
}

/// `{removed}`, the stored records.
fn removed_value(denials: &[Denial]) -> Value {
    let removed: Vec<Value> = denials.iter().map(Denial::to_value).collect();
    Map::from_iter([("removed", removed)]).into()
}

fn removed_text(denials: &[Denial]) -> String {
    let line = |denial: &Denial| {
        format!(
            "{}: the denial of {} is taken back; the next advance asks again\n",
            text::line(&denial.plugin),
            text::at(&denial.denied_at)
        )
    };
    denials.iter().map(line).collect()
}

async fn list<F: Fleet>(context: &Context<'_, F>, as_json: bool) {
    let (document, unusable) = state::preview(&context.paths, context.now());
    if let Some(error) = unusable {
        context.note(&format!("note: {error}; no denial in it is shown"));
    }
    // Only the text needs the plugins: it says which denials still hold.
    let loaded = if as_json || document.denials.is_empty() {
        Loaded::default()
    } else {
        context.fleet.load(&context.paths.plugins).await
    };
    context.report(
        as_json,
        || {
            let denials: Vec<Value> = document.denials.values().map(Denial::to_value).collect();
            denials.into()
        },
        || listing(&document, &loaded, context.now()),
    );
}

fn listing(document: &EngineState, loaded: &Loaded, now: Instant) -> String {
    if document.denials.is_empty() {
        return "No denials.\n".to_owned();
    }
    let mut lines = vec![format!("Denials ({}):", document.denials.len())];
    for (name, denial) in &document.denials {
        lines.push(format!(
            "  {} — denied at {}: {}",
            text::line(name),
            text::at_ago(&denial.denied_at, now),
            text::line(&denial.reason)
        ));
        if let Some(note) = &denial.note {
            lines.push(format!("    note: {}", text::line(note)));
        }
        match loaded.manifest(name).map(|manifest| standing(name, manifest, document)) {
            Some(Standing::Live(_)) => {}
            Some(Standing::None | Standing::Superseded(_)) => {
                lines.push("    no longer holds: what the plugin proposes has changed".to_owned())
            }
            None => lines.push("    no plugin of this name loads".to_owned()),
        }
    }
    lines.join("\n") + "\n"
}
