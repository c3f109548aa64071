//! What an invocation runs with, of a manifest, a config file and the arguments of a call.

use std::path::Path;

use warpline_core::json::{JsString, Map, Value, parse};
use warpline_core::schema::config::{self, ConfigFault};
use warpline_core::schema::manifest::Manifest;
use warpline_core::schema::settings;

use crate::documents::MANIFEST;
use crate::edited::{assert_hides_values, marked, value};

const CONFIG: &str = include_str!("../../corpus/config/sample.json");

/// The value that every secret has.
const SECRET: &str = "q7Zx9-hunter2";

pub fn config(data: &[u8]) {
    let manifest = parse(MANIFEST).ok().and_then(|value| Manifest::parse(&value).ok());
    let manifest = manifest.expect("the sample is a manifest");
    let Some(value) = value(data, &[CONFIG]) else {
        let Ok(text) = str::from_utf8(data) else { return };
        let refused = config::resolve(&manifest, Some(text), &Map::new(), &environment);
        assert!(matches!(refused, Err(ConfigFault::Problems(_))), "it is no JSON");
        return;
    };
    // With a mark in every value no refusal may show one.
    let Some(marked) = marked(&value) else { return };
    for value in [&value, &marked] {
        let file = value.to_compact();
        check(&manifest, config::resolve(&manifest, Some(&file), &Map::new(), &environment));
        let given = value.as_object().cloned().unwrap_or_default();
        check(&manifest, config::resolve(&manifest, None, &given, &environment));
        for problem in settings::problems(&manifest, &given) {
            assert_hides_values(&problem.message());
        }
    }
    let file = value.to_compact();
    let given = value.as_object().cloned().unwrap_or_default();
    let nothing = config::resolve(&manifest, Some(&file), &given, &|_| None);
    assert!(manifest.secrets.is_empty() || nothing.is_err(), "a secret that is not set is missing");
    for (_, input) in &manifest.inputs {
        for typed in file.lines() {
            let answer = settings::answer(typed, input.kind);
            assert!(answer.is_none_or(|answer| settings::is_settable(&answer, input.kind)));
        }
    }
}

#[allow(clippy::unnecessary_wraps)] // the shape of an environment
fn environment(_: &JsString) -> Option<JsString> {
    Some(SECRET.into())
}

fn check(manifest: &Manifest, resolved: Result<config::Resolved, ConfigFault>) {
    match resolved {
        Ok(resolved) => {
            let named = resolved.secrets.iter().map(|(name, _)| name);
            assert!(named.eq(&manifest.secrets), "every secret has its value");
            for name in &manifest.secrets {
                assert!(!resolved.args.contains(name), "no secret is an argument");
            }
            assert!(!Value::from(resolved.args).to_compact().contains(SECRET));
        }
        Err(fault) => assert_hides_values(&fault.message(Path::new("config/p.json"))),
    }
}
