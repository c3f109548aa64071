//! An advance that is killed at any moment: what it did is not done again, what it left open is told.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use warpline_core::answers::write_grant;
use warpline_core::engine::{AdvanceOptions, Clock};
use warpline_core::json::Value;
use warpline_core::schema::engine_state::RunStatus;
use warpline_core::schema::grant::Scopes;

use crate::support::{Home, done};

const CHILD: &str = "WARPLINE_TEST_ADVANCE";
const TEST: &str = "crash::a_killed_advance_fires_no_effect_twice_and_tells_what_it_left_open";
const READY: &str = "ready\n";

/// Kills; `WARPLINE_RACE_KILLS` asks for another number.
const KILLS: u32 = 100;

const PLUGINS: u32 = 10;

/// Where the handlers of a home leave their lines: outside of it.
struct Effects(PathBuf);

impl Effects {
    /// The handler of `plugin`: says that it was called, then has its one effect.
    async fn fire(self, plugin: String, pass: &'static str) -> Value {
        self.append(&format!("called-{pass}"), &plugin);
        tokio::time::sleep(Duration::from_millis(1)).await;
        self.append("effects", &plugin);
        tokio::time::sleep(Duration::from_millis(1)).await;
        done(&format!("{plugin}.md"))
    }

    fn append(&self, file: &str, line: &str) {
        let file = OpenOptions::new().create(true).append(true).open(self.0.join(file));
        file.expect("a file").write_all(format!("{line}\n").as_bytes()).expect("a line");
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.0.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn advance(directory: &Path, pass: &'static str) {
    let home = Home::at(directory.join("home"));
    let directory = directory.to_owned();
    let options = AdvanceOptions { concurrency: Some(3), ..AdvanceOptions::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let passed = runtime.expect("a runtime").block_on(home.advance(
        Clock::System,
        options,
        move |attempt| Effects(directory.clone()).fire(attempt.plugin.name.to_text(), pass),
    ));
    passed.expect("the advance returns");
}

fn prepare(directory: &Path) -> Home {
    let home = Home::at(directory.join("home"));
    for number in 0..PLUGINS {
        home.plugin(&format!("p{number}"), r#""side_effects":["modifies_file"]"#);
    }
    write_grant(&home.paths, Scopes::All, None, warpline_core::clock::Instant::now())
        .expect("a grant");
    home
}

/// Starts an advance in a process of its own and kills it `delay` after its handlers left so many lines;
/// says how long it lived.
fn killed_after(directory: &Path, lines: usize, delay: Duration) -> Duration {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", TEST])
        .env(CHILD, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child runs");
    let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.ends_with(READY) {
        line.clear();
        assert_ne!(said.read_line(&mut line).expect("it speaks"), 0, "the child ended early");
    }
    let began = Instant::now();
    let effects = Effects(directory.to_owned());
    let left = || effects.lines("called-first").len() + effects.lines("effects").len();
    let mut reached = None;
    // It may come to its end before.
    while child.try_wait().expect("a child").is_none() {
        if reached.is_none() && left() >= lines {
            reached = Some(Instant::now());
        }
        if reached.is_some_and(|reached| reached.elapsed() >= delay) {
            break;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    child.kill().expect("a signal can be sent");
    child.wait().expect("it is gone");
    began.elapsed()
}

/// What the kills met, so that the test cannot pass without having met anything.
#[derive(Default)]
struct Met {
    unfinished: usize,
    taken_over: usize,
    untouched: usize,
}

fn check(directory: &Path, home: &Home, met: &Mutex<Met>) {
    let effects = Effects(directory.to_owned());
    let journal = fs::read_to_string(home.paths.journal()).unwrap_or_default();
    let (first, second) = (effects.lines("called-first"), effects.lines("called-second"));
    let fired = effects.lines("effects");
    let state = home.state();
    let events = home.events();
    assert_eq!(journal, "", "the journal is folded in and gone");
    assert_eq!(state.plugin_runs.len(), 10);
    let mut named = BTreeSet::new();
    let mut met = met.lock().expect("no check failed");
    for (plugin, run) in &state.plugin_runs {
        let plugin = plugin.to_text();
        let count = |lines: &[String]| lines.iter().filter(|line| **line == plugin).count();
        let notice = format!(r#"{{"event":"run_unfinished","plugin":"{plugin}","run_id":""#);
        let notices = events.iter().filter(|event| event.starts_with(&notice)).count();
        assert!(count(&fired) <= 1, "{plugin} acted {} times within its ttl", count(&fired));
        assert!(count(&first) + count(&second) <= 1, "{plugin} was called twice");
        match run.status {
            RunStatus::Success => {
                assert_eq!((count(&fired), notices), (1, 0), "{plugin} came to its end");
                met.taken_over += count(&first);
                met.untouched += count(&second);
            }
            RunStatus::Failed => {
                assert_eq!((notices, count(&second)), (1, 0), "{plugin} was left open");
                named.insert(plugin.clone());
                met.unfinished += 1;
            }
            status => panic!("{plugin} ended {status}"),
        }
    }
    for plugin in first.iter().filter(|plugin| !fired.contains(plugin)) {
        assert!(named.contains(plugin), "{plugin} was called, did not end, and is not named");
    }
}

#[test]
fn a_killed_advance_fires_no_effect_twice_and_tells_what_it_left_open() {
    if let Ok(directory) = std::env::var(CHILD) {
        std::io::stdout().write_all(READY.as_bytes()).expect("said");
        std::io::stdout().flush().expect("said");
        return advance(Path::new(&directory), "first");
    }
    let whole = tempfile::tempdir().expect("a directory");
    prepare(whole.path());
    let length = killed_after(whole.path(), usize::MAX, Duration::ZERO);
    let kills = std::env::var("WARPLINE_RACE_KILLS").ok().and_then(|number| number.parse().ok());
    let kills = kills.unwrap_or(KILLS);
    let (next, met) = (AtomicU32::new(0), Mutex::new(Met::default()));
    // An advance mostly waits for the disk, so some of them fit beside each other.
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let kill = next.fetch_add(1, Ordering::Relaxed);
                    if kill >= kills {
                        return;
                    }
                    let directory = tempfile::tempdir().expect("a directory");
                    let home = prepare(directory.path());
                    // How far it is depends on its lines, so that a slow machine sees all kills too.
                    let lines = kill % (2 * PLUGINS + 1);
                    // Multiples of the golden ratio fill what lies behind a line evenly, in any number.
                    let share = (f64::from(kill) * 0.618_033_988_749_895).fract();
                    let delay = length.mul_f64(share / f64::from(PLUGINS));
                    killed_after(directory.path(), lines as usize, delay);
                    advance(directory.path(), "second");
                    check(directory.path(), &home, &met);
                }
            });
        }
    });
    let met = met.into_inner().expect("no check failed");
    assert!(met.unfinished > 10, "{} plugins were left open", met.unfinished);
    assert!(met.taken_over > 10, "{} outcomes were taken over", met.taken_over);
    assert!(met.untouched > 10, "{} plugins were left to the next advance", met.untouched);
}
