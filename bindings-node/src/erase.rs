//! Erases the types of a plugin's file, or says why it cannot be a module.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::Result;
use napi_derive::napi;
use warpline_core::home::plugins;
use warpline_core::typescript::{SyntaxFault, erase, examine, source_text};

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

impl From<SyntaxFault> for EraseFault {
    fn from(fault: SyntaxFault) -> Self {
        Self {
            code: fault.code.as_str().to_owned(),
            message: fault.message,
            line: u32::try_from(fault.line).unwrap_or(u32::MAX),
            column: u32::try_from(fault.column).unwrap_or(u32::MAX),
            snippet: fault.snippet,
            caret: fault.caret,
        }
    }
}

/// Reads a file and erases its types. Throws for what is there and is no readable file: Node would
/// wait for ever for a pipe.
#[napi(catch_unwind)]
pub fn erase_file(path: String) -> Result<Erased> {
    erased(Path::new(&path)).map_err(|refusal| error(&refusal))
}

fn erased(path: &Path) -> warpline_core::error::Result<Erased> {
    let Some(bytes) = plugins::module_bytes(path)? else {
        return Ok(Erased { source: None, fault: None });
    };
    Ok(match erase(&source_text(&bytes)) {
        Ok(source) => Erased { source: Some(source), fault: None },
        Err(fault) => Erased { source: None, fault: Some(fault.into()) },
    })
}

/// Whether modules are loaded on the thread that is told to load them: what is erased can be handed to it.
static TAKES_ERASED: AtomicBool = AtomicBool::new(false);

/// Says that handlers may come with their source erased already, on the engine's threads.
#[napi(catch_unwind)]
pub fn take_erased() {
    TAKES_ERASED.store(true, Ordering::Relaxed);
}

/// The JavaScript of a handler that is about to be loaded. `None` where the loader is to look itself,
/// and to say what is wrong.
pub(crate) fn erased_ahead(directory: &Path) -> Option<Erased> {
    let takes = TAKES_ERASED.load(Ordering::Relaxed);
    takes.then(|| erased(&directory.join("handler.ts")).ok()).flatten()
}

/// What a module looks like before it runs.
#[napi(object)]
pub struct Examined {
    /// Why no engine accepts it.
    pub fault: Option<EraseFault>,
    /// What it imports, as it names it.
    pub imports: Vec<String>,
}

/// Looks at a module that did not load. `null` where there is no such file.
#[napi(catch_unwind)]
pub fn examine_file(path: String) -> Result<Option<Examined>> {
    let bytes = plugins::module_bytes(Path::new(&path)).map_err(|refusal| error(&refusal))?;
    Ok(bytes.map(|bytes| {
        let examined = examine(&source_text(&bytes));
        Examined { fault: examined.fault.map(EraseFault::from), imports: examined.imports }
    }))
}
