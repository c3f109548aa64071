//! The few colours of the command line, each with one meaning, and which stream shows them.
//!
//! Reports are always composed with their colours; a stream that shows none has them taken out on the
//! way. Nothing is told by colour alone.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};
use clap::builder::styling::Styles;

use crate::home::Environment;

const FAILED: Style = AnsiColor::Red.on_default();
const WAITS: Style = AnsiColor::Yellow.on_default();
const OK: Style = AnsiColor::Green.on_default();
const FAINT: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();

/// How the parser writes help: headings and what is typed stand out, errors are ours.
pub(super) const HELP: Styles = Styles::plain().header(STRONG).usage(STRONG).literal(STRONG);

/// What failed or was refused.
pub fn failed(text: impl Display) -> String {
    paint(FAILED, text)
}

/// What waits for a person, or will soon need one.
pub fn waits(text: impl Display) -> String {
    paint(WAITS, text)
}

/// What is done or approved.
pub fn ok(text: impl Display) -> String {
    paint(OK, text)
}

/// What is there for completeness: ages, things left out.
pub fn faint(text: impl Display) -> String {
    paint(FAINT, text)
}

/// A heading.
pub fn strong(text: impl Display) -> String {
    paint(STRONG, text)
}

/// A text in the colour of the outcome of a run or of a plugin in it; as it is where the word is none of ours.
pub fn outcome(word: &str, text: impl Display) -> String {
    match word {
        "complete" | "completed" | "success" => ok(text),
        "partial" | "gated" | "delegated" | "running" => waits(text),
        "failed" | "interrupted" | "cancelled" | "timeout" | "killed" | "unfinished" => {
            failed(text)
        }
        "skipped" | "denied" | "unknown" => faint(text),
        _ => text.to_string(),
    }
}

fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A text without its colours.
pub fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// Whether a terminal of this environment understands more than text.
pub(super) fn is_able(environment: &Environment) -> bool {
    environment.var("TERM").is_some_and(|term| !["", "dumb"].contains(&term.as_str()))
}

/// What `--color` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// A terminal that can show colours does, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Every stream, whatever it is.
    Always,
    /// None.
    Never,
}

impl Choice {
    /// The choices as they are typed.
    pub const ALL: [(&str, Self); 3] =
        [("auto", Self::Auto), ("always", Self::Always), ("never", Self::Never)];

    /// The choice of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice)
    }

    /// What a command line says about colours, also one that is refused or asks for help.
    pub(super) fn in_arguments(arguments: &[String]) -> Self {
        let mut words = arguments.iter().map(String::as_str).take_while(|word| *word != "--");
        while let Some(word) = words.next() {
            let named = match word.strip_prefix("--color") {
                Some("") => words.next(),
                Some(rest) => rest.strip_prefix('='),
                None => None,
            };
            if let Some(choice) = named.and_then(Self::from_name) {
                return choice;
            }
        }
        Self::default()
    }

    /// Whether a stream shows colours. An empty `NO_COLOR` counts as not set; a terminal without a
    /// `TERM`, or with `dumb`, can show none.
    pub fn applies(self, terminal: bool, environment: &Environment) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let unwanted = environment.var("NO_COLOR").is_some_and(|value| !value.is_empty());
                terminal && is_able(environment) && !unwanted
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_to_terminals_that_can_and_may_show_them() {
        let environment = |vars: &[(&str, &str)]| Environment {
            vars: vars.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            cwd: "/".into(),
        };
        let term = ("TERM", "xterm-256color");
        for (choice, terminal, vars, expected) in [
            (Choice::Auto, true, &[term][..], true),
            (Choice::Auto, false, &[term], false),
            (Choice::Auto, true, &[term, ("NO_COLOR", "1")], false),
            (Choice::Auto, true, &[term, ("NO_COLOR", "")], true),
            (Choice::Auto, true, &[("TERM", "dumb")], false),
            (Choice::Auto, true, &[("TERM", "")], false),
            (Choice::Auto, true, &[], false),
            (Choice::Always, false, &[("NO_COLOR", "1"), ("TERM", "dumb")], true),
            (Choice::Always, true, &[], true),
            (Choice::Never, true, &[term], false),
            (Choice::Never, false, &[], false),
        ] {
            let found = choice.applies(terminal, &environment(vars));
            assert_eq!(found, expected, "{choice:?} {terminal} {vars:?}");
        }
    }

    #[test]
    fn every_outcome_has_a_colour_and_a_strange_word_none() {
        use crate::schema::run_artifact::{ArtifactStatus, AttemptStatus};
        use crate::schema::run_log::{AdvanceStatus, EntryStatus};
        let all = ArtifactStatus::ALL.iter().map(|one| one.as_str());
        let all = all.chain(AttemptStatus::ALL.iter().map(|one| one.as_str()));
        let all = all.chain(AdvanceStatus::ALL.iter().map(|one| one.as_str()));
        for word in all.chain(EntryStatus::ALL.iter().map(|one| one.as_str())) {
            assert!(outcome(word, word).contains('\u{1b}'), "{word}");
        }
        assert_eq!(outcome("__proto__", "x"), "x");
    }

    #[test]
    fn taking_the_colours_out_leaves_the_text() {
        for paint in [failed, waits, ok, faint, strong] {
            let painted = paint("監視 — é\n");
            assert!(painted.contains('\u{1b}'));
            assert_eq!(plain(&painted), "監視 — é\n");
        }
    }
}
