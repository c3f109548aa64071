//! The grammar of the command line, its help, and how a usage error reads.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};

use super::text;

/// Why a command line is refused: the whole text for standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    message: String,
    hint: Option<String>,
    usage: String,
}

impl Refusal {
    /// A bad value of a verb's option; the usage of that verb follows the message. The empty verb
    /// is the program itself.
    pub fn of(verb: &str, message: &str) -> Self {
        let message = format!("error: {}", text::line_str(message));
        Self { message, hint: None, usage: usage_line(verb) }
    }

    /// Adds the known word that the given one is close to.
    #[must_use]
    pub fn hint_near<'a>(mut self, given: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        self.hint = text::nearest(given, known).map(|word| format!("did you mean `{word}`?"));
        self
    }

    /// Message, hint and usage as they go to standard error.
    pub fn text(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        format!("{}\n{hint}\n{}\n", self.message, self.usage.trim_end())
    }
}

/// The whole grammar.
pub fn command() -> Command {
    Command::new("warpline")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Runs recurring work on a schedule; nothing with a declared side effect runs without a human's yes.")
        .override_usage("warpline [--home DIR] [--plugins DIR] <VERB> [OPTIONS]")
        .subcommand_help_heading("Verbs")
        .subcommand_value_name("VERB")
        .disable_help_subcommand(true)
        .args([
            value("home", "DIR", "The home to work on (before WARPLINE_HOME and the nearest `.warpline`)").global(true).display_order(900),
            value("plugins", "DIR", "The plugin root (before WARPLINE_PLUGINS_DIR and `plugins` of the home)").global(true).display_order(900),
        ])
        .subcommands([init(), plan(), advance(), run(), approve(), deny(), revoke()])
        .subcommands([board(), tasks(), ack(), defer(), done()])
        .after_help("`warpline <VERB> --help` tells more about each verb.")
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
            Arg::new("plugin").value_name("PLUGIN").required(true).help("Its directory name"),
            Arg::new("action").value_name("ACTION").required(true).help("Handed to it as `action`"),
            value("input", "KEY=VALUE", "An argument, as text; may be repeated")
                .action(ArgAction::Append)
                .allow_hyphen_values(true),
            value("retries", "N", "Retries in place of the manifest's number, 0 to 10")
                .allow_hyphen_values(true),
            json(),
        ])
        .after_help(
            "Typing this is itself the yes to the declared side effects, so no grant is asked \
             for, and neither schedule nor denial is consulted. Schedulers use `warpline advance`.\n\
             Exit codes: 0 unless the result is failed; 1 it is; 130 interrupted.",
        )
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

fn id(help: &'static str) -> Arg {
    Arg::new("id").value_name("ID").required(true).help(help)
}

fn profile() -> Arg {
    value("profile", "PROFILE", "Admit the schedules of `daily`, `weekly` or `manual`")
        .allow_hyphen_values(true)
}

fn json() -> Arg {
    flag("json", "Report as JSON on standard output")
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

fn value(name: &'static str, value_name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value_name).help(help)
}

/// What `warpline` alone prints.
pub fn overview() -> String {
    command().render_help().to_string()
}

fn usage_line(verb: &str) -> String {
    let mut command = command();
    command.build();
    match command.find_subcommand_mut(verb) {
        Some(verb) => verb.render_usage().to_string(),
        None => command.render_usage().to_string(),
    }
}

/// Turns the parser's error about these arguments into ours.
pub fn refusal(error: &clap::Error, arguments: &[String]) -> Refusal {
    let about = |kind| error.get(kind).map(context_text).unwrap_or_default();
    let argument = about(ContextKind::InvalidArg);
    if error.kind() == ErrorKind::InvalidSubcommand {
        let verb = about(ContextKind::InvalidSubcommand);
        let message = format!("Unknown command: {}", text::line_str(&verb));
        let names: Vec<String> =
            command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
        return Refusal { message, hint: None, usage: overview() }
            .hint_near(&verb, names.iter().map(String::as_str));
    }
    let message = match error.kind() {
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            format!("unknown option `{argument}`")
        }
        ErrorKind::UnknownArgument => format!("unexpected argument `{argument}`"),
        ErrorKind::MissingRequiredArgument => format!("missing {argument}"),
        ErrorKind::ArgumentConflict => match about(ContextKind::PriorArg) {
            prior if prior == argument => format!("`{argument}` is given more than once"),
            prior => format!("`{argument}` cannot be combined with `{prior}`"),
        },
        ErrorKind::InvalidValue => format!("`{argument}` needs a value"),
        ErrorKind::TooManyValues => format!("`{argument}` takes no value"),
        ErrorKind::NoEquals => format!("`{argument}` needs `=` and a value"),
        kind => kind.as_str().unwrap_or("these arguments are not understood").to_owned(),
    };
    // The parser narrows its usage to the options given; the whole line of the verb tells more.
    let command = command();
    let is_verb = |word: &&String| command.find_subcommand(word.as_str()).is_some();
    let usage = usage_line(arguments.iter().find(is_verb).map_or("", String::as_str));
    let message = format!("error: {}", text::line_str(&message));
    let suggested = Some(about(ContextKind::SuggestedArg)).filter(|word| !word.is_empty());
    let hint = suggested.map(|word| format!("did you mean `{word}`?"));
    Refusal { message, hint, usage }
}

fn context_text(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(words) => words.join(" "),
        other => other.to_string(),
    }
}
