//! Each command, once unbroken to count its operations, then with a fault at each of them.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;
use warpline_core::home::faults::Fault;

use crate::checks::{self, Told};
use crate::child::{command, left, meet};
use crate::place::{LATER, Place};
use crate::scenarios::{ALL, Kind, Scenario};

/// Set to `all`, every fault is tried at every point; otherwise every stop, and some of the failures.
const ALL_FAULTS: &str = "WARPLINE_FAULTS";

/// How many failures one process meets in a row.
const IN_A_ROW: usize = 16;

/// How many threads start processes.
const THREADS: usize = 4;

const ERRORS: [Errno; 4] = [Errno::NOSPC, Errno::ACCESS, Errno::IO, Errno::MFILE];

/// What the unbroken command did.
struct Unbroken {
    place: Place,
    told: Told,
    /// The last line that it printed, without what differs from run to run.
    last_line: Option<String>,
    /// `Operation path` for each point.
    passed: Vec<String>,
}

struct Walk<'a> {
    scenario: &'a Scenario,
    around: tempfile::TempDir,
    next: AtomicUsize,
}

impl Walk<'_> {
    fn place(&self) -> Place {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let place = Place::new(self.around.path().join(number.to_string()).join("x"));
        fs::create_dir_all(&place.root).expect("a directory");
        (self.scenario.prepare)(&place);
        place
    }

    fn unbroken(&self) -> Unbroken {
        let place = self.place();
        let status = meet(self.scenario.words, &[(place.clone(), None)]);
        assert!(status.success(), "{}: {status}", self.scenario.name);
        let (code, out, err) = left(&place);
        assert_eq!(code, Some(0), "{}: {err}", self.scenario.name);
        assert!((self.scenario.holds)(&place), "{}: {:?}", self.scenario.name, place.files());
        checks::whole(&place, 0).expect("whole documents");
        let passed = fs::read_to_string(place.root.join("passed")).expect("a list");
        let passed = passed.lines().map(|line| line.replace(&place.root.display().to_string(), ""));
        let passed: Vec<String> = passed.collect();
        let beyond = self.place();
        meet(self.scenario.words, &[(beyond.clone(), Some((passed.len() + 1, Fault::StopBefore)))]);
        assert_eq!(left(&beyond).0, Some(0), "{}: no operation is missed", self.scenario.name);
        let (told, passed) = (checks::told(&place), passed);
        let last_line = out.lines().last().map(str::to_owned);
        Unbroken { told, last_line, passed, place }
    }

    /// Everything that must hold once a command has met its fault; the first thing that does not.
    fn judge(
        &self,
        unbroken: &Unbroken,
        place: &Place,
        (point, fault): (usize, Fault),
    ) -> Result<(), String> {
        let Scenario { words, holds, keeps, kind, .. } = self.scenario;
        let (code, out, err) = left(place);
        let stops = is_stop(fault);
        match code {
            None if stops => {}
            None => return Err("it did not return".to_owned()),
            Some(code) if stops => return Err(format!("it went on and returned {code}")),
            Some(0) if !holds(place) && !self.says_what_is_missing(&out, &err) => {
                return Err(format!("it reports success without a cause: {out}{err}"));
            }
            Some(0) => {}
            Some(code) => self.complains(place, code, &err)?,
        }
        let torn = usize::from(matches!(fault, Fault::StopInside | Fault::Gone));
        checks::whole(place, 0)?;
        let leftovers = checks::leftovers(place);
        let held = holds(place);
        // The last line of the report says that it is done.
        let says_so = unbroken.last_line.as_ref().is_some_and(|line| out.contains(line.as_str()));
        if code.is_none() && says_so && !held {
            return Err(format!("what it said is not so: {out}"));
        }
        if !keeps(place) {
            return Err("something that was there is lost".to_owned());
        }
        // Only the flush of a directory comes after the one step that does it.
        let flush =
            unbroken.passed.get(point - 1).is_some_and(|one| one.starts_with("SyncDirectory"));
        let flush = flush || fault == Fault::Gone;
        if *kind == Kind::Answer && code.is_some_and(|code| code != 0) && held && !flush {
            return Err(format!("it reports a failure and did it: {err}"));
        }
        let plan = command(place, &["plan"], LATER);
        let is_home = place.path("plugins").is_dir();
        if is_home && plan.code != 0 {
            return Err(format!("plan returns {}: {}", plan.code, plan.err));
        }
        let again = command(place, words, LATER);
        if again.code != 0 && !(held && *kind == Kind::Answer) {
            return Err(format!("again, it returns {}: {}", again.code, again.err));
        }
        checks::whole(place, torn)?;
        if !keeps(place) {
            return Err("again, something that was there is lost".to_owned());
        }
        if *kind == Kind::Advance {
            checks::advanced(&unbroken.place, place, &out)?;
        } else if !holds(place) {
            return Err("again, it does not keep its promise".to_owned());
        }
        if *kind == Kind::Answer {
            let mut differences = checks::differences(&unbroken.told, &checks::told(place));
            differences.retain(|text| {
                !self.scenario.allows.iter().any(|(allowed, _)| text.contains(allowed))
            });
            if !differences.is_empty() {
                return Err(format!("the home differs:\n{}", differences.join("\n")));
            }
        }
        // One broken command leaves one thing to be swept away at most.
        if leftovers > 3 || checks::leftovers(place) > leftovers {
            return Err(format!("{leftovers} files were left behind"));
        }
        Ok(())
    }

    /// Whether a command that returned 0 tells what it left undone: a plugin that it took for unapproved,
    /// because the grant could not be read, or the record of a run.
    fn says_what_is_missing(&self, out: &str, err: &str) -> bool {
        match self.scenario.kind {
            Kind::Advance => out.contains("unapproved"),
            Kind::Run => err.contains("the record of this run still says `running`"),
            Kind::Answer => false,
        }
    }

    /// A command that failed says so in one line, names no cause that is none, and tells the truth of
    /// what was written.
    fn complains(&self, place: &Place, code: i32, err: &str) -> Result<(), String> {
        let line = err.lines().find(|line| line.starts_with("error: "));
        let is_advance = self.scenario.kind == Kind::Advance;
        // A pass in which a plugin failed, or a plugin that did, is a result like any other.
        let is_result = code == 1 && (is_advance || self.scenario.kind == Kind::Run);
        if line.is_none() && !is_result {
            return Err(format!("it returns {code} and says: {err}"));
        }
        if err.contains("panicked") {
            return Err(err.to_owned());
        }
        if is_advance && code == 75 && !place.effects().is_empty() {
            return Err("it says that it could not run, and had effects".to_owned());
        }
        Ok(())
    }
}

/// Whether an operation changes anything.
fn changes(operation: &str) -> bool {
    let looks = ["Look ", "List ", "Open ", "Read "];
    !looks.iter().any(|look| operation.starts_with(look))
}

/// Which faults are tried at a point, counted from 1.
///
/// Unless all are wanted, a stop is left out that leaves what another one leaves: where nothing is
/// changed, and before a change that follows another at once.
fn faults_at(passed: &[String], point: usize, all: bool) -> Vec<Fault> {
    let at = |point: usize| passed.get(point.wrapping_sub(1)).map_or("", String::as_str);
    let changed = changes(at(point));
    let writes = at(point).starts_with("Write ");
    let mut faults = Vec::new();
    if all || (changed && !(point > 1 && changes(at(point - 1)))) {
        faults.push(Fault::StopBefore);
    }
    if all || changed {
        faults.push(Fault::StopAfter);
    }
    if writes {
        faults.extend([Fault::StopInside, Fault::Short, Fault::Gone]);
    }
    let errors = ERRORS.iter().enumerate();
    let tried = errors.filter(|(one, _)| all || *one == point % ERRORS.len());
    faults.extend(tried.map(|(_, errno)| Fault::Fail(errno.raw_os_error())));
    if changed && (all || point.is_multiple_of(3)) {
        faults.push(Fault::Full);
    }
    faults
}

fn is_stop(fault: Fault) -> bool {
    matches!(fault, Fault::StopBefore | Fault::StopInside | Fault::StopAfter)
}

/// The faults of some points, those that end their process alone, the others in a row.
fn batches(passed: &[String], all: bool) -> Vec<Vec<(usize, Fault)>> {
    let mut alone = Vec::new();
    let mut together = Vec::new();
    for point in 1..=passed.len() {
        for fault in faults_at(passed, point, all) {
            if is_stop(fault) {
                alone.push(vec![(point, fault)]);
            } else {
                together.push((point, fault));
            }
        }
    }
    alone.extend(together.chunks(IN_A_ROW).map(<[_]>::to_vec));
    alone
}

// The numbers are for whoever asks with `--nocapture`.
#[allow(clippy::print_stdout)]
fn walk(scenario: &Scenario, all: bool) -> Vec<String> {
    let memory = PathBuf::from("/dev/shm");
    let around = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir());
    let walk = Walk { scenario, around: around.expect("a directory"), next: AtomicUsize::new(0) };
    let unbroken = walk.unbroken();
    let batches = batches(&unbroken.passed, all);
    let stops = batches.iter().flatten().filter(|(_, fault)| is_stop(*fault)).count();
    let failures: usize = batches.iter().map(Vec::len).sum::<usize>() - stops;
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let jobs: Vec<_> =
                        batch.iter().map(|fault| (walk.place(), Some(*fault))).collect();
                    meet(scenario.words, &jobs);
                    for ((place, _), (point, fault)) in jobs.iter().zip(batch) {
                        let judged = walk.judge(&unbroken, place, (*point, *fault));
                        let _ = fs::remove_dir_all(place.root.parent().expect("a parent"));
                        let Err(why) = judged else { continue };
                        let operation = &unbroken.passed[*point - 1];
                        let told =
                            format!("{} at {point} ({operation}), {fault:?}: {why}", scenario.name);
                        found.lock().expect("no check panics").push(told);
                    }
                }
            });
        }
    });
    let found = found.into_inner().expect("no check panics");
    println!(
        "{}: {} points, {stops} stops, {failures} failures, {} faults found",
        scenario.name,
        unbroken.passed.len(),
        found.len()
    );
    found
}

#[test]
fn no_command_loses_or_repeats_anything_wherever_it_is_stopped_or_fails() {
    let asked = std::env::var(ALL_FAULTS).unwrap_or_default();
    let found: Vec<String> =
        ALL.iter().flat_map(|scenario| walk(scenario, asked == "all")).collect();
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
}
