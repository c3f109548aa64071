//! `status`: how the home stands, on one screen. Writes nothing, locks nothing.

mod json;
mod model;
mod render;

use super::context::Context;
use super::fleet::Fleet;
use super::plan;

/// Shows how the home stands, and returns the exit code, which is that of `plan`.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>, json: bool) -> i32 {
    let paths = &context.paths;
    let loaded = context.fleet.load(&paths.plugins).await;
    let facts = plan::facts(paths, None, context.now());
    let (status, fault) = model::look(paths, &loaded, &facts);
    context.report(json, || status.to_value(), || status.to_text());
    if let Some(fault) = fault {
        context.note(&format!("note: {fault}; the count of notices is not right"));
    }
    i32::from(status.plan.is_incomplete())
}
