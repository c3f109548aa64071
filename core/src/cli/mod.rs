//! The command line: verbs become typed commands, commands become reports.
//!
//! One program under every host. Results go to standard output, everything else to standard error;
//! a refusal is one `error:` line, with what can be done about it on a `hint:` line of its own.

mod advance;
mod approve;
pub mod args;
mod authoring;
mod board;
mod check;
mod completions;
mod configure;
mod context;
mod deny;
pub mod examples;
pub mod exit;
pub mod fleet;
mod forget;
mod handoffs;
pub mod help;
mod ids;
mod init;
pub mod input;
mod invoke;
mod log;
mod names;
pub mod paint;
pub mod plan;
mod preparation;
pub mod progress;
pub mod refusal;
mod revoke;
mod scaffold;
mod shared;
mod show;
mod signals;
mod standard;
mod status;
pub mod text;
pub mod usage;
pub mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::clock::Instant;
use crate::engine::Engine;
use crate::home::{Environment, Paths, resolve, warpline_home};

use args::{Command, Parsed};
use context::Context;
use fleet::{EngineFleet, Fleet};
use refusal::Refusal;
use writer::Writer;

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
    let fleet = EngineFleet { engine, environment: environment.clone(), operation };
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
    let parsed = args::parse(arguments, (io.clock)());
    let io = &io.coloured(colour(&parsed, arguments), &environment);
    let code = match told(parsed, &io.out, &io.err) {
        Ok(parsed) => dispatch(parsed, environment, fleet, cancel, io).await,
        Err(code) => code,
    };
    ended(code, &io.out, &io.err)
}

/// Runs a command that is over with a text, straight to the standard streams of this process: help,
/// the version, a script for a shell, or the refusal of a command line. `None` where the command
/// works on a home; nothing is written then.
///
/// For hosts that would load more than such a command needs. No plugin code may have run.
pub fn run_alone(arguments: &[String], environment: &Environment) -> Option<i32> {
    let parsed = args::parse(arguments, Instant::now());
    let choice = colour(&parsed, arguments);
    let coloured =
        |writer: Writer| writer.with_colour(choice.applies(writer.is_terminal(), environment));
    let (out, err) = standard::as_they_are();
    let (out, err) = (coloured(out), coloured(err));
    told(parsed, &out, &err).err().map(|code| ended(code, &out, &err))
}

/// What the command line says about colours, refused or not.
fn colour(parsed: &Result<Parsed, Refusal>, arguments: &[String]) -> paint::Choice {
    let refused = |_: &Refusal| paint::Choice::in_arguments(arguments);
    parsed.as_ref().map_or_else(refused, |parsed| parsed.color)
}

/// Writes the text that a command comes to. Gives back what is still to be done, or as an error the
/// exit code where that was all.
fn told(parsed: Result<Parsed, Refusal>, out: &Writer, err: &Writer) -> Result<Parsed, i32> {
    match parsed {
        Ok(Parsed { command: Command::Help(text), .. }) => {
            out.show(&text);
            Err(exit::DONE)
        }
        Ok(parsed) => Ok(parsed),
        Err(refusal) => {
            err.show(&refusal.text());
            Err(exit::FAILED)
        }
    }
}

/// The exit code of a command that ended with this one, where all that it wrote was taken.
fn ended(code: i32, out: &Writer, err: &Writer) -> i32 {
    let Some(failure) = out.failure() else { return code };
    let line = refusal::error_line(&format!("cannot write standard output: {failure}"));
    err.show(&(line + "\n"));
    if code == exit::DONE { exit::FAILED } else { code }
}

/// The home that `--home` names, absolute: what `WARPLINE_HOME` must be for plugin code. `None`
/// where the option is not given, or the command line is refused anyway.
pub fn home_argument(arguments: &[String], cwd: &Path) -> Option<PathBuf> {
    let parsed = args::parse(arguments, Instant::now()).ok()?;
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
        environment.vars.insert("WARPLINE_HOME".to_owned(), home.into());
    }
    let mut paths = match warpline_home(&environment) {
        Ok(home) => Paths::new(home),
        // Help is told wherever one is.
        Err(_) if matches!(parsed.command, Command::Help(_)) => Paths::new(PathBuf::new()),
        Err(error) => {
            io.err.show(&(refusal::error_line(&error.to_string()) + "\n"));
            let advances = matches!(parsed.command, Command::Advance { .. });
            return if advances { exit::COULD_NOT_RUN } else { exit::FAILED };
        }
    };
    let from_variable = environment.var("WARPLINE_PLUGINS_DIR").filter(|root| !root.is_empty());
    match parsed.plugins.as_deref().or(from_variable.as_deref()) {
        // The empty path stays empty, so that the loader refuses it.
        Some("") => paths.plugins = PathBuf::new(),
        Some(root) => paths.plugins = resolve(&environment.cwd, Path::new(root)),
        None => {}
    }
    let context = Context { io, fleet, environment, paths, cancel };
    if let Some(code) = shared::stops(&context, &parsed.command) {
        return code;
    }
    match parsed.command {
        Command::Help(text) => {
            io.out.show(&text);
            exit::DONE
        }
        Command::PluginNames => completions::names(&context),
        Command::Init { json } => init::run(&context, json).await,
        Command::Plan { profile, explain, manifests, json } => {
            plan::run(&context, profile, explain.as_ref(), manifests, json).await
        }
        Command::Advance { profile, force, dry_run, strict, isolation, json } => {
            let options = advance::Options { profile, force, dry_run, strict, isolation, json };
            advance::run(&context, options).await
        }
        Command::Run { plugin, action, input, retries, isolation, json } => {
            let options = invoke::Options { plugin, action, input, retries, isolation, json };
            invoke::run(&context, options).await
        }
        Command::Approve(options) => approve::run(&context, &options).await,
        Command::Deny(options) => deny::run(&context, &options).await,
        Command::Configure(options) => configure::run(&context, &options).await,
        Command::Scaffold(options) => scaffold::run(&context, &options),
        Command::Check(options) => check::run(&context, &options),
        Command::Revoke { json } => revoke::run(&context, json),
        Command::Board { all, json } => board::show(&context, all, json),
        Command::Tasks { json } => board::list(&context, json),
        Command::Ack { id, json } => board::acknowledge(&context, id.as_ref(), json),
        Command::Defer { id, span_ms, json } => board::defer(&context, &id, span_ms, json),
        Command::Done { id, json } => board::done(&context, &id, json),
        Command::Status { json } => status::run(&context, json).await,
        Command::Log(options) => log::run(&context, &options).await,
        Command::Show { plugin, run, json } => {
            show::run(&context, &plugin, run.as_ref(), json).await
        }
        Command::Handoffs { json } => handoffs::run(&context, json),
        Command::Forget { plugins, json } => forget::run(&context, &plugins, json).await,
    }
}
