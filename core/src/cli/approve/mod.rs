//! `approve`: accepts parked results, or grants plugins their declared side effects.
//!
//! Every name is checked before anything is written. Then either all named plugins have a result
//! that waits, and each is recorded, or none has, and all are granted together.

mod answer;
mod grant;

use crate::answers::Named;

use super::args::Approve;
use super::context::{Context, Refused};
use super::fleet::Fleet;
use super::names;

use answer::Outcome;

/// Answers, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>, options: &Approve) -> i32 {
    let loaded = context.fleet.load(&context.paths.plugins).await;
    let ended = match names::known(&options.plugins, &loaded) {
        Err(refused) => Err(refused),
        Ok(_) if options.plugins.is_empty() => grant::everything(context, options, &loaded),
        Ok(named) => some(context, options, &named),
    };
    ended.unwrap_or_else(|refused| {
        context.refuse(&refused);
        1
    })
}

fn some<F>(
    context: &Context<'_, F>,
    options: &Approve,
    named: &[Named<'_>],
) -> Result<i32, Refused> {
    match answer::answer(context, options, named)? {
        Outcome::Answered(code) => {
            note_ignored(context, options);
            Ok(code)
        }
        Outcome::NothingParked => grant::named(context, options, named),
    }
}

/// Says which options had nothing to set: recording a result writes no grant.
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
            "note: {} ignored: a parked result writes no grant, so there is no grant clock to set",
            given.join(", ")
        ));
    }
}
