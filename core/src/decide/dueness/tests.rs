//! The guards, one by one and in their order.

use std::cell::Cell;

use super::*;
use crate::decide::denial::proposal_fingerprint;
use crate::decide::fixtures::{self, NOW, js, names, now, run, task};
use crate::decide::grant::pre_grant;
use crate::schema::engine_state::{Deferral, TaskSeverity};
use crate::schema::grant::Scopes;

/// A plugin `p` that is due, for each test to spoil.
struct Case {
    manifest: Manifest,
    state: EngineState,
    profile: Option<RunProfile>,
    tier: Tier,
    force: bool,
    grant: Option<String>,
    due_at_earlier_level: Option<HashSet<JsString>>,
    grant_reads: Cell<usize>,
}

impl Case {
    fn new() -> Self {
        Self {
            manifest: fixtures::manifest(),
            state: fixtures::state(),
            profile: None,
            tier: Tier::Normal,
            force: false,
            grant: None,
            due_at_earlier_level: None,
            grant_reads: Cell::new(0),
        }
    }

    fn depends_on(mut self, failed: &[&str]) -> Self {
        self.manifest.dependencies = names(failed);
        for name in failed {
            let failed = run("2026-08-19T00:00:00.000Z", RunStatus::Failed);
            self.state.plugin_runs.insert((*name).into(), failed);
        }
        self
    }

    fn with_effects(mut self) -> Self {
        self.manifest.side_effects = vec![SideEffect::SendsEmail, SideEffect::WritesDb];
        self
    }

    fn denied(mut self) -> Self {
        let fingerprint = proposal_fingerprint(&"p".into(), &self.manifest, &self.state);
        self.state.denials.insert("p".into(), fixtures::denial("p", &fingerprint));
        self
    }

    fn locked(mut self) -> Self {
        self.state.task_aging.push(task("t", TaskSeverity::Warning, "p"));
        self
    }

    fn ran_at(mut self, last_run_at: &str) -> Self {
        self.state.plugin_runs.insert("p".into(), run(last_run_at, RunStatus::Success));
        self
    }

    fn granted(mut self, scopes: Scopes, ttl_ms: i64) -> Self {
        self.grant = Some(pre_grant(scopes, Some(ttl_ms), now()).expect("a grant").to_text());
        self
    }

    fn verdict(&self) -> Verdict {
        evaluate(&Question {
            plugin: &"p".into(),
            manifest: &self.manifest,
            state: &self.state,
            locked: &locked_plugins(&self.state, now()),
            profile: self.profile,
            tier: self.tier,
            force: self.force,
            grant: &|| {
                self.grant_reads.set(self.grant_reads.get() + 1);
                self.grant.clone()
            },
            due_at_earlier_level: self.due_at_earlier_level.as_ref(),
            now: now(),
        })
    }

    fn reason(&self) -> Option<Reason> {
        match self.verdict() {
            Verdict::Due => None,
            Verdict::NotDue(reason) => Some(reason),
        }
    }

    fn code(&self) -> Option<ReasonCode> {
        self.reason().map(|reason| reason.code())
    }

    fn detail(&self) -> String {
        self.reason().expect("not due").detail()
    }
}

/// Cases: T514.
#[test]
fn the_guards_have_nine_names_and_are_asked_in_order() {
    let codes: Vec<_> = ReasonCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(
        codes,
        [
            "profile_schedule",
            "min_tier",
            "headless_supervised",
            "manual",
            "fresh",
            "task_locked",
            "dependency_failed",
            "denied",
            "unapproved",
        ]
    );
    // Everything speaks against this plugin; taking away one reason shows the next.
    let mut case = Case::new().with_effects().depends_on(&["d"]).locked().ran_at(NOW).denied();
    case.manifest.schedule = Schedule::Weekly;
    case.manifest.autonomy_level = AutonomyLevel::Supervised;
    case.profile = Some(RunProfile::Daily);
    case.tier = Tier::Degraded;
    let lift: [fn(&mut Case); 9] = [
        |case| case.profile = Some(RunProfile::Weekly),
        |case| case.tier = Tier::Normal,
        |case| case.manifest.autonomy_level = AutonomyLevel::Manual,
        |case| case.manifest.autonomy_level = AutonomyLevel::Autonomous,
        |case| case.force = true,
        |case| case.state.task_aging.clear(),
        |case| case.manifest.dependencies.clear(),
        |case| case.state.denials.clear(),
        |case| *case = Case::new(),
    ];
    for (code, lift) in ReasonCode::ALL.iter().zip(lift) {
        assert_eq!(case.code(), Some(*code));
        lift(&mut case);
    }
    assert_eq!(case.verdict(), Verdict::Due);
}

#[test]
fn a_profile_admits_its_schedules() {
    use Schedule::{Daily, Manual, OnRun, Weekly};
    for (profile, admitted) in [
        (None, vec![OnRun, Daily, Weekly]),
        (Some(RunProfile::Daily), vec![OnRun, Daily]),
        (Some(RunProfile::Weekly), vec![OnRun, Daily, Weekly]),
        (Some(RunProfile::Manual), vec![Manual]),
    ] {
        for schedule in Schedule::ALL {
            let mut case = Case::new();
            case.manifest.schedule = *schedule;
            case.profile = profile;
            let due = case.verdict() == Verdict::Due;
            assert_eq!(due, admitted.contains(schedule), "{profile:?} {schedule}");
        }
    }
}

#[test]
fn a_manual_schedule_names_the_profile_that_admits_it() {
    let mut case = Case::new();
    case.manifest.schedule = Schedule::Manual;
    assert_eq!(case.detail(), "schedule 'manual': waits for profile 'manual'");
    let data = case.reason().expect("not due").data();
    assert_eq!(data.to_compact(), r#"{"profile":null,"schedule":"manual"}"#);
    case.profile = Some(RunProfile::Daily);
    let detail = case.detail();
    assert!(detail.contains("'manual'") && detail.contains("profile 'daily'"), "{detail}");
}

/// Cases: T304.
#[test]
fn a_supervised_plugin_waits_for_an_advance_without_a_profile() {
    let mut case = Case::new();
    case.manifest.autonomy_level = AutonomyLevel::Supervised;
    assert_eq!(case.verdict(), Verdict::Due);
    case.profile = Some(RunProfile::Weekly);
    assert_eq!(case.code(), Some(ReasonCode::HeadlessSupervised));
    assert!(case.detail().starts_with("supervised"));
}

/// Cases: T304.
#[test]
fn force_lifts_freshness_alone() {
    let mut case = Case::new().ran_at("2026-08-20T11:00:00.000Z");
    assert_eq!(case.detail(), "fresh — within TTL (6h)");
    case.force = true;
    assert_eq!(case.verdict(), Verdict::Due);
    case.manifest.autonomy_level = AutonomyLevel::Manual;
    assert_eq!(case.detail(), "manual — started by hand only");
    let mut unapproved = Case::new().with_effects();
    unapproved.force = true;
    assert_eq!(unapproved.code(), Some(ReasonCode::Unapproved));
}

/// Cases: T305.
#[test]
fn a_run_exactly_as_old_as_the_ttl_is_due() {
    assert_eq!(Case::new().ran_at("2026-08-20T06:00:00.000Z").verdict(), Verdict::Due);
    let fresh = Case::new().ran_at("2026-08-20T06:00:00.001Z");
    assert_eq!(fresh.code(), Some(ReasonCode::Fresh));
}

/// Cases: T303.
#[test]
fn an_attentive_tier_is_needed_down_to_the_plugins_own() {
    let mut case = Case::new();
    case.tier = Tier::Degraded;
    let data = case.reason().expect("not due").data();
    assert_eq!(data.to_compact(), r#"{"current":"degraded","min_tier":"normal"}"#);
    let detail = case.detail();
    assert!(detail.contains("degraded") && detail.contains("normal"), "{detail}");
    case.manifest.min_tier = Tier::Degraded;
    assert_eq!(case.verdict(), Verdict::Due);
}

/// Cases: T492.
#[test]
fn an_open_task_locks_its_plugin_until_it_is_put_off() {
    let mut case = Case::new().locked();
    assert_eq!(case.detail(), "task locked — active on board");
    let deferral = |expires_at: &str| Deferral {
        task_id: "t".into(),
        reason: "r".into(),
        deferred_at: NOW.into(),
        expires_at: expires_at.into(),
    };
    for expires_at in [NOW, "nonsense"] {
        case.state.deferrals = vec![deferral(expires_at)];
        assert_eq!(case.code(), Some(ReasonCode::TaskLocked), "{expires_at}");
    }
    case.state.deferrals.push(deferral("2026-08-20T12:00:00.001Z"));
    assert_eq!(case.verdict(), Verdict::Due);
}

#[test]
fn failed_dependencies_are_named_in_manifest_order() {
    let case = Case::new().depends_on(&["prod2", "prod"]);
    assert_eq!(case.detail(), "dependency failed — the last run of 'prod2', 'prod' failed");
    let data = case.reason().expect("not due").data();
    assert_eq!(data.to_compact(), r#"{"dependencies":["prod2","prod"]}"#);
}

#[test]
fn a_preview_lifts_the_dependencies_it_found_due_and_no_others() {
    let mut case = Case::new().depends_on(&["prod2", "prod"]);
    case.due_at_earlier_level = Some(HashSet::from(["prod2".into()]));
    let dependencies = names(&["prod"]);
    assert_eq!(case.reason(), Some(Reason::DependencyFailed { dependencies }));
    case.due_at_earlier_level = Some(names(&["prod", "prod2"]).into_iter().collect());
    assert_eq!(case.verdict(), Verdict::Due);
}

#[test]
fn only_a_failed_record_of_a_declared_dependency_counts() {
    for status in RunStatus::ALL.iter().filter(|status| **status != RunStatus::Failed) {
        let mut case = Case::new().depends_on(&["d"]);
        case.state.plugin_runs[&js("d")].status = *status;
        assert_eq!(case.verdict(), Verdict::Due, "{status}");
    }
    let mut unrelated = Case::new().depends_on(&["d"]);
    unrelated.manifest.dependencies = names(&["toString"]);
    assert_eq!(unrelated.verdict(), Verdict::Due);
}

#[test]
fn a_live_denial_tells_when_and_why() {
    let case = Case::new().with_effects().denied();
    let detail = case.detail();
    assert_eq!(detail, "denied 2026-08-19T09:00:00.000Z: the operator declined this proposal");
    assert!(!detail.contains("unapproved"));
    assert_eq!(
        case.reason().expect("not due").data().to_compact(),
        concat!(
            r#"{"denied_at":"2026-08-19T09:00:00.000Z","#,
            r#""denial_reason":"the operator declined this proposal"}"#
        )
    );
    assert_eq!(case.denied().granted(Scopes::All, 1000).code(), Some(ReasonCode::Denied));
}

#[test]
fn a_superseded_denial_is_told_beside_the_missing_approval() {
    let mut case = Case::new().denied().with_effects();
    let detail = case.detail();
    for part in [
        "unapproved",
        "side effects [sends_email, writes_db] are not granted",
        "denied 2026-08-19T09:00:00.000Z",
        "changed",
    ] {
        assert!(detail.contains(part), "{part} in {detail}");
    }
    let data = case.reason().expect("not due").data();
    let told = data.get("superseded_denial").and_then(|denial| denial.get("denied_at"));
    assert_eq!(told, Some(&"2026-08-19T09:00:00.000Z".into()));
    case.state.denials.clear();
    assert_eq!(case.detail(), "unapproved — side effects [sends_email, writes_db] are not granted");
    let data = case.reason().expect("not due").data();
    assert_eq!(data.to_compact(), r#"{"superseded_denial":null}"#);
    assert_eq!(case.granted(Scopes::All, 1000).verdict(), Verdict::Due);
}

#[test]
fn a_grant_covers_the_directory_name_until_it_expires() {
    let own = || Scopes::Plugins(names(&["p"]));
    let mut case = Case::new().with_effects().granted(own(), 1);
    case.manifest.name = "another".into();
    assert_eq!(case.verdict(), Verdict::Due);
    let other = Case::new().with_effects().granted(Scopes::Plugins(names(&["another"])), 1);
    assert_eq!(other.code(), Some(ReasonCode::Unapproved));
}

#[test]
fn the_grant_is_read_only_where_the_verdict_hangs_on_it() {
    let cases = [
        (Case::new(), 0),
        (Case::new().with_effects().denied(), 0),
        (Case::new().with_effects().depends_on(&["d"]), 0),
        (Case::new().with_effects(), 1),
    ];
    for (case, reads) in cases {
        case.verdict();
        assert_eq!(case.grant_reads.get(), reads);
    }
}
