//! A host whose handlers are programs: `handler` in the plugin's folder reads
//! `{manifest, args, context}` on its standard input and writes its result to its standard output.

// An example talks to a terminal, as no part of the engine may.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::expect_used)]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tokio_util::sync::CancellationToken;
use warpline_core::engine::{
    AbortReason, AdvanceOptions, AttemptRequest, CallId, Completion, Engine, Host, HostFailure,
    Notice, Request,
};
use warpline_core::home::Environment;
use warpline_core::json::{Map, Value, parse};
use warpline_core::schema::run_log::AdvanceStatus;

/// The programs that run, by the call they answer.
#[derive(Default)]
struct Programs {
    engine: OnceLock<Weak<Engine>>,
    running: Mutex<HashMap<CallId, Child>>,
}

/// The host as the engine holds it: cheap to copy onto the thread of a call.
struct ProgramHost(Arc<Programs>);

impl Host for ProgramHost {
    fn start(&self, call: CallId, _operation: u64, request: Request) {
        let programs = self.0.clone();
        // `start` must return at once; whatever takes time has a thread of its own.
        std::thread::spawn(move || {
            let Some(engine) = programs.engine.get().and_then(Weak::upgrade) else { return };
            let answer = match request {
                Request::LoadManifests { plugins, .. } => {
                    let rows = plugins.iter().map(|plugin| {
                        let error = "a manifest for this host is one literal".into();
                        Map::from_iter([("plugin", Value::from(&plugin.name)), ("error", error)])
                    });
                    Ok(rows.map(Value::from).collect::<Vec<_>>().into())
                }
                Request::LoadHandler { plugin, .. } => {
                    let program = plugin.directory.join("handler");
                    if program.is_file() { Ok(Value::Null) } else { threw("there is no `handler`") }
                }
                Request::Attempt(request) => match programs.attempt(&engine, call, &request) {
                    Some(answer) => answer,
                    None => return, // Nobody waits any more.
                },
            };
            engine.complete(call, answer);
        });
    }

    fn abort(&self, call: CallId, _reason: AbortReason) {
        let mut running = self.0.running.lock().expect("no thread panics");
        if let Some(child) = running.get_mut(&call) {
            let _ended_by_itself = child.kill();
        }
    }

    fn notify(&self, _operation: u64, notice: Notice) {
        match notice {
            Notice::PluginStart { plugin } => eprintln!("{plugin} starts"),
            Notice::PluginEnd { plugin, state, .. } => eprintln!("{plugin}: {state}"),
            Notice::RunFailure { text } => eprintln!("{text}"),
            Notice::Warning { text } | Notice::Stray { text } => eprintln!("{text}"),
            Notice::Fault { plugin, text } => eprintln!("{plugin}: {text}"),
            Notice::AttemptStart { .. } | Notice::AttemptFailed { .. } => {}
        }
    }
}

impl Programs {
    /// Runs a handler once; `None` where the engine has given the call up.
    fn attempt(
        &self,
        engine: &Engine,
        call: CallId,
        request: &AttemptRequest,
    ) -> Option<Completion> {
        let (mut stdin, mut stdout) = {
            // Asking and starting are one step, so that an abort comes before both or after both.
            let mut running = self.running.lock().expect("no thread panics");
            if !engine.begin(call) {
                return None;
            }
            let mut child = match spawn(&request.plugin.directory) {
                Ok(child) => child,
                Err(error) => return Some(threw(&error.to_string())),
            };
            let pipes = (child.stdin.take()?, child.stdout.take()?);
            running.insert(call, child);
            pipes
        };
        let input = Map::from_iter([
            ("manifest", Value::clone(&request.manifest)),
            ("args", request.args.clone()),
            ("context", request.context.clone()),
        ]);
        let _reads_nothing = stdin.write_all(Value::from(input).to_compact().as_bytes());
        drop(stdin);
        let mut output = String::new();
        let read = stdout.read_to_string(&mut output);
        let child = self.running.lock().expect("no thread panics").remove(&call);
        let ended = child?.wait();
        Some(match (read, ended) {
            (Ok(_), Ok(status)) if status.success() => {
                parse(&output).map_err(|error| HostFailure::NoJson(error.to_string().into()))
            }
            (_, Ok(status)) => threw(&format!("the handler ended with {status}")),
            (_, Err(error)) => threw(&error.to_string()),
        })
    }
}

fn spawn(directory: &Path) -> std::io::Result<Child> {
    let mut program = Command::new(directory.join("handler"));
    program.current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

fn threw(message: &str) -> Completion {
    Err(HostFailure::Threw(message.into()))
}

#[tokio::main]
async fn main() -> ExitCode {
    let programs = Arc::new(Programs::default());
    let engine = Engine::new(Arc::new(ProgramHost(programs.clone())));
    programs.engine.set(Arc::downgrade(&engine)).expect("set once");

    let cancel = CancellationToken::new();
    let on_signal = cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            on_signal.cancel();
        }
    });

    let ended = async {
        let environment = Environment::current()?;
        engine.advance(&environment, &AdvanceOptions::default(), 1, &cancel).await
    };
    match ended.await {
        Ok(result) => {
            println!("{}", result.to_value().to_pretty());
            ExitCode::from(u8::from(result.status == AdvanceStatus::Failed))
        }
        Err(error) => {
            eprintln!("{}: {error}", error.code());
            ExitCode::from(75)
        }
    }
}
