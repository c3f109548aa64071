//! Programs that are no workers, and lines that are no messages.

use warpline_core::engine::Isolation;

use crate::support::{FINE, Home, is_reaped, summary_of};

#[tokio::test]
async fn a_worker_of_another_version_is_refused_and_both_versions_are_named() {
    let home = Home::whose_worker(r#"says {"kind":"hello","version":"9.9.9"}"#);
    home.python("one", &[FINE]).python("two", &[FINE]);
    let result = home.advance().await;
    let own = env!("CARGO_PKG_VERSION");
    for name in ["one", "two"] {
        let told = summary_of(&result, name);
        let versions =
            format!("runs Python plugins with warpline 9.9.9, and this is warpline {own}");
        assert!(told.contains(&versions), "{told}");
        let install = format!("`python3 -m pip install warpline-runtime=={own}`");
        assert!(told.contains(&install), "{told}");
    }
}

#[tokio::test]
async fn a_program_that_speaks_of_something_else_is_no_worker() {
    for said in ["Python 3.9", "[]", r#"{"kind":"aborted","call":1}"#, "\u{7}"] {
        let home = Home::whose_worker(&format!("says {said}"));
        home.python("one", &[FINE]);
        let told = summary_of(&home.advance().await, "one");
        assert!(told.contains("is no worker: it did not say first that it was ready"), "{told}");
    }
}

#[tokio::test]
async fn a_line_that_is_no_message_ends_the_worker_and_the_calls_that_had_begun() {
    let unknown = "it spoke of what it was never given";
    for (line, why) in [
        ("hello", "a line of it was no message"),
        ("{}", "a line of it was no message"),
        (r#"{"kind":"grant"}"#, "a line of it was no message"),
        (r#"{"kind":"hello","version":"0"}"#, "it said twice that it was ready"),
        (r#"{"kind":"complete","call":999,"outcome":"value","value":1}"#, unknown),
        (r#"{"kind":"aborted","call":999}"#, unknown),
        (r#"{"kind":"ask","ask":1,"what":"begin","about":999}"#, unknown),
        (r#"{"kind":"ask","ask":1,"what":"redact","about":999,"text":"x"}"#, unknown),
        (r#"{"kind":"ask","ask":1,"what":"prints","about":999}"#, unknown),
        (r#"{"kind":"warning","operation":999,"text":"x"}"#, unknown),
        (r#"{"kind":"stray","operation":999,"text":"x"}"#, unknown),
        (r#"{"kind":"unable","text":"x"}"#, "it said that it was ready, and then that it was not"),
        (r#"{"kind":"fault","operation":1,"plugin":"nobody","text":"x"}"#, unknown),
    ] {
        let home = Home::new();
        home.python("says", &[&format!("say {line}"), "forever"]);
        let told = home.invoke("says").await.final_error.expect("an error").to_text();
        assert_eq!(told, format!("the worker process that this ran in was killed: {why}"));
        assert!(home.fleet.warnings().is_empty() && home.faults().is_empty(), "{line}");
        assert!(home.workers().into_iter().all(is_reaped));
    }
}

#[tokio::test]
async fn a_program_that_says_why_it_cannot_be_a_worker_is_believed() {
    let home = Home::whose_worker(r#"says {"kind":"unable","text":"it is\ttoo old"}"#);
    home.python("one", &[FINE]).python("two", &[FINE]);
    let result = home.advance().await;
    for name in ["one", "two"] {
        let told = summary_of(&result, name);
        assert!(told.ends_with("cannot run Python plugins: it istoo old"), "{told}");
    }
}

#[tokio::test]
async fn no_process_answers_the_call_of_another() {
    let home = Home::new();
    home.python("victim", &["tell {home}/victim", "until {home}/forged", "throw its own"]);
    home.python("forger", &["forge {home}/victim", FINE]);
    let (result, _) = tokio::join!(home.advance_in(Isolation::Process), async {
        home.wait_for_end("forger").await;
        home.release("forged");
    });
    assert_eq!(summary_of(&result, "victim"), "victim: its own");
    let told = summary_of(&result, "forger");
    assert!(told.contains("was killed: it spoke of what it was never given"), "{told}");
}

#[tokio::test]
async fn an_answer_counts_once_and_a_late_one_is_dropped() {
    let home = Home::new();
    let early = r#"{"kind":"complete","call":{call},"outcome":"threw","value":"early"}"#;
    home.python("says", &[&format!("say {early}"), "mark {home}/late", FINE]);
    home.python("beside", &["until {home}/late", FINE]);
    let result = home.advance().await;
    assert_eq!(summary_of(&result, "says"), "says: early");
    assert_eq!(summary_of(&result, "beside"), "fine");
    assert_eq!((home.noted("late").len(), home.workers().len()), (1, 1));
}
