//! Help that can be believed: its examples parse, its groups are whole, its exit codes are the documented ones.

use std::collections::BTreeSet;

use warpline_core::cli::args::parse;
use warpline_core::cli::paint::plain;
use warpline_core::cli::{examples, exit, help, usage};
use warpline_core::clock::Instant;

use crate::snapshots::split;
use crate::support::{Home, NOW};

fn verbs() -> Vec<String> {
    usage::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect()
}

#[test]
fn every_verb_has_examples_and_each_of_them_is_a_call_of_that_verb() {
    let now = Instant::parse(NOW).expect("an instant");
    for verb in verbs() {
        assert!(!examples::of(&verb).is_empty(), "`{verb}` has no example");
        let shown = Home::new().run(&format!("{verb} --help")).out;
        for (line, what) in examples::of(&verb) {
            assert!(shown.contains(&format!("\n  {line}\n      {what}")), "{shown}");
            // What follows a redirection is for the shell.
            let words = split(line.split(" >").next().expect("a command"));
            assert_eq!(words.first().map(String::as_str), Some("warpline"), "{line}");
            assert!(words.contains(&verb), "{line}");
            let parsed = parse(&words[1..], now);
            assert!(parsed.is_ok(), "`{line}` is refused: {parsed:?}");
        }
    }
}

/// Cases: T518.
#[test]
fn every_verb_is_in_one_group_of_the_programs_help() {
    let grouped: Vec<&str> =
        help::GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
    let known = verbs();
    let once: BTreeSet<&str> = grouped.iter().copied().collect();
    assert_eq!(once.len(), grouped.len(), "a verb is in two groups");
    assert_eq!(once, known.iter().map(String::as_str).collect(), "groups and grammar agree");
    let shown = Home::new().run("--help").out;
    for (heading, _) in help::GROUPS {
        assert!(shown.contains(&format!("\n{heading}:\n")), "{shown}");
    }
    for verb in known {
        assert!(shown.contains(&format!("\n  {verb} ")), "{shown}");
    }
    assert_eq!(Home::new().run("").out, shown);
}

#[test]
fn the_exit_codes_of_help_and_reference_are_those_of_the_program() {
    let shown = Home::new().run("--help").out;
    let listed = shown.split("Exit codes:\n").nth(1).expect("the codes").lines();
    let listed: Vec<(i32, &str)> = listed
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let (code, meaning) = line.trim().split_once(' ').expect("code and meaning");
            (code.parse().expect("a number"), meaning.trim())
        })
        .collect();
    assert_eq!(listed, exit::TABLE);
    let page = include_str!("../../../docs/reference.md");
    let section = page.split("### Exit codes").nth(1).expect("the section");
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows: Vec<(i32, &str)> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            (cells[0].parse().expect("a number"), cells[1])
        })
        .collect();
    assert_eq!(rows, exit::TABLE, "docs/reference.md");
}

#[test]
fn help_the_version_and_completions_touch_and_load_nothing() {
    let mut lines: Vec<String> = verbs().iter().map(|verb| format!("{verb} --help")).collect();
    lines.extend(["", "--help", "-h", "--version"].map(str::to_owned));
    lines.extend(["bash", "zsh", "fish"].map(|shell| format!("completions {shell}")));
    for line in lines {
        let home = Home::new();
        let before = home.snapshot();
        let ran = home.run(&line);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}");
        assert!(!ran.out.is_empty() && !ran.out.contains('\u{1b}'), "{line}");
        assert_eq!(home.snapshot(), before, "{line}");
        assert_eq!(home.fleet.asked(), [""; 0], "{line}");
    }
}

#[test]
fn colours_are_chosen_by_option_in_help_and_refusals_too() {
    let home = Home::new();
    for (line, coloured) in [
        ("--color always --help", true),
        ("plan --help --color always", true),
        ("plan --help --color=always", true),
        ("--color never --help", false),
        ("--help", false),
    ] {
        assert_eq!(home.run(line).out.contains('\u{1b}'), coloured, "{line}");
    }
    let refused = home.run("plan --bogus --color always");
    assert!(refused.err.starts_with("\u{1b}[31merror:\u{1b}[0m unknown"), "{:?}", refused.err);
    assert!(plain(&refused.err).starts_with("error: unknown option `--bogus`\n"));
    let refused = home.run("plan --color alway");
    assert_eq!(refused.code, 1);
    let told = "error: invalid --color 'alway': expected auto, always, never\nhint: did you mean `always`?\n";
    assert!(refused.err.starts_with(told), "{}", refused.err);
}

#[test]
fn a_shell_that_is_misspelt_is_refused_with_its_neighbour() {
    let refused = Home::new().run("completions bsh");
    assert_eq!((refused.code, refused.out.as_str()), (1, ""));
    let told = "error: invalid SHELL 'bsh': expected bash, zsh, fish\nhint: did you mean `bash`?\n";
    assert!(refused.err.starts_with(told), "{}", refused.err);
}
