//! The vocabulary of these tests: a home whose Python plugins are lists of commands for the example
//! `worker`, and what there is to know about the processes that carried them out.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, test_kill_process};
use warpline_core::engine::{
    AdvanceOptions, AdvanceResult, Invocation, InvokeOptions, Isolation, Notice,
};

pub use crate::engine_support::{Fleet, ok, state_of, summary_of};

/// What a handler says that is content.
pub const FINE: &str = r#"return {"status":"success","phases_completed":[],"phases_failed":[],"data_freshness":{},"summary":"fine"}"#;

/// What a handler says that wants to be called again.
pub const AGAIN: &str = r#"return {"status":"failed","phases_completed":[],"phases_failed":[],"data_freshness":{},"summary":"busy","errors":[{"code":"rate_limit","message":"busy","impact":"HIGH","retryable":true}]}"#;

/// A program among the examples, as its source is now.
pub fn example(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let examples = BUILT.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let wanted = ["build", "--quiet", "--workspace", "--locked"];
        let both = ["--example", "worker", "--example", "host"];
        let built = Command::new(cargo).args(wanted).args(both).status().expect("cargo");
        assert!(built.success(), "the examples do not build");
        let own = std::env::current_exe().expect("a path");
        own.ancestors().nth(2).expect("the directory of the profile").join("examples")
    });
    examples.join(name)
}

/// A home over which the host runs TypeScript, and workers what is written in Python.
pub struct Home {
    pub fleet: Fleet,
}

impl Home {
    pub fn new() -> Self {
        let mut fleet = Fleet::new();
        let worker = example("worker").display().to_string();
        let npm = fleet.paths.home.join("npm");
        std::fs::create_dir_all(npm.join("lib")).expect("created");
        std::fs::write(npm.join("lib/worker.js"), "").expect("written");
        let log = fleet.paths.home.join("workers.log");
        let npm = npm.display().to_string();
        let path = "/usr/local/bin:/usr/bin:/bin";
        for (name, value) in [
            ("WARPLINE_PYTHON", worker.as_str()),
            ("WARPLINE_NODE", &worker),
            ("WARPLINE_NPM", &npm),
            ("WORKER_LOG", &log.display().to_string()),
            ("PATH", path),
        ] {
            fleet.environment.vars.insert(name.into(), value.into());
        }
        Self { fleet }
    }

    /// The same with something else that the worker does before it is one.
    pub fn whose_worker(mode: &str) -> Self {
        let mut home = Self::new();
        home.set("WORKER_MODE", mode);
        home
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.fleet.environment.vars.insert(name.into(), value.into());
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.fleet.paths.home.join(name)
    }

    /// Adds a plugin in Python whose handler is these commands.
    pub fn python(&self, name: &str, commands: &[&str]) -> &Self {
        self.plugin(name, "py", "", commands)
    }

    /// Adds a plugin with more members of its manifest. `{name}` in a command is a path below the home.
    pub fn plugin(&self, name: &str, extension: &str, fields: &str, commands: &[&str]) -> &Self {
        let separator = if fields.is_empty() { "" } else { "," };
        let manifest = format!(
            "{{\"name\":{name:?},\"version\":\"1.0.0\",\"description\":\"d\",\
             \"autonomy_level\":\"autonomous\",\"ttl_hours\":6{separator}{fields}}}"
        );
        let manifest = match extension {
            "ts" => format!("export const manifest = {manifest}\n"),
            _ => manifest,
        };
        self.file(name, &format!("manifest.{extension}"), &manifest);
        self.file(name, &format!("handler.{extension}"), &commands.join("\n"))
    }

    pub fn file(&self, name: &str, file: &str, text: &str) -> &Self {
        let directory = self.fleet.paths.plugins.join(name);
        std::fs::create_dir_all(&directory).expect("created");
        let text = text.replace("{home}", &self.fleet.paths.home.display().to_string());
        std::fs::write(directory.join(file), text).expect("written");
        self
    }

    pub async fn advance(&self) -> AdvanceResult {
        self.advance_in(Isolation::None).await
    }

    pub async fn advance_in(&self, isolation: Isolation) -> AdvanceResult {
        let options = AdvanceOptions { force: true, isolation, ..AdvanceOptions::default() };
        self.fleet.advance_with(options).await.expect("the advance returns")
    }

    pub async fn invoke(&self, name: &str) -> Invocation {
        self.fleet.invoke(name, InvokeOptions::default()).await
    }

    pub async fn invoke_apart(&self, name: &str) -> Invocation {
        let isolation = Isolation::Process;
        self.fleet.invoke(name, InvokeOptions { isolation, ..InvokeOptions::default() }).await
    }

    /// The processes that became workers so far.
    pub fn workers(&self) -> Vec<Pid> {
        self.noted("workers.log")
    }

    /// The processes that a file of the home names.
    pub fn noted(&self, file: &str) -> Vec<Pid> {
        let text = std::fs::read_to_string(self.path(file)).unwrap_or_default();
        let number = |line: &str| Pid::from_raw(line.parse().expect("a number")).expect("not 0");
        // Who is writing a line has not noted it yet.
        text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(number).collect()
    }

    /// Waits until a file of the home names a process.
    pub async fn wait_for(&self, file: &str) -> Pid {
        assert!(is_soon(|| !self.noted(file).is_empty()).await, "{file} does not come");
        *self.noted(file).first().expect("it came")
    }

    /// Waits until the host is told that a plugin is over.
    pub async fn wait_for_end(&self, name: &str) {
        let is_end = |notice: &Notice| match notice {
            Notice::PluginEnd { plugin, .. } => *plugin == name,
            _ => false,
        };
        assert!(is_soon(|| self.notices().iter().any(is_end)).await, "{name} does not end");
    }

    /// Lets plugins go on that wait `until` there is this file.
    pub fn release(&self, file: &str) {
        std::fs::write(self.path(file), "1\n").expect("written");
    }

    fn notices(&self) -> Vec<Notice> {
        self.fleet.host.notices.lock().expect("no panic").clone()
    }

    /// What the host was told of throws that fail no call.
    pub fn strays(&self) -> Vec<String> {
        let stray = |notice: &Notice| match notice {
            Notice::Stray { text } => Some(text.clone()),
            _ => None,
        };
        self.notices().iter().filter_map(stray).collect()
    }

    /// What the host was told of throws in workers.
    pub fn faults(&self) -> Vec<(String, String)> {
        let fault = |notice: &Notice| match notice {
            Notice::Fault { plugin, text } => Some((plugin.to_text(), text.to_text())),
            _ => None,
        };
        self.notices().iter().filter_map(fault).collect()
    }
}

/// Whether something comes true that nothing but a busy machine delays.
pub async fn is_soon(what: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    while !what() && since.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    what()
}

/// Whether there is no such process any more, nor a record of its end that nobody has taken.
pub fn is_reaped(process: Pid) -> bool {
    test_kill_process(process).is_err()
}

/// Whether it does nothing any more. Who reaps what a plugin has started is not ours, and a busy machine
/// may leave one for a while that was killed: its code does not run again.
pub fn is_dead(process: Pid) -> bool {
    is_reaped(process) || is_killed(process) || is_ending(process)
}

/// Whether a SIGKILL waits for it.
fn is_killed(process: Pid) -> bool {
    let status = proc_file(process, "status");
    let mut pending = status.lines().filter_map(|line| line.strip_prefix("SigPnd:\t"));
    let kill = 1 << (Signal::KILL.as_raw() - 1);
    pending.any(|mask| u64::from_str_radix(mask, 16).is_ok_and(|mask| mask & kill != 0))
}

/// Whether it is on its way out, or only a record of its end.
fn is_ending(process: Pid) -> bool {
    /// Of the kernel, among its flags of a process.
    const EXITING: u64 = 4;
    let stat = proc_file(process, "stat");
    let Some((_, fields)) = stat.rsplit_once(") ") else { return is_reaped(process) };
    let flags = fields.split(' ').nth(6).and_then(|flags| flags.parse::<u64>().ok());
    fields.starts_with(['Z', 'X']) || flags.is_some_and(|flags| flags & EXITING != 0)
}

fn proc_file(process: Pid, name: &str) -> String {
    let path = format!("/proc/{}/{name}", process.as_raw_nonzero());
    std::fs::read_to_string(path).unwrap_or_default()
}
