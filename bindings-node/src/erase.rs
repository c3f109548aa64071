//! Erases the types of a plugin's file.

use std::path::Path;

use napi::Result;
use napi_derive::napi;
use warpline_core::home::plugins;
use warpline_core::typescript::{erase, source_text};

use crate::text::error;

/// The JavaScript of a TypeScript file. Neither is set for a file that is not there.
#[napi(object)]
pub struct Erased {
    /// The source with its types blanked out.
    pub source: Option<String>,
    /// Why they could not be.
    pub fault: Option<EraseFault>,
}

/// Why types could not be erased.
#[napi(object)]
pub struct EraseFault {
    /// `ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX` or `ERR_INVALID_TYPESCRIPT_SYNTAX`.
    pub code: String,
    /// For a reader.
    pub message: String,
    /// From 1.
    pub line: u32,
    /// In UTF-16 code units, from 1.
    pub column: u32,
    /// The line of the source.
    pub snippet: String,
    /// Blanks and carets to print below the snippet.
    pub caret: String,
}

/// Reads a file and erases its types. Throws for what is there and is no readable file: Node would
/// wait for ever for a pipe.
#[napi(catch_unwind)]
pub fn erase_file(path: String) -> Result<Erased> {
    let bytes = plugins::module_bytes(Path::new(&path)).map_err(|refusal| error(&refusal))?;
    let Some(bytes) = bytes else {
        return Ok(Erased { source: None, fault: None });
    };
    Ok(match erase(&source_text(&bytes)) {
        Ok(source) => Erased { source: Some(source), fault: None },
        Err(fault) => Erased {
            source: None,
            fault: Some(EraseFault {
                code: fault.code.as_str().to_owned(),
                message: fault.message,
                line: u32::try_from(fault.line).unwrap_or(u32::MAX),
                column: u32::try_from(fault.column).unwrap_or(u32::MAX),
                snippet: fault.snippet,
                caret: fault.caret,
            }),
        },
    })
}
