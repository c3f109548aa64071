//! A worker whose plugins are lists of commands, for tests: it does what plugin code of any language
//! may do to its process.
//!
//! `handler.py` or `handler.ts` of a plugin holds a command on each line; lines that begin with `load `
//! are done while the handler loads, the others at each attempt. A manifest is JSON, or such a list.
//! What has to happen after something else waits for a file (`until`), which commands leave behind.

// It writes to its own standard error.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::expect_used, clippy::exit)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, sleep};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use warpline_core::engine::{AbortReason, CallId, Completion, HostFailure};
use warpline_core::json::{JsString, Map, Value, parse};
use warpline_core::worker::protocol::VERSION;
use warpline_core::worker::{Link, WorkerHost};

#[derive(Default)]
struct Commands {
    link: OnceLock<Arc<Link>>,
    /// Where the engine listens, beside the link.
    output: OnceLock<OwnedFd>,
    aborted: Mutex<HashMap<CallId, CancellationToken>>,
    /// Whether plugin code keeps the one thread of this worker busy: nobody hears an abort.
    deaf: AtomicBool,
    /// The plugin beside which no other one comes to its turn any more.
    shut: Mutex<Option<String>>,
}

/// What a plugin runs in.
struct Run {
    host: Arc<Commands>,
    call: CallId,
    operation: u64,
    invocation: u64,
    prints: bool,
    name: JsString,
    aborted: CancellationToken,
    /// The files that are left once the call is answered.
    marks: RefCell<Vec<PathBuf>>,
}

fn main() {
    let mode = std::env::var("WORKER_MODE").unwrap_or_default();
    let (what, rest) = mode.split_once(' ').unwrap_or((&mode, ""));
    match what {
        "ready" => {
            println!(r#"{{"kind":"hello","version":"{VERSION}"}}"#);
            sleep(Duration::from_millis(50));
            std::process::exit(rest.parse().expect("a number"));
        }
        "says" => {
            let said = writeln!(io::stdout(), "{rest}").and_then(|()| io::stdout().flush());
            said.expect("the engine listens");
            forever()
        }
        "silent" => forever(),
        "exits" => std::process::exit(rest.parse().expect("a number")),
        _ => {}
    }
    if let Ok(log) = std::env::var("WORKER_LOG") {
        note(Path::new(&log));
    }
    let host = Arc::new(Commands::default());
    let output = io::stdout().as_fd().try_clone_to_owned().expect("standard output");
    host.output.set(output).expect("set once");
    let link = Link::take(Arc::new(Shared(host.clone()))).expect("a worker");
    host.link.set(link).ok().expect("set once");
    forever()
}

fn forever() -> ! {
    loop {
        sleep(Duration::from_secs(3600));
    }
}

/// Adds the number of this process to a file, in one piece.
fn note(path: &Path) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("opened");
    file.write_all(format!("{}\n", std::process::id()).as_bytes()).expect("written");
}

/// Waits until there is something in a file.
fn wait_for(path: &str) -> String {
    loop {
        match fs::read_to_string(path) {
            Ok(text) if !text.is_empty() => return text,
            _ => sleep(Duration::from_millis(2)),
        }
    }
}

struct Shared(Arc<Commands>);

impl WorkerHost for Shared {
    fn start(&self, call: CallId, request: String) {
        let host = self.0.clone();
        let aborted = CancellationToken::new();
        host.aborted.lock().expect("no panic").insert(call, aborted.clone());
        thread::spawn(move || host.run(call, &request, aborted));
    }

    fn abort(&self, call: CallId, _reason: AbortReason) {
        if self.0.deaf.load(Ordering::SeqCst) {
            return;
        }
        if let Some(aborted) = self.0.aborted.lock().expect("no panic").get(&call) {
            aborted.cancel();
        }
        self.0.link().aborted(call);
    }
}

impl Commands {
    fn link(&self) -> &Link {
        self.link.wait()
    }

    fn run(self: &Arc<Self>, call: CallId, request: &str, aborted: CancellationToken) {
        let request = parse(request).expect("JSON");
        let kind = text(&request, "kind");
        let plugins = match request.get("plugin") {
            Some(plugin) => vec![plugin.clone()],
            None => request.get("plugins").and_then(Value::as_array).expect("plugins").to_vec(),
        };
        let is_other = |only: String| plugins.iter().any(|plugin| only != text(plugin, "name"));
        if self.shut.lock().expect("no panic").clone().is_some_and(is_other) {
            forever();
        }
        if kind != "manifests" && !self.link().begin(call) {
            return self.link().complete(call, Ok(Value::Null));
        }
        let number = |key| request.get(key).and_then(Value::as_number).expect("a number") as u64;
        let mut run = Run {
            host: self.clone(),
            call,
            operation: number("operation"),
            invocation: number("invocation"),
            prints: request.get("prints").and_then(Value::as_bool).expect("a flag"),
            name: JsString::new(),
            aborted,
            marks: RefCell::default(),
        };
        if run.prints {
            run.prints = self.link().prints(run.invocation);
        }
        let mut rows = Vec::new();
        let mut answer = Ok(Value::Null);
        for plugin in plugins {
            run.name = text(&plugin, "name").into();
            let directory = PathBuf::from(text(&plugin, "directory"));
            match kind.as_str() {
                "manifests" => rows.push(run.manifest(&directory)),
                "handler" => answer = run.handler(&directory, true),
                _ => answer = run.handler(&directory, false),
            }
        }
        if kind == "manifests" {
            answer = Ok(rows.into());
        }
        if run.prints {
            io::stderr()
                .write_all(self.link().release(run.invocation).to_text().as_bytes())
                .expect("written");
        }
        self.link().complete(call, answer);
        run.marks.take().iter().for_each(|path| note(path));
    }
}

impl Run {
    fn manifest(&self, directory: &Path) -> Value {
        let source = source(directory, "manifest");
        let loaded = match parse(&source) {
            Ok(manifest) => Ok(manifest),
            Err(_) if !self.host.link().begin(self.call) => Ok(Value::Null),
            Err(_) => self.commands(source.lines()),
        };
        let (key, value) = match loaded {
            Ok(manifest) => ("manifest", manifest),
            Err(failure) => ("error", failure.message().into()),
        };
        [("plugin", Value::from(&self.name)), (key, value)].into_iter().collect::<Map>().into()
    }

    fn handler(&self, directory: &Path, loads: bool) -> Completion {
        let source = source(directory, "handler");
        let lines = source.lines().filter_map(|line| match line.strip_prefix("load ") {
            Some(command) => loads.then_some(command),
            None => (!loads).then_some(line),
        });
        self.commands(lines)
    }

    fn commands<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Completion {
        for line in lines {
            if let Some(ended) = self.command(line) {
                return ended;
            }
        }
        Ok(Value::Null)
    }

    fn command(&self, line: &str) -> Option<Completion> {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let link = self.host.link();
        match command {
            "return" => return Some(Ok(parse(rest).expect("JSON"))),
            "throw" => return Some(Err(HostFailure::Threw(rest.into()))),
            // Only the first time.
            "once" => {
                let (path, command) = rest.split_once(' ').expect("a path and a command");
                if File::create_new(path).is_ok() {
                    return self.command(command);
                }
            }
            // Only after the first time.
            "then" => {
                let (path, command) = rest.split_once(' ').expect("a path and a command");
                if File::create_new(path).is_err() {
                    return self.command(command);
                }
            }
            // Held by one process at a time, or else nothing comes of this.
            "place" => {
                if File::create_new(rest).is_err() {
                    return Some(Err(HostFailure::Threw("somebody else is here".into())));
                }
                sleep(Duration::from_millis(30));
                fs::remove_file(rest).expect("removed");
            }
            "exit" => std::process::exit(rest.parse().expect("a number")),
            "crash" => std::process::abort(),
            "sleep" => sleep(Duration::from_millis(rest.parse().expect("a number"))),
            "print" => {
                let text = JsString::from(format!("{rest}\n"));
                let shown = self.prints.then(|| link.print(self.invocation, &text)).flatten();
                eprint!("{}", shown.unwrap_or(text));
            }
            "warn" => link.warn(self.operation, rest.into()),
            "stray" => link.stray(self.operation, rest.into()),
            // Leaves the number of this call for another plugin, which answers it.
            "tell" => fs::write(rest, self.call.to_string()).expect("written"),
            "forge" => {
                let call = wait_for(rest);
                let answer = r#"{"kind":"complete","outcome":"threw","value":"forged","call":"#;
                return self.command(&format!("say {answer}{call}}}"));
            }
            "fault" => link.fault(self.operation, self.name.clone(), rest.into()),
            // Until the call is aborted.
            "wait" => {
                while !self.aborted.is_cancelled() {
                    sleep(Duration::from_millis(5));
                }
            }
            // From now on no other plugin comes to its turn.
            "shut" => {
                *self.host.shut.lock().expect("no panic") = Some(self.name.to_text());
                note(Path::new(rest));
            }
            // From now on nobody hears an abort either.
            "busy" => {
                self.host.deaf.store(true, Ordering::SeqCst);
                return self.command(&format!("shut {rest}"));
            }
            "forever" => forever(),
            "note" => note(Path::new(rest)),
            // The same once this call is answered.
            "mark" => self.marks.borrow_mut().push(rest.into()),
            "until" => drop(wait_for(rest)),
            // A program that outlives whoever started it.
            "leave" => {
                let mut program = Command::new("sh");
                let script = format!("echo $$ >> {rest}; exec sleep 600");
                program.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null());
                drop(program.spawn().expect("started"));
                wait_for(rest);
            }
            "say" => {
                let said = rest.replace("{call}", &self.call.to_string());
                let output = self.host.output.wait().try_clone().expect("a copy");
                File::from(output).write_all(format!("{said}\n").as_bytes()).expect("written");
            }
            "variable" => {
                let value = std::env::var(rest).unwrap_or_default();
                return Some(Err(HostFailure::Threw(value.as_str().into())));
            }
            _ => panic!("no such command: {line}"),
        }
        None
    }
}

fn source(directory: &Path, module: &str) -> String {
    let read = |extension| fs::read_to_string(directory.join(module).with_extension(extension));
    read("py").or_else(|_| read("ts")).expect("a module")
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_string).expect("text").to_text()
}
