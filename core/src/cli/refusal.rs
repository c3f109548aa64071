//! How a refusal reads: one `error:` line, a `hint:` line of its own, and the usage of the verb.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{help, paint, text, usage};

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
        let message = error_line(&text::line_str(message));
        Self { message, hint: None, usage: usage_line(verb) }
    }

    /// Adds the known word that the given one is close to.
    #[must_use]
    pub fn hint_near<'a>(mut self, given: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        self.hint = text::nearest(given, known).map(|word| format!("did you mean `{word}`?"));
        self
    }

    /// Message, hint and usage as they go to standard error, with their colours.
    pub fn text(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| hint_line(hint) + "\n").unwrap_or_default();
        format!("{}\n{hint}\n{}\n", self.message, self.usage.trim_end())
    }
}

/// The line that says what is refused.
pub(super) fn error_line(message: &str) -> String {
    format!("{} {message}", paint::failed("error:"))
}

/// The line that says what can be done about it.
pub(super) fn hint_line(hint: &str) -> String {
    format!("{} {hint}", paint::strong("hint:"))
}

fn usage_line(verb: &str) -> String {
    let mut command = usage::command();
    command.build();
    let usage = match command.find_subcommand_mut(verb) {
        Some(verb) => verb.render_usage(),
        None => command.render_usage(),
    };
    usage.ansi().to_string()
}

const ACTION: &str =
    "an action is a word that the handler is given; any one will do where it asks for none";

/// Turns the parser's error about these arguments into ours.
pub fn of_parser(error: &clap::Error, arguments: &[String]) -> Refusal {
    let about = |kind| error.get(kind).map(context_text).unwrap_or_default();
    let argument = about(ContextKind::InvalidArg);
    if error.kind() == ErrorKind::InvalidSubcommand {
        let verb = about(ContextKind::InvalidSubcommand);
        let message = format!("Unknown command: {}", text::line_str(&verb));
        let names: Vec<String> =
            usage::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
        return Refusal { message, hint: None, usage: help::overview() }
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
    let command = usage::command();
    let is_verb = |word: &&String| command.find_subcommand(word.as_str()).is_some();
    let usage = usage_line(arguments.iter().find(is_verb).map_or("", String::as_str));
    let message = error_line(&text::line_str(&message));
    let suggested = Some(about(ContextKind::SuggestedArg)).filter(|word| !word.is_empty());
    let hint = suggested.map(|word| format!("did you mean `{word}`?"));
    // The one argument whose values are known to nobody but the handler.
    let action =
        error.kind() == ErrorKind::MissingRequiredArgument && argument.ends_with("<ACTION>");
    let hint = if action { Some(ACTION.to_owned()) } else { hint };
    Refusal { message, hint, usage }
}

fn context_text(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(words) => words.join(" "),
        other => other.to_string(),
    }
}
