//! The command line's grammar: what each verb accepts, and how the rest is refused.

use warpline_core::cli::args::{
    Approve, Check, Command, Configure, Deny, Log, Parsed, Scaffold, Ttl, parse,
};
use warpline_core::cli::help;
use warpline_core::cli::paint::plain;
use warpline_core::cli::plan::Manifests;
use warpline_core::clock::Instant;
use warpline_core::engine::Isolation;
use warpline_core::json::{JsString, Value};
use warpline_core::schema::manifest::RunProfile;

fn read(line: &str) -> Result<Parsed, String> {
    let now = Instant::parse("2026-08-20T12:00:00.000Z").expect("an instant");
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let parsed = parse(&words, now).map_err(|refusal| plain(&refusal.text()))?;
    Ok(match parsed.command {
        Command::Help(text) => Parsed { command: Command::Help(plain(&text)), ..parsed },
        _ => parsed,
    })
}

fn command(line: &str) -> Command {
    read(line).unwrap_or_else(|refusal| panic!("`{line}` is refused: {refusal}")).command
}

fn refused(line: &str) -> String {
    match read(line) {
        Err(text) => text,
        Ok(parsed) => panic!("`{line}` is accepted: {parsed:?}"),
    }
}

fn approve(line: &str) -> Approve {
    match command(line) {
        Command::Approve(options) => options,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_overview_names_every_verb() {
    for line in ["", "--help", "-h"] {
        let Command::Help(text) = command(line) else { panic!("`{line}` is no help") };
        let verbs = ["init", "plan", "advance", "run", "approve", "deny", "revoke"];
        let board = ["board", "tasks", "ack", "defer", "done"];
        let reading = ["status", "log", "show", "handoffs", "forget"];
        let authoring = ["configure", "scaffold", "check"];
        for verb in verbs.into_iter().chain(board).chain(reading).chain(authoring) {
            assert!(text.contains(&format!("\n  {verb}")), "{verb} is missing in {text}");
        }
        assert!(text.contains("Usage: warpline"));
    }
}

#[test]
fn the_version_is_that_of_the_build() {
    for line in ["--version", "-V", "--home /h --version"] {
        let expected = format!("warpline {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(command(line), Command::Help(expected), "{line}");
    }
    assert!(refused("plan --version").contains("unknown option `--version`"));
}

#[test]
fn every_verb_reports_as_json_where_it_is_asked_to() {
    for line in [
        "init",
        "plan",
        "advance",
        "run p a",
        "approve a",
        "approve --all",
        "deny a",
        "deny --list",
        "deny --remove a",
        "revoke",
        "configure p",
        "scaffold p",
        "check",
        "check p q",
        "board",
        "tasks",
        "ack a",
        "ack --all",
        "defer a 1h",
        "done a",
        "status",
        "log",
        "log r",
        "show p",
        "handoffs",
        "forget a",
    ] {
        let json = match command(&format!("{line} --json")) {
            Command::Init { json }
            | Command::Plan { json, .. }
            | Command::Advance { json, .. }
            | Command::Run { json, .. }
            | Command::Approve(Approve { json, .. })
            | Command::Deny(
                Deny::Record { json, .. } | Deny::List { json } | Deny::Remove { json, .. },
            )
            | Command::Revoke { json }
            | Command::Configure(Configure { json, .. })
            | Command::Scaffold(Scaffold { json, .. })
            | Command::Check(Check { json, .. })
            | Command::Board { json, .. }
            | Command::Tasks { json }
            | Command::Ack { json, .. }
            | Command::Defer { json, .. }
            | Command::Done { json, .. }
            | Command::Status { json }
            | Command::Log(Log { json, .. })
            | Command::Show { json, .. }
            | Command::Handoffs { json }
            | Command::Forget { json, .. } => json,
            Command::Help(text) => panic!("{line}: {text}"),
            Command::PluginNames => panic!("{line} has no report"),
        };
        assert!(json, "{line}");
    }
}

#[test]
fn what_is_asked_of_the_log_is_taken_as_it_stands() {
    let log = |line: &str| match command(line) {
        Command::Log(options) => options,
        other => panic!("{other:?}"),
    };
    let all = Log { run: None, plugin: None, limit: 20, follow: false, json: false };
    assert_eq!(log("log"), all);
    assert_eq!(log("log -n 1000").limit, 1000);
    assert_eq!(log("log 2026"), Log { run: Some("2026".into()), ..all.clone() });
    let plugin = Some("--x".into());
    assert_eq!(log("log -f --plugin=--x"), Log { plugin, follow: true, ..all });
    assert_eq!(
        command("forget b a b"),
        Command::Forget { plugins: vec!["b".into(), "a".into()], json: false }
    );
}

#[test]
fn every_verb_has_help_of_its_own() {
    let reading = ["status", "log", "show", "handoffs", "forget"];
    for verb in
        ["init", "plan", "advance", "run", "approve", "deny", "revoke"].iter().chain(&reading)
    {
        let Command::Help(text) = command(&format!("{verb} --help")) else { panic!("{verb}") };
        assert!(text.contains(&format!("Usage: warpline {verb}")), "{text}");
    }
}

/// Cases: T482.
#[test]
fn an_unknown_command_is_told_with_the_usage_of_all() {
    let text = refused("bogus");
    assert!(text.starts_with("Unknown command: bogus\n"), "{text}");
    for (_, verbs) in help::GROUPS {
        for verb in *verbs {
            assert!(text.contains(&format!("\n  {verb} ")), "{verb} is missing in {text}");
        }
    }
    assert!(refused("advanse").contains("hint: did you mean `advance`?"));
    assert!(refused("\u{1b}[2J").starts_with("Unknown command: \\u{1b}[2J\n"));
}

#[test]
fn unknown_options_and_stray_positionals_are_refused_with_the_verbs_usage() {
    for (line, told, usage) in [
        ("plan --bogus", "error: unknown option `--bogus`", "Usage: warpline plan"),
        ("plan extra", "error: unexpected argument `extra`", "Usage: warpline plan"),
        ("init extra", "error: unexpected argument `extra`", "Usage: warpline init"),
        ("init --yes", "error: unknown option `--yes`", "Usage: warpline init"),
        ("advance --json=yes", "error: `--json` takes no value", "Usage: warpline advance"),
        ("advance --strict --strict", "given more than once", "Usage: warpline advance"),
        ("approve a --yolo", "error: unknown option `--yolo`", "Usage: warpline approve"),
        ("approve a --all", "cannot be combined with", "Usage: warpline approve"),
        ("approve", "error: missing", "Usage: warpline approve"),
        ("approve a --ttl", "error: `--ttl <SPAN>` needs a value", "Usage: warpline approve"),
        ("approve --all --run r", "cannot be combined with", "Usage: warpline approve"),
        ("run p", "error: missing <ACTION>\nhint: an action is a word", "Usage: warpline run"),
        ("deny", "error: missing", "Usage: warpline deny"),
        ("deny --all", "error: unknown option `--all`", "Usage: warpline deny"),
        ("deny --remove", "error: missing", "Usage: warpline deny"),
        ("deny a --list", "cannot be combined with", "Usage: warpline deny"),
        ("status extra", "error: unexpected argument `extra`", "Usage: warpline status"),
        ("log a b", "error: unexpected argument `b`", "Usage: warpline log"),
        ("log a --follow", "cannot be combined with", "Usage: warpline log"),
        ("log a -n 3", "cannot be combined with", "Usage: warpline log"),
        ("log a --plugin p", "cannot be combined with", "Usage: warpline log"),
        ("log -f -n 3", "cannot be combined with", "Usage: warpline log"),
        (
            "log --limit 0",
            "invalid --limit: expected an integer in [1, 1000]",
            "Usage: warpline log",
        ),
        ("log --limit -1", "invalid --limit", "Usage: warpline log"),
        ("log --limit 1001", "invalid --limit", "Usage: warpline log"),
        ("show", "error: missing", "Usage: warpline show"),
        ("show p --run=", "invalid --run", "Usage: warpline show"),
        ("handoffs --all", "error: unknown option `--all`", "Usage: warpline handoffs"),
        ("forget", "error: missing", "Usage: warpline forget"),
        ("deny --list --remove", "cannot be combined with", "Usage: warpline deny"),
        ("deny a --remove --note x", "cannot be combined with", "Usage: warpline deny"),
        ("deny --list --note x", "cannot be combined with", "Usage: warpline deny"),
        ("deny a --note", "error: `--note <TEXT>` needs a value", "Usage: warpline deny"),
        ("run", "error: missing <PLUGIN> <ACTION>", "Usage: warpline run"),
        ("run p", "error: missing <ACTION>", "Usage: warpline run"),
        ("run p a b", "error: unexpected argument `b`", "Usage: warpline run"),
        ("revoke now", "error: unexpected argument `now`", "Usage: warpline revoke"),
        ("--bogus", "error: unknown option `--bogus`", "Usage: warpline "),
    ] {
        let text = refused(line);
        assert!(text.contains(told), "`{line}`: {text}");
        assert!(text.contains(usage), "`{line}`: {text}");
    }
    assert!(refused("approve a --tll 4h").contains("hint: did you mean `--ttl`?"));
}

#[test]
fn profiles_are_three_words() {
    for (word, profile) in [
        ("daily", RunProfile::Daily),
        ("weekly", RunProfile::Weekly),
        ("manual", RunProfile::Manual),
    ] {
        let expected = Command::Plan {
            profile: Some(profile),
            explain: None,
            manifests: Manifests::Run,
            json: false,
        };
        assert_eq!(command(&format!("plan --profile {word}")), expected);
    }
    let text = refused("plan --profile bogus");
    assert!(text.contains("invalid --profile 'bogus'"), "{text}");
    assert!(text.contains("Usage: warpline plan"), "{text}");
    assert!(refused("advance --profile weekl").contains("hint: did you mean `weekly`?"));
    assert!(refused("plan --profile -x").contains("invalid --profile '-x'"));
}

#[test]
fn global_options_stand_before_and_after_the_verb() {
    for line in ["--home /h --plugins /p init", "init --home /h --plugins /p"] {
        let parsed = read(line).expect("accepted");
        assert_eq!(parsed.home.as_deref(), Some("/h"));
        assert_eq!(parsed.plugins.as_deref(), Some("/p"));
        assert_eq!(parsed.command, Command::Init { json: false });
    }
    let empty = parse(&["--home".into(), String::new(), "init".into()], Instant::now());
    assert!(empty.is_err_and(|refusal| refusal.text().contains("`--home`")));
    let empty = parse(&["--plugins=".into(), "plan".into()], Instant::now());
    assert_eq!(empty.expect("the loader refuses it").plugins.as_deref(), Some(""));
}

#[test]
fn a_ttl_is_a_positive_number_and_a_unit() {
    let minute = 60_000;
    for (text, ms) in [("1m", minute), ("90m", 90 * minute), ("4h", 240 * minute)] {
        assert_eq!(approve(&format!("approve a --ttl {text}")).ttl, Some(Ttl { ms }));
    }
    assert_eq!(approve("approve a --ttl=30d").ttl, Some(Ttl { ms: 30 * 1440 * minute }));
    for bad in ["0", "0m", "-1h", "garbage", "4", "4y", "+4h", "1.5h", "h", "m4", "４h"] {
        let text = refused(&format!("approve a --ttl {bad}"));
        assert!(text.contains("error: invalid --ttl"), "{bad}: {text}");
        assert!(text.contains("Usage: warpline approve"), "{bad}: {text}");
    }
    for beyond in ["100000000d", "9223372036854775807m", "99999999999999999999h"] {
        let text = refused(&format!("approve a --ttl {beyond}"));
        assert!(text.contains("later than any date"), "{beyond}: {text}");
    }
}

#[test]
fn approve_takes_each_name_once_and_keeps_the_order() {
    let options = approve("approve b a b --long --replace");
    assert_eq!(options.plugins, [JsString::from("b"), JsString::from("a")]);
    assert!(options.long && options.replace);
    assert_eq!(approve("approve --all"), Approve::default());
    assert_eq!(approve("approve -- -x").plugins, [JsString::from("-x")]);
}

#[test]
fn deny_has_three_forms() {
    let names = |names: &[&str]| names.iter().map(|name| JsString::from(*name)).collect::<Vec<_>>();
    let deny = |line: &str| match command(line) {
        Command::Deny(form) => form,
        other => panic!("{other:?}"),
    };
    let record = Deny::Record { plugins: names(&["b", "a"]), note: None, json: false };
    assert_eq!(deny("deny b a b"), record);
    let record = Deny::Record { plugins: names(&["a"]), note: Some("-no".into()), json: false };
    assert_eq!(deny("deny a --note -no"), record);
    assert_eq!(deny("deny --list"), Deny::List { json: false });
    assert_eq!(deny("deny --list --json"), Deny::List { json: true });
    for line in ["deny --remove b a b", "deny b a --remove"] {
        assert_eq!(deny(line), Deny::Remove { plugins: names(&["b", "a"]), json: false }, "{line}");
    }
}

#[test]
fn inputs_are_split_at_the_first_equals_sign_and_stay_text() {
    let line = "run p refresh --input a=1 --input b=x=y --input c= --input __proto__=z";
    let Command::Run { plugin, action, input, retries, isolation, json } = command(line) else {
        panic!("no run")
    };
    assert_eq!((plugin.to_text(), action.to_text()), ("p".to_owned(), "refresh".to_owned()));
    assert_eq!((retries, isolation), (None, Isolation::None));
    assert!(!json);
    let written = Value::from(input).to_compact();
    assert_eq!(written, r#"{"a":"1","b":"x=y","c":"","__proto__":"z"}"#);
    for bad in ["run p a --input novalue", "run p a --input =1"] {
        assert!(refused(bad).contains("error: invalid --input"), "{bad}");
    }
}

/// Cases: T414.
#[test]
fn retries_are_bounded() {
    for (text, number) in [("0", 0), ("10", 10)] {
        let Command::Run { retries, .. } = command(&format!("run p a --retries={text}")) else {
            panic!("no run")
        };
        assert_eq!(retries, Some(number));
    }
    for bad in ["11", "-1", "abc", "", "99999999999999999999"] {
        let text = refused(&format!("run p a --retries={bad}"));
        assert!(text.contains("[0, 10]"), "{bad}: {text}");
        assert!(text.contains("Usage: warpline run"), "{bad}: {text}");
    }
}
