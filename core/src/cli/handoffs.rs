//! `handoffs`: the work that waits for a model. Writes nothing, locks nothing.

use crate::clock::Instant;
use crate::home::handoffs::{self, Handoff};
use crate::home::history::Catalog;
use crate::home::pointers::ContextFile;
use crate::home::state;
use crate::json::{Map, Value};

use super::context::Context;
use super::{exit, paint, text};

/// Shows the open hand-offs, and returns the exit code.
pub(super) fn run<F>(context: &Context<'_, F>, json: bool) -> i32 {
    let now = context.now();
    let (document, unusable) = state::preview(&context.paths, now);
    if let Some(error) = unusable {
        context.note(&format!("note: {error}; no hand-off of an advance is shown"));
    }
    let open = handoffs::open(&context.paths, &Catalog::of(&context.paths), &document);
    context.report(
        json,
        || open.iter().map(to_value).collect::<Vec<_>>().into(),
        || match open.len() {
            0 => "No open hand-offs.\n".to_owned(),
            count => open
                .iter()
                .map(|one| to_text(one, now))
                .fold(paint::waits(format!("Hand-offs ({count}):")) + "\n", |all, one| all + &one),
        },
    );
    exit::DONE
}

/// `{plugin, task, context_path, context, run_id, by_hand, ended_at}`.
pub(super) fn to_value(handoff: &Handoff) -> Value {
    let mut map = Map::new();
    map.insert("plugin", &handoff.plugin);
    map.insert("task", handoff.task.as_ref());
    map.insert("context_path", handoff.context_path.as_ref());
    map.insert("context", handoff.context);
    map.insert("run_id", handoff.run_id.as_ref());
    map.insert("by_hand", handoff.direct);
    map.insert("ended_at", &handoff.ended_at);
    map.into()
}

/// Plugin, `most` characters of the task, and age in one line.
pub(super) fn headline(handoff: &Handoff, now: Instant, most: usize) -> String {
    let age = text::ago(&handoff.ended_at, now).unwrap_or_else(|| "at an unknown time".to_owned());
    let age = paint::faint(age);
    let task = handoff.task.as_ref().map(text::line);
    let task = task.unwrap_or_else(|| "its run is no longer retained, nor is its task".to_owned());
    let task = text::brief(&task, most);
    let hand = if handoff.direct { ", by hand" } else { "" };
    format!("  {} — {task} ({age}{hand})\n", text::line(&handoff.plugin))
}

fn to_text(handoff: &Handoff, now: Instant) -> String {
    let mut lines = headline(handoff, now, usize::MAX);
    if let Some(path) = &handoff.context_path {
        let state = match handoff.context {
            ContextFile::Present | ContextFile::Unnamed => String::new(),
            ContextFile::Missing => paint::failed(", which is gone"),
            ContextFile::Outside => paint::failed(", which lies outside of the home"),
        };
        lines.push_str(&format!("    context: {}{state}\n", text::line(path)));
    }
    lines.push_str(&format!("    ended: {}\n", text::at(&handoff.ended_at)));
    if let Some(run_id) = &handoff.run_id {
        lines.push_str(&format!("    run: {}\n", text::line(run_id)));
    }
    lines
}
