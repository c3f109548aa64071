use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant as Clock;

use super::*;

fn home() -> (tempfile::TempDir, Paths) {
    let root = tempfile::tempdir().expect("temporary directory");
    let paths = Paths::new(root.path().to_owned());
    (root, paths)
}

fn now() -> Instant {
    Instant::from_ms(1_787_227_200_000).expect("in range")
}

fn refusal(paths: &Paths) -> String {
    RunLock::acquire(paths, "second", now()).expect_err("held").to_string()
}

/// How long something takes that nothing but a busy machine delays.
fn quickest(what: impl Fn()) -> Duration {
    let times = (0..5).map(|_| {
        let began = Clock::now();
        what();
        began.elapsed()
    });
    times.min().expect("five")
}

/// Where this variable is set, the state lock of this test binary keeps nobody out: what is then
/// lost shows that the lock is what keeps answers.
pub(crate) const NO_STATE_LOCK: &str = "WARPLINE_TEST_NO_STATE_LOCK";

/// Where this variable is set, a process of this test binary waits for a moment before it takes the
/// state lock: others come in between wherever it takes the lock twice for one answer.
pub(crate) const HESITATES: &str = "WARPLINE_TEST_HESITATES";

/// The lock file of a home, or one that nobody else uses.
pub(super) fn state_lock(paths: &Paths) -> PathBuf {
    let path = paths.state_lock();
    if std::env::var_os(HESITATES).is_some() {
        std::thread::sleep(Duration::from_millis(2));
    }
    match std::env::var_os(NO_STATE_LOCK) {
        Some(_) => path.with_extension(uuid::Uuid::new_v4().to_string()),
        None => path,
    }
}

#[test]
fn a_second_advance_of_the_same_process_is_refused_and_told_who_runs() {
    let (_root, paths) = home();
    let first = RunLock::acquire(&paths, "first-run", now()).expect("free");
    let text = fs::read_to_string(paths.run_lock()).expect("lock file");
    let pid = std::process::id();
    assert_eq!(
        text,
        format!(r#"{{"run_id":"first-run","pid":{pid},"started_at":"2026-08-20T12:00:00.000Z"}}"#)
    );
    let error = refusal(&paths);
    // Less than any wait for a lock.
    assert!(quickest(|| drop(refusal(&paths))) < STATE_WAIT);
    for part in ["first-run", &pid.to_string(), "2026-08-20T12:00:00.000Z"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(fs::read_to_string(paths.run_lock()).expect("lock file"), text);
    assert!(RunLock::is_held(&paths));
    first.release();
    assert!(!paths.run_lock().exists(), "a clean release leaves no file");
    assert!(!RunLock::is_held(&paths));
    RunLock::acquire(&paths, "second", now()).expect("free again");
}

#[test]
fn what_the_lock_file_says_is_repeated_only_where_it_has_the_right_shape() {
    let (_root, paths) = home();
    let _held = RunLock::acquire(&paths, "run", now()).expect("free");
    let garbage: [&[u8]; 6] = [
        b"",
        b"\xff\xff",
        b"{",
        b"[1]",
        br#"{"run_id":"\u001b[31mred","pid":-1,"started_at":"yesterday"}"#,
        br#"{"run_id":7,"pid":"x","started_at":null}"#,
    ];
    for content in garbage {
        fs::write(paths.run_lock(), content).expect("garbage");
        let error = refusal(&paths);
        assert!(error.contains("does not say"), "{error}");
        assert!(!error.contains(['\u{1b}', '\u{fffd}']), "{error}");
    }
    fs::write(paths.run_lock(), r#"{"pid":12,"run_id":"../x"}"#).expect("half of it");
    let error = refusal(&paths);
    assert!(error.contains("process 12") && !error.contains("../x"), "{error}");
}

/// Cases: T487.
#[test]
fn an_advance_waits_for_whoever_only_looks_whether_one_runs() {
    let (_root, paths) = home();
    RunLock::acquire(&paths, "before", now()).expect("free").release();
    fs::write(paths.run_lock(), "").expect("left behind");
    let looks = fs::File::open(paths.run_lock()).expect("it is there");
    looks.lock_shared().expect("nobody runs");
    let advance = std::thread::spawn({
        let paths = paths.clone();
        move || RunLock::acquire(&paths, "waits", now())
    });
    // Far longer than an advance that another one holds up waits.
    std::thread::sleep(RUN_WAIT * 5);
    assert!(!advance.is_finished());
    looks.unlock().expect("it has looked");
    advance.join().expect("no panic").expect("nobody else runs").release();
}

#[test]
fn a_lock_file_without_a_holder_means_nothing_whatever_it_says() {
    let (_root, paths) = home();
    fs::create_dir_all(paths.run_lock().parent().expect("state")).expect("state");
    fs::write(paths.run_lock(), r#"{"run_id":"old","pid":1}"#).expect("left behind");
    // The first try gets it: there is no time for a second one.
    let run = RunLock::try_acquire(&paths, "new", now()).expect("usable");
    let run = run.expect("nobody holds it");
    for age in [-11_000, 60_000] {
        fs::write(paths.state_lock(), (now().ms() + age).to_string()).expect("left behind");
        let state = StateLock::acquire_within(&paths, now(), Duration::ZERO);
        let state = state.expect("nobody holds it");
        assert_eq!(fs::read_to_string(paths.state_lock()).expect("content"), "1787227200000");
        state.release();
    }
    run.release();
    assert!(!paths.state_lock().exists());
}

#[test]
fn links_and_other_things_in_place_of_a_lock_file_are_refused_and_left_alone() {
    let (root, paths) = home();
    fs::create_dir_all(paths.run_lock().parent().expect("state")).expect("state");
    let victim = root.path().join("victim");
    fs::write(&victim, "precious").expect("victim");
    symlink(&victim, paths.run_lock()).expect("link");
    symlink(root.path().join("nowhere"), paths.state_lock()).expect("link");
    assert!(matches!(RunLock::acquire(&paths, "r", now()), Err(Error::File { .. })));
    assert!(matches!(StateLock::acquire(&paths, now()), Err(Error::File { .. })));
    assert_eq!(fs::read_to_string(&victim).expect("victim"), "precious");
    assert!(!root.path().join("nowhere").exists());
    fs::remove_file(paths.run_lock()).expect("link");
    fs::create_dir(paths.run_lock()).expect("directory");
    assert!(matches!(RunLock::acquire(&paths, "r", now()), Err(Error::File { .. })));
}

#[test]
fn a_removed_lock_file_does_not_make_its_holder_remove_the_next_one() {
    let (_root, paths) = home();
    let first = RunLock::acquire(&paths, "first", now()).expect("free");
    fs::remove_file(paths.run_lock()).expect("someone tidies up");
    let second = RunLock::acquire(&paths, "second", now()).expect("another file");
    drop(first);
    let text = fs::read_to_string(paths.run_lock()).expect("still there");
    assert!(text.contains("second"));
    assert!(RunLock::is_held(&paths));
    drop(second);
}

#[test]
fn a_file_that_was_removed_between_opening_and_locking_is_no_lock() {
    let (_root, paths) = home();
    let path = paths.run_lock();
    let held = RunLock::acquire(&paths, "first", now()).expect("free");
    let open = || File::open(&path).expect("lock file");
    let (early, late) = (open(), open());
    assert!(matches!(lock_open_file(early, &path), Ok(Attempt::Busy)));
    held.release();
    assert!(matches!(lock_open_file(late, &path), Ok(Attempt::Gone)));
    let next = RunLock::acquire(&paths, "next", now()).expect("free");
    assert!(matches!(lock_open_file(open(), &path), Ok(Attempt::Busy)));
    next.release();
}

/// Cases: T487.
#[test]
fn state_sections_of_many_threads_never_overlap() {
    let (_root, paths) = home();
    let (inside, done) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let lock = StateLock::acquire(&paths, now()).expect("in time");
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two are inside");
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(lock);
                    done.fetch_add(1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(2));
                }
            });
        }
    });
    assert_eq!(done.into_inner(), 100);
    assert!(!paths.state_lock().exists());
}

#[test]
fn a_waiter_goes_on_after_the_release_and_gives_up_in_time() {
    let (_root, paths) = home();
    let held = StateLock::acquire(&paths, now()).expect("free");
    let wait = Duration::from_millis(60);
    let error = StateLock::acquire_within(&paths, now(), wait).expect_err("held");
    assert!(matches!(error, Error::StateLockTimeout { .. }), "{error}");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            StateLock::acquire(&paths, now()).expect("released in time");
            Clock::now()
        });
        std::thread::sleep(Duration::from_millis(150));
        assert!(!waiter.is_finished());
        let released = Clock::now();
        held.release();
        assert!(waiter.join().expect("waiter") >= released);
    });
}

#[test]
fn a_killed_holder_holds_nothing() {
    const CHILD: &str = "WARPLINE_TEST_HOLD";
    if let Ok(home) = std::env::var(CHILD) {
        let paths = Paths::new(home.into());
        let _lock = RunLock::acquire(&paths, "killed", now()).expect("free");
        fs::write(paths.home.join("held"), "").expect("told");
        // Until its parent kills it, or is gone itself.
        let _ended = std::io::stdin().read(&mut [0]);
        return;
    }
    let (root, paths) = home();
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "home::lock::tests::a_killed_holder_holds_nothing"])
        .env(CHILD, root.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the child runs");
    let taken = || root.path().join("held").exists().then_some(());
    wait_for(Duration::from_secs(60), || Ok(taken())).expect("poll").expect("the child has it");
    assert!(RunLock::is_held(&paths));
    let error = refusal(&paths);
    assert!(error.contains("killed") && error.contains(&child.id().to_string()), "{error}");
    child.kill().expect("kill");
    child.wait().expect("gone");
    assert!(paths.run_lock().exists(), "nobody tidied up");
    RunLock::acquire(&paths, "next", now()).expect("a dead process holds nothing");
}
