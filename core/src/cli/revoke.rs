//! `revoke`: takes every grant back.

use crate::answers::revoke_grant;

use crate::json::Map;

use super::context::Context;
use super::exit;

/// Deletes the grant file, reports, and returns the exit code.
pub(super) fn run<F>(context: &Context<'_, F>, json: bool) -> i32 {
    match revoke_grant(&context.paths, context.now()) {
        Ok(revoked) => {
            let done = if revoked.removed {
                "The grant is revoked"
            } else {
                "There is no grant to revoke"
            };
            context.report(
                json,
                || Map::from_iter([("revoked", revoked.removed)]).into(),
                || format!("{done}: every plugin with side effects is unapproved.\n"),
            );
            if let Some(fault) = revoked.fault {
                context.note(&format!("note: {fault}; the grant is gone all the same"));
            }
            exit::DONE
        }
        Err(error) => context.fail(&error),
    }
}
