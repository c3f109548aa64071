//! The grammar of the command line.

mod reading;

use clap::{Arg, ArgAction, Command};

use super::{authoring, examples, help, paint};

use reading::{forget, handoffs, log, show, status};

/// The whole grammar with its help: that of each verb ends in its examples.
pub fn command() -> Command {
    grammar().override_help(help::overview()).mut_subcommands(|verb| {
        let notes = verb.get_after_help().map(|notes| format!("{}\n\n", notes.ansi()));
        let help = notes.unwrap_or_default() + &examples::help(verb.get_name());
        verb.after_help(help)
    })
}

/// The grammar alone, as the scripts for shells and the overview need it.
pub(super) fn grammar() -> Command {
    Command::new("warpline")
        .styles(paint::HELP)
        .version(env!("CARGO_PKG_VERSION"))
        .about("Runs recurring work on a schedule; nothing with a declared side effect runs without a human's yes.")
        .override_usage("warpline [--home DIR] [--plugins DIR] <VERB> [OPTIONS]")
        .subcommand_value_name("VERB")
        .disable_help_subcommand(true)
        .args([
            value("home", "DIR", "The home to work on (before WARPLINE_HOME and the nearest `.warpline`)").global(true).display_order(900),
            value("plugins", "DIR", "The plugin root (before WARPLINE_PLUGINS_DIR and `plugins` of the home)").global(true).display_order(900),
            value("color", "WHEN", "Colours: `auto` (on terminals, unless NO_COLOR is set), `always` or `never`").global(true).display_order(900),
        ])
        .subcommands([init(), plan(), advance(), run(), approve(), deny(), revoke()])
        .subcommands(authoring::grammar())
        .subcommands([board(), tasks(), ack(), defer(), done(), completions()])
        .subcommands([status(), log(), show(), handoffs(), forget()])
}

fn init() -> Command {
    Command::new("init").about("Prepare a home with a first plugin").arg(json()).after_help(
        "Creates what is missing in the home and never changes what is there: directories, \
         package.json, the link to the package, a seed plugin and its configuration.",
    )
}

fn plan() -> Command {
    Command::new("plan")
        .about("Show what an advance would run, and why the rest would not")
        .args([
            profile(),
            value("explain", "PLUGIN", "Show how every guard answers for one plugin"),
            flag("no-run", "Run no manifest: one that is not one literal does not load"),
            json(),
        ])
        .after_help(
            "Writes nothing. Exit codes: 0 planned; 1 a plugin does not load or lies on a cycle.",
        )
}

fn advance() -> Command {
    Command::new("advance")
        .about("Run every plugin that is due")
        .args([
            profile(),
            flag(
                "force",
                "Run what is still fresh, in quiet hours too; approvals and denials hold",
            ),
            flag("dry-run", "Run only what declares no side effect, and write nothing"),
            flag("strict", "Exit 1 when a result waits for a human or a plugin is unapproved"),
            isolate(),
            json(),
        ])
        .after_help(
            "Never prompts and never creates a home.\n\
             Exit codes: 0 nothing failed; 1 a plugin failed or did not load, or none is there; \
             75 refused before the first write; 130 interrupted.",
        )
}

fn run() -> Command {
    Command::new("run")
        .about("Run one plugin now, by hand")
        .args([
            plugin("Its directory name"),
            Arg::new("action").value_name("ACTION").required(true).help("Handed to it as `action`"),
            value("input", "KEY=VALUE", "An argument, as text; may be repeated")
                .action(ArgAction::Append)
                .allow_hyphen_values(true),
            value("retries", "N", "Retries in place of the manifest's number, 0 to 10")
                .allow_hyphen_values(true),
            isolate(),
            json(),
        ])
        .after_help(
            "Typing this is itself the yes to the declared side effects, so no grant is asked \
             for, and neither schedule nor denial is consulted. Schedulers use `warpline advance`.\n\
             Exit codes: 0 unless the result is failed; 1 it is; 130 interrupted.",
        )
}

fn isolate() -> Arg {
    flag("isolate", "Run every attempt in a process of its own, which ends with it")
}

fn approve() -> Command {
    Command::new("approve")
        .about("Accept a parked result, or grant plugins their declared side effects")
        .override_usage(
            "warpline approve [OPTIONS] <PLUGIN>...\n       warpline approve [OPTIONS] --all",
        )
        .args([
            Arg::new("plugin")
                .value_name("PLUGIN")
                .num_args(1..)
                .required_unless_present("all")
                .conflicts_with("all")
                .help("Directory names"),
            flag("all", "Grant every plugin, now installed or not"),
            value("run", "RUN", "Accept the parked result of this run, and no later one")
                .conflicts_with("all"),
            value("ttl", "SPAN", "How long the grant lasts: `90m`, `4h`, `1d` (default 4h)")
                .allow_hyphen_values(true),
            flag("long", "Let the grant outlast 23 hours from its first approval"),
            flag("replace", "Overwrite the granted plugins instead of adding to them"),
            json(),
        ])
        .after_help(
            "A plugin whose result is parked has that result recorded; it is not run again and \
             nothing is granted. Every other plugin is granted.\n\
             Exit codes: 0 done; 1 refused.",
        )
}

fn deny() -> Command {
    Command::new("deny")
        .about("Say no to what plugins propose, list such answers, or take them back")
        .override_usage(
            "warpline deny [--note TEXT] [--json] <PLUGIN>...\n       \
             warpline deny --list [--json]\n       \
             warpline deny --remove [--json] <PLUGIN>...",
        )
        .args([
            Arg::new("plugin")
                .value_name("PLUGIN")
                .num_args(1..)
                .required_unless_present("list")
                .help("Directory names"),
            value("note", "TEXT", "Your words, kept with the denial")
                .allow_hyphen_values(true)
                .conflicts_with_all(["list", "remove"]),
            flag("list", "Show the denials on record; writes nothing")
                .conflicts_with_all(["plugin", "remove"]),
            flag("remove", "Take the denials of these plugins back"),
            json(),
        ])
        .after_help(
            "A denied plugin is not run, and nobody is asked about it, until what it proposes \
             changes: its declared side effects or its last output. Its parked result is discarded.\n\
             Exit codes: 0 done; 1 refused.",
        )
}

fn revoke() -> Command {
    Command::new("revoke")
        .about("Take every grant back")
        .arg(json())
        .after_help("Exit codes: 0 no grant is left; 1 refused.")
}

fn board() -> Command {
    Command::new("board")
        .about("Show the notices that nobody has acknowledged, newest first")
        .args([flag("all", "Show every one, not the newest 50 alone"), json()])
        .after_help(
            "A notice is an event of type `notice`, or of severity `warning` or `critical`. \
             Writes nothing.",
        )
}

fn tasks() -> Command {
    Command::new("tasks")
        .about("Show the open tasks")
        .arg(json())
        .after_help("A plugin does not run while a task of it is pending. Writes nothing.")
}

fn ack() -> Command {
    Command::new("ack")
        .about("Take a notice off the board, or all of them")
        .override_usage("warpline ack [--json] <ID>\n       warpline ack --all [--json]")
        .args([
            id("The id of the notice, or its beginning")
                .required(false)
                .required_unless_present("all")
                .conflicts_with("all"),
            flag("all", "Acknowledge every notice, also those beyond the newest 50"),
            json(),
        ])
        .after_help("Exit codes: 0 acknowledged, now or before; 1 refused.")
}

fn defer() -> Command {
    Command::new("defer")
        .about("Put a task off")
        .args([
            id("The id of the task, or its beginning"),
            Arg::new("span")
                .value_name("SPAN")
                .required(true)
                .help("For how long: `1h`, `4h`, `1d` or `1w`"),
            json(),
        ])
        .after_help(
            "The plugin of the task is due again meanwhile. A later deferral replaces the \
             earlier one.\n\
             Exit codes: 0 put off; 1 refused.",
        )
}

fn done() -> Command {
    Command::new("done")
        .about("Call a task done")
        .args([id("The id of the task, or its beginning"), json()])
        .after_help("Exit codes: 0 done; 1 refused.")
}

fn completions() -> Command {
    Command::new("completions")
        .about("Print what completes the command line in a shell")
        .arg(Arg::new("shell").value_name("SHELL").required(true).help("`bash`, `zsh` or `fish`"))
        .after_help("Write it anew after an upgrade. Reads no home; what it prints asks `warpline completions plugins` \
             for the names of plugins while you type, which reads the plugin root and runs no code.")
}

pub(super) fn plugin(help: &'static str) -> Arg {
    Arg::new("plugin").value_name("PLUGIN").required(true).help(help)
}

fn id(help: &'static str) -> Arg {
    Arg::new("id").value_name("ID").required(true).help(help)
}

fn profile() -> Arg {
    value("profile", "PROFILE", "Admit the schedules of `daily`, `weekly` or `manual`")
        .allow_hyphen_values(true)
}

pub(super) fn json() -> Arg {
    flag("json", "Report as JSON on standard output")
}

pub(super) fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

pub(super) fn value(name: &'static str, value_name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value_name).help(help)
}
