use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;

use super::*;

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("temporary directory")
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("readable directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("file").mode() & 0o777
}

#[test]
fn absent_is_not_unreadable() {
    let root = directory();
    let path = root.path().join("f");
    assert_eq!(read_text(&path).expect("absent"), None);
    fs::write(&path, "text").expect("write");
    assert_eq!(read_text(&path).expect("readable").as_deref(), Some("text"));
    let below_a_file = read_text(&path.join("g")).expect_err("a file is no directory");
    assert_eq!(below_a_file.code(), "ERR_WARPLINE_FILE");
    assert!(read_text(root.path()).is_err(), "a directory is not a file");
    fs::write(&path, b"\xff\xfe").expect("write");
    let refused = read_text(&path).expect_err("never decoded loosely").to_string();
    assert!(refused.contains("UTF-8") && refused.contains("/f"), "{refused}");
}

#[test]
fn a_link_that_leads_nowhere_is_a_fault_for_every_operation_but_removal() {
    let root = directory();
    let (dangling, target) = (root.path().join("dangling"), root.path().join("gone"));
    let (left, right) = (root.path().join("left"), root.path().join("right"));
    symlink(&target, &dangling).expect("link");
    symlink(&left, &right).expect("link");
    symlink(&right, &left).expect("link");
    for path in [&dangling, &left] {
        assert!(read_text(path).is_err(), "{path:?} read");
        assert!(write_atomic(path, b"x", None).is_err(), "{path:?} write");
        assert!(append(root.path(), path, "x\n").is_err(), "{path:?} append");
    }
    assert!(!target.exists());
    assert!(remove(root.path(), &dangling).expect("removable"));
}

#[test]
fn pipes_and_devices_are_refused_without_waiting() {
    let root = directory();
    let pipe = root.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    for path in [pipe.as_path(), Path::new("/dev/zero")] {
        assert!(read_text(path).is_err(), "{path:?} read");
        assert!(append(root.path(), path, "x\n").is_err(), "{path:?} append");
        assert!(write_atomic(path, b"x", None).is_err(), "{path:?} write");
    }
}

/// Cases: T407.
#[test]
fn a_write_makes_parents_replaces_whole_and_leaves_one_file() {
    let root = directory();
    let path = root.path().join("a/b/f.json");
    write_atomic(&path, b"a long first text", None).expect("first");
    write_atomic(&path, b"second", None).expect("second");
    assert_eq!(fs::read(&path).expect("file"), b"second");
    assert_eq!(names(&root.path().join("a/b")), ["f.json"]);
}

#[test]
fn a_refused_write_changes_nothing_and_leaves_no_temporary_file() {
    let root = directory();
    fs::create_dir(root.path().join("taken")).expect("directory");
    assert!(write_atomic(&root.path().join("taken"), b"x", None).is_err());
    fs::write(root.path().join("file"), "old").expect("file");
    assert!(write_atomic(&root.path().join("file/below"), b"x", None).is_err());
    assert_eq!(names(root.path()), ["file", "taken"]);
    assert_eq!(fs::read(root.path().join("file")).expect("file"), b"old");
}

/// Cases: T408.
#[test]
fn the_mode_asked_for_wins_over_an_older_one_and_a_plain_write_keeps_it() {
    let root = directory();
    let (plain, other) = (root.path().join("plain"), root.path().join("other"));
    fs::write(&plain, "").expect("plain write");
    write_atomic(&other, b"", None).expect("write");
    assert_eq!(mode(&other), mode(&plain), "a new file gets the bits of a plain write");
    fs::set_permissions(&other, Permissions::from_mode(0o644)).expect("mode");
    write_atomic(&other, b"", Some(0o600)).expect("write");
    assert_eq!(mode(&other), 0o600);
    write_atomic(&other, b"", None).expect("write");
    assert_eq!(mode(&other), 0o600, "what an operator closed stays closed");
    fs::set_permissions(&other, Permissions::from_mode(0o666)).expect("mode");
    write_atomic(&other, b"", None).expect("write");
    assert_eq!(mode(&other), 0o666, "what an operator opened stays open, whatever the umask");
}

#[test]
fn a_linked_file_is_replaced_where_it_lies() {
    let root = directory();
    fs::create_dir(root.path().join("real")).expect("directory");
    let (real, link) = (root.path().join("real/f"), root.path().join("link"));
    fs::write(&real, "old").expect("file");
    symlink("real/f", &link).expect("link");
    write_atomic(&link, b"new", None).expect("write");
    append(root.path(), &link, "line\n").expect("append");
    assert!(fs::symlink_metadata(&link).expect("link").is_symlink());
    assert_eq!(fs::read(&real).expect("file"), b"new\nline\n");
    assert_eq!(names(root.path()), ["link", "real"]);
    assert!(remove(root.path(), &link).expect("removable"));
    assert!(real.exists(), "only the link goes");
}

#[test]
fn appended_lines_never_run_into_a_torn_one() {
    let root = directory();
    let path = root.path().join("deep/log.jsonl");
    append(root.path(), &path, "one\ntwo\n").expect("append");
    append(root.path(), &path, "three").expect("append");
    append(root.path(), &path, "").expect("nothing to do");
    fs::write(&path, [&fs::read(&path).expect("file")[..], b"{\"torn"].concat()).expect("tear");
    append(root.path(), &path, "four\n").expect("append");
    let text = fs::read_to_string(&path).expect("file");
    assert_eq!(text, "one\ntwo\nthree\n{\"torn\nfour\n");
}

#[test]
fn appends_from_many_threads_stay_whole() {
    let root = directory();
    let path = root.path().join("log");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                for round in 0..50 {
                    append(
                        directory_of(path),
                        path,
                        &format!("{writer}:{round}:{}\n", "x".repeat(300)),
                    )
                    .expect("append");
                }
            });
        }
    });
    let text = fs::read_to_string(&path).expect("file");
    assert_eq!(text.lines().count(), 200);
    assert!(text.lines().all(|line| line.ends_with(&"x".repeat(300)) && line.len() < 310));
}

#[test]
fn an_append_that_does_not_fit_takes_its_part_back() {
    // The disk of this test is a limit on the size of files, which a shell sets for its child.
    const CHILD: &str = "WARPLINE_TEST_APPEND_TO";
    if let Ok(path) = std::env::var(CHILD) {
        let before = fs::read(&path).expect("file");
        append(directory_of(Path::new(&path)), Path::new(&path), &"y".repeat(2_000))
            .expect_err("over the limit");
        assert_eq!(fs::read(&path).expect("file"), before);
        return;
    }
    let root = directory();
    let path = root.path().join("log");
    fs::write(&path, "x".repeat(511).as_str()).expect("file");
    append(root.path(), &path, "").expect("nothing");
    let name = "home::files::tests::an_append_that_does_not_fit_takes_its_part_back";
    let child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(std::env::current_exe().expect("this test"))
        .arg(name)
        .env(CHILD, &path)
        .output()
        .expect("the child runs");
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && output.contains("1 passed"), "{child:?}");
}

#[test]
fn removal_tells_whether_there_was_anything() {
    let root = directory();
    let path = root.path().join("f");
    assert!(!remove(root.path(), &path).expect("nothing there"));
    fs::write(&path, "").expect("file");
    assert!(remove(root.path(), &path).expect("removable"));
    assert!(!path.exists());
    fs::create_dir(&path).expect("directory");
    assert!(remove(root.path(), &path).is_err(), "a directory is not a file");
}

#[test]
fn a_name_alone_lies_in_the_working_directory() {
    for (path, directory) in [("f", "."), ("a/f", "a"), ("/f", "/"), ("/", ".")] {
        assert_eq!(directory_of(Path::new(path)), Path::new(directory), "{path}");
    }
}

#[test]
fn an_append_gives_up_on_a_file_that_another_keeps_locked() {
    let root = directory();
    let path = root.path().join("f");
    fs::write(&path, "a\n").expect("a file");
    let held = fs::File::open(&path).expect("open");
    held.lock().expect("locked");
    let refused = append(root.path(), &path, "b\n").expect_err("it is locked");
    assert!(refused.to_string().contains("another process keeps it locked"), "{refused}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "a\n");
}
