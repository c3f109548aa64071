//! A home whose files hold anything: whoever reads it without writing sees what there is, and leaves it
//! as it is.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use warpline_core::clock::Instant;
use warpline_core::home::history::{self, Catalog};
use warpline_core::home::{Paths, acknowledgements, approval, config, days, events, handoffs};
use warpline_core::home::{journal, plugins, preferences, state};
use warpline_core::json::JsString;

const RUN: &str = "2026-08-20T120000000Z-0a1b2c3d";

/// The files, each with what it holds while another one is tried.
const FILES: [(&str, &str); 10] = [
    ("state/engine-state.json", include_str!("../../corpus/engine_state/sample.json")),
    ("state/in-flight.jsonl", ""),
    ("state/events.jsonl", include_str!("../../corpus/events/sample.json")),
    ("state/acknowledgements.json", include_str!("../../corpus/acknowledgements/sample.json")),
    ("preferences.json", include_str!("../../corpus/preferences/sample.json")),
    (".session-approval", include_str!("../../corpus/grant/sample.json")),
    ("runs/2026-08-20T120000000Z-0a1b2c3d.json", include_str!("../../corpus/run_log/sample.json")),
    ("runs/r1.json", include_str!("../../corpus/run_artifact/sample.json")),
    ("logs/runs/2026-08-20.jsonl", include_str!("../../corpus/home/day.jsonl")),
    ("config/a.json", "{}"),
];

thread_local! {
    /// The home of this thread, whose files hold what is usual between two inputs.
    static HOME: TempDir = {
        let home = tempfile::Builder::new().prefix("warpline-fuzz-").tempdir().expect("a directory");
        for (name, usual) in FILES {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(path, usual).expect("a file");
        }
        home
    };
}

/// The first byte chooses the file (`0` is the first one), the others are what it holds.
pub fn home(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let (name, usual) = FILES[usize::from(choice.wrapping_sub(b'0')) % FILES.len()];
    HOME.with(|home| {
        let tried = home.path().join(name);
        fs::write(&tried, bytes).expect("a file");
        read(home.path());
        assert_eq!(fs::read(&tried).expect("it is there"), bytes, "{name} is changed");
        fs::write(&tried, usual).expect("a file");
        for (other, usual) in FILES {
            let holds = fs::read(home.path().join(other)).expect("it is there");
            assert_eq!(holds, usual.as_bytes(), "{other} is changed");
        }
    });
}

fn read(root: &Path) {
    let paths = Paths::new(PathBuf::from(root));
    let now = Instant::parse("2026-08-20T12:30:00.000Z").expect("an instant");
    let plugin = JsString::from("a");
    let (document, _) = state::preview(&paths, now);
    let catalog = Catalog::of(&paths);
    assert_eq!(catalog.ids().count(), 2);
    for id in [RUN, "r1"] {
        if let Ok(Some(document)) = history::read(&paths, &id.into()) {
            let named = match &document {
                history::Document::Advance(log) => &log.run_id,
                history::Document::Direct(artifact) => &artifact.run_id,
            };
            assert!(*named == id, "a document is of the run that its name says");
        }
    }
    handoffs::open(&paths, &catalog, &document);
    // A second key in another spelling is one that only whoever reads the whole line sees.
    let plain = |line: &str| line.matches("run_id\":\"").count() == line.matches("_id").count();
    for line in days::newest_first(&paths, None, plain).flatten() {
        assert!(days::ids_of(&paths, "").contains(&line.run_id));
    }
    assert!(events::read(&paths).len() <= events::load(&paths).map_or(0, |all| all.len()));
    acknowledgements::preview(&paths);
    let _ = preferences::read(&paths);
    assert!(!(approval::is_unusable(&paths) && approval::is_approved(&paths, &plugin, now)));
    let _ = config::read(&paths, &plugin);
    assert!(journal::is_left(&paths));
    assert!(plugins::roster(&paths.plugins).is_err(), "there are no plugins");
}
