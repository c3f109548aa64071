//! TypeScript plugins without a TypeScript compiler: types are blanked out, literal manifests read.
//!
//! [`erase`] turns TypeScript that only annotates JavaScript into that JavaScript, with every
//! character at the line and column it had, so that stack traces need no source map.
//! [`literal_manifest`] reads a `manifest.ts` that is one literal without running anything. Both
//! take text from [`source_text`], neither panics nor exhausts the stack, whatever the text is.

mod classes;
mod depth;
mod early;
mod eraser;
mod fault;
mod guard;
mod literal;
mod render;

pub use early::{Examined, examine};
pub use fault::{FaultCode, SyntaxFault};
pub(crate) use guard::parsed;
pub use guard::{MAX_DEPTH, MAX_SOURCE_BYTES};
pub(crate) use literal::bare;
pub use literal::literal_manifest;

pub use crate::source::LiteralManifest;

use std::borrow::Cow;

/// The text of a module file as Node reads it: without a byte order mark, U+FFFD for bytes that are
/// not UTF-8.
pub fn source_text(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    String::from_utf8_lossy(bytes)
}

/// Blanks out the types of an ES module written in TypeScript.
///
/// The result has as many UTF-16 code units as the source and the same line breaks; each remaining
/// token stands where it stood. Imports are never dropped unless they say `type`.
///
/// # Errors
///
/// [`FaultCode::Unsupported`] for syntax that would need code generated (enums, namespaces with
/// values, parameter properties, `import =`, `export =`, `<T>value`); [`FaultCode::Invalid`] for text
/// that is not TypeScript, is larger than [`MAX_SOURCE_BYTES`] or nests deeper than [`MAX_DEPTH`].
///
/// ```
/// use warpline_core::typescript::{FaultCode, erase};
///
/// assert_eq!(erase("const a: number = 1").as_deref(), Ok("const a         = 1"));
///
/// let fault = erase("let a\nenum Colour { Red }").expect_err("an enum has to be compiled");
/// assert_eq!((fault.code, fault.line, fault.column), (FaultCode::Unsupported, 2, 1));
/// ```
pub fn erase(source: &str) -> Result<String, SyntaxFault> {
    let edits = guard::parsed(source, |program, tokens| eraser::edits(source, program, tokens))?
        .map_err(|problem| {
            SyntaxFault::new(FaultCode::Unsupported, problem.message, source, problem.span)
        })?;
    Ok(render::render(source, edits))
}
