//! Parses a source under limits: no size, no nesting and no fault of the parser ends the process.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{Parser, Token, config::TokensParserConfig};
use oxc_span::SourceType;

use super::depth::{self, Depth};
use super::fault::{FaultCode, SyntaxFault};

/// The largest source that is read, in bytes.
pub const MAX_SOURCE_BYTES: usize = 16 * 1024 * 1024;

/// The deepest nesting that is read: brackets, and operators chained without a bracket, each count.
pub const MAX_DEPTH: usize = 20_000;

/// Stack that one level of nesting may take, in bytes: three times what the hungriest shape in the
/// tests was measured to take.
const STACK_PER_LEVEL: usize = if cfg!(debug_assertions) { 12 * 1024 } else { 6 * 1024 };

/// Stack that is taken on the calling thread; a source that may need more gets a thread of its own.
const STACK_INLINE: usize = if cfg!(debug_assertions) { 1024 * 1024 } else { 384 * 1024 };

/// Stack that a parse takes before the first level.
const STACK_BASE: usize = 256 * 1024;

/// Parses an ES module in TypeScript and hands the syntax tree and the tokens to `work`.
///
/// # Errors
///
/// [`FaultCode::Invalid`] where the source cannot be parsed.
pub(crate) fn parsed<T: Send>(
    source: &str,
    work: impl FnOnce(&Program<'_>, &[Token]) -> T + Send,
) -> Result<T, SyntaxFault> {
    parsed_as(SourceType::ts(), source, work)
}

/// [`parsed`] for a module in another language.
pub(super) fn parsed_as<T: Send>(
    language: SourceType,
    source: &str,
    work: impl FnOnce(&Program<'_>, &[Token]) -> T + Send,
) -> Result<T, SyntaxFault> {
    let invalid = |message: String, at| {
        Err(SyntaxFault::new(FaultCode::Invalid, message, source, at..at + 1))
    };
    if source.len() > MAX_SOURCE_BYTES {
        return invalid(format!("the source is larger than {MAX_SOURCE_BYTES} bytes"), 0);
    }
    let Depth { levels, at } = depth::bound(source, MAX_DEPTH);
    if levels > MAX_DEPTH {
        return invalid(format!("the source nests deeper than {MAX_DEPTH} levels"), at);
    }
    let guarded = || {
        catch_unwind(AssertUnwindSafe(|| parse(language, source, work))).unwrap_or_else(|_| {
            Err(SyntaxFault::new(
                FaultCode::Invalid,
                "the parser failed on the source",
                source,
                0..1,
            ))
        })
    };
    let stack = levels * STACK_PER_LEVEL;
    if stack <= STACK_INLINE {
        return guarded();
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(stack + STACK_BASE);
        match builder.spawn_scoped(scope, guarded).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => invalid("the parser failed on the source".into(), 0),
            Err(_) => invalid("no stack could be had for the nesting of the source".into(), at),
        }
    })
}

fn parse<T>(
    language: SourceType,
    source: &str,
    work: impl FnOnce(&Program<'_>, &[Token]) -> T,
) -> Result<T, SyntaxFault> {
    let allocator = Allocator::default();
    let parser = Parser::new(&allocator, source, language.with_module(true));
    let result = parser.with_config(TokensParserConfig).parse();
    if !result.panicked && !result.diagnostics.has_errors() {
        return Ok(work(&result.program, &result.tokens));
    }
    // Of several errors the first in the text is the cause most often.
    let errors = result.diagnostics.errors().map(labelled);
    let (span, message) =
        errors.min_by_key(|(span, _)| span.start).unwrap_or((0..0, "the source is not TypeScript"));
    Err(SyntaxFault::new(FaultCode::Invalid, sentence(message), source, span))
}

/// Where a fault stands, and what it is.
fn labelled(error: &OxcDiagnostic) -> (Range<usize>, &str) {
    (places(error).next().unwrap_or(0..0), error.message.as_ref())
}

/// The places that a fault speaks of.
pub(super) fn places(error: &OxcDiagnostic) -> impl Iterator<Item = Range<usize>> + '_ {
    error.labels.iter().map(|label| {
        let start = label.offset() as usize;
        start..start + label.len() as usize
    })
}

/// A message of the parser in the form that all messages have: lower case, no full stop.
pub(super) fn sentence(message: &str) -> String {
    let message = message.trim().trim_end_matches('.');
    let mut rest = message.chars();
    match rest.next() {
        Some(first) if rest.clone().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(rest).collect()
        }
        _ => message.to_owned(),
    }
}
