use super::*;
use crate::decide::fixtures::{NOW, gate, now, output, run};
use crate::home::runs::tests::home;
use crate::schema::engine_state::RunStatus;

fn append(paths: &Paths, text: &[u8]) {
    let mut bytes = files::read_bytes(&paths.journal()).expect("journal").unwrap_or_default();
    bytes.extend_from_slice(text);
    files::write_atomic(&paths.journal(), &bytes, None).expect("journal");
}

#[test]
fn what_is_written_is_read_back_in_order() {
    let (_root, paths) = home();
    let mut journal = Journal::open(&paths, "r1");
    assert!(!paths.journal().exists(), "nothing is written before there is something");
    assert_eq!(read(&paths).expect("absent"), Lines::default());
    journal.started(&"p".into(), now()).expect("line");
    let mut ended = run(NOW, RunStatus::Gated);
    ended.last_output = Some(output("a.md", "r1"));
    ended.duration_ms = Some(12.0);
    journal.outcome(&"p".into(), &ended, Some(&gate("p", "r1")), true).expect("line");
    journal.outcome(&"7".into(), &run(NOW, RunStatus::Failed), None, true).expect("line");
    journal.started(&"q".into(), now()).expect("line");
    let text = std::fs::read_to_string(paths.journal()).expect("journal");
    let first = format!(r#"{{"run_id":"r1","plugin":"p","started_at":"{NOW}"}}"#);
    assert_eq!(text.lines().next(), Some(first.as_str()));
    assert!(text.ends_with('\n') && text.lines().count() == 4);

    let lines = read(&paths).expect("readable");
    assert_eq!(lines.started.len(), 2);
    let (plugin, run_id) = ("p".into(), "r1".into());
    let gate = Some(gate("p", "r1"));
    assert_eq!(lines.outcomes[0], Outcome { plugin, run_id, run: ended, gate });
    assert_eq!(lines.outcomes[1].gate, None);
    assert_eq!(lines.run_ids(), [&JsString::from("r1")]);
    let unfinished: Vec<_> = lines.unfinished().into_iter().map(|line| &line.plugin).collect();
    assert_eq!(unfinished, [&JsString::from("q")]);
    journal.close().expect("removed");
    assert!(!paths.journal().exists());
}

#[test]
fn a_line_goes_in_the_place_of_a_torn_one() {
    let (_root, paths) = home();
    let mut journal = Journal::open(&paths, "r1");
    for torn in [&b"{\"run_id\":\"r1\",\"plug"[..], b"\xff"] {
        append(&paths, torn);
        journal.started(&"p".into(), now()).expect("line");
    }
    let mut file = std::fs::File::options().append(true).open(paths.journal()).expect("journal");
    std::io::Write::write_all(&mut file, b"{\"run").expect("written in place");
    journal.started(&"p".into(), now()).expect("line");
    assert_eq!(read(&paths).expect("no line that hides anything").started.len(), 3);
}

#[test]
fn a_torn_last_line_says_nothing_and_any_other_fault_is_refused() {
    let (_root, paths) = home();
    Journal::open(&paths, "r1").started(&"p".into(), now()).expect("line");
    let whole = std::fs::read(paths.journal()).expect("journal");
    for torn in [&b"{\"run_id\":\"r1\",\"plug"[..], b"\0\0\0\0", b"\xff"] {
        append(&paths, torn);
        assert_eq!(read(&paths).expect("readable").started.len(), 1);
        files::write_atomic(&paths.journal(), &whole, None).expect("journal");
    }
    let faults: [&[u8]; 8] = [
        b"{\"run_id\":\"r1\",\"plug\n",
        b"\xff\n",
        b"[]\n",
        b"{\"run_id\":\"../x\",\"plugin\":\"p\",\"started_at\":\"t\"}\n",
        b"{\"run_id\":\"r1\",\"plugin\":\"p\"}\n",
        b"{\"run_id\":\"r1\",\"plugin\":\"p\",\"started_at\":1}\n",
        b"{\"run_id\":\"r1\",\"plugin\":\"p\",\"plugin_runs\":{\"q\":{\"last_run_at\":\"x\",\"status\":\"failed\"}}}\n",
        b"{\"run_id\":\"r1\",\"plugin\":\"p\",\"plugin_runs\":{\"p\":{\"last_run_at\":\"x\",\"status\":\"odd\"}}}\n",
    ];
    for fault in faults {
        append(&paths, fault);
        let error = read(&paths).expect_err("refused");
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("in-flight.jsonl"), "{error}");
        files::write_atomic(&paths.journal(), &whole, None).expect("journal");
    }
}
