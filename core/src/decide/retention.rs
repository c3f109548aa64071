//! Which files of a home have had their time. Names in, names out: nothing is read or removed here.

use crate::clock::Instant;
use crate::json::{JsString, Value, pick};

use super::instant;

/// How long run logs and daily logs are kept, in days since they were last written.
pub const RETENTION_DAYS: i64 = 30;

/// How many artifacts of a plugin are kept.
pub const ARTIFACTS_KEPT: usize = 20;

const WINDOW_MS: i64 = RETENTION_DAYS * 86_400_000;

/// Whether a file last written at `modified` has outlived the window.
pub fn expired(modified: Instant, now: Instant) -> bool {
    now.since(modified) > WINDOW_MS
}

/// The names that end in `suffix` (".json", ".jsonl") and have outlived the window.
pub fn prune<N: AsRef<str>>(
    files: impl IntoIterator<Item = (N, Instant)>,
    suffix: &str,
    now: Instant,
) -> Vec<N> {
    let gone = |(name, modified): &(N, Instant)| {
        name.as_ref().ends_with(suffix) && expired(*modified, now)
    };
    files.into_iter().filter(gone).map(|(name, _)| name).collect()
}

/// The run artifacts of `plugin` past the `keep` newest by `started_at`.
///
/// `artifacts` are `*.json` files by name and text. A document that is no artifact of the plugin,
/// or whose `started_at` is not a clock, is neither counted nor chosen. What a document says of its
/// `run_id` is never read: only names of files that are there can be chosen.
pub fn trim<N: AsRef<str>, T: AsRef<str>>(
    artifacts: impl IntoIterator<Item = (N, T)>,
    plugin: &JsString,
    keep: usize,
) -> Vec<N> {
    let mut own: Vec<(Instant, N)> = artifacts
        .into_iter()
        .filter(|(name, _)| name.as_ref().ends_with(".json"))
        .filter_map(|(name, text)| Some((started_at(text.as_ref(), plugin)?, name)))
        .collect();
    own.sort_by(|(left, left_name), (right, right_name)| {
        right.cmp(left).then_with(|| left_name.as_ref().cmp(right_name.as_ref()))
    });
    own.into_iter().skip(keep).map(|(_, name)| name).collect()
}

/// When a run artifact of `plugin` started; `None` for any other document.
fn started_at(text: &str, plugin: &JsString) -> Option<Instant> {
    let document = pick(text, &["plugin", "started_at"]).ok()?;
    let named = document.get("plugin").and_then(Value::as_string) == Some(plugin);
    named.then_some(())?;
    instant(document.get("started_at")?.as_string()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures::{at, now};

    fn artifact(plugin: &str, started_at: &str) -> String {
        format!(r#"{{"run_id":"../victim","plugin":"{plugin}","started_at":"{started_at}"}}"#)
    }

    #[test]
    fn a_file_is_kept_for_thirty_whole_days() {
        assert!(!expired(at("2026-07-21T12:00:00.000Z"), now()));
        assert!(expired(at("2026-07-21T11:59:59.999Z"), now()));
        assert!(!expired(at("2026-08-21T12:00:00.000Z"), now()));
    }

    #[test]
    fn only_old_files_of_the_kind_are_pruned() {
        let old = at("2026-07-01T00:00:00.000Z");
        let files = [("a.json", old), ("a.log", old), ("b.json", now()), ("c.jsonl", old)];
        assert_eq!(prune(files, ".json", now()), ["a.json"]);
        assert_eq!(prune(files, ".jsonl", now()), ["c.jsonl"]);
    }

    #[test]
    fn the_oldest_artifact_past_twenty_goes() {
        let files: Vec<_> = (1..=21)
            .map(|day| (format!("r{day}.json"), artifact("p", &format!("2026-07-{day:02}"))))
            .collect();
        assert_eq!(trim(files, &"p".into(), ARTIFACTS_KEPT), ["r1.json"]);
    }

    #[test]
    fn age_is_compared_by_instant_and_not_by_text() {
        let files = [
            ("late.json", artifact("p", "2026-08-20T11:00:00-05:00")),
            ("early.json", artifact("p", "2026-08-20T12:00:00Z")),
        ];
        assert_eq!(trim(files, &"p".into(), 1), ["early.json"]);
    }

    /// Cases: T319.
    #[test]
    fn other_plugins_and_shapeless_documents_are_not_touched() {
        let files = [
            ("own.json", artifact("p", "2026-08-20")),
            ("other.json", artifact("q", "2020-01-01")),
            ("unclear.json", artifact("p", "nonsense")),
            ("broken.json", "{".to_owned()),
            ("empty.json", String::new()),
            ("list.json", "[]".to_owned()),
            ("number.json", r#"{"plugin":"p","started_at":5}"#.to_owned()),
            ("own.log", artifact("p", "2020-01-01")),
        ];
        assert_eq!(trim(files, &"p".into(), 0), ["own.json"]);
    }

    #[test]
    fn what_a_document_says_of_its_run_id_is_never_a_name() {
        let files = [("own.json", artifact("p", "2026-08-20"))];
        assert_eq!(trim(files, &"p".into(), 0), ["own.json"]);
    }
}
