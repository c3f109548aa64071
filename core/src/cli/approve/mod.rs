//! `approve`: accepts parked results, or grants plugins their declared side effects.
//!
//! No file changes before all names are known. Then either all named plugins have a result that
//! waits, and each is recorded, or none has, and all are granted together.

mod answer;
mod grant;
mod report;

use crate::answers::Named;

use super::args::Approve;
use super::context::{Context, Refused};
use super::fleet::{Fleet, Loaded};
use super::{exit, names};

use answer::Outcome;
use report::Report;

/// Answers, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>, options: &Approve) -> i32 {
    let loaded = context.fleet.load(&context.paths.plugins).await;
    match answer(context, options, &loaded) {
        Ok((report, code)) => {
            context.report(options.json, || report.to_value(), || report.to_text());
            code
        }
        Err(refused) => {
            context.refuse(&refused);
            exit::FAILED
        }
    }
}

fn answer<F>(
    context: &Context<'_, F>,
    options: &Approve,
    loaded: &Loaded,
) -> Result<(Report, i32), Refused> {
    let named = names::known(&options.plugins, loaded)?;
    if named.is_empty() {
        let granted = Some(grant::everything(context, options, loaded)?);
        return Ok((Report { results: Vec::new(), granted }, exit::DONE));
    }
    let now = context.now();
    match answer::answer(context, options, &named, now)? {
        Outcome::Answered { results, code } => {
            note_ignored(context, options);
            Ok((Report { results, granted: None }, code))
        }
        Outcome::Granted { results, merged } => {
            let granted = Some(grant::named(&named, merged, now));
            Ok((Report { results, granted }, exit::DONE))
        }
    }
}

/// Says which options had nothing to set: recording a result leaves the grant file alone.
fn note_ignored<F>(context: &Context<'_, F>, options: &Approve) {
    let given = [
        ("--ttl", options.ttl.is_some()),
        ("--long", options.long),
        ("--replace", options.replace),
    ];
    let given: Vec<&str> =
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
    if !given.is_empty() {
        context.note(&format!(
            "note: {} ignored: accepting a parked result leaves the grant file alone",
            given.join(", ")
        ));
    }
}
