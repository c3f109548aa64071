use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use super::*;
use crate::home::runs::tests::without_rights;

fn root() -> tempfile::TempDir {
    tempfile::tempdir().expect("temporary directory")
}

fn plugin(root: &Path, name: impl AsRef<OsStr>) -> PathBuf {
    let directory = root.join(name.as_ref());
    fs::create_dir_all(&directory).expect("directory");
    fs::write(directory.join("manifest.ts"), "export {}").expect("manifest");
    directory
}

/// Waits until a change below this directory has another time than all that were made before.
pub(crate) fn next_tick(directory: &Path) {
    let probe = directory.join("probe");
    let write = || {
        fs::write(&probe, "").expect("file");
        fs::metadata(&probe).and_then(|found| found.modified()).expect("time")
    };
    let before = write();
    while write() <= before {
        std::thread::sleep(Duration::from_millis(1));
    }
    fs::remove_file(probe).expect("file");
}

fn names(roster: &Roster) -> Vec<String> {
    roster.candidates.iter().map(|candidate| candidate.name.to_text()).collect()
}

fn refusal(root: &Path) -> (&'static str, String) {
    let error = roster(root).expect_err("refused");
    (error.code(), error.to_string())
}

/// Cases: T202, T203.
#[test]
fn a_root_that_cannot_be_used_is_refused_by_the_system_s_own_name() {
    let root = root();
    let file = root.path().join("file");
    fs::write(&file, "").expect("file");
    let looped = root.path().join("loop");
    symlink(&looped, &looped).expect("link");
    let absent = root.path().join("absent");
    for (path, code) in [(&absent, "ENOENT"), (&file, "ENOTDIR"), (&looped, "ELOOP")] {
        let expected = format!("cannot read plugin root {}: {code}", path.display());
        assert_eq!(refusal(path), ("ERR_WARPLINE_PLUGIN_ROOT", expected));
    }
    let (code, message) = refusal(Path::new(""));
    assert_eq!(code, "ERR_WARPLINE_PLUGIN_ROOT");
    assert!(message.contains("empty string") && !message.contains("ENOENT"), "{message}");
}

/// Cases: T204.
#[test]
fn a_root_without_the_right_to_read_it_is_refused() {
    const CHILD: &str = "WARPLINE_TEST_ROOT";
    if let Ok(closed) = std::env::var(CHILD) {
        let (_, message) = refusal(Path::new(&closed));
        assert!(message.ends_with(": EACCES"), "{message}");
        return;
    }
    let root = root();
    let closed = root.path().join("closed");
    fs::create_dir(&closed).expect("directory");
    let test = "home::plugins::tests::a_root_without_the_right_to_read_it_is_refused";
    let output = without_rights(test, CHILD, root.path(), &[(&closed, 0)], &closed);
    assert!(output.contains("1 passed"), "{output}");
}

/// Cases: T299.
#[test]
fn directories_and_links_to_them_are_plugins_and_stray_files_are_nothing() {
    let root = root();
    let outside = self::root();
    for name in ["b", "a", "\u{e000}", "😀", "prototype", ".hidden"] {
        plugin(root.path(), name);
    }
    fs::write(root.path().join(".DS_Store"), "").expect("stray");
    fs::write(root.path().join("README.md"), "").expect("stray");
    symlink(root.path().join("README.md"), root.path().join("to-a-file")).expect("link");
    symlink(root.path().join("nowhere"), root.path().join("dangling")).expect("link");
    symlink(plugin(outside.path(), "real"), root.path().join("linked")).expect("link");
    let roster = roster(root.path()).expect("readable");
    assert_eq!(roster.failures, []);
    let expected = [".hidden", "a", "b", "linked", "prototype", "😀", "\u{e000}"];
    assert_eq!(names(&roster), expected, "by UTF-16 code unit");
    let real = fs::canonicalize(outside.path().join("real")).expect("real");
    assert_eq!(roster.candidates[3].directory, real);
    assert_eq!(roster.candidates[3].manifest, real.join("manifest.ts"));
}

/// Cases: T300.
#[test]
fn a_directory_that_cannot_be_a_plugin_is_a_failure_that_says_why() {
    let root = root();
    plugin(root.path(), "good");
    plugin(root.path(), "__proto__");
    plugin(root.path(), "constructor");
    plugin(root.path(), OsStr::from_bytes(b"bad\xff"));
    fs::create_dir(root.path().join("empty")).expect("directory");
    fs::create_dir_all(root.path().join("odd/manifest.ts")).expect("directory");
    let roster = roster(root.path()).expect("readable");
    assert_eq!(names(&roster), ["good"]);
    let failures: Vec<(String, &str)> =
        roster.failures.iter().map(|(name, why)| (name.to_text(), why.as_str())).collect();
    let expected = [
        ("__proto__", "the directory name belongs to Object.prototype"),
        ("bad\u{fffd}", "the directory name is not UTF-8 text"),
        ("constructor", "the directory name belongs to Object.prototype"),
        ("empty", "the directory has no manifest.ts or manifest.py"),
        ("odd", "manifest.ts is not a file"),
    ];
    assert_eq!(failures, expected.map(|(name, why)| (name.to_owned(), why)));
}

#[test]
fn the_manifest_says_the_language_and_two_manifests_say_nothing() {
    let root = root();
    plugin(root.path(), "typed");
    for name in ["snake", "both"] {
        fs::create_dir(root.path().join(name)).expect("directory");
        fs::write(root.path().join(name).join("manifest.py"), "manifest = {}").expect("manifest");
    }
    plugin(root.path(), "both");
    let roster = roster(root.path()).expect("readable");
    let languages: Vec<_> = roster.candidates.iter().map(|found| found.language).collect();
    assert_eq!(names(&roster), ["snake", "typed"]);
    assert_eq!(languages, [Language::Python, Language::TypeScript]);
    assert!(roster.candidates[0].manifest.ends_with("snake/manifest.py"));
    let why = "the directory has both manifest.ts and manifest.py";
    assert_eq!(roster.failures, [("both".into(), why.to_owned())]);
}

#[test]
fn an_empty_root_is_a_roster_of_nothing() {
    let root = root();
    assert_eq!(roster(root.path()).expect("readable"), Roster::default());
}

#[test]
fn a_revision_changes_with_every_file_below_and_with_nothing_else() {
    let root = root();
    let directory = plugin(root.path(), "p");
    let outside = root.path().join("shared.ts");
    fs::write(&outside, "1").expect("shared");
    for ignored in ["node_modules/x", ".git/x", "lib/node_modules/x", "__pycache__"] {
        fs::create_dir_all(directory.join(ignored)).expect("directory");
    }
    symlink(&outside, directory.join("linked.ts")).expect("link");
    let mut last = revision(&directory);
    assert_eq!(revision(&directory), last);
    fs::write(directory.join("node_modules/x/a.js"), "").expect("ignored");
    fs::write(directory.join(".git/x/a"), "").expect("ignored");
    fs::write(directory.join("__pycache__/a.pyc"), "").expect("ignored");
    assert_eq!(revision(&directory), last);

    let mut changed = |what: &str| {
        let next = revision(&directory);
        assert_ne!(next, last, "{what}");
        last = next;
    };
    fs::write(directory.join("lib/deep.ts"), "1").expect("file");
    changed("a new file below");
    fs::write(directory.join("lib/deep.ts"), "22").expect("file");
    changed("another size");
    let file = fs::File::options().write(true).open(directory.join("lib/deep.ts")).expect("file");
    file.set_modified(std::time::SystemTime::now() + Duration::from_secs(9)).expect("time");
    changed("another time");
    let time = file.metadata().and_then(|found| found.modified()).expect("time");
    file.set_modified(time + Duration::from_nanos(1)).expect("time");
    changed("the next nanosecond");
    next_tick(root.path());
    fs::write(directory.join("lib/deep.ts"), "33").expect("file");
    file.set_modified(time + Duration::from_nanos(1)).expect("time");
    changed("another text of the same size and time");
    fs::write(directory.join("new"), "22").expect("file");
    changed("one more");
    fs::rename(directory.join("new"), directory.join("newer")).expect("rename");
    changed("another name");
    fs::write(&outside, "changed").expect("shared");
    changed("what a link leads to");
    fs::remove_file(directory.join("newer")).expect("file");
    changed("one less");
}

#[test]
fn a_revision_enters_no_directory_through_a_link() {
    let root = root();
    let directory = plugin(root.path(), "p");
    symlink(root.path(), directory.join("up")).expect("a circle");
    symlink("/", directory.join("everything")).expect("a lot");
    let before = revision(&directory);
    fs::write(root.path().join("beside"), "").expect("file");
    assert_eq!(revision(&directory), before);
}

#[test]
fn a_refusal_of_the_system_has_its_name_or_else_its_number() {
    for (errno, name) in [
        (Errno::NOENT, "ENOENT"),
        (Errno::NOTDIR, "ENOTDIR"),
        (Errno::ACCESS, "EACCES"),
        (Errno::PERM, "EPERM"),
        (Errno::LOOP, "ELOOP"),
        (Errno::NAMETOOLONG, "ENAMETOOLONG"),
        (Errno::IO, "EIO"),
        (Errno::MFILE, "EMFILE"),
        (Errno::NFILE, "ENFILE"),
        (Errno::STALE, "ESTALE"),
    ] {
        assert_eq!(code(&io::Error::from_raw_os_error(errno.raw_os_error())), name);
    }
    assert_eq!(code(&io::Error::from_raw_os_error(Errno::NXIO.raw_os_error())), "errno 6");
    assert_eq!(code(&io::ErrorKind::InvalidInput.into()), "EINVAL", "no system said so");
}

#[test]
fn beyond_so_many_entries_a_revision_looks_no_further() {
    let root = root();
    let file = |name: &str| root.path().join(name);
    for directory in ["many", "others"] {
        fs::create_dir(file(directory)).expect("a directory");
    }
    for number in 1..REVISION_CAP {
        fs::write(file("many").join(format!("{number:05}")), "").expect("a file");
    }
    fs::write(file("many/last"), "").expect("a file");
    fs::write(file("others/one"), "").expect("a file");
    let before = revision(root.path());
    fs::write(file("many/last"), "changed").expect("written");
    assert_eq!(revision(root.path()), before, "it lies beyond");
    fs::write(file("others/one"), "changed").expect("written");
    assert_ne!(revision(root.path()), before, "what is looked at still counts");
}
