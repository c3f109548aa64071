//! The command line, as far as it is read: nothing is done.

use std::sync::OnceLock;

use arbitrary::{Result, Unstructured};
use warpline_core::cli::{args, paint, usage};
use warpline_core::clock::Instant;

/// Every verb and option, and values that options take.
fn words() -> &'static [String] {
    static WORDS: OnceLock<Vec<String>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let values = "a=1 = a 4h 0m 1d 99999999999999999999h daily weekly --  - -- -h -V bash always \
                      2026-08-20 5 -1 \u{202e}x \u{1b}[2J é a\nb";
        let mut words: Vec<String> = values.split(' ').map(str::to_owned).collect();
        let command = usage::command();
        for verb in command.get_subcommands().chain([&command]) {
            words.push(verb.get_name().to_owned());
            let options = verb.get_arguments().filter_map(|option| option.get_long());
            for option in options {
                words.extend([format!("--{option}"), format!("--{option}=a")]);
            }
        }
        words.sort();
        words.dedup();
        words
    })
}

fn chosen(choices: &mut Unstructured<'_>) -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    while !choices.is_empty() && arguments.len() < 16 {
        arguments.push(choices.choose(words())?.clone());
    }
    Ok(arguments)
}

/// One argument a line, or words of the grammar where the first byte is a control character.
pub fn arguments(data: &[u8]) {
    let arguments = match data.split_first() {
        Some((0..9, rest)) => chosen(&mut Unstructured::new(rest)).unwrap_or_default(),
        _ => String::from_utf8_lossy(data).split('\n').map(str::to_owned).collect(),
    };
    let now = Instant::parse("2026-08-20T12:30:00.000Z").expect("an instant");
    let parsed = args::parse(&arguments, now);
    assert_eq!(parsed, args::parse(&arguments, now), "the same words mean the same");
    if let Err(refusal) = parsed {
        let text = paint::plain(&refusal.text());
        assert!(text.starts_with("error: ") || text.starts_with("Unknown command: "), "{text}");
        let raw = |shown: char| shown.is_control() && shown != '\n';
        assert!(!text.contains(raw), "a refusal moves no cursor: {text:?}");
    }
}
