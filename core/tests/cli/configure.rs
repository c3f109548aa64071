//! `configure`.

use std::os::unix::fs::PermissionsExt;

use warpline_core::json::{Value, parse};

use crate::support::{Home, Ran, assert_refused, assert_told};

const INPUTS: &str = concat!(
    r#""secrets":["TOKEN"],"inputs":{"#,
    r#""zulu":{"type":"string","description":"Where it \u001b[2J goes"},"#,
    r#""TOKEN":{"type":"string","default":"your-token"},"#,
    r#""alpha":{"type":"number","default":90},"#,
    r#""list":{"type":"array","required":false}}"#
);

pub fn home() -> Home {
    Home::new().plugin("poll", INPUTS).plugin("other", "")
}

fn file(home: &Home) -> Option<String> {
    home.read("config/poll.json").map(|text| parse(&text).expect("JSON").to_compact())
}

fn from(home: &Home, json: &str) -> Ran {
    home.run_words(&["configure", "poll", "--from", json])
}

/// Cases: T341, T343.
#[test]
fn a_person_is_asked_for_each_input_in_its_order() {
    let home = home().typing("there\n7\n[1]\n");
    let ran = home.run("configure poll");
    assert_eq!(ran.code, 0, "{ran:?}");
    let asked = concat!(
        "zulu (string, required): Where it \\u{1b}[2J goes\n> ",
        "alpha (number, required)\n[90]> ",
        "list (array, optional)\n> "
    );
    assert_eq!(ran.err, asked);
    let path = home.path("config/poll.json").display().to_string();
    let schema = home.path("config/schemas/poll.json").display().to_string();
    let told = format!(
        "wrote {path}\nwrote {schema}, its schema for editors\n`TOKEN` is a secret: the environment variable is not set\n"
    );
    assert_eq!(ran.out, told);
    let text = "{\n  \"zulu\": \"there\",\n  \"alpha\": 7,\n  \"list\": [\n    1\n  ]\n}";
    assert_eq!(home.read("config/poll.json").as_deref(), Some(text));
}

/// Cases: T348.
#[test]
fn inputs_given_as_json_leave_the_bytes_that_answers_leave() {
    let asked = home().typing("there\n7\n\n");
    assert_eq!(asked.run("configure poll").code, 0);
    let given = home();
    assert_eq!(from(&given, r#"{"alpha":7,"zulu":"there"}"#).code, 0);
    assert_eq!(asked.read("config/poll.json"), given.read("config/poll.json"));
    let mut piped = home().typing(r#"{"alpha":7, "zulu":"there"}"#);
    assert_eq!(piped.run("configure poll --from -").code, 0);
    assert_eq!(asked.read("config/poll.json"), piped.read("config/poll.json"));
    // Nobody is asked when everything is given.
    piped = home().typing("unread\n");
    assert_eq!(from(&piped, "{}").err, "");
}

/// Cases: T345.
#[test]
fn an_empty_answer_takes_the_default_and_leaves_out_what_has_none() {
    let home = home().typing("\n\n\n");
    let ran = home.run("configure poll");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(file(&home).as_deref(), Some(r#"{"alpha":90}"#));
    assert_told(&ran.out, &["needs `zulu`, a string", "`warpline configure poll`"]);
    assert!(!ran.out.contains("list") && !ran.out.contains("undefined"), "{}", ran.out);
}

#[test]
fn a_second_time_proposes_what_is_there_and_keeps_other_keys_behind() {
    let home = home()
        .file("config/poll.json", r#"{"free":true,"alpha":7,"zulu":"here"}"#)
        .typing("\n8\n\n");
    let ran = home.run("configure poll");
    assert_told(&ran.err, &["[here]> ", "[7]> "]);
    assert_eq!(file(&home).as_deref(), Some(r#"{"zulu":"here","alpha":8,"free":true}"#));
    let before = home.snapshot();
    let ran = from(&home, "{}");
    assert_told(&ran.out, &["poll.json holds that already"]);
    assert_eq!(home.snapshot(), before, "the same is not written again");
    assert_eq!(from(&home, r#"{"list":[]}"#).code, 0);
    let kept = r#"{"zulu":"here","alpha":8,"list":[],"free":true}"#;
    assert_eq!(file(&home).as_deref(), Some(kept));
}

#[test]
fn an_answer_of_another_type_is_asked_for_again() {
    let home = home().typing("there\nninety\n1e999\n[9]\n9\n\u{1}{\n[]\n");
    let ran = home.run("configure poll");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.err.matches("`alpha` must be a number\n[90]> ").count(), 3, "{}", ran.err);
    assert_told(&ran.err, &["`list` must be an array\n> "]);
    assert_eq!(file(&home).as_deref(), Some(r#"{"zulu":"there","alpha":9,"list":[]}"#));
}

#[test]
fn a_present_value_of_another_type_is_no_proposal() {
    let text = r#"{"zulu":1,"alpha":"x"}"#;
    let asked = home().file("config/poll.json", text).typing("\n\n\n");
    assert_eq!(asked.run("configure poll").code, 0);
    assert_eq!(file(&asked).as_deref(), Some(r#"{"alpha":90}"#));
    let given = home().file("config/poll.json", text);
    let ran = from(&given, r#"{"zulu":"there"}"#);
    assert_refused(&ran, &["the input `alpha` in ", "must be a number", "hint: give `alpha`"]);
    assert_eq!(given.read("config/poll.json").as_deref(), Some(text));
    assert_eq!(from(&given, r#"{"zulu":"there","alpha":1}"#).code, 0);
}

/// Cases: T344.
#[test]
fn an_early_end_writes_nothing() {
    for typed in ["", "there\n", "there\n7\n"] {
        let home = home().typing(typed);
        let ran = home.run("configure poll");
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        assert_told(&ran.err, &["\nerror: standard input ended", "nothing was written"]);
        assert!(!home.path("config").exists());
    }
    // The last line needs no end.
    let home = home().typing("there\n7\n[]");
    assert_eq!(home.run("configure poll").code, 0);
}

#[test]
fn an_interrupt_writes_nothing() {
    let home = home().typing("there\n");
    home.cancel.cancel();
    let ran = home.run("configure poll");
    assert_eq!((ran.code, ran.out.as_str()), (130, ""));
    assert!(!home.path("config").exists());
}

/// Cases: T347.
#[test]
fn without_a_terminal_nobody_is_asked() {
    let home = home();
    let ran = home.run("configure poll");
    assert_refused(&ran, &["no terminal", "hint: give the inputs as JSON with `--from`"]);
    assert!(!ran.err.contains("zulu"));
    assert!(!home.path("config").exists());
}

/// Cases: T349.
#[test]
fn what_is_given_is_refused_by_key_and_shape() {
    for (json, told) in [
        (r#"{"zulu":4711}"#, "the input `zulu` must be a string: nothing was written"),
        (
            r#"{"zulo":4711}"#,
            "there is no input `zulo`: nothing was written\nhint: did you mean `zulu`?",
        ),
        (r#"{"__proto__":4711}"#, "there is no input `__proto__`"),
        (r#"{"TOKEN":4711}"#, "set the environment variable `TOKEN`"),
        (r#"{"alpha":4711"#, "the text of `--from` is not valid JSON at line 1, column 14"),
        ("[4711]", "the text of `--from` must be a JSON object"),
        ("4711", "the text of `--from` must be a JSON object"),
        (r#"{"alpha":null,"list":4711}"#, "`alpha` must be a number; the input `list` must be an"),
    ] {
        let home = home();
        let ran = from(&home, json);
        assert_refused(&ran, &[told]);
        assert!(!ran.err.contains("4711"), "{}", ran.err);
        assert!(!home.path("config").exists(), "{json}");
    }
    let ran = home().typing("{").run("configure poll --from -");
    assert_refused(&ran, &["standard input is not valid JSON"]);
}

#[test]
fn a_file_that_cannot_be_used_is_refused_and_left() {
    for (text, told) in [
        ("{", "not valid JSON"),
        ("[]", "is not valid: expected an object"),
        (r#"{"":1}"#, "is not valid"),
        (r#"{"TOKEN":"hunter2"}"#, "may not hold the secret `TOKEN`"),
    ] {
        let home = home().file("config/poll.json", text).typing("a\n\n\n");
        for line in ["configure poll", "configure poll --from {\"zulu\":\"x\"}"] {
            let ran = home.run(line);
            assert_refused(&ran, &[told]);
            assert!(!ran.err.contains("hunter2"));
            assert_eq!(home.read("config/poll.json").as_deref(), Some(text));
        }
    }
}

#[test]
fn a_plugin_must_be_there() {
    let home = home().broken("half", "no manifest");
    assert_refused(
        &home.run("configure pol --from {}"),
        &["unknown plugin `pol`", "hint: did you mean `poll`?"],
    );
    assert_refused(&home.run("configure half --from {}"), &["`half` does not load"]);
    assert_refused(&home.run("configure"), &["missing <PLUGIN>", "Usage: warpline configure"]);
    assert_refused(&home.run("configure poll --from {} --schema"), &["cannot be combined"]);
}

/// Cases: T343.
#[test]
fn the_report_has_names_and_no_values() {
    let mut home = home();
    home.variables.insert("TOKEN".to_owned(), "hunter2".into());
    let ran = home.run("configure poll --json --from {\"alpha\":4711}");
    let path = home.path("config/poll.json").display().to_string();
    let expected = format!(
        concat!(
            r#"{{"plugin":"poll","path":"{}","written":true,"schema":"{}","#,
            r#""missing_inputs":[{{"name":"zulu","type":"string"}}],"#,
            r#""secrets":[{{"name":"TOKEN","set":true}}]}}"#
        ),
        path,
        home.path("config/schemas/poll.json").display()
    );
    assert_eq!(ran.json().to_compact(), expected);
    let schema = parse(include_str!("../../../docs/schemas/configure.json")).expect("JSON");
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().expect("an object").keys().map(|key| key.to_text()).collect()
    };
    assert_eq!(keys(&ran.json()), keys(schema.get("properties").expect("properties")));
    let again = home.run("configure poll --json --from {}");
    assert_eq!(again.json().get("written").and_then(Value::as_bool), Some(false));
}

#[test]
fn the_schema_is_printed_and_nothing_written() {
    let home = home();
    let before = home.snapshot();
    let ran = home.run("configure poll --schema");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let properties = ran.json().get("properties").expect("properties").clone();
    let alpha = properties.get("alpha").expect("alpha").to_compact();
    assert_eq!(alpha, r#"{"type":"number","default":90}"#);
    assert_eq!(properties.get("TOKEN"), Some(&Value::from(false)));
    assert_eq!(home.snapshot(), before);
}

#[test]
fn a_schema_stands_beside_the_configuration_and_follows_the_manifest() {
    let home = home();
    let file = "config/schemas/poll.json";
    assert_eq!(from(&home, r#"{"zulu":4}"#).code, 1);
    assert_eq!(home.read(file), None, "what is refused leaves nothing");
    assert_eq!(from(&home, "{}").code, 0);
    let printed = home.run("configure poll --schema").out;
    assert_eq!(home.read(file), Some(printed));
    let again = from(&home, "{}");
    assert!(!again.out.contains("schema"), "{}", again.out);
    let grown = home.plugin("poll", r#""inputs":{"new":{"type":"boolean","default":true}}"#);
    let ran = from(&grown, "{}");
    assert_told(&ran.out, &["schemas/poll.json, its schema for editors"]);
    assert_eq!(grown.read(file), Some(grown.run("configure poll --schema").out));
}

#[test]
fn a_directory_that_cannot_be_written_leaves_the_old_file() {
    let home = home().file("config/poll.json", r#"{"alpha":1}"#);
    let directory = home.path("config");
    let mode = |mode| {
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).expect("mode");
    };
    mode(0o500);
    let probe = std::fs::write(directory.join("probe"), "").is_ok();
    let ran = from(&home, r#"{"alpha":2}"#);
    mode(0o700);
    if !probe {
        assert_refused(&ran, &["cannot write"]);
        assert_eq!(home.read("config/poll.json").as_deref(), Some(r#"{"alpha":1}"#));
    }
}
