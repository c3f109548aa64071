use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use super::super::files::{self, Appender};
use super::*;

/// A home with one document, and a directory outside with one file.
fn home() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let root = tempfile::tempdir().expect("temporary directory");
    let (home, outside) = (root.path().join("home"), root.path().join("outside"));
    for directory in [home.join("state"), home.join("elsewhere"), outside.clone()] {
        fs::create_dir_all(directory).expect("directory");
    }
    fs::write(outside.join("file"), "foreign").expect("file");
    (root, home, outside)
}

/// All names and bytes below a directory.
fn snapshot(directory: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        let facts = fs::symlink_metadata(&path).expect("facts");
        let bytes = if facts.is_file() { fs::read(&path).expect("bytes") } else { Vec::new() };
        if facts.is_dir() {
            open.extend(fs::read_dir(&path).expect("list").map(|entry| entry.expect("one").path()));
        }
        found.push((path, facts.mode(), bytes));
    }
    found.sort();
    found
}

type Write = fn(&Path, &Path) -> crate::error::Result<()>;

const WRITES: [(&str, Write); 5] = [
    ("replace", |home, path| files::replace(home, path, b"x")),
    ("prepare", |home, path| files::prepare(home, path, b"x", Some(0o600)).map(drop)),
    ("append", |home, path| files::append(home, path, "x\n")),
    ("append_text", |home, path| files::append_text(home, path, "x")),
    ("append_whole", |home, path| Appender::open(home, path)?.append_whole("x\n", true)),
];

#[test]
fn no_write_leaves_the_home_through_a_link_and_each_names_the_file() {
    for (name, write) in WRITES {
        for case in ["file", "new", "directory", "deep", "relative", "chain"] {
            let (_root, home, outside) = home();
            let path = match case {
                "file" => home.join("state/d.json"),
                "relative" => home.join("state/r.json"),
                "new" => home.join("state/n.json"),
                "chain" => home.join("state/c.json"),
                "directory" => home.join("logs/d.json"),
                _ => home.join("logs/runs/deep/d.json"),
            };
            match case {
                "file" => symlink(outside.join("file"), &path).expect("link"),
                "relative" => symlink("../../outside/file", &path).expect("link"),
                "new" => symlink(outside.join("absent"), &path).expect("link"),
                "chain" => {
                    symlink(home.join("elsewhere/c"), &path).expect("link");
                    symlink(outside.join("file"), home.join("elsewhere/c")).expect("link");
                }
                _ => symlink(&outside, home.join("logs")).expect("link"),
            }
            let before = snapshot(&outside);
            let refused = write(&home, &path).expect_err(case).to_string();
            assert!(refused.contains(path.to_str().expect("text")), "{name} {case}: {refused}");
            assert_eq!(snapshot(&outside), before, "{name} {case}");
        }
    }
}

#[test]
fn links_inside_the_home_are_followed() {
    for (name, write) in WRITES.into_iter().filter(|(name, _)| *name != "prepare") {
        let (_root, home, _) = home();
        fs::write(home.join("elsewhere/d.json"), "").expect("file");
        symlink("../elsewhere/d.json", home.join("state/d.json")).expect("link");
        symlink(home.join("elsewhere"), home.join("logs")).expect("link");
        for path in ["state/d.json", "logs/runs/e.json"] {
            write(&home, &home.join(path)).expect(name);
        }
        let linked = fs::symlink_metadata(home.join("state/d.json")).expect("link");
        assert!(linked.is_symlink(), "{name}");
        for path in ["elsewhere/d.json", "elsewhere/runs/e.json"] {
            assert!(!fs::read(home.join(path)).expect(path).is_empty(), "{name} {path}");
        }
    }
}

#[test]
fn the_home_itself_may_be_a_link() {
    let (root, home, _) = home();
    let link = root.path().join("link");
    symlink(&home, &link).expect("link");
    files::replace(&link, &link.join("state/d.json"), b"x").expect("write");
    files::append(&link, &link.join("logs/a"), "x\n").expect("append");
    assert_eq!(fs::read(home.join("state/d.json")).expect("file"), b"x");
    assert!(files::remove(&link, &link.join("state/d.json")).expect("removed"));
    assert!(!home.join("state/d.json").exists());
}

#[test]
fn a_path_elsewhere_is_bounded_by_its_own_directory() {
    let (root, home, outside) = home();
    let chosen = root.path().join("chosen");
    symlink(&outside, &chosen).expect("link");
    for (name, write) in WRITES {
        write(&home, &chosen.join(name)).expect("a directory that the caller names may be a link");
    }
    fs::create_dir(outside.join("below")).expect("directory");
    fs::write(outside.join("below/f"), "").expect("file");
    symlink("below/f", outside.join("in")).expect("link");
    symlink(home.join("state/s"), outside.join("out")).expect("link");
    fs::write(home.join("state/s"), "kept").expect("file");
    files::write_atomic(&outside.join("in"), b"x", None).expect("below");
    files::replace(&home, &outside.join("in"), b"y").expect("below");
    assert_eq!(fs::read(outside.join("below/f")).expect("file"), b"y");
    assert!(files::write_atomic(&outside.join("out"), b"x", None).is_err());
    assert!(files::replace(&home, &outside.join("out"), b"x").is_err());
    assert_eq!(fs::read(home.join("state/s")).expect("file"), b"kept");
}

#[test]
fn nothing_is_removed_behind_a_link_that_leads_out() {
    let (_root, home, outside) = home();
    symlink(&outside, home.join("runs")).expect("link");
    symlink(outside.join("file"), home.join("state/l")).expect("link");
    symlink(home.join("state"), home.join("inner")).expect("link");
    assert!(files::remove(&home, &home.join("runs/file")).is_err());
    assert!(files::remove(&home, &home.join("state/l")).expect("the link goes"));
    assert!(outside.join("file").exists());
    fs::write(home.join("state/f"), "").expect("file");
    assert!(files::remove(&home, &home.join("inner/f")).expect("inside"));
    assert!(!files::remove(&home, &home.join("absent/f")).expect("nothing there"));
    assert!(!home.join("absent").exists(), "a removal makes no directory");
}

#[test]
fn what_is_put_in_the_place_of_an_open_directory_is_not_written_to() {
    let (_root, home, outside) = home();
    let path = home.join("state/d.json");
    let before = snapshot(&outside);
    let prepared = files::prepare(&home, &path, b"mine", None).expect("prepared");
    let mut appender = files::Appender::open(&home, &home.join("state/a")).expect("open");
    fs::rename(home.join("state"), home.join("moved")).expect("away");
    symlink(&outside, home.join("state")).expect("link");
    prepared.commit().expect("into the directory that was checked");
    appender.append("x\n").expect("append");
    assert_eq!(fs::read(home.join("moved/d.json")).expect("file"), b"mine");
    assert_eq!(snapshot(&outside), before);
}

#[test]
fn a_link_that_flickers_never_wins() {
    let (_root, home, outside) = home();
    let before = snapshot(&outside);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let is_over = || stop.load(std::sync::atomic::Ordering::Relaxed);
    let (directory, file) = (home.join("state"), home.join("elsewhere/f"));
    let aside = home.join("aside");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over() {
                // Each swap is one step, so that the writer meets either; it may undo one meanwhile.
                let _ = fs::rename(&directory, &aside);
                let _ = symlink(&outside, &directory);
                let _ = fs::remove_file(&directory);
                let _ = fs::rename(&aside, &directory);
                let _ = fs::remove_file(&file);
                let _ = symlink(outside.join("file"), &file);
                let _ = fs::remove_file(&file);
            }
        });
        let mut written = 0;
        for _ in 0..400 {
            for path in [directory.join("d.json"), file.clone()] {
                for (_, write) in WRITES {
                    written += usize::from(write(&home, &path).is_ok());
                }
                let _ = files::remove(&home, &directory.join("file"));
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(written > 0, "some writes met the directory");
    });
    assert_eq!(snapshot(&outside), before);
}

#[test]
fn directories_of_a_home_are_their_owners_and_others_as_the_umask_has_them() {
    let (root, home, _) = home();
    let bits = |path: &Path| fs::metadata(path).expect("facts").mode() & 0o777;
    files::replace(&home, &home.join("a/b/f"), b"").expect("write");
    files::append(&home, &home.join("a/g"), "x\n").expect("append");
    assert_eq!(["a", "a/b"].map(|path| bits(&home.join(path))), [0o700; 2]);
    assert_eq!(["a/b/f", "a/g"].map(|path| bits(&home.join(path))), [0o600; 2]);
    fs::create_dir(root.path().join("plain")).expect("directory");
    files::write_atomic(&root.path().join("new/f"), b"", None).expect("write");
    assert_eq!(bits(&root.path().join("new")), bits(&root.path().join("plain")));
}
