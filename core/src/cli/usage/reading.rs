//! The grammar of the verbs that look at a home, and of `forget`.

use clap::{Arg, Command};

use super::{flag, json, value};

pub(super) fn status() -> Command {
    Command::new("status")
        .about("Show how the home stands: what waits, what failed, what is due next")
        .arg(json())
        .after_help(
            "Writes nothing. Exit codes: 0 shown; 1 a plugin does not load or lies on a cycle.",
        )
}

pub(super) fn log() -> Command {
    Command::new("log")
        .about("Show the runs of the home, newest first, or one of them")
        .override_usage(
            "warpline log [--limit N] [--plugin PLUGIN] [--json]\n       \
             warpline log [--json] <RUN>\n       \
             warpline log --follow [--plugin PLUGIN] [--json]",
        )
        .args([
            Arg::new("run").value_name("RUN").help("The id of a run, or its beginning"),
            value("limit", "N", "How many runs, 1 to 1000 (default 20)")
                .short('n')
                .allow_hyphen_values(true)
                .conflicts_with_all(["run", "follow"]),
            value("plugin", "PLUGIN", "Only what became of this plugin").conflicts_with("run"),
            flag("follow", "Wait for new runs and tell of them until Ctrl-C")
                .short('f')
                .conflicts_with("run"),
            json(),
        ])
        .after_help(
            "Tells of advances and of what `warpline run` called by hand. Writes nothing.\n\
             Exit codes: 0 shown; 1 refused; 130 `--follow` was interrupted.",
        )
}

pub(super) fn show() -> Command {
    Command::new("show")
        .about("Show the last Output of a plugin, or that of one run")
        .args([
            Arg::new("plugin").value_name("PLUGIN").required(true).help("Its directory name"),
            value("run", "RUN", "The Outputs of this run: its id, or the beginning of it"),
            json(),
        ])
        .after_help(
            "Of an Output that is versioned, the kept versions are listed. Writes nothing.\n\
             Exit codes: 0 shown, or there is none yet; 1 refused.",
        )
}

pub(super) fn handoffs() -> Command {
    Command::new("handoffs")
        .about("Show the work that plugins have handed to a model")
        .arg(json())
        .after_help(
            "A hand-off is open until the plugin runs again, by hand or in an advance. \
             Writes nothing.",
        )
}

pub(super) fn forget() -> Command {
    Command::new("forget")
        .about("Take the last runs of plugins off the record")
        .args([
            Arg::new("plugin")
                .value_name("PLUGIN")
                .num_args(1..)
                .required(true)
                .help("Directory names; the plugins need not exist any more"),
            json(),
        ])
        .after_help(
            "A plugin whose run is forgotten counts as one that never ran: it is due, and what \
             depends on it is not held back by its failure. Its last Output goes with the run.\n\
             Exit codes: 0 done; 1 refused.",
        )
}
