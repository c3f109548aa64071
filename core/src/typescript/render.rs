//! Writes a source with parts blanked out, every other character staying where it was.

use super::fault::is_line_break;

/// One change of a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    /// Byte offset of the first character.
    pub start: u32,
    /// Byte offset behind the last one.
    pub end: u32,
    /// The ASCII character to write at `start`; `None` blanks all of it.
    pub put: Option<char>,
}

/// Applies edits, given in any order and free to overlap; where one writes, it wins.
pub(super) fn render(source: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_unstable_by_key(|edit| (edit.start, edit.end));
    let mut puts =
        edits.iter().filter_map(|edit| Some((edit.start as usize, edit.put?))).peekable();
    let mut blanks = edits.iter().peekable();
    let mut blank_until = 0;
    let mut out = String::with_capacity(source.len());
    let mut copied = 0;
    // Characters outside blanks are copied in runs; those inside one at a time.
    while let Some(first) = blanks.next() {
        let start = (first.start as usize).max(blank_until);
        blank_until = blank_until.max(first.end as usize);
        while let Some(next) = blanks.next_if(|next| next.start as usize <= blank_until) {
            blank_until = blank_until.max(next.end as usize);
        }
        out.push_str(source.get(copied..start).unwrap_or_default());
        let blank = source.get(start..blank_until).unwrap_or_default();
        for (at, c) in blank.char_indices().map(|(at, c)| (start + at, c)) {
            let mut put = None;
            while let Some((_, character)) = puts.next_if(|(put_at, _)| *put_at <= at) {
                put = put.or(Some(character));
            }
            match put {
                _ if is_line_break(c) || c == '\t' && put.is_none() => out.push(c),
                _ => {
                    out.push(put.unwrap_or(' '));
                    out.extend(std::iter::repeat_n(' ', c.len_utf16() - 1));
                }
            }
        }
        copied = blank_until;
    }
    out.push_str(source.get(copied..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_keep_the_width_and_a_written_character_wins() {
        let blank = |start, end| Edit { start, end, put: None };
        let put = |start, put| Edit { start, end: start + 1, put: Some(put) };
        assert_eq!(render("a😀b", vec![blank(1, 5)]), "a  b");
        assert_eq!(render("a😀b", vec![blank(1, 5), put(1, ';')]), "a; b");
        assert_eq!(render("a\t\r\nb", vec![put(0, ';'), blank(0, 5)]), ";\t\r\n ");
        assert_eq!(render("abcd", vec![blank(2, 3), blank(0, 1)]), " b d");
        assert_eq!(render("abcd", vec![]), "abcd");
    }
}
