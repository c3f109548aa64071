//! `revoke`: takes every grant back.

use crate::answers::revoke_grant;

use super::context::Context;
use super::exit;

/// Deletes the grant file, reports, and returns the exit code.
pub(super) fn run<F>(context: &Context<'_, F>) -> i32 {
    match revoke_grant(&context.paths, context.now()) {
        Ok(true) => {
            context.say("The grant is revoked: every plugin with side effects is unapproved.");
            exit::DONE
        }
        Ok(false) => {
            context
                .say("There is no grant to revoke: every plugin with side effects is unapproved.");
            exit::DONE
        }
        Err(error) => context.fail(&error),
    }
}
