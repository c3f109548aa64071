//! Daily files that grow, go, are cut and are not what they seem.

use std::fs;
use std::io::Write;

use super::*;
use crate::home::jsonl::{self, Level, Line};
use crate::home::runs::tests::{at, home};

const TODAY: &str = "2026-08-20T23:59:59.000Z";
const TOMORROW: &str = "2026-08-21T00:00:01.000Z";

fn append(paths: &Paths, run_id: &str, now: &str) {
    let line = Line {
        run_id: run_id.into(),
        level: Level::Info,
        event: LineEvent::RunStart,
        plugin: None,
        status: None,
        elapsed_ms: None,
        detail: None,
    };
    jsonl::append(paths, &[line], at(now)).expect("append");
}

fn ids(lines: impl IntoIterator<Item = Option<Logged>>) -> Vec<String> {
    let told = |line: Option<Logged>| line.map_or("?".into(), |line| line.run_id.to_text());
    lines.into_iter().map(told).collect()
}

#[test]
fn days_are_read_from_the_newest_line_back_and_only_as_far_as_needed() {
    let (_root, paths) = home();
    assert_eq!(newest_first(&paths, None, |_| true).count(), 0);
    append(&paths, "a", "2026-08-19");
    append(&paths, "b", "2026-08-20");
    append(&paths, "c", "2026-08-20");
    let directory = directory(&paths);
    let newest = directory.join("2026-08-20.jsonl");
    let text = fs::read_to_string(&newest).expect("text");
    fs::write(&newest, text + "{\"ts\":1}\nnot json\n\u{0}\n{\"torn").expect("write");
    for name in ["notes.jsonl", "2026-08-30.json", "2026-8-30.jsonl"] {
        fs::write(directory.join(name), "{}\n").expect("a stranger");
    }
    std::os::unix::fs::symlink("/dev/zero", directory.join("2026-08-31.jsonl")).expect("a link");
    assert_eq!(ids(newest_first(&paths, None, |_| true)), ["?", "?", "?", "?", "c", "b", "a"]);
    let since = Some(at("2026-08-20T05:00:00.000Z"));
    assert_eq!(ids(newest_first(&paths, since, |_| true).skip(4)), ["c", "b"]);
    fs::remove_file(directory.join("2026-08-19.jsonl")).expect("gone");
    fs::create_dir(directory.join("2026-08-19.jsonl")).expect("a directory");
    assert_eq!(ids(newest_first(&paths, None, |_| true).skip(4)), ["c", "b"]);
}

#[test]
fn lines_that_are_not_wanted_and_days_that_are_not_meant_are_not_read() {
    let (_root, paths) = home();
    append(&paths, "2026-08-19-a", "2026-08-19");
    append(&paths, "2026-08-20-b", "2026-08-20");
    append(&paths, "2026-08-20-b", "2026-08-20");
    append(&paths, "2026-08-20-c", "2026-08-20");
    let newest = directory(&paths).join("2026-08-20.jsonl");
    let text = fs::read_to_string(&newest).expect("text");
    fs::write(&newest, text + "{\"torn\n\u{0}-c\n").expect("write");
    let of = |part: &'static str| ids(newest_first(&paths, None, move |line| line.contains(part)));
    assert_eq!(of("-c"), ["?", "2026-08-20-c"]);
    assert_eq!(of("-a"), ["2026-08-19-a"]);
    let sorted = |beginning: &str| {
        let mut ids: Vec<String> =
            ids_of(&paths, beginning).iter().map(JsString::to_text).collect();
        ids.sort();
        ids
    };
    assert_eq!(sorted("2026-08-20-b"), ["2026-08-20-b", "2026-08-20-c"]);
    assert_eq!(sorted("2026-08-1"), ["2026-08-19-a"]);
    assert_eq!(sorted("20").len(), 3);
    assert_eq!(sorted("9d4e").len(), 3, "an id of another making may stand in any file");
}

#[test]
fn a_line_that_names_two_runs_is_of_the_last_one() {
    let (_root, paths) = home();
    append(&paths, "2026-08-20-a", "2026-08-20");
    let file = directory(&paths).join("2026-08-20.jsonl");
    let text = fs::read_to_string(&file).expect("text");
    // The beginning of one line, and what was written behind it after that was cut off.
    let both = text.replace(r#""run_id":"#, r#""run_id":"2026-08-20-b","run_id":"#);
    let second = both.replace("2026-08-20-a", "2026-08-20-c").replace("-b", "-a");
    fs::write(&file, second + &text).expect("write");
    let ids = ids_of(&paths, "2026-08-20");
    assert!(ids.contains(&"2026-08-20-a".into()) && ids.contains(&"2026-08-20-c".into()));
}

#[test]
fn a_tail_hears_whole_lines_from_now_on_and_over_midnight() {
    let (_root, paths) = home();
    append(&paths, "before", TODAY);
    let mut tail = Tail::at_end(&paths, at(TODAY));
    assert_eq!(ids(tail.poll(at(TODAY))), Vec::<String>::new());
    append(&paths, "a", TODAY);
    append(&paths, "b", TODAY);
    assert_eq!(ids(tail.poll(at(TODAY))), ["a", "b"]);
    append(&paths, "next day", TOMORROW);
    append(&paths, "late", TODAY);
    assert_eq!(ids(tail.poll(at(TOMORROW))), ["late", "next day"]);
    append(&paths, "later", TODAY);
    append(&paths, "c", TOMORROW);
    assert_eq!(ids(tail.poll(at(TOMORROW))), ["later", "c"]);
    append(&paths, "d", "2026-08-25");
    assert_eq!(ids(tail.poll(at("2026-08-25"))), ["d"]);
    assert_eq!(tail.growing.len(), 2);
}

#[test]
fn a_tail_waits_for_a_file_and_for_the_end_of_a_line() {
    let (_root, paths) = home();
    let mut tail = Tail::at_end(&paths, at(TODAY));
    assert!(tail.poll(at(TODAY)).is_empty());
    append(&paths, "a", TODAY);
    assert_eq!(ids(tail.poll(at(TODAY))), ["a"]);
    let path = directory(&paths).join("2026-08-20.jsonl");
    let mut file = fs::File::options().append(true).open(&path).expect("the file");
    let mut write = |text: &str| file.write_all(text.as_bytes()).expect("write");
    write(r#"{"ts":"t","run_id":"b","#);
    assert!(tail.poll(at(TODAY)).is_empty());
    write("\"event\":\"run_start\"}\n{");
    assert_eq!(ids(tail.poll(at(TODAY))), ["b"]);
}

#[test]
fn a_tail_begins_anew_in_a_file_that_was_cut_or_replaced() {
    let (_root, paths) = home();
    append(&paths, "a", TODAY);
    append(&paths, "b", TODAY);
    let path = directory(&paths).join("2026-08-20.jsonl");
    let mut tail = Tail::at_end(&paths, at(TODAY));
    fs::write(&path, "").expect("cut");
    append(&paths, "c", TODAY);
    assert_eq!(ids(tail.poll(at(TODAY))), ["c"]);
    fs::remove_file(&path).expect("gone");
    assert!(tail.poll(at(TODAY)).is_empty());
    for run_id in ["d", "e", "f"] {
        append(&paths, run_id, TODAY);
    }
    assert_eq!(ids(tail.poll(at(TODAY))), ["d", "e", "f"]);
    fs::write(&path, vec![b'x'; LINE_CAP + 2 * STEP]).expect("a line without end");
    assert!(tail.poll(at(TODAY)).is_empty());
    append(&paths, "g", TODAY);
    assert_eq!(ids(tail.poll(at(TODAY))), ["?", "g"]);
}

#[test]
fn a_tail_goes_on_where_it_was_in_a_file_that_was_out_of_reach() {
    let (_root, paths) = home();
    append(&paths, "a", TODAY);
    let path = directory(&paths).join("2026-08-20.jsonl");
    let aside = path.with_extension("aside");
    let mut tail = Tail::at_end(&paths, at(TODAY));
    assert!(tail.poll(at(TODAY)).is_empty());
    fs::rename(&path, &aside).expect("moved");
    std::os::unix::fs::symlink(&aside, &path).expect("a link, which is not followed");
    assert!(tail.poll(at(TODAY)).is_empty());
    fs::rename(&aside, &path).expect("moved back");
    append(&paths, "b", TODAY);
    assert_eq!(ids(tail.poll(at(TODAY))), ["b"]);
}

#[test]
fn a_day_that_is_gone_tells_nothing_and_one_that_cannot_be_read_tells_that() {
    let (root, _paths) = home();
    assert_eq!(day(&root.path().join("gone")).count(), 0);
    assert_eq!(day(root.path()).collect::<Vec<_>>(), [None]);
}
