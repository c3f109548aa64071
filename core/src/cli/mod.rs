//! The command line: verbs become typed commands, commands become reports.
//!
//! One program under every host. Results go to standard output, everything else to standard error;
//! a refusal is one `error:` line, with what can be done about it on a `hint:` line of its own.

mod advance;
mod approve;
pub mod args;
mod board;
mod context;
mod deny;
pub mod exit;
pub mod fleet;
mod init;
mod invoke;
mod names;
pub mod plan;
mod revoke;
mod signals;
pub mod text;
pub mod usage;
pub mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::home::{Environment, Paths, resolve, warpline_home};

use args::{Command, Parsed};
use context::Context;
use fleet::{EngineFleet, Fleet};

pub use context::{Io, Package, Refused};
pub use signals::cancel_on_signal;

/// Runs one command and returns the exit code of the process.
///
/// `arguments` are those that follow the program's name. The environment is the caller's; what
/// `--home` and `--plugins` say is laid over it here, and [`home_argument`] tells the host what
/// plugin code must see. Notices of the engine reach the host under `operation`.
pub async fn run(
    arguments: &[String],
    environment: Environment,
    engine: Arc<Engine>,
    operation: u64,
    cancel: CancellationToken,
    io: &Io,
) -> i32 {
    let fleet = EngineFleet { engine, operation };
    run_with(arguments, environment, &fleet, cancel, io).await
}

/// [`run`] over any fleet.
pub async fn run_with<F: Fleet>(
    arguments: &[String],
    environment: Environment,
    fleet: &F,
    cancel: CancellationToken,
    io: &Io,
) -> i32 {
    let code = match args::parse(arguments, (io.clock)()) {
        Ok(Parsed { command: Command::Help(text), .. }) => {
            io.out.write(&text);
            exit::DONE
        }
        Ok(parsed) => dispatch(parsed, environment, fleet, cancel, io).await,
        Err(refusal) => {
            io.err.write(&refusal.text());
            exit::FAILED
        }
    };
    match io.out.failure() {
        Some(failure) => {
            io.err.write(&format!("error: cannot write standard output: {failure}\n"));
            if code == exit::DONE { exit::FAILED } else { code }
        }
        None => code,
    }
}

/// The home that `--home` names, absolute: what `WARPLINE_HOME` must be for plugin code. `None`
/// where the option is not given, or the command line is refused anyway.
pub fn home_argument(arguments: &[String], cwd: &Path) -> Option<PathBuf> {
    let parsed = args::parse(arguments, crate::clock::Instant::now()).ok()?;
    parsed.home.map(|home| resolve(cwd, Path::new(&home)))
}

async fn dispatch<F: Fleet>(
    parsed: Parsed,
    mut environment: Environment,
    fleet: &F,
    cancel: CancellationToken,
    io: &Io,
) -> i32 {
    if let Some(home) = &parsed.home {
        let home = resolve(&environment.cwd, Path::new(home)).display().to_string();
        environment.vars.insert("WARPLINE_HOME".to_owned(), home);
    }
    let mut paths = Paths::new(warpline_home(&environment));
    let from_variable = environment.var("WARPLINE_PLUGINS_DIR").filter(|root| !root.is_empty());
    match parsed.plugins.as_deref().or(from_variable) {
        // The empty path stays empty, so that the loader refuses it.
        Some("") => paths.plugins = PathBuf::new(),
        Some(root) => paths.plugins = resolve(&environment.cwd, Path::new(root)),
        None => {}
    }
    let context = Context { io, fleet, environment, paths, cancel };
    match parsed.command {
        Command::Help(text) => {
            io.out.write(&text);
            exit::DONE
        }
        Command::Init { json } => init::run(&context, json).await,
        Command::Plan { profile, explain, json } => {
            plan::run(&context, profile, explain.as_ref(), json).await
        }
        Command::Advance { profile, force, dry_run, strict, json } => {
            advance::run(&context, advance::Options { profile, force, dry_run, strict, json }).await
        }
        Command::Run { plugin, action, input, retries, json } => {
            invoke::run(&context, invoke::Options { plugin, action, input, retries, json }).await
        }
        Command::Approve(options) => approve::run(&context, &options).await,
        Command::Deny(options) => deny::run(&context, &options).await,
        Command::Revoke { json } => revoke::run(&context, json),
        Command::Board { all, json } => board::show(&context, all, json),
        Command::Tasks { json } => board::list(&context, json),
        Command::Ack { id, json } => board::acknowledge(&context, id.as_ref(), json),
        Command::Defer { id, span_ms, json } => board::defer(&context, &id, span_ms, json),
        Command::Done { id, json } => board::done(&context, &id, json),
    }
}
