//! What a verb does about a home that others can write.

use crate::home::shared;

use super::args::Command;
use super::context::{Context, Refused};
use super::{exit, paint, text};

/// What a verb could be made to do by whoever can write the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// It looks at no home, or must stay silent.
    None,
    /// It reads, or takes a yes away.
    Reads,
    /// It writes, or runs code of plugins: a manifest that is no literal is code.
    Acts,
    /// It acts, and a scheduler may try again.
    Advances,
}

fn reach(command: &Command) -> Reach {
    match command {
        Command::Help(_) | Command::PluginNames => Reach::None,
        Command::Check(_)
        | Command::Revoke { .. }
        | Command::Board { .. }
        | Command::Tasks { .. }
        | Command::Handoffs { .. } => Reach::Reads,
        Command::Advance { .. } => Reach::Advances,
        Command::Init { .. }
        | Command::Plan { .. }
        | Command::Run { .. }
        | Command::Approve(_)
        | Command::Deny(_)
        | Command::Configure(_)
        | Command::Scaffold(_)
        | Command::Ack { .. }
        | Command::Defer { .. }
        | Command::Done { .. }
        | Command::Status { .. }
        | Command::Log(_)
        | Command::Show { .. }
        | Command::Forget { .. } => Reach::Acts,
    }
}

/// Refuses a verb that acts on a home that others can write, with the exit code; one that only reads says
/// so and goes on.
pub(super) fn stops<F>(context: &Context<'_, F>, command: &Command) -> Option<i32> {
    let reach = reach(command);
    if reach == Reach::None {
        return None;
    }
    let found = shared::warnings(&context.paths, &context.environment);
    if reach == Reach::Reads {
        for error in &found {
            let line = text::line_str(&error.to_string());
            context.note(&format!("{} {line}", paint::waits("⚠")));
        }
        return None;
    }
    context.refuse(&Refused::from(found.first()?));
    Some(if reach == Reach::Advances { exit::COULD_NOT_RUN } else { exit::FAILED })
}
