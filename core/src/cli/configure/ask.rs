//! The walk through a plugin's inputs: one question each, in declaration order.

use crate::json::{JsString, Map, Value};
use crate::schema::config::an;
use crate::schema::manifest::{Input, Manifest};
use crate::schema::settings;

use super::super::context::Context;
use super::super::input::Ended;
use super::super::text;

/// Asks for every input that may be configured. An empty line takes the value shown; an input without
/// one is left out then.
///
/// # Errors
///
/// [`Ended`] where an answer is still missing; nothing may be written then.
pub(in super::super) async fn walk<F>(
    context: &Context<'_, F>,
    manifest: &Manifest,
    present: &Map,
) -> Result<Map, Ended> {
    let mut chosen = Map::new();
    for (name, input) in settings::askable(manifest) {
        if let Some(value) = ask(context, name, input, present).await? {
            chosen.insert(name.clone(), value);
        }
    }
    Ok(chosen)
}

async fn ask<F>(
    context: &Context<'_, F>,
    name: &JsString,
    input: &Input,
    present: &Map,
) -> Result<Option<Value>, Ended> {
    let proposal = settings::proposal(name, input, present);
    let need = if input.required { "required" } else { "optional" };
    let about = input.description.as_ref().map(|about| format!(": {}", text::line(about)));
    let about = about.unwrap_or_default();
    context.note(&format!("{} ({}, {need}){about}", text::line(name), input.kind));
    let prompt = proposal.map(|value| format!("[{}]", shown(value))).unwrap_or_default() + "> ";
    loop {
        context.io.err.write(&prompt);
        let line = context.io.input.line(&context.cancel).await;
        // Whatever comes next begins a line of its own.
        let line = line.inspect_err(|_| context.io.err.write("\n"))?;
        if line.is_empty() {
            return Ok(proposal.cloned());
        }
        let answer = str::from_utf8(&line).ok().and_then(|line| settings::answer(line, input.kind));
        if answer.is_some() {
            return Ok(answer);
        }
        context.note(&format!("`{}` must be {}", text::line(name), an(input.kind)));
    }
}

/// A value as a question shows it: text as it would be typed.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text::line(text),
        value => text::line_str(&value.to_compact()),
    }
}
