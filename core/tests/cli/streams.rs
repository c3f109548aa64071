//! What goes where: pipes whose reader is gone, full disks, help that touches nothing.

use std::io::{self, Read, Seek};

use warpline_core::cli::home_argument;
use warpline_core::cli::writer::Writer;
use warpline_core::schema::run_log::AdvanceStatus;
use warpline_core::schema::skill_result::ResultStatus;

use crate::advance::{DONE, pass};
use crate::run::ended;
use crate::support::{Home, denial};

fn closed_pipe() -> Writer {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    Writer::descriptor(writer, false)
}

/// A home where any of the lines below does its work.
fn prepared() -> Home {
    let denials = format!(r#""denials":{{{}}}"#, denial("denied", "0000"));
    let home = Home::new().plugin("p", "").plugin("denied", "").state(&denials);
    let pass = pass(AdvanceStatus::Complete, &[DONE]);
    *home.fleet.advance.lock().expect("no poison") = Some(Ok(pass));
    *home.fleet.invoke.lock().expect("no poison") = Some(Ok(ended(ResultStatus::Success)));
    home
}

/// Cases: T371, T372.
#[test]
fn a_reader_that_is_gone_changes_neither_exit_code_nor_standard_error() {
    for line in [
        "--help",
        "plan",
        "plan --json",
        "advance --json",
        "run p now --json",
        "approve p",
        "revoke",
        "init",
        "plan --help",
        "scaffold q",
        "configure p --from {}",
        "deny p",
        "deny --list",
        "deny --remove denied",
        "board",
        "tasks",
        "ack --all",
        "status",
        "log",
        "show p",
        "handoffs --json",
        "completions bash",
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let err = Writer::memory();
        assert_eq!(prepared().run_into(&words, closed_pipe(), err.clone()), 0, "{line}");
        assert_eq!(err.contents(), "", "{line}");
        let mut file = tempfile::tempfile().expect("a file");
        let out = Writer::descriptor(file.try_clone().expect("a descriptor"), false);
        assert_eq!(prepared().run_into(&words, out, err.clone()), 0, "{line}");
        let mut told = String::new();
        file.rewind().expect("the beginning");
        file.read_to_string(&mut told).expect("text");
        assert!(!told.is_empty(), "{line}");
        assert_eq!(err.contents(), "", "{line}");
    }
    let home = Home::new();
    assert_eq!(home.run_into(&["bogus"], Writer::memory(), closed_pipe()), 1);
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let err = Writer::memory();
    let home = Home::new().plugin("p", "");
    assert_eq!(home.run_into(&["plan"], Writer::descriptor(full, false), err.clone()), 1);
    assert!(err.contents().starts_with("error: cannot write standard output"));
}

/// Cases: T482.
#[test]
fn help_and_unknown_commands_touch_nothing() {
    let home = Home::new();
    for verb in
        ["init", "plan", "advance", "run", "approve", "revoke", "configure", "scaffold", "check"]
    {
        let ran = home.run(&format!("{verb} --help"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert!(ran.out.contains(&format!("Usage: warpline {verb}")), "{}", ran.out);
    }
    let ran = home.run("bogus");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("Unknown command: bogus\n"), "{}", ran.err);
    assert!(!home.path("").exists() && home.fleet.asked().is_empty());
}

#[test]
fn the_home_for_plugin_code_is_the_one_of_the_option() {
    let cwd = std::path::Path::new("/work/here");
    let home = |line: &str| {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        home_argument(&words, cwd).map(|path| path.display().to_string())
    };
    assert_eq!(home("--home ../there plan").as_deref(), Some("/work/there"));
    assert_eq!(home("run p a --home=/x").as_deref(), Some("/x"));
    assert_eq!(home("run p a --input --home=/x"), None);
    assert_eq!(home("plan"), None);
    assert_eq!(home("plan --bogus --home /x"), None);
}
