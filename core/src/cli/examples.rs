//! What a person would type: the examples in the help of each verb. Every one is parsed by a test.

use super::paint;

/// Verbs with their examples: a command line, and what it does.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "init",
        &[
            ("warpline init", "prepare `.warpline` here"),
            ("warpline --home /srv/monitor/.warpline init", "prepare a home elsewhere"),
        ],
    ),
    (
        "scaffold",
        &[
            ("warpline scaffold my-plugin", "manifest, handler and test of a plugin that runs"),
            ("warpline scaffold my-feeds --from feed-monitor", "begin with an example"),
            ("warpline scaffold my-plugin --lang python", "in Python"),
        ],
    ),
    (
        "configure",
        &[
            ("warpline configure my-plugin", "be asked for its inputs"),
            (
                "warpline configure my-plugin --from '{\"subject\": \"disk\"}'",
                "set them from a script",
            ),
            ("warpline configure my-plugin --schema", "the JSON Schema of them, for an editor"),
        ],
    ),
    (
        "check",
        &[
            ("warpline check", "every plugin"),
            ("warpline check my-plugin --json", "one, for a program"),
        ],
    ),
    (
        "plan",
        &[
            ("warpline plan", "what is due now, and why the rest is not"),
            ("warpline plan --profile daily", "what the daily timer would run"),
            ("warpline plan --explain host-metrics", "every guard's answer for one plugin"),
        ],
    ),
    (
        "advance",
        &[
            ("warpline advance", "run what is due"),
            ("warpline advance --dry-run", "try it, with nothing written and no effect"),
            ("warpline advance --isolate", "with a process for every attempt, which ends with it"),
            ("warpline advance --strict --json >> advance.log", "for a timer that reports"),
        ],
    ),
    (
        "run",
        &[
            ("warpline run host-metrics collect", "call one handler now"),
            ("warpline run digest send --input to=ops --retries 0", "with an argument, once"),
            ("warpline run digest send --isolate", "in a process that ends with it"),
        ],
    ),
    (
        "approve",
        &[
            ("warpline approve digest", "let it act for four hours"),
            (
                "warpline approve digest --run 2026-08-20T120000000Z-1f2e3d4c",
                "accept what you read",
            ),
            ("warpline approve --all --ttl 90m", "let every plugin act for a while"),
        ],
    ),
    (
        "deny",
        &[
            ("warpline deny digest --note 'too chatty'", "say no, and why"),
            ("warpline deny --list", "the denials on record"),
            ("warpline deny --remove digest", "ask again"),
        ],
    ),
    ("revoke", &[("warpline revoke", "from now on nothing is granted")]),
    (
        "forget",
        &[
            ("warpline forget host-metrics", "let what depends on it run in spite of its failure"),
            ("warpline forget old-plugin older-plugin", "drop what deleted plugins left"),
        ],
    ),
    (
        "status",
        &[("warpline status", "how the home stands"), ("warpline status --json", "for a program")],
    ),
    (
        "log",
        &[
            ("warpline log -n 5", "the newest five runs"),
            ("warpline log 2026-08-20T1200", "the run whose id begins so"),
            ("warpline log --follow --plugin digest", "what becomes of one plugin, as it comes"),
        ],
    ),
    (
        "show",
        &[
            ("warpline show digest", "what it produced last"),
            ("warpline show digest --run 2026-08-20T1200", "what it produced in that run"),
        ],
    ),
    (
        "handoffs",
        &[
            ("warpline handoffs", "what waits for a model"),
            ("warpline handoffs --json", "for the program that calls one"),
        ],
    ),
    (
        "board",
        &[
            ("warpline board", "the newest notices"),
            ("warpline board --all --json", "every one, for a program"),
        ],
    ),
    ("tasks", &[("warpline tasks", "the open tasks")]),
    (
        "ack",
        &[
            ("warpline ack 1f2e3d4c", "take one notice off the board"),
            ("warpline ack --all", "take all of them off"),
        ],
    ),
    ("defer", &[("warpline defer disk-full 1d", "put it off until tomorrow")]),
    ("done", &[("warpline done disk-full", "it is dealt with")]),
    (
        "completions",
        &[
            (
                "warpline completions bash > ~/.local/share/bash-completion/completions/warpline",
                "for bash",
            ),
            ("warpline completions zsh > ~/.zfunc/_warpline", "for zsh, with ~/.zfunc in fpath"),
            ("warpline completions fish > ~/.config/fish/completions/warpline.fish", "for fish"),
        ],
    ),
];

/// The examples of a verb; none for one that is not in the table.
pub fn of(verb: &str) -> &'static [(&'static str, &'static str)] {
    EXAMPLES.iter().find(|(known, _)| *known == verb).map_or(&[], |(_, examples)| examples)
}

/// The section of a verb's help.
pub(super) fn help(verb: &str) -> String {
    let lines = of(verb).iter().map(|(line, what)| format!("\n  {line}\n      {what}"));
    paint::strong("Examples:") + &lines.collect::<String>()
}
