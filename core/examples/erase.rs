//! Erases the types of the module on standard input (`erase`) or of each text of a JSON array there
//! (`erase many`: an array, the code of the fault in an object where there is one), or reads the literal
//! manifest in it (`erase literal`: `{"bare": value}`, `{"parsed": value}` or `null`). For the scripts in
//! `tests/typescript`, which compare all with what JavaScript makes of the same text.

use std::io::{Read, Write};
use std::process::ExitCode;

use warpline_core::json::{Map, Value, parse};
use warpline_core::typescript::{LiteralManifest, erase, literal_manifest, source_text};

fn main() -> std::io::Result<ExitCode> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let source = source_text(&bytes);
    let mode = std::env::args().nth(1);
    let text = if mode.as_deref() == Some("many") {
        let sources = parse(&source).unwrap_or_default();
        let texts = sources.as_array().unwrap_or_default().iter().filter_map(Value::as_string);
        Value::from(texts.map(|text| erased(&text.to_text())).collect::<Vec<_>>()).to_compact()
    } else if mode.as_deref() == Some("literal") {
        let (kind, value) = match literal_manifest(&source) {
            Some(LiteralManifest::Bare(value)) => ("bare", value),
            Some(LiteralManifest::Parsed(value)) => ("parsed", value),
            None => return std::io::stdout().write_all(b"null").map(|()| ExitCode::SUCCESS),
        };
        Value::from(Map::from_iter([(kind, value)])).to_compact()
    } else {
        match erase(&source) {
            Ok(text) => text,
            Err(fault) => {
                let report = format!(
                    "{}\n{}\n{}\n{}\n{}\n",
                    fault.code.as_str(),
                    fault.message,
                    fault.line,
                    fault.snippet,
                    fault.caret,
                );
                std::io::stderr().write_all(report.as_bytes())?;
                return Ok(ExitCode::FAILURE);
            }
        }
    };
    std::io::stdout().write_all(text.as_bytes()).map(|()| ExitCode::SUCCESS)
}

/// The text of an erased module, or `{"code": ...}`.
fn erased(source: &str) -> Value {
    match erase(source) {
        Ok(text) => text.into(),
        Err(fault) => Map::from_iter([("code", fault.code.as_str())]).into(),
    }
}
