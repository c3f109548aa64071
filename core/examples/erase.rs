//! Erases the types of the module on standard input (`erase`), or reads the literal manifest in it
//! (`erase literal`: `{"bare": value}`, `{"parsed": value}` or `null`). For the scripts in
//! `tests/typescript`, which compare both with what JavaScript makes of the same text.

use std::io::{Read, Write};
use std::process::ExitCode;

use warpline_core::json::{Map, Value};
use warpline_core::typescript::{LiteralManifest, erase, literal_manifest, source_text};

fn main() -> std::io::Result<ExitCode> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let source = source_text(&bytes);
    let text = if std::env::args().nth(1).as_deref() == Some("literal") {
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
