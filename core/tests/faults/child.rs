//! The process that meets faults: it runs the command line over an engine with a host of functions.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock, Weak};

use tokio_util::sync::CancellationToken;
use warpline_core::cli::input::Input;
use warpline_core::cli::writer::Writer;
use warpline_core::cli::{Io, Package, run};
use warpline_core::clock::Instant;
use warpline_core::engine::{
    AbortReason, AttemptRequest, CallId, Clock, Completion, Engine, Host, Notice, Request,
};
use warpline_core::home::Environment;
use warpline_core::home::faults::{self, Fault};
use warpline_core::json::{Map, Value, parse};

use crate::place::{NOW, Place, at};

const JOBS: &str = "WARPLINE_TEST_FAULTS";
const TEST: &str = "child::a_process_meets_its_faults";

struct FunctionHost {
    engine: OnceLock<Weak<Engine>>,
    place: Place,
    /// What the host is told to pass on to a person.
    err: Writer,
}

impl Host for FunctionHost {
    fn start(&self, id: CallId, _: u64, request: Request) {
        let engine = self.engine.get().and_then(Weak::upgrade).expect("the engine lives");
        let answer = match request {
            Request::LoadManifests { plugins, .. } => {
                let rows = plugins.iter().map(|plugin| {
                    let mut row = Map::new();
                    row.insert("plugin", &plugin.name);
                    row.insert("manifest", manifest_on_disk(&plugin.directory));
                    row
                });
                rows.collect::<Vec<Map>>().into()
            }
            Request::LoadHandler { .. } => Value::Null,
            Request::Attempt(attempt) => self.attempt(&attempt),
        };
        let completion: Completion = Ok(answer);
        engine.complete(id, completion);
    }

    fn abort(&self, _: CallId, _: AbortReason) {}

    fn notify(&self, _: u64, notice: Notice) {
        if let Notice::Warning { text } = notice {
            self.err.write(&format!("warning: {text}\n"));
        }
    }
}

impl FunctionHost {
    fn attempt(&self, attempt: &AttemptRequest) -> Value {
        let plugin = attempt.plugin.name.to_text();
        self.place.fire(&plugin);
        let text = format!(
            concat!(
                r#"{{"status":"success","phases_completed":[],"phases_failed":[],"data_freshness":{{}},"#,
                r#""summary":"done","artifacts_produced":[{{"type":"note","path":"{}.md"}}]}}"#
            ),
            plugin
        );
        parse(&text).expect("JSON")
    }
}

fn manifest_on_disk(directory: &Path) -> Value {
    let source = fs::read_to_string(directory.join("manifest.ts")).expect("a manifest");
    parse(&source.replace("export const manifest = ", "")).expect("JSON")
}

/// What a command came to.
#[derive(Clone, Debug)]
pub struct Ran {
    pub code: i32,
    pub err: String,
}

/// Runs a command in this process.
pub fn command(place: &Place, words: &[&str], now: &str) -> Ran {
    let (out, err) = (Writer::memory(), Writer::memory());
    let code = run_into(place, words, at(now), out, err.clone());
    Ran { code, err: err.contents() }
}

fn run_into(place: &Place, words: &[&str], now: Instant, out: Writer, err: Writer) -> i32 {
    let host = FunctionHost { engine: OnceLock::new(), place: place.clone(), err: err.clone() };
    let host = Arc::new(host);
    let engine = Engine::with_clock(host.clone(), Clock::Still(now));
    assert!(host.engine.set(Arc::downgrade(&engine)).is_ok());
    let home = place.home().display().to_string();
    let vars = [("WARPLINE_HOME".to_owned(), home.into())].into();
    let environment = Environment { vars, cwd: place.root.clone() };
    let package = Package {
        directory: Some(place.root.join("package")),
        seed: Some(place.root.join("package/examples/seed")),
    };
    let io = Io { out, err, input: Input::none(), clock: Arc::new(move || now), package };
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let cancel = CancellationToken::new();
    runtime.expect("a runtime").block_on(run(&words, environment, engine, 1, cancel, &io))
}

/// A fault as one word for the process that is to meet it.
fn word(fault: Option<(usize, Fault)>) -> String {
    let Some((point, fault)) = fault else { return "none".to_owned() };
    match fault {
        Fault::StopBefore => format!("{point} before 0"),
        Fault::StopInside => format!("{point} inside 0"),
        Fault::StopAfter => format!("{point} after 0"),
        Fault::Fail(errno) => format!("{point} fail {errno}"),
        Fault::Short => format!("{point} short 0"),
        Fault::Full => format!("{point} full 0"),
        Fault::Gone => format!("{point} gone 0"),
    }
}

fn read_word(word: &str) -> Option<(usize, Fault)> {
    let parts: Vec<&str> = word.split(' ').collect();
    let [point, kind, errno] = parts.as_slice() else { return None };
    let fault = match *kind {
        "before" => Fault::StopBefore,
        "inside" => Fault::StopInside,
        "after" => Fault::StopAfter,
        "fail" => Fault::Fail(errno.parse().expect("a number")),
        "short" => Fault::Short,
        "full" => Fault::Full,
        "gone" => Fault::Gone,
        other => panic!("{other} is no fault"),
    };
    Some((point.parse().expect("a number"), fault))
}

/// Has a process of its own run one command in each of these places, each with its fault; how it ended.
///
/// What the command printed lies in `out` and `err` of the place, its exit code in `code` once it has
/// returned, and the operations that passed in `passed`.
pub fn meet(words: &[&str], jobs: &[(Place, Option<(usize, Fault)>)]) -> ExitStatus {
    let (first, _) = jobs.first().expect("a job");
    let list = first.root.join("jobs");
    let mut text = words.join("\n") + "\n";
    for (place, fault) in jobs {
        text += &format!("\t{}\t{}\n", place.root.display(), word(*fault));
    }
    fs::write(&list, text).expect("a file");
    Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .env(JOBS, &list)
        .env_remove("RUST_BACKTRACE")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("a process")
}

/// What a command left behind that was run by [`meet`]; no exit code where it did not return.
pub fn left(place: &Place) -> (Option<i32>, String, String) {
    let read = |name: &str| fs::read_to_string(place.root.join(name)).ok();
    let code = read("code").map(|code| code.parse().expect("a number"));
    (code, read("out").unwrap_or_default(), read("err").unwrap_or_default())
}

/// Has the command meet one fault at the first operation that is meant, below `around`.
pub fn meet_at(
    around: &Path,
    words: &[&str],
    prepare: impl Fn(&Place),
    is_meant: impl Fn(&str) -> bool,
    fault: Fault,
) -> Place {
    let place = |name: &str| {
        let place = Place::new(around.join(name));
        fs::create_dir(&place.root).expect("a directory");
        prepare(&place);
        place
    };
    let whole = place("whole");
    meet(words, &[(whole.clone(), None)]);
    assert_eq!(left(&whole).0, Some(0), "{words:?}");
    let passed = fs::read_to_string(whole.root.join("passed")).expect("a list");
    let point = passed.lines().position(is_meant).expect("it is done") + 1;
    let broken = place("broken");
    meet(words, &[(broken.clone(), Some((point, fault)))]);
    broken
}

#[test]
fn a_process_meets_its_faults() {
    let Some(jobs) = std::env::var_os(JOBS) else { return };
    let text = fs::read_to_string(jobs).expect("a list");
    let (words, jobs): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| !line.starts_with('\t'));
    for job in jobs {
        let parts: Vec<&str> = job.split('\t').collect();
        let [_, root, fault] = parts.as_slice() else { panic!("{job}") };
        let place = Place::new(root.into());
        let stream = |name: &str| {
            Writer::descriptor(File::create(place.root.join(name)).expect("a file"), false)
        };
        let (out, err) = (stream("out"), stream("err"));
        faults::arm(read_word(fault));
        let code = run_into(&place, &words, at(NOW), out, err);
        let passed: Vec<String> = faults::disarm()
            .iter()
            .map(|passed| format!("{:?} {}", passed.operation, passed.path.display()))
            .collect();
        fs::write(place.root.join("passed"), passed.join("\n")).expect("a file");
        fs::write(place.root.join("code"), code.to_string()).expect("a file");
    }
}
