//! Why a source cannot be loaded, and where: what a reader needs to find the spot.

use std::ops::Range;

/// The longest part of a source line that a fault shows, in characters.
const SNIPPET_CHARS: usize = 160;

/// The class of a [`SyntaxFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCode {
    /// TypeScript that cannot be erased because it stands for code.
    Unsupported,
    /// Text that is not TypeScript, or more of it than can be read.
    Invalid,
}

impl FaultCode {
    /// The stable code, the one Node gives to the same fault.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unsupported => "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
            Self::Invalid => "ERR_INVALID_TYPESCRIPT_SYNTAX",
        }
    }
}

/// A source that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct SyntaxFault {
    /// The class of the fault.
    pub code: FaultCode,
    /// What is wrong, one sentence.
    pub message: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in UTF-16 code units, from 1.
    pub column: usize,
    /// The source line, or the part of a long one that holds the fault.
    pub snippet: String,
    /// White space and carets that mark the fault when printed below `snippet`.
    pub caret: String,
}

impl SyntaxFault {
    /// A fault at a byte range of the source; a range that is none is moved to one.
    pub(super) fn new(
        code: FaultCode,
        message: impl Into<String>,
        source: &str,
        span: Range<usize>,
    ) -> Self {
        let start = boundary(source, span.start);
        let end = boundary(source, span.end).max(start);
        let (before, rest) = source.split_at(start);
        let line_start = before.char_indices().rev().find(|(_, c)| is_line_break(*c));
        let line_start = line_start.map_or(0, |(at, c)| at + c.len_utf8());
        let indent: &str = before.get(line_start..).unwrap_or_default();
        let tail = rest.split(is_line_break).next().unwrap_or_default();
        let marked = source.get(start..end).unwrap_or_default();
        let marked = marked.split(is_line_break).next().unwrap_or_default();

        // A long line is cut so that the fault stays in sight, with room on both sides.
        let skipped = indent.chars().count().saturating_sub(SNIPPET_CHARS / 2);
        let shown_indent: String = indent.chars().skip(skipped).collect();
        let room = SNIPPET_CHARS - shown_indent.chars().count();
        let shown_tail: String = tail.chars().take(room).collect();
        let carets = marked.chars().count().min(shown_tail.chars().count()).max(1);
        let padding = shown_indent.chars().map(|c| if c == '\t' { '\t' } else { ' ' });
        Self {
            code,
            message: message.into(),
            line: 1 + line_breaks(before),
            column: 1 + indent.encode_utf16().count(),
            caret: padding.chain(std::iter::repeat_n('^', carets)).collect(),
            snippet: shown_indent + &shown_tail,
        }
    }
}

/// Whether JavaScript ends a line at this character.
pub(super) fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Line breaks in a text, CR LF counted once.
fn line_breaks(text: &str) -> usize {
    let breaks = text.chars().filter(|c| is_line_break(*c)).count();
    breaks - text.matches("\r\n").count()
}

/// The nearest character boundary at or before an offset.
fn boundary(source: &str, at: usize) -> usize {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_counts_lines_as_javascript_and_columns_in_utf16() {
        let source = "a\r\nb\u{2028}\t😀x enum E {\n}";
        let at = source.find("enum").expect("there");
        let fault = SyntaxFault::new(FaultCode::Invalid, "no", source, at..source.len());
        assert_eq!((fault.line, fault.column), (3, 6));
        assert_eq!(fault.snippet, "\t😀x enum E {");
        assert_eq!(fault.caret, "\t   ^^^^^^^^");
        assert_eq!(fault.to_string(), "no (line 3, column 6)");
    }

    #[test]
    fn a_long_line_is_cut_around_the_fault() {
        let source = format!("{}!{}", "é".repeat(5_000), "x".repeat(5_000));
        let fault = SyntaxFault::new(FaultCode::Invalid, "no", &source, 10_000..20_000);
        assert_eq!(fault.column, 5_001);
        assert_eq!(fault.snippet.chars().count(), SNIPPET_CHARS);
        assert_eq!(fault.caret.find('^'), fault.snippet.chars().position(|c| c == '!'));
        assert_eq!(fault.caret.chars().count(), SNIPPET_CHARS);
    }

    #[test]
    fn a_range_outside_or_inside_a_character_is_moved() {
        for range in [0..0, 1..1, 1..2, 9..99] {
            let fault = SyntaxFault::new(FaultCode::Invalid, "no", "é", range);
            assert!(fault.caret.ends_with('^'));
        }
    }
}
