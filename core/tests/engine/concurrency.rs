//! How much runs at once, and who is kept out meanwhile.

use std::future::Ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use warpline_core::engine::{AdvanceOptions, InvokeOptions, PluginState};
use warpline_core::error::Error;
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{Answer, Fleet, at, entry_of, keys, ok, state_of, text_at};

/// Counts how many handlers run at once, at most.
#[derive(Clone, Default)]
struct Crowd {
    inside: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Crowd {
    fn add(&self, fleet: &Fleet, name: &str, fields: &str) {
        let crowd = self.clone();
        fleet.plugin(name, fields, move |_| {
            let crowd = crowd.clone();
            async move {
                let inside = crowd.inside.fetch_add(1, Ordering::Relaxed) + 1;
                crowd.most.fetch_max(inside, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_secs(1)).await;
                crowd.inside.fetch_sub(1, Ordering::Relaxed);
                ok("done", "")
            }
        });
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

#[tokio::test(start_paused = true)]
async fn a_level_runs_as_many_at_once_as_the_bound_says() {
    for (concurrency, bound) in [(Some(1), 1), (Some(3), 3), (None, 16), (Some(100), 20)] {
        let (fleet, crowd) = (Fleet::new(), Crowd::default());
        for index in 0..20 {
            crowd.add(&fleet, &format!("p{index:02}"), "");
        }
        let options = AdvanceOptions { concurrency, ..AdvanceOptions::default() };
        let result = fleet.advance_with(options).await.unwrap();
        assert_eq!(result.status, AdvanceStatus::Complete);
        assert_eq!(crowd.most(), bound);
        assert_eq!(fleet.started().len(), 20);
    }
    let none = AdvanceOptions { concurrency: Some(0), ..AdvanceOptions::default() };
    let error = Fleet::new().advance_with(none).await.unwrap_err();
    assert!(error.to_string().contains("concurrency"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn no_level_begins_before_the_last_one_has_ended() {
    let (fleet, crowd) = (Fleet::new(), Crowd::default());
    crowd.add(&fleet, "a", "");
    crowd.add(&fleet, "b", r#""dependencies":["a"]"#);
    let before = tokio::time::Instant::now();
    fleet.advance().await;
    assert_eq!((crowd.most(), before.elapsed().as_secs()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn max_parallelism_bounds_the_invocations_of_one_plugin() {
    for (bound, seconds) in [(1, 3), (2, 2), (3, 1)] {
        let (fleet, crowd) = (Fleet::new(), Crowd::default());
        crowd.add(&fleet, "p", &format!(r#""max_parallelism":{bound}"#));
        crowd.add(&fleet, "q", "");
        let before = tokio::time::Instant::now();
        let invoke = || fleet.invoke("p", InvokeOptions::default());
        let (advanced, one, two) = tokio::join!(fleet.advance(), invoke(), invoke());
        assert_eq!(before.elapsed().as_secs(), seconds);
        assert_eq!(advanced.status, AdvanceStatus::Complete);
        assert_eq!((one.attempt_count, two.attempt_count), (1, 1));
        assert_eq!(crowd.most(), bound + 1, "another plugin does not count");
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_place_leaves_at_once_when_cancelled() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |_| std::future::pending());
    let cancel = fleet.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(3)).await;
        cancel.cancel();
    });
    let invoke = || fleet.invoke("p", InvokeOptions::default());
    let before = tokio::time::Instant::now();
    let (one, two) = tokio::join!(invoke(), invoke());
    assert!(one.cancelled && two.cancelled);
    assert_eq!((fleet.calls("p"), before.elapsed().as_secs()), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn a_second_advance_is_refused_and_names_the_first() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |_| async {
        tokio::time::sleep(Duration::from_secs(30)).await;
        ok("done", "")
    });
    let other = Fleet::over(&fleet.paths.home);
    let mut first = Box::pin(fleet.advance_with(AdvanceOptions::default()));
    tokio::select! {
        _ = &mut first => panic!("the advance ended early"),
        () = tokio::time::sleep(Duration::from_secs(1)) => {}
    }
    let lock = warpline_core::json::parse(&fleet.text(&fleet.paths.run_lock())).unwrap();
    assert_eq!(keys(&lock), ["run_id", "pid", "started_at"]);
    let before = fleet.snapshot();
    for refused in [&other, &fleet] {
        let error = refused.advance_with(AdvanceOptions::default()).await.unwrap_err();
        assert!(matches!(error, Error::RunLocked { .. }));
        let text = error.to_string();
        let holder = [text_at(&lock, "run_id"), std::process::id().to_string()];
        assert!(holder.iter().all(|part| text.contains(part)), "{text}");
    }
    assert!(other.started().is_empty());
    other.spy("p", "");
    let dry = AdvanceOptions { dry_run: true, ..AdvanceOptions::default() };
    other.advance_with(dry).await.expect("a dry run takes no lock");
    assert_eq!(fleet.snapshot(), before, "the home is untouched");
    assert_eq!(first.await.unwrap().status, AdvanceStatus::Complete);
    assert_eq!(other.advance().await.status, AdvanceStatus::Complete);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_fails_inside_costs_its_plugin_and_no_other() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 10);
    let host_bug = |_| -> Ready<Answer> { panic!("a bug of the host") };
    fleet.plugin("broken", r#""side_effects":["sends_email"]"#, host_bug);
    fleet.spy("good", "");
    fleet.file("unloadable", "panic");
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Partial);
    for name in ["broken", "unloadable"] {
        assert_eq!(state_of(&result, name), PluginState::Failed);
        assert!(entry_of(&result, name).result_summary.to_text().contains("host failed"));
    }
    assert_eq!(state_of(&result, "good"), PluginState::Completed);
    let state = fleet.state();
    assert_eq!(
        text_at(&state, "plugin_runs.broken.status"),
        "failed",
        "its effects may have fired"
    );
    assert_eq!(keys(at(&state, "plugin_runs")).len(), 2);
    let told = fleet.events();
    assert!(told.iter().any(|event| text_at(event, "source") == "broken"));
}
