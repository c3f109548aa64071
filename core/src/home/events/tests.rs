use super::*;
use crate::decide::fixtures::now;
use crate::home::runs::tests::home;
use crate::schema::event;

fn event(plugin: &str) -> BoardEvent {
    event::plugin_started(&stamp(now()), &plugin.into(), None)
}

fn sources(paths: &Paths) -> Vec<String> {
    read(paths).into_iter().map(|event| event.source.to_text()).collect()
}

/// A file of that many short lines, `0` first.
fn fill(paths: &Paths, lines: usize) {
    let text: String = (0..lines).map(|line| format!("{line}\n")).collect();
    files::write_atomic(&paths.events, text.as_bytes(), None).expect("events");
}

fn lines(paths: &Paths) -> Vec<String> {
    let text = std::fs::read_to_string(&paths.events).expect("events");
    text.lines().map(str::to_owned).collect()
}

/// Cases: T493.
#[test]
fn events_are_read_in_order_and_an_append_is_one_line_each() {
    let (_root, paths) = home();
    assert!(read(&paths).is_empty());
    append(&paths, &[]).expect("nothing");
    assert!(!paths.home.exists());
    append(&paths, &[event("a"), event("b")]).expect("append");
    append(&paths, &[event("c")]).expect("append");
    assert_eq!(sources(&paths), ["a", "b", "c"]);
    assert_eq!(lines(&paths).len(), 3);
    let ids: std::collections::HashSet<_> =
        read(&paths).into_iter().map(|event| event.event_id).collect();
    assert_eq!(ids.len(), 3, "each has an id of its own");
}

#[test]
fn lines_that_cannot_be_read_are_skipped_and_kept() {
    let (_root, paths) = home();
    append(&paths, &[event("a")]).expect("append");
    let mut bytes = std::fs::read(&paths.events).expect("events");
    bytes.extend_from_slice(b"not json\n\xff\xfe\n[]\n{\"event_id\":1}\n{\"torn");
    std::fs::write(&paths.events, &bytes).expect("events");
    append(&paths, &[event("b")]).expect("append");
    assert_eq!(sources(&paths), ["a", "b"]);
    assert!(std::fs::read(&paths.events).expect("events").starts_with(&bytes));
}

/// Cases: T497.
#[test]
fn a_trim_waits_for_the_slack_and_keeps_the_newest() {
    let (_root, paths) = home();
    trim(&paths, 10, 5).expect("no file, no error");
    assert!(!paths.home.exists());
    fill(&paths, 14);
    trim(&paths, 10, 5).expect("trim");
    assert_eq!(lines(&paths).len(), 14);
    fill(&paths, 25);
    trim(&paths, 10, 5).expect("trim");
    let kept: Vec<String> = (15..25).map(|line| line.to_string()).collect();
    assert_eq!(lines(&paths), kept);
}

/// Cases: T497.
#[test]
fn concurrent_trims_and_appends_lose_nothing_and_leave_one_file() {
    let (_root, paths) = home();
    fill(&paths, 200);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| trim(&paths, 10, 5).expect("trim"));
        }
    });
    let kept: Vec<String> = (190..200).map(|line| line.to_string()).collect();
    assert_eq!(lines(&paths), kept);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let paths = &paths;
            scope.spawn(move || {
                for round in 0..40 {
                    append(paths, &[event(&format!("{writer}-{round}"))]).expect("append");
                }
            });
        }
        scope.spawn(|| (0..20).for_each(|_| trim(&paths, 85, 2).expect("trim")));
    });
    assert_eq!(sources(&paths).len(), 80, "the newest 80 of 90 are all there");
    let directory = paths.events.parent().expect("state");
    assert_eq!(std::fs::read_dir(directory).expect("state").count(), 1);
}

#[test]
fn an_append_past_the_limit_trims_whether_or_not_the_count_is_remembered() {
    let (_root, paths) = home();
    fill(&paths, KEPT + SLACK - 2);
    append(&paths, &[event("a")]).expect("append");
    append(&paths, &[event("b")]).expect("append");
    assert_eq!(lines(&paths).len(), KEPT + SLACK);
    append(&paths, &[event("c")]).expect("append");
    assert_eq!(lines(&paths).len(), KEPT);
    assert_eq!(sources(&paths), ["a", "b", "c"]);
    assert_eq!(lines(&paths)[0], (KEPT + SLACK - 2 + 3 - KEPT).to_string());
    append(&paths, &[event("d")]).expect("append");
    let more = "x\n".repeat(SLACK);
    std::io::Write::write_all(
        &mut std::fs::File::options().append(true).open(&paths.events).expect("events"),
        more.as_bytes(),
    )
    .expect("another program wrote meanwhile");
    append(&paths, &[event("e")]).expect("append");
    assert_eq!(lines(&paths).len(), KEPT);
    fill(&paths, KEPT + SLACK);
    append(&paths, &[event("f")]).expect("another wrote meanwhile");
    assert_eq!(lines(&paths).len(), KEPT);
}

#[test]
fn counts_that_a_fork_left_locked_hold_no_append_up() {
    let (_root, paths) = home();
    append(&paths, &[event("a")]).expect("append");
    let held = COUNTS.lock().expect("counts");
    append(&paths, &[event("b")]).expect("append");
    drop(held);
    append(&paths, &[event("c")]).expect("append");
    assert_eq!(sources(&paths), ["a", "b", "c"]);
}

#[test]
fn what_another_has_cut_down_already_is_not_cut_again() {
    let (_root, paths) = home();
    fill(&paths, 3);
    for cap in [3, 4] {
        keep_newest(Appender::open(&paths.home, &paths.events).expect("open"), cap).expect("kept");
        assert_eq!(lines(&paths), ["0", "1", "2"]);
    }
    keep_newest(Appender::open(&paths.home, &paths.events).expect("open"), 2).expect("cut");
    assert_eq!(lines(&paths), ["1", "2"]);
}
