//! The whole of what an operator sees, held against a slow and obvious model of the contract.
//!
//! Histories are a few plugins and what happens to them: advances, answers, edits, clocks that jump,
//! passes that are killed. Each step is played by the model and by the engine over a real home, and
//! both are compared after it. `WARPLINE_MODEL_CASES` asks for another number of histories of each
//! worker, `WARPLINE_MODEL_SEED` for others. A history that fails is shortened and kept as a vector in
//! `tests/vectors/histories`, from where it is played again by every run; with `WARPLINE_MODEL_BRIEF`,
//! for code that is wrong on purpose, neither.

mod disk;
mod faults;
mod generate;
mod history;
mod pass;
mod real;
mod rules;
mod seen;
mod step;
mod vectors;
mod view;
mod world;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// Histories of each worker.
const CASES: u32 = 150;

/// Workers; each has a seed of its own.
const WORKERS: u64 = 2;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

fn is_brief() -> bool {
    std::env::var_os("WARPLINE_MODEL_BRIEF").is_some()
}

/// What the histories of a run must have met, so that no rule goes untested by chance.
const EXAMPLES: [&str; 50] = [
    "skipped profile_schedule",
    "skipped min_tier",
    "skipped headless_supervised",
    "skipped manual",
    "skipped fresh",
    "skipped task_locked",
    "skipped dependency_failed",
    "denied",
    "skipped unapproved",
    "skipped blocked",
    "skipped quiet",
    "completed",
    "failed",
    "gated",
    "complete",
    "partial",
    "interrupted",
    "normal",
    "degraded",
    "extended",
    "suspended",
    "advance 0",
    "advance 1",
    "advance 130",
    "approve 0",
    "approve 1",
    "deny 0",
    "deny 1",
    "forget 0",
    "forget 1",
    "revoke 0",
    "defer 0",
    "defer 1",
    "done 0",
    "done 1",
    "Killed meanwhile",
    "Cancelled meanwhile",
    "Unremoved meanwhile",
    "approve meanwhile",
    "deny meanwhile",
    "revoke meanwhile",
    "forget meanwhile",
    "a result accepted",
    "a result too old",
    "a result declined",
    "a gate dropped",
    "a killed pass folded in",
    "a denial outgrown",
    "a task put off",
    "a task archived",
];

/// What a search came to.
struct Searched {
    /// The shortest history found that fails, and how.
    found: Option<(Vec<String>, String)>,
    met: BTreeSet<String>,
}

/// Plays generated histories.
fn search(seed: u64, cases: u32, over: &AtomicBool) -> Searched {
    let met = RefCell::new(BTreeSet::new());
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 1500, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let played = runner.run(&generate::history(), |steps| {
        // A brief search ends with the first worker that finds something.
        if over.load(Ordering::Relaxed) && is_brief() {
            return Ok(());
        }
        let played = history::play(&steps).map_err(TestCaseError::fail);
        over.fetch_or(played.is_err(), Ordering::Relaxed);
        met.borrow_mut().extend(played?);
        Ok(())
    });
    let found = match played {
        Ok(()) => None,
        Err(TestError::Fail(_, steps)) => {
            let why = history::play(&steps).err().unwrap_or_else(|| "not every time".into());
            Some((steps, why))
        }
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    };
    Searched { found, met: met.into_inner() }
}

#[test]
fn the_engine_does_what_the_model_says() {
    assert_eq!(
        std::env::var("TZ").as_deref(),
        Ok("<+0530>-5:30"),
        "the zone of cargo's configuration"
    );
    let cases =
        number("WARPLINE_MODEL_CASES").map_or(CASES, |cases| u32::try_from(cases).expect("few"));
    let seed = number("WARPLINE_MODEL_SEED").unwrap_or(0);
    let over = &AtomicBool::new(false);
    let searched: Vec<Searched> = std::thread::scope(|scope| {
        let worker = |number| scope.spawn(move || search(seed * WORKERS + number, cases, over));
        let workers: Vec<_> = (0..WORKERS).map(worker).collect();
        workers.into_iter().map(|worker| worker.join().expect("it ends")).collect()
    });
    if let Some((steps, why)) = searched.iter().find_map(|one| one.found.as_ref()) {
        assert!(!is_brief(), "{why}\n{}", steps.join("\n"));
        let kept = vectors::keep(steps, why);
        panic!("{why}\nkept as {}:\n{}", kept.display(), steps.join("\n"));
    }
    let met = |example: &&&str| searched.iter().any(|one| one.met.contains(**example));
    let unmet: Vec<_> = EXAMPLES.iter().filter(|example| !met(example)).collect();
    assert!(cases < CASES || unmet.is_empty(), "no history met {unmet:?}");
}
