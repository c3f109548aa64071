//! The program's own help: its verbs in groups, its options and exit codes.

use clap::Command;

use super::{exit, paint, usage};

/// The verbs as the program's help groups them; each verb belongs to one group.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("Set up", &["init", "completions"]),
    ("Write plugins", &["scaffold", "configure", "check"]),
    ("Run", &["plan", "advance", "run"]),
    ("Look", &["status", "log", "show", "handoffs"]),
    ("Answer", &["approve", "deny", "revoke", "forget"]),
    ("Notices and tasks", &["board", "ack", "tasks", "defer", "done"]),
];

/// What `warpline` alone prints: the verbs in their groups, the options, and the exit codes.
pub fn overview() -> String {
    let mut command = usage::grammar();
    let verbs: String =
        GROUPS.iter().map(|(heading, verbs)| group(&command, heading, verbs)).collect();
    let usage = command.render_usage().ansi().to_string();
    let options = command.clone().help_template("{options}").render_help().ansi().to_string();
    let about = command.get_about().map(|about| about.ansi().to_string()).unwrap_or_default();
    let heading = paint::strong;
    format!(
        "{about}\n\n{}\n\n{verbs}{}\n{}\n\n{}{}\n\n`warpline <VERB> --help` tells more about each verb.\n",
        usage.trim_end(),
        heading("Options:"),
        options.trim_end(),
        heading("Exit codes:"),
        exit::help(),
    )
}

fn group(command: &Command, heading: &str, verbs: &[&str]) -> String {
    let mut lines = paint::strong(format!("{heading}:")) + "\n";
    for verb in verbs.iter().filter_map(|verb| command.find_subcommand(verb)) {
        let about = verb.get_about().map(|about| about.ansi().to_string()).unwrap_or_default();
        let name = paint::strong(format!("{:<12}", verb.get_name()));
        lines.push_str(&format!("  {name} {about}\n"));
    }
    lines + "\n"
}
