//! What the text of a manifest says of its secrets, for a manifest that is not loaded yet or never.

/// The field whose list is looked for.
const FIELD: &str = "secrets";

/// The names in every list that is given to `secrets` in the source of a manifest, whatever its language.
///
/// The text is not understood, only looked at: a name that is put together, or stands in another
/// file, is missed, and one in a comment is found.
pub fn secrets(source: &str) -> Vec<crate::json::JsString> {
    let mut names = Vec::new();
    for (at, _) in source.match_indices(FIELD) {
        let (before, after) = source.split_at(at);
        let after = after.get(FIELD.len()..).unwrap_or_default();
        if !before.ends_with(is_word) && !after.starts_with(is_word) {
            names.extend(list(after).into_iter().map(Into::into));
        }
    }
    names
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}

/// The texts in quotes of the list that follows, up to its end.
fn list(after: &str) -> Vec<&str> {
    // The name of the field may have been in quotes itself.
    let mut rest = after.strip_prefix(['"', '\'', '`']).unwrap_or(after);
    let mut names = Vec::new();
    while let Some(at) = rest.find(['"', '\'', '`', ']', ')', '{', '}', ';']) {
        let (_, found) = rest.split_at(at);
        let Some(quote) = found.chars().next().filter(|found| matches!(found, '"' | '\'' | '`'))
        else {
            // `string[]` of a type comes before the list.
            match found.strip_prefix(']') {
                Some(left) if names.is_empty() => rest = left,
                _ => break,
            }
            continue;
        };
        let inside = found.get(1..).unwrap_or_default();
        let Some((name, left)) = inside.split_once(quote) else { break };
        names.push(name);
        rest = left;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<String> {
        secrets(source).iter().map(crate::json::JsString::to_text).collect()
    }

    #[test]
    fn names_are_found_in_the_lists_of_either_language() {
        for source in [
            "export const manifest = { name: 'x', secrets: ['A', \"B\"], ttl_hours: 1, x: 'C' }",
            "manifest = {\"secrets\": [\"A\", 'B'], \"inputs\": {\"C\": {}}}",
            "manifest = dict(secrets=('A', 'B'), name='C')",
            "const secrets: string[] = [\n  'A', // the first\n  `B`,\n]\nconst other = ['C']",
            "secrets: ['A'] as const; other: ['C'], secrets: ['B']",
        ] {
            assert_eq!(found(source), ["A", "B"], "{source}");
        }
    }

    #[test]
    fn other_words_and_lists_that_are_not_there_give_none() {
        for source in [
            "",
            "secrets",
            "secrets: [",
            "secrets: ['open",
            "secrets: [], other: []; 'C'",
            "my_secrets: ['C'], secretsOf: ['C'], $secrets: ['C']",
            "import { secrets } from './names.ts'",
        ] {
            assert_eq!(found(source), [""; 0], "{source}");
        }
    }
}
