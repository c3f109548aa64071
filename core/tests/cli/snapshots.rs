//! What each verb says, byte for byte: one golden file for each case, below `snapshots/<verb>/`.
//!
//! `WARPLINE_UPDATE_SNAPSHOTS=1` writes them anew; read the difference before you commit it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use warpline_core::cli::paint::plain;
use warpline_core::cli::usage::command;

use crate::snapshot_cases::{Case, cases};
use crate::support::{Home, Ran};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/snapshots")
}

/// Runs a case in a home of its own; the directory around it reads `/srv/project`.
fn run(case: &Case, options: &[&str]) -> Ran {
    let home = (case.home)();
    let mut words = split(&case.line);
    words.extend(options.iter().map(|word| (*word).to_owned()));
    let ran = home.run_words(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let around = home.around().display().to_string();
    let settled = |text: String| text.replace(&around, "/srv/project");
    Ran { code: ran.code, out: settled(ran.out), err: settled(ran.err) }
}

/// The words of a line as a shell reads them, single quotes included.
pub fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in line.split('\'').enumerate() {
        if place % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn golden(case: &Case, ran: &Ran) -> String {
    let Ran { code, out, err } = ran;
    format!("$ warpline {}\nexit: {code}\n-- stdout --\n{out}-- stderr --\n{err}", case.line)
}

fn all_cases() -> Vec<Case> {
    let verbs = command();
    let help = verbs.get_subcommands().map(|verb| {
        let name = verb.get_name();
        Case { name: format!("{name}/help"), home: Home::new, line: format!("{name} --help") }
    });
    cases().into_iter().chain(help).collect()
}

#[test]
fn every_case_says_what_its_golden_file_says() {
    let update = std::env::var_os("WARPLINE_UPDATE_SNAPSHOTS").is_some();
    let mut known = BTreeSet::new();
    let mut changed = Vec::new();
    for case in all_cases() {
        let found = golden(&case, &run(&case, &[]));
        let path = directory().join(format!("{}.txt", case.name));
        assert!(known.insert(path.clone()), "two cases are called {}", case.name);
        if update {
            fs::create_dir_all(path.parent().expect("a directory")).expect("created");
            fs::write(&path, &found).expect("written");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            changed.push(format!("{}\nexpected: {expected}\nfound: {found}", path.display()));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n\n"));
    let mut there = BTreeSet::new();
    for verb in fs::read_dir(directory()).expect("the snapshots") {
        let files = fs::read_dir(verb.expect("an entry").path()).expect("the files of a verb");
        there.extend(files.map(|file| file.expect("an entry").path()));
    }
    assert_eq!(there, known, "every golden file has its case");
}

#[test]
fn colours_add_nothing_to_a_text_and_never_get_into_a_pipe_or_into_json() {
    let mut coloured = 0;
    for case in all_cases() {
        let (piped, forced) = (run(&case, &[]), run(&case, &["--color", "always"]));
        assert!(!piped.out.contains('\u{1b}') && !piped.err.contains('\u{1b}'), "{}", case.name);
        if case.line.contains("--json") {
            assert_eq!(forced.out, piped.out, "{}", case.name);
        }
        coloured += usize::from((forced.out.clone() + &forced.err).contains('\u{1b}'));
        let stripped = Ran { code: forced.code, out: plain(&forced.out), err: plain(&forced.err) };
        assert_eq!(stripped, piped, "{}", case.name);
        let never = run(&case, &["--color=never"]);
        assert_eq!(never, piped, "{}", case.name);
    }
    assert!(coloured > 20, "reports have colours where they are wanted");
}

#[test]
fn every_verb_has_cases_for_text_and_for_json_and_a_schema() {
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas");
    let mut with_schema = BTreeSet::new();
    for verb in command().get_subcommands() {
        let name = verb.get_name();
        let own: Vec<Case> = cases();
        let own: Vec<&Case> =
            own.iter().filter(|case| case.name.starts_with(&format!("{name}/"))).collect();
        assert!(own.iter().all(|case| split(&case.line).iter().any(|word| word == name)));
        let (json, text): (Vec<&Case>, Vec<&Case>) =
            own.into_iter().partition(|case| case.line.contains("--json"));
        assert!(!text.is_empty(), "`{name}` has no case for its text");
        if verb.get_arguments().any(|argument| argument.get_id() == "json") {
            let reports = json.iter().any(|case| !run(case, &[]).out.is_empty());
            assert!(reports, "`{name}` has no case for its report as JSON");
            let file = format!("{name}.json");
            assert!(schemas.join(&file).is_file(), "docs/schemas/{file} is missing");
            with_schema.insert(file);
            // What `--follow` tells line by line has a shape of its own.
            if verb.get_arguments().any(|argument| argument.get_id() == "follow") {
                with_schema.insert(format!("{name}-follow.json"));
            }
        }
    }
    let files = fs::read_dir(schemas).expect("the schemas");
    let files: BTreeSet<String> = files
        .map(|file| file.expect("an entry").file_name().into_string().expect("a name"))
        .filter(|name| name != "documents")
        .collect();
    assert_eq!(files, with_schema, "every schema has its verb");
}
