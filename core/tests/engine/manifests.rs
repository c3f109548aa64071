//! How a manifest comes to be known: read as it is written where it is one literal, run where it is not.

use warpline_core::engine::{Isolation, LoadReport};

use crate::support::Fleet;

const COMPUTED: &str = "const name = 'computed'\nexport const manifest = { name }\n";

/// A manifest as Python writes it.
const PYTHON: &str = r#"{"name": "python", "version": "1", "description": "", "autonomy_level": "manual", "ttl_hours": 1}"#;

/// Plugins that loaded, and whether each was read as it is written.
type Known = Vec<(String, bool)>;

/// Which plugins loaded, and which did not, with the reason.
fn told(report: &LoadReport) -> (Known, Vec<(String, String)>) {
    let LoadReport { roster, .. } = report;
    let loaded = roster.plugins.iter().map(|(name, plugin)| (name.to_text(), plugin.literal));
    let failed = roster.failures.iter().map(|(name, reason)| (name.to_text(), reason.clone()));
    (loaded.collect(), failed.collect())
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_may_run_nothing_tells_which_manifests_it_could_not_read() {
    let fleet = Fleet::new();
    fleet.spy("written", "");
    fleet.file("computed", COMPUTED);
    fleet.file("wrong", "export const manifest = { name: 7 }\n");
    let python = |name: &str, manifest: &str| {
        fleet.put(&fleet.paths.plugins.join(name).join("manifest.py"), manifest);
    };
    python(
        "python",
        &format!(
            "from warpline import PluginManifest\nmanifest = PluginManifest.parse({PYTHON})\n"
        ),
    );
    python("strict", "from warpline import PluginManifest\nmanifest = PluginManifest.parse({})\n");
    python("zoo", &format!("manifest = dict({PYTHON})\n"));
    let (loaded, failed) = told(&fleet.engine.read_manifests(&fleet.paths.plugins).await);
    assert_eq!(loaded, [("python".to_owned(), true), ("written".to_owned(), true)]);
    let names: Vec<&str> = failed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["computed", "strict", "wrong", "zoo"]);
    let reasons: Vec<&str> = failed.iter().map(|(_, reason)| reason.as_str()).collect();
    assert!(reasons[0].contains("not one valid literal"), "{reasons:?}");
    assert!(reasons[1].contains("not one valid literal"), "running it tells why: {reasons:?}");
    assert!(reasons[2].contains("`name`: expected"), "{reasons:?}");
    assert!(reasons[3].contains("not one valid literal"), "{reasons:?}");
    let nowhere = fleet.paths.home.join("nowhere");
    let (path, code) = fleet.engine.read_manifests(&nowhere).await.root_error.expect("an error");
    assert_eq!((path, code.as_str()), (nowhere, "ENOENT"));
}

#[tokio::test(start_paused = true)]
async fn a_python_manifest_is_read_as_written_only_where_nothing_else_of_its_plugin_would_run() {
    let fleet = Fleet::new();
    let written = |name: &str, rest: &str| {
        let directory = fleet.paths.plugins.join(name);
        fleet.put(&directory.join("manifest.py"), &format!("manifest = {PYTHON}\n{rest}"));
        directory
    };
    let space = " ".repeat(16 * 1024 * 1024);
    written("cut", &format!("#{space}\nmanifest = None\n"));
    fleet.put(&written("bare", "").join("__init__.py"), "");
    fleet.put(&written("package", "").join("__init__.py"), "raise SystemExit\n");
    let (loaded, failed) = told(&fleet.engine.read_manifests(&fleet.paths.plugins).await);
    assert_eq!(loaded, [("bare".to_owned(), true)]);
    let names: Vec<&str> = failed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["cut", "package"]);
}

#[tokio::test(start_paused = true)]
async fn a_fleet_that_is_read_on_several_threads_is_the_same() {
    let fleet = Fleet::new();
    for index in 0..150 {
        fleet.spy(&format!("p{index:03}"), "");
    }
    fleet.file("p070", "export const manifest = { name: 7 }\n");
    let root = &fleet.paths.plugins;
    let report = fleet.engine.load_manifests(root, &fleet.environment, Isolation::None, 1).await;
    let (loaded, failed) = told(&report);
    let names = (0..150).filter(|index| *index != 70).map(|index| (format!("p{index:03}"), true));
    assert_eq!(loaded, names.collect::<Vec<_>>());
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].0, "p070");
}
