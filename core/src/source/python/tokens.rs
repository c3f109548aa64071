//! Python text as tokens: enough to tell code from strings and comments, and one statement from the next.

use super::super::Unreadable;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: Kind,
    /// From 1.
    pub line: usize,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A name or keyword.
    Name(String),
    /// A number as written.
    Number(String),
    /// A string; what it stands for, or `None` where that is computed (`f""`) or no text (`b""`).
    Text(Option<String>),
    /// Any other character: a bracket, an operator.
    Mark(char),
    /// The end of a statement's line, with the number of blanks in front of the next one.
    Line(usize),
}

/// Splits a text. The first token is a [`Kind::Line`] in front of the first statement.
///
/// # Errors
///
/// [`Unreadable`] for a string without an end, and for brackets that do not match.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Unreadable> {
    let mut reader =
        Reader { rest: text, line: 1, open: Vec::new(), tokens: Vec::new(), blanks: 0 };
    reader.line_start();
    while !reader.rest.is_empty() {
        reader.token()?;
    }
    match reader.open.last() {
        Some((_, line)) => {
            Err(Unreadable { line: *line, message: "a bracket is never closed".to_owned() })
        }
        None => Ok(reader.tokens),
    }
}

struct Reader<'t> {
    rest: &'t str,
    line: usize,
    /// Open brackets with their lines: inside them, lines do not end statements.
    open: Vec<(char, usize)>,
    tokens: Vec<Token>,
    /// In front of the present line.
    blanks: usize,
}

impl<'t> Reader<'t> {
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    fn push(&mut self, kind: Kind, line: usize) {
        self.tokens.push(Token { kind, line });
    }

    /// Begins a line of code; blank lines and comments are none.
    fn line_start(&mut self) {
        loop {
            let blanks = self.take_while(|c| matches!(c, ' ' | '\t' | '\u{c}'));
            match self.rest.chars().next() {
                Some('#') => {
                    self.take_while(|c| c != '\n');
                }
                Some('\r' | '\n') => {
                    self.take(1);
                }
                _ => {
                    self.blanks = blanks.len();
                    return self.push(Kind::Line(self.blanks), self.line);
                }
            }
        }
    }

    fn token(&mut self) -> Result<(), Unreadable> {
        let line = self.line;
        let Some(first) = self.rest.chars().next() else { return Ok(()) };
        match first {
            ' ' | '\t' | '\r' | '\u{c}' => {
                self.take(1);
            }
            '#' => {
                self.take_while(|c| c != '\n');
            }
            // Joins this line with the next one, and is no token elsewhere.
            '\\' if self.rest.starts_with("\\\n") => {
                self.take(2);
            }
            '\n' => {
                self.take(1);
                if self.open.is_empty() {
                    self.line_start();
                }
            }
            '\'' | '"' => self.string("", line)?,
            _ if first.is_ascii_digit() => {
                let text = self.take_while(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
                let mut text = text.to_owned();
                // The sign of an exponent belongs to the number.
                if text.ends_with(['e', 'E']) && self.rest.starts_with(['+', '-']) {
                    text.push_str(self.take(1));
                    text.push_str(self.take_while(|c| c.is_ascii_digit()));
                }
                self.push(Kind::Number(text), line);
            }
            _ if first.is_alphabetic() || first == '_' => {
                let name = self.take_while(|c| c.is_alphanumeric() || c == '_');
                let prefix = name.len() <= 2
                    && name.chars().all(|c| "rRbBuUfFtT".contains(c))
                    && self.rest.starts_with(['\'', '"']);
                if prefix {
                    self.string(&name.to_lowercase(), line)?;
                } else {
                    self.push(Kind::Name(name.to_owned()), line);
                }
            }
            _ => {
                self.take(first.len_utf8());
                self.bracket(first, line)?;
                // Statements that share a line are ended by `;`.
                let ends = first == ';' && self.open.is_empty();
                let blanks = self.blanks;
                self.push(if ends { Kind::Line(blanks) } else { Kind::Mark(first) }, line);
            }
        }
        Ok(())
    }

    fn bracket(&mut self, mark: char, line: usize) -> Result<(), Unreadable> {
        match mark {
            '(' | '[' | '{' => self.open.push((mark, line)),
            ')' | ']' | '}' => {
                let opened = self.open.pop().map(|(opened, _)| opened);
                if !matches!((opened, mark), (Some('('), ')') | (Some('['), ']') | (Some('{'), '}'))
                {
                    let message = format!("`{mark}` closes nothing");
                    return Err(Unreadable { line, message });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn string(&mut self, prefix: &str, line: usize) -> Result<(), Unreadable> {
        let Some(quote) = self.rest.chars().next() else { return Ok(()) };
        let triple: String = [quote; 3].iter().collect();
        let end = if self.rest.starts_with(&triple) { triple } else { quote.to_string() };
        self.take(end.len());
        let body = self.rest;
        let start = body.len();
        let unended = || Unreadable { line, message: "a string is never closed".to_owned() };
        loop {
            if self.rest.starts_with(&end) {
                break;
            }
            match self.rest.chars().next() {
                None => return Err(unended()),
                Some('\n') if end.len() == 1 => return Err(unended()),
                Some('\\') => {
                    let escaped = self.rest.chars().nth(1).map_or(0, char::len_utf8);
                    self.take(1 + escaped);
                }
                Some(c) => {
                    self.take(c.len_utf8());
                }
            }
        }
        let body = body.get(..start - self.rest.len()).unwrap_or_default();
        self.take(end.len());
        let value = match prefix {
            "" | "u" => unescaped(body),
            "r" => Some(body.to_owned()),
            _ => None,
        };
        self.push(Kind::Text(value), line);
        Ok(())
    }
}

/// The text that a string stands for; `None` where it names a character in a way that is not read here.
fn unescaped(body: &str) -> Option<String> {
    let mut out = String::with_capacity(body.len());
    let mut rest = body.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let digits = match rest.next()? {
            '\n' => continue,
            'n' => {
                out.push('\n');
                continue;
            }
            't' => {
                out.push('\t');
                continue;
            }
            'r' => {
                out.push('\r');
                continue;
            }
            quoted @ ('\\' | '\'' | '"') => {
                out.push(quoted);
                continue;
            }
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return None,
        };
        let hexadecimal: String = rest.by_ref().take(digits).collect();
        let whole = hexadecimal.len() == digits && !hexadecimal.starts_with('+');
        let code = u32::from_str_radix(&hexadecimal, 16).ok().filter(|_| whole)?;
        out.push(char::from_u32(code)?);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).expect("tokens").into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn strings_and_comments_are_no_code() {
        let text =
            "# os.environ\na = 'it\\'s # no' + r'\\n' + \"\"\"x\n\"y\" fetch()\"\"\"  # end\n";
        let texts: Vec<_> = kinds(text)
            .into_iter()
            .filter_map(|kind| if let Kind::Text(text) = kind { text } else { None })
            .collect();
        assert_eq!(texts, ["it's # no", "\\n", "x\n\"y\" fetch()"]);
        assert_eq!(
            kinds("f'{a}' b\"x\" '\\x41\\u00e9' '\\N{DASH}'")
                .iter()
                .filter(|kind| **kind == Kind::Text(None))
                .count(),
            3
        );
        assert!(kinds("'\\x41\\u00e9'").contains(&Kind::Text(Some("A\u{e9}".to_owned()))));
    }

    #[test]
    fn lines_end_statements_outside_of_brackets_alone() {
        let text = "if a:\n    b = [1,\n2]; c \\\n  = 3\n\n    # note\nd\n";
        let lines: Vec<_> = tokens(text)
            .expect("tokens")
            .into_iter()
            .filter_map(|token| match token.kind {
                Kind::Line(blanks) => Some((token.line, blanks)),
                _ => None,
            })
            .collect();
        assert_eq!(lines, [(1, 0), (2, 4), (3, 4), (7, 0), (8, 0)]);
        assert_eq!(kinds("1.5e-3 0x1F 10_000").len(), 4);
    }

    #[test]
    fn what_never_ends_is_told_with_its_line() {
        for (text, line) in
            [("\n'abc\n'", 2), ("\n\n\"\"\"abc", 3), ("a(\nb", 1), ("a\n)", 2), ("[)", 1)]
        {
            assert_eq!(tokens(text).expect_err(text).line, line, "{text}");
        }
    }
}
