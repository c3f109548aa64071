//! What is shipped cannot be made to fail on purpose.

use std::fs;
use std::path::{Path, PathBuf};

use warpline_core::home::faults::MARKER;

fn has_faults(library: &Path) -> bool {
    String::from_utf8_lossy(&fs::read(library).expect("a library")).contains(MARKER)
}

/// The libraries of both languages, as far as they have been built: by cargo, and where the packages
/// look for them.
fn libraries() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let names = ["debug/libwarpline_node", "debug/libwarpline_python"]
        .into_iter()
        .chain(["release/libwarpline_node", "release/libwarpline_python"]);
    let built = names.flat_map(|name| {
        ["so", "dylib"].map(|kind| root.join("target").join(format!("{name}.{kind}")))
    });
    let placed = ["npm/native/warpline.node", "python/warpline/_native.abi3.so"];
    built.chain(placed.map(|name| root.join(name))).filter(|path| path.is_file()).collect()
}

#[test]
fn no_library_of_a_package_holds_the_faults() {
    assert!(has_faults(&std::env::current_exe().expect("this test")), "the marker is found");
    let libraries = libraries();
    assert!(libraries.len() >= 2, "`make build` builds the libraries of both languages");
    for library in libraries {
        assert!(!has_faults(&library), "{}", library.display());
    }
}

#[test]
fn no_package_asks_for_the_faults() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for manifest in ["Cargo.toml", "bindings-node/Cargo.toml", "bindings-python/Cargo.toml"] {
        let text = fs::read_to_string(root.join(manifest)).expect("a manifest");
        assert!(!text.contains("fault-injection"), "{manifest}");
    }
    let own = fs::read_to_string(root.join("core/Cargo.toml")).expect("a manifest");
    let default = own.lines().find(|line| line.starts_with("default = ")).expect("a default");
    assert!(!default.contains("fault-injection"), "{default}");
}
