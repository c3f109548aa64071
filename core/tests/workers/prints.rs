//! What plugin code prints in a worker: without secrets, and in the transcript.

use warpline_core::engine::InvokeOptions;

use crate::support::{FINE, Home};

const SECRET: &str = "hunter2-token";

fn home() -> Home {
    let mut home = Home::new();
    home.set("API_TOKEN", SECRET);
    home
}

const FIELDS: &str = r#""secrets":["API_TOKEN"]"#;

#[tokio::test]
async fn a_transcript_holds_what_was_printed_in_a_worker_without_its_secrets() {
    for apart in [false, true] {
        let home = home();
        let commands =
            ["load print loading with hunter2-token", "print the token is hunter2-token", FINE];
        home.plugin("prints", "py", FIELDS, &commands);
        let isolation = match apart {
            true => warpline_core::engine::Isolation::Process,
            false => warpline_core::engine::Isolation::None,
        };
        let options = InvokeOptions {
            persist_artifact: true,
            run_id: Some("r".into()),
            isolation,
            ..InvokeOptions::default()
        };
        assert_eq!(home.fleet.invoke("prints", options).await.result.summary, "fine");
        let transcript = home.fleet.text(&home.path("runs/r.log"));
        assert!(transcript.contains("loading with [redacted]\n"), "{transcript}");
        assert!(transcript.contains("the token is [redacted]\n"), "{transcript}");
        assert!(!transcript.contains(SECRET), "{transcript}");
    }
}

#[tokio::test]
async fn no_secret_is_in_what_a_worker_says_of_a_plugin() {
    let home = home();
    let commands = [
        "warn it has hunter2-token",
        "stray lost hunter2-token",
        "fault Oops hunter2-token",
        "throw hunter2-token",
    ];
    home.plugin("tells", "py", FIELDS, &commands);
    let ended = home.invoke("tells").await;
    assert_eq!(ended.final_error, Some("[redacted]".into()));
    assert_eq!(home.fleet.warnings(), ["it has [redacted]"]);
    assert_eq!(home.strays(), ["lost [redacted]"]);
    assert_eq!(home.faults(), [("tells".to_owned(), "Oops [redacted]".to_owned())]);
    let loads = ["load throw no hunter2-token", FINE];
    home.plugin("loads", "py", FIELDS, &loads);
    assert_eq!(home.invoke("loads").await.final_error, Some("no [redacted]".into()));
    home.python("manifest", &[FINE]).file(
        "manifest",
        "manifest.py",
        "throw at hunter2-token # secrets = [\"API_TOKEN\"]",
    );
    let told = home.invoke("manifest").await.final_error.expect("an error").to_text();
    assert!(told.contains("does not load: at "), "{told}");
}
