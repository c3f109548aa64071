//! `completions`: the scripts for shells, and the names of plugins that they ask for while a person types.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};
use clap_complete::aot::{Shell, generate};

use crate::home::plugins::roster;
use crate::json::JsString;
use crate::schema::manifest::RunProfile;

use super::args::DEFERRALS;
use super::context::Context;
use super::paint::Choice;
use super::{exit, usage};

/// The shells that can be given a script.
pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// What a script says in the place of a shell, to be told the names.
pub(super) const NAMES: &str = "plugins";

/// The script that completes the command line in a shell of this name; `None` for any other.
pub(super) fn script(shell: &str) -> Option<String> {
    let (kind, finish): (Shell, fn(&str) -> String) = match shell {
        "bash" => (Shell::Bash, bash),
        "zsh" => (Shell::Zsh, zsh),
        "fish" => (Shell::Fish, fish),
        _ => return None,
    };
    let grammar = usage::grammar().mut_args(with_values);
    let mut grammar = grammar.mut_subcommands(|verb| {
        let names_new = verb.get_name() == "scaffold";
        verb.mut_args(|argument| match argument.get_id().as_str() {
            "plugin" | "explain" if !names_new => argument.value_hint(PLUGIN),
            _ => with_values(argument),
        })
    });
    let mut script = Vec::new();
    generate(kind, &mut grammar, "warpline", &mut script);
    Some(finish(&String::from_utf8(script).ok()?))
}

/// Marks what is the name of a plugin. The generator has no kind for that; this one is used for nothing else,
/// and what it becomes in a script is replaced.
const PLUGIN: ValueHint = ValueHint::Username;

/// Tells a shell what may be typed. The parser is not told: its own refusals would read differently.
fn with_values(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "color" => argument.value_parser(Choice::ALL.map(|(name, _)| name)),
        "profile" => {
            let profiles = RunProfile::ALL.iter().map(|profile| profile.as_str());
            argument.value_parser(PossibleValuesParser::new(profiles))
        }
        "shell" => argument.value_parser(SHELLS),
        "span" => argument.value_parser(DEFERRALS.map(|(name, _)| name)),
        "home" | "plugins" => argument.value_hint(ValueHint::DirPath),
        _ => argument,
    }
}

/// Lists the directories of the plugin root, a name a line, and returns the exit code. No code runs for it.
///
/// Names that a shell would read more into are left out: bash expands what it completes from.
pub(super) fn names<F>(context: &Context<'_, F>) -> i32 {
    let roster = match roster(&context.paths.plugins) {
        Ok(roster) => roster,
        Err(error) => return context.fail(&error),
    };
    let plain = |name: &String| {
        let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        !name.starts_with('-') && name.bytes().all(harmless)
    };
    let mut names: Vec<String> = roster.names().map(JsString::to_text).filter(plain).collect();
    names.sort();
    names.into_iter().for_each(|name| context.say(&name));
    exit::DONE
}

/// The verbs that take names of plugins.
fn verbs() -> String {
    let grammar = usage::grammar();
    let takes = |verb: &&Command| {
        let mut places = verb.get_positionals();
        verb.get_name() != "scaffold" && places.any(|place| place.get_id() == "plugin")
    };
    let verbs: Vec<&str> =
        grammar.get_subcommands().filter(takes).map(|verb| verb.get_name()).collect();
    verbs.join(" ")
}

/// The options behind which a value comes that is not the name of a plugin.
fn valued() -> String {
    let grammar = usage::grammar();
    let all = grammar.get_subcommands().flat_map(Command::get_arguments);
    let valued = all.chain(grammar.get_arguments()).filter(|argument| {
        let names = ["plugin", "explain"].contains(&argument.get_id().as_str());
        argument.get_action().takes_values() && !argument.is_positional() && !names
    });
    let words = valued.flat_map(|argument| {
        let long = argument.get_long().map(|long| format!("--{long}"));
        long.into_iter().chain(argument.get_short().map(|short| format!("-{short}")))
    });
    let mut words: Vec<String> = words.collect();
    words.sort();
    words.dedup();
    words.join("|")
}

fn bash(script: &str) -> String {
    let script = script.replace(" -F _warpline ", " -F _warpline_or_plugins ");
    let (verbs, valued) = (verbs().replace(' ', "|"), valued());
    format!(
        r#"{script}
_warpline_or_plugins() {{
    _warpline "$@"
    local word option='' verb='' names
    local -a where=()
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        [[ $word != '=' ]] || continue
        case "$option" in
            --home|--plugins) where+=("$option" "$word") ;;
        esac
        option=$word
        case "$verb,$word" in
            ,{either}) verb=$word ;;
        esac
    done
    case "$verb,$3,$2" in
        *,*,-*) return 0 ;;
        log,--plugin,*|plan,--explain,*) ;;
        log,*|plan,*|,*) return 0 ;;
    esac
    case "$3" in
        =|{valued}) return 0 ;;
    esac
    names=$("$1" ${{where[@]+"${{where[@]}}"}} completions {NAMES} 2> /dev/null) || return 0
    [[ -z $names ]] || COMPREPLY=($(compgen -W "$names" -- "$2"))
}}
"#,
        either = format!("{verbs}|log|plan").replace('|', "|,"),
    )
}

fn zsh(script: &str) -> String {
    let script = script.replace(":_users'", ":_warpline_plugins'");
    let function = format!(
        r#"autoload -U is-at-least

_warpline_plugins() {{
    local word option
    local -a where names
    for word in "${{(@Q)${{(z)LBUFFER}}}}"; do
        case $option in
            (--home|--plugins) where+=($option $word) ;;
        esac
        case $word in
            (--home=*|--plugins=*) where+=($word) ;;
        esac
        option=$word
    done
    names=(${{(f)"$(warpline $where completions {NAMES} 2> /dev/null)"}})
    compadd -a names
}}
"#
    );
    script.replacen("autoload -U is-at-least\n", &function, 1)
}

fn fish(script: &str) -> String {
    let script = script.replace("(__fish_complete_users)", "(__warpline_plugins)");
    let verbs = verbs();
    format!(
        r#"function __warpline_plugins
    set -l where
    set -l option
    for word in (commandline -opc)
        if contains -- "$option" --home --plugins
            set -a where $option $word
        else if string match -qr -- '^--(home|plugins)=' $word
            set -a where $word
        end
        set option $word
    end
    warpline $where completions {NAMES} 2> /dev/null
end
{script}complete -c warpline -n "__fish_warpline_using_subcommand {verbs}" -f -a "(__warpline_plugins)"
"#
    )
}
