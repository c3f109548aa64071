//! `log`: the runs, one run, and those to come.

use std::fs;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use warpline_core::cli::Io;
use warpline_core::cli::input::Input;
use warpline_core::cli::writer::Writer;
use warpline_core::clock::Instant;
use warpline_core::home::Paths;
use warpline_core::home::lock::RunLock;
use warpline_core::json::{Value, parse};

use crate::support::reported;
use crate::support::{Home, assert_refused, assert_told};

pub fn id(minute: u32) -> String {
    format!("2026-08-20T11{minute:02}00000Z-0a1b2c3d")
}

pub fn entry(plugin: &str, status: &str, summary: &str, rest: &str) -> String {
    format!(
        r#"{{"plugin":"{plugin}","status":"{status}","started_at":"2026-08-20T11:00:00.000Z","elapsed_ms":12,"result_summary":"{summary}","retried":false{rest}}}"#
    )
}

pub fn advance(minute: u32, status: &str, entries: &[String]) -> (String, String) {
    let (id, entries) = (id(minute), entries.join(","));
    let at = format!("2026-08-20T11:{minute:02}:00.000Z");
    let text = format!(
        r#"{{"run_id":"{id}","started_at":"{at}","completed_at":"{at}","status":"{status}","resumed_from":null,"summary":"Engine run {id}","plugin_entries":[{entries}],"manifests_loaded":2}}"#
    );
    (format!("runs/{id}.json"), text)
}

pub fn by_hand(
    id: &str,
    plugin: &str,
    minute: u32,
    status: &str,
    summary: &str,
) -> (String, String) {
    let at = format!("2026-08-20T11:{minute:02}:00.000Z");
    let ended = if status == "running" { "null".to_owned() } else { format!("\"{at}\"") };
    let attempt = |at_: u32, status: &str, error: &str| {
        format!(
            r#"{{"attempt":{at_},"started_at":"{at}","elapsed_ms":5,"status":"{status}","error":{error}}}"#
        )
    };
    let attempts =
        format!("{},{}", attempt(1, "failed", "\"no\\u001b\""), attempt(2, "success", "null"));
    let text = format!(
        r#"{{"run_id":"{id}","plugin":"{plugin}","started_at":"{at}","completed_at":{ended},"status":"{status}","summary":"{summary}","user_initiated":true,"attempts":[{attempts}],"final_error":null,"cancelled":false,"timed_out":false,"retried":true}}"#
    );
    (format!("runs/{id}.json"), text)
}

pub fn with(documents: &[(String, String)]) -> Home {
    documents.iter().fold(Home::new(), |home, (path, text)| home.file(path, text))
}

fn line(run_id: &str, event: &str, rest: &str) -> String {
    format!(
        r#"{{"ts":"2026-08-20T11:30:00.000Z","run_id":"{run_id}","level":"info","event":"{event}"{rest}}}"#
    ) + "\n"
}

const DAY: &str = "logs/runs/2026-08-20.jsonl";

/// Two advances, a run by hand between them, and an advance of which only the daily file tells.
pub fn runs() -> Home {
    let logged = [
        line(&id(10), "run_start", ""),
        line(&id(10), "run_end", r#","status":"complete","detail":"s""#),
        line(&id(30), "run_start", ""),
        line(
            &id(30),
            "plugin_result",
            r#","plugin":"beta","status":"gated","elapsed_ms":7,"detail":"look""#,
        ),
        line(&id(30), "run_end", r#","status":"partial","detail":"s""#),
    ];
    let home = with(&[
        advance(
            10,
            "complete",
            &[
                entry("alpha", "completed", "all \\u001b well", ""),
                entry("beta", "skipped", "skipped: no grant", ""),
            ],
        ),
        advance(50, "partial", &[entry("alpha", "failed", "boom", "")]),
        by_hand("9d4e-hand", "alpha", 40, "success", "alpha: looked"),
    ]);
    home.plugin("alpha", "").file(DAY, &logged.concat())
}

#[test]
fn runs_are_told_newest_first_wherever_they_are_recorded_and_nothing_is_written() {
    let home = runs();
    let before = home.snapshot();
    let ran = home.run("log");
    let expected = format!(
        "Runs (4):
  {} — partial, 10m ago — 1 failed
  9d4e-hand — success, by hand, 20m ago — alpha: looked
  {} — partial, 30m ago — 1 gated
  {} — complete, 50m ago — 1 completed, 1 skipped\n",
        id(50),
        id(30),
        id(10)
    );
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, expected.as_str(), ""));
    let json = reported(&home.run("log --json"));
    let runs = json.get("runs").and_then(Value::as_array).expect("runs");
    let get = |at: usize, key: &str| runs[at].get(key).expect("a key").to_compact();
    assert_eq!(runs.len(), 4);
    assert_eq!((get(1, "kind"), get(1, "attempts").len() > 2), (r#""run""#.into(), true));
    assert_eq!((get(2, "kind"), get(2, "status")), (r#""advance""#.into(), r#""partial""#.into()));
    assert!(get(3, "entries").contains("\\u001b"), "JSON tells it exactly");
    assert_eq!(home.snapshot(), before);
    let empty = Home::new();
    assert_eq!(empty.run("log").out, "No runs.\n");
    assert_eq!(empty.run("log --json").out, "{\n  \"runs\": []\n}\n");
    assert!(!empty.path("").exists());
}

#[test]
fn a_limit_shows_the_newest_and_says_that_there_are_more() {
    let home = runs();
    let ran = home.run("log -n 3");
    assert_eq!(ran.out.lines().count(), 4);
    assert_told(&ran.out, &["Runs (3):", &id(50), "9d4e-hand", &id(30)]);
    assert_eq!(ran.err, "note: older runs are not shown; `--limit N` shows more\n");
    assert_eq!(home.run("log --limit 4").err, "");
}

#[test]
fn one_plugin_is_followed_through_all_runs() {
    let home = runs();
    let ran = home.run("log --plugin alpha");
    let expected = format!(
        "Runs of alpha (3):
  {} — failed, 10m ago — boom (12 ms)
  9d4e-hand — success, by hand, 20m ago — alpha: looked (0 ms), tried more than once
  {} — completed, 50m ago — all \\u{{1b}} well (12 ms)\n",
        id(50),
        id(10)
    );
    assert_eq!(ran.out, expected);
    assert_told(
        &home.run("log --plugin beta").out,
        &["(2)", "gated", "look (7 ms)", "— no grant\n"],
    );
    let json = reported(&home.run("log --plugin beta --json"));
    assert!(!json.to_compact().contains("\"alpha\""));
    assert_refused(&home.run("log --plugin alhpa"), &["unknown plugin `alhpa`", "`alpha`?"]);
    assert_refused(&home.run("log --plugin __proto__"), &["unknown plugin `__proto__`"]);
    assert_refused(&home.run("log --follow --plugin alhpa"), &["did you mean `alpha`?"]);
    let quiet = Home::new().plugin("alpha", "").run("log --plugin alpha");
    assert_eq!((quiet.code, quiet.out.as_str()), (0, "No runs of alpha.\n"));
}

#[test]
fn one_run_is_told_by_its_id_or_a_beginning_that_no_other_has() {
    let home = runs();
    let expected = format!(
        "Run {}: complete
  an advance, started at 2026-08-20 16:40:00 +05:30, 50m ago; ended at 2026-08-20 16:40:00 +05:30
  completed  alpha — all \\u{{1b}} well (12 ms)
  skipped    beta — no grant\n",
        id(10)
    );
    assert_eq!(home.run("log 2026-08-20T1110").out, expected);
    let hand = home.run("log 9d4e-hand");
    assert_told(
        &hand.out,
        &["by hand", "attempt 1: failed (5 ms) — no\\u{1b}", "attempt 2: success"],
    );
    let logged = home.run(&format!("log {}", id(30)));
    assert_told(&logged.out, &["partial", "gated      beta — look (7 ms)"]);
    reported(&home.run("log 9 --json"));
    let several = home.run("log 2026");
    assert_refused(&several, &["`2026` is the beginning of 3 runs", "type more"]);
    assert_refused(&home.run("log nope"), &["no run that is still kept", "`nope`", "30 days"]);
    assert_refused(&home.run("log ../x"), &["no run that is still kept"]);
}

#[test]
fn a_run_without_an_end_is_running_where_its_lock_is_held_and_unfinished_else() {
    let now = Instant::parse("2026-08-20T11:55:00.000Z").expect("an instant");
    let home =
        Home::new().file(DAY, &(line(&id(20), "run_start", "") + &line(&id(55), "run_start", "")));
    let home = [by_hand("open", "alpha", 1, "running", "")]
        .iter()
        .fold(home, |home, (path, text)| home.file(path, text));
    let lock = RunLock::acquire(&Paths::new(home.path("")), &id(55), now).expect("the lock");
    let ran = home.run("log");
    let told = [format!("{} — running, ", id(55)), format!("{} — unfinished, ", id(20))];
    assert_told(&ran.out, &[&told[0], &told[1], "open — running, by hand, 59m ago — alpha\n"]);
    assert_told(
        &home.run(&format!("log {}", id(20))).out,
        &["it has no end: its process was killed"],
    );
    assert_told(&home.run("log open").out, &["it has not ended, or was killed"]);
    lock.release();
    assert_told(&home.run("log").out, &[&format!("{} — unfinished, ", id(55))]);
}

#[test]
fn what_cannot_be_read_is_left_out_and_counted() {
    let home = runs()
        .file(&format!("runs/{}.json", id(59)), "{")
        .file(&format!("runs/{}.json", id(58)), r#"{"run_id":"other"}"#)
        .file("runs/notes.txt", "x");
    let day = home.read(DAY).expect("lines") + "{\"torn";
    let home = home.file(DAY, &day);
    std::os::unix::fs::symlink("/dev/zero", home.path("runs/zero.json")).expect("a link");
    let before = home.snapshot();
    let ran = home.run("log");
    assert!(ran.out.starts_with("Runs (4):"), "{ran:?}");
    assert_eq!(ran.err, "note: 2 run documents and 1 log line cannot be read and are left out\n");
    assert_refused(&home.run(&format!("log {}", id(59))), &["is not valid JSON"]);
    assert_eq!(home.snapshot(), before);
}

#[test]
fn a_long_history_is_read_no_further_than_needed() {
    let old = "x".repeat(200_000) + "\n";
    let home = runs().file("logs/runs/2026-08-01.jsonl", &old).file("runs/zzz.json", "{");
    let file = fs::File::options().write(true).open(home.path("runs/zzz.json")).expect("a file");
    file.set_modified(std::time::UNIX_EPOCH).expect("a time");
    assert_eq!(
        home.run("log -n 2").err,
        "note: older runs are not shown; `--limit N` shows more\n"
    );
}

/// Runs `--follow` while `act` works on the home; what it told and its exit code.
fn follow(
    home: &Home,
    words: &[&str],
    act: impl FnOnce(&dyn Fn(&str), &dyn Fn(&str)) + Send,
) -> (i32, String) {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let err = Writer::memory();
    let clock = Arc::new(Mutex::new(home.now));
    let asked = Arc::new(AtomicUsize::new(0));
    let io = {
        let (clock, asked) = (Arc::clone(&clock), Arc::clone(&asked));
        let now = move || {
            asked.fetch_add(1, Ordering::SeqCst);
            *clock.lock().expect("no poison")
        };
        let out = Writer::descriptor(writer, false);
        Io {
            out,
            err: err.clone(),
            input: Input::none(),
            clock: Arc::new(now),
            package: home.package.clone(),
        }
    };
    let heard = Mutex::new(String::new());
    let code = std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                heard
                    .lock()
                    .expect("no poison")
                    .push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        scope.spawn(|| {
            let wait = |text: &str| {
                for _ in 0..6000 {
                    if heard.lock().expect("no poison").contains(text) {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
                panic!("`{text}` was never told");
            };
            let set = |at: &str| {
                *clock.lock().expect("no poison") = Instant::parse(at).expect("an instant");
            };
            // The clock is asked by the arguments, where the files are opened, and behind that.
            while asked.load(Ordering::SeqCst) < 3 {
                std::thread::sleep(Duration::from_millis(1));
            }
            act(&wait, &set);
            home.cancel.cancel();
        });
        let code = home.run_with(words, &io);
        drop(io);
        reading.join().expect("the reader");
        code
    });
    assert_eq!(err.contents(), "");
    (code, heard.into_inner().expect("no poison"))
}

fn append(home: &Home, file: &str, text: &str) {
    let path = home.path(file);
    fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
    let mut file = fs::File::options().append(true).create(true).open(path).expect("a file");
    file.write_all(text.as_bytes()).expect("written");
}

#[test]
fn following_tells_what_comes_over_midnight_and_by_hand_until_it_is_interrupted() {
    let home = runs();
    let put = |(path, text): (String, String)| {
        fs::write(home.path("runs/.tmp"), text).expect("a file");
        fs::rename(home.path("runs/.tmp"), home.path(&path)).expect("in place");
    };
    let (code, told) = follow(&home, &["log", "--follow"], |wait, set| {
        append(&home, DAY, &line(&id(57), "run_start", ""));
        wait("began");
        append(
            &home,
            DAY,
            &line(
                &id(57),
                "plugin_result",
                r#","plugin":"al\u001bpha","status":"failed","elapsed_ms":3,"detail":"boom""#,
            ),
        );
        wait("boom (3 ms)");
        set("2026-08-21T00:00:01.000Z");
        append(&home, "logs/runs/2026-08-21.jsonl", &line("next", "run_start", ""));
        wait("next began");
        append(&home, DAY, &line(&id(57), "run_end", r#","status":"partial","detail":"s""#));
        wait("ended: partial");
        put(by_hand("hand-2", "beta", 58, "running", ""));
        wait("hand-2, by hand: beta began");
        put(by_hand("hand-2", "beta", 58, "success", "done"));
        wait("hand-2, by hand: beta ended: success — done");
        fs::remove_file(home.path(DAY)).expect("pruned");
        append(
            &home,
            "logs/runs/2026-08-21.jsonl",
            &line("next", "run_end", r#","status":"complete""#),
        );
        wait("next ended: complete");
    });
    assert_eq!(code, 130);
    assert_eq!(told.lines().count(), 7, "{told}");
    assert!(told.contains(": al\\u{1b}pha failed — boom (3 ms)\n"), "{told}");
    assert!(!told.contains(&id(10)) && !told.contains("9d4e"), "the past is not told: {told}");
}

#[test]
fn following_as_json_is_a_document_a_line_and_one_plugin_is_told_alone() {
    let home = Home::new().plugin("beta", "");
    let words = ["log", "-f", "--json", "--plugin", "beta"];
    let (code, told) = follow(&home, &words, |wait, _| {
        let result = |plugin: &str| {
            let rest =
                format!(r#","plugin":"{plugin}","status":"completed","elapsed_ms":1,"detail":"d""#);
            line(&id(57), "plugin_result", &rest)
        };
        append(&home, DAY, &(line(&id(57), "run_start", "") + &result("alpha") + &result("beta")));
        wait("beta");
    });
    assert_eq!((code, told.lines().count()), (130, 1), "{told}");
    let report = parse(told.trim()).expect("JSON");
    assert_eq!(report.get("event").expect("an event").to_compact(), r#""plugin_result""#);
}

#[test]
fn following_ends_quietly_once_nobody_reads() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let out = Writer::descriptor(writer, false);
    drop(reader);
    let err = Writer::memory();
    assert_eq!(home.run_into(&["log", "--follow"], out, err.clone()), 0);
    assert_eq!(err.contents(), "");
}
