//! Bounds how deep a parser recurses into a source, in one pass and without recursion itself.
//!
//! The bound is never too low: where it cannot be told whether a slash starts a regular expression,
//! everything behind it is taken to nest. It is too high where statements have no semicolon.
//! Within one pair of brackets, operators and keywords nest until a comma or a semicolon ends the
//! expression or the statement; an `else` or `while` may continue any statement in front of it.

#![expect(clippy::indexing_slicing, reason = "positions come from the scan itself")]

#[cfg(test)]
mod tests;

use super::fault::is_line_break;

/// A bound on the nesting of a source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Depth {
    /// The bound.
    pub levels: usize,
    /// Byte offset where the nesting is deepest.
    pub at: usize,
}

/// What stands in front of a token, as far as a slash is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Before {
    /// A slash starts a regular expression.
    Operator,
    /// A slash divides, unless a line break lies between.
    Operand,
    /// A slash does one or the other.
    Unclear,
}

/// What is open around a token.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The byte that closes it; `$` stands for the end of a template's `${`.
    closer: u8,
    /// The nesting outside of it.
    base: usize,
    /// The nesting in it, so far, of the current expression.
    chain: usize,
    /// The highest `chain` there has been.
    high: usize,
    /// The `chain` of statement heads (`while (a) while (b) ...`), which a comma does not end.
    heads: usize,
    /// Whether there was a `<`, behind which a comma may stand between type arguments.
    angle: bool,
    /// What its closing bracket is to a slash: a statement follows `while (a)`.
    after: Before,
}

/// Finds the bound, or stops where it is above `limit`.
pub(super) fn bound(source: &str, limit: usize) -> Depth {
    let mut scan = Scan {
        source,
        bytes: source.as_bytes(),
        at: 0,
        before: Before::Operator,
        broken: false,
        word: "",
        label: 0,
        level: Level::new(0, 0),
        outer: Vec::new(),
        deepest: Depth::default(),
    };
    if source.starts_with("#!") {
        scan.skip_line();
    }
    if scan.run(limit).is_none() {
        // From here on nothing is told apart: each punctuation mark and each word counts.
        let from = scan.at;
        let rest = scan.bytes.get(from..).unwrap_or_default();
        let in_word = |byte: &u8| byte.is_ascii_alphanumeric();
        let words = rest.windows(2).filter(|pair| in_word(&pair[1]) && !in_word(&pair[0])).count();
        let marks = rest.iter().filter(|byte| byte.is_ascii_punctuation()).count();
        let levels = scan.level.base + scan.level.high + words + marks + 2;
        if levels > scan.deepest.levels {
            return Depth { levels, at: from };
        }
    }
    scan.deepest
}

impl Level {
    fn new(closer: u8, base: usize) -> Self {
        Self { closer, base, chain: 0, high: 0, heads: 0, angle: false, after: Before::Operand }
    }
}

struct Scan<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    before: Before,
    /// Whether a line break lies between the token before and here.
    broken: bool,
    /// The token before, where it is a word.
    word: &'s str,
    /// How far the pattern `: word :` of chained labels has been seen.
    label: u8,
    level: Level,
    outer: Vec<Level>,
    deepest: Depth,
}

impl<'s> Scan<'s> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Scans to the end; `None` where the text from `at` on cannot be told apart.
    fn run(&mut self, limit: usize) -> Option<()> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if self.deepest.levels > limit {
                break;
            }
            match byte {
                b'\n' | b'\r' => {
                    self.broken = true;
                    self.at += 1;
                }
                b' ' | b'\t' | 0x0b | 0x0c => self.at += 1,
                b'/' => self.slash()?,
                b'"' | b'\'' => self.string(byte),
                b'`' => {
                    self.grow(1);
                    self.at += 1;
                    self.template();
                }
                b'(' | b'[' | b'{' => self.open(byte),
                b')' | b']' | b'}' => self.close(byte)?,
                b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'#' | b'\\' | 0x80.. => {
                    self.word();
                }
                _ => self.mark(byte)?,
            }
        }
        Some(())
    }

    fn grow(&mut self, by: usize) {
        self.level.chain += by;
        self.level.high = self.level.high.max(self.level.chain);
        let levels = self.level.base + self.level.chain;
        if levels > self.deepest.levels {
            self.deepest = Depth { levels, at: self.at };
        }
    }

    /// Notes the kind of token that ends at `at`.
    fn passed(&mut self, before: Before, word: &'s str) {
        self.before = before;
        self.word = word;
        self.broken = false;
        if word.is_empty() {
            self.label = 0;
        }
    }

    fn open(&mut self, byte: u8) {
        let closer = match byte {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        let after = match (byte, self.word) {
            (b'(', "if" | "while" | "for" | "with") => Before::Operator,
            (b'(', "await") | (b'{', _) => Before::Unclear,
            _ => Before::Operand,
        };
        self.push(Level { after, ..Level::new(closer, 0) });
        self.at += 1;
        self.passed(Before::Operator, "");
    }

    fn push(&mut self, level: Level) {
        let base = self.level.base + self.level.chain + 1;
        self.outer.push(std::mem::replace(&mut self.level, Level { base, ..level }));
        self.grow(0);
    }

    fn close(&mut self, byte: u8) -> Option<()> {
        let closer = self.level.closer;
        if byte != closer && !(byte == b'}' && closer == b'$') {
            return None;
        }
        let after = self.level.after;
        self.level = self.outer.pop()?;
        self.at += 1;
        if closer == b'$' {
            self.template();
            return Some(());
        }
        self.grow(1);
        self.passed(after, "");
        Some(())
    }

    /// Passes over template text up to its end or to the next `${`.
    fn template(&mut self) {
        loop {
            match self.peek(0) {
                b'`' => {
                    self.at += 1;
                    break;
                }
                b'\\' => self.at += 2,
                b'$' if self.peek(1) == b'{' => {
                    self.at += 2;
                    self.push(Level::new(b'$', 0));
                    return self.passed(Before::Operator, "");
                }
                _ if self.at >= self.bytes.len() => break,
                _ => self.at += 1,
            }
        }
        self.passed(Before::Operand, "");
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        loop {
            match self.peek(0) {
                b'\\' if self.peek(1) == b'\r' && self.peek(2) == b'\n' => self.at += 3,
                b'\\' => self.at += 2,
                b'\n' | b'\r' => break,
                byte if byte == quote => {
                    self.at += 1;
                    break;
                }
                _ if self.at >= self.bytes.len() => break,
                _ => self.at += 1,
            }
        }
        self.passed(Before::Operand, "");
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.find(is_line_break).unwrap_or(rest.len());
    }

    fn word(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            self.at = self.bytes.len();
            return;
        };
        let in_word = |c: char| {
            c.is_ascii_alphanumeric()
                || matches!(c, '_' | '$' | '#' | '\\')
                || !c.is_ascii() && !is_line_break(c) && !c.is_whitespace() && c != '\u{feff}'
        };
        if !in_word(first) {
            self.broken |= is_line_break(first);
            self.at += first.len_utf8();
            return;
        }
        let mut end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        if first.is_ascii_digit() && self.peek(end) == b'.' {
            end += 1;
        }
        let (word, _) = rest.split_at(end);
        self.at += end;
        let property = self.word == ".";
        if matches!(word, "else" | "while") && !property {
            self.level.chain = self.level.high;
        }
        if NESTS.contains(&word) {
            self.grow(1);
        }
        if matches!(word, "if" | "else" | "for" | "while" | "do" | "with") {
            self.level.heads = self.level.chain;
        }
        let label = if self.label == 1 { 2 } else { 0 };
        let before = match word {
            _ if property => Before::Operand,
            "of" | "await" | "yield" => Before::Unclear,
            _ if OPERATORS.contains(&word) => Before::Operator,
            _ => Before::Operand,
        };
        self.passed(before, if property { "" } else { word });
        self.label = label;
    }

    /// Passes over one punctuation mark that is no bracket.
    fn mark(&mut self, byte: u8) -> Option<()> {
        let rest = self.rest();
        if rest.starts_with("<!--") || rest.starts_with("-->") {
            return None;
        }
        if rest.starts_with("...") {
            self.grow(1);
            self.at += 3;
            self.passed(Before::Operator, "");
            return Some(());
        }
        let operand = self.before != Before::Operator;
        let doubled = matches!(byte, b'+' | b'-') && self.peek(1) == byte;
        self.at += 1;
        match byte {
            b';' => {
                self.level.chain = 0;
                self.level.heads = 0;
                self.level.angle = false;
            }
            b',' => {
                if !self.level.angle {
                    self.level.chain = self.level.heads;
                }
            }
            _ => {
                self.level.angle |= byte == b'<';
                self.grow(1);
            }
        }
        if byte == b':' {
            if self.label == 2 {
                self.level.heads = self.level.chain;
            }
            self.passed(Before::Operator, "");
            self.label = 1;
            return Some(());
        }
        let before = match byte {
            b'!' if operand => Before::Unclear,
            b'>' if !self.bytes[..self.at].ends_with(b"=>") => Before::Unclear,
            _ if doubled => {
                self.at += 1;
                Before::Unclear
            }
            _ => Before::Operator,
        };
        // A dot is kept as the word before: a keyword behind it is a property's name.
        self.passed(before, if byte == b'.' { "." } else { "" });
        Some(())
    }

    fn slash(&mut self) -> Option<()> {
        match self.peek(1) {
            b'/' => {
                self.skip_line();
                return Some(());
            }
            b'*' => {
                let rest = self.rest();
                let end = rest.get(2..).and_then(|text| text.find("*/"));
                let end = end.map_or(rest.len(), |end| end + 4);
                self.broken |= rest.get(..end).is_some_and(|text| text.contains(is_line_break));
                self.at += end;
                return Some(());
            }
            _ => {}
        }
        self.grow(1);
        let divides = self.before == Before::Operand && !self.broken;
        let end = if divides { None } else { self.expression_end() };
        let Some(end) = end else {
            let last = divides || !self.rest().get(1..)?.split(is_line_break).next()?.contains('/');
            if self.before == Before::Operator || !last {
                return None;
            }
            self.at += 1;
            self.passed(Before::Operator, "");
            return Some(());
        };
        if self.before == Before::Operator {
            self.at = end;
            self.passed(Before::Operand, "");
            return Some(());
        }
        // Read both ways, the text up to `end` must hold nothing that opens, closes or quotes.
        let body = self.source.get(self.at + 1..end - 1)?;
        let plain = !body.contains(|c| "\"'`()[]{}<>\\/;,".contains(c));
        if !plain || matches!(self.bytes.get(end), Some(b'/' | b'*')) {
            return None;
        }
        self.grow(body.len() + 1);
        self.at = end;
        self.passed(Before::Unclear, "");
        Some(())
    }

    /// Where a regular expression that starts here ends: behind its closing slash.
    fn expression_end(&self) -> Option<usize> {
        let (mut class, mut escaped) = (false, false);
        for (at, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if is_line_break(c) => return None,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => class = true,
                ']' => class = false,
                '/' if !class => return Some(self.at + at + 1),
                _ => {}
            }
        }
        None
    }
}

/// Words behind which a slash starts a regular expression.
#[rustfmt::skip]
const OPERATORS: [&str; 14] = [
    "case", "default", "delete", "do", "else", "export", "extends", "in", "instanceof", "new",
    "return", "throw", "typeof", "void",
];

/// Words that put a level around what follows them.
#[rustfmt::skip]
const NESTS: [&str; 52] = [
    "abstract", "accessor", "as", "assert", "asserts", "async", "await", "case", "catch", "class",
    "const", "declare", "default", "defer", "delete", "do", "else", "enum", "export", "extends",
    "finally", "for", "function", "get", "global", "if", "import", "in", "infer", "instanceof",
    "interface", "is", "keyof", "module", "namespace", "new", "of", "readonly", "return",
    "satisfies", "set", "static", "switch", "throw", "try", "type", "typeof", "unique", "void",
    "while", "with", "yield",
];
