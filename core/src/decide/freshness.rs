//! Whether a plugin's last run still counts.

use crate::clock::{HOUR_MS, Instant};
use crate::json::{JsString, Record, number_text};
use crate::schema::closed_set;
use crate::schema::engine_state::PluginRun;

use super::{instant, number};

closed_set! {
    /// Why a plugin is fresh or not, in the order the rules are asked.
    Freshness {
        /// The caller wants it to run.
        Forced = "forced",
        /// There is no run.
        NeverRun = "never_run",
        /// A declared dependency ran strictly later.
        DependencyNewer = "dependency_newer",
        /// The run is younger than the ttl, or lies in the future.
        WithinTtl = "within_ttl",
        /// The run is as old as the ttl or older, or its time does not parse.
        TtlExpired = "ttl_expired",
    }
}

impl Freshness {
    /// Whether the plugin need not run.
    pub fn is_fresh(self) -> bool {
        self == Self::WithinTtl
    }

    /// The reason for a reader.
    pub fn describe(self, ttl_hours: f64) -> String {
        let ttl = number_text(ttl_hours);
        match self {
            Self::Forced => "forced".into(),
            Self::NeverRun => "never run".into(),
            Self::DependencyNewer => "dependency re-ran".into(),
            Self::WithinTtl => format!("within TTL ({ttl}h)"),
            Self::TtlExpired => format!("TTL expired ({ttl}h)"),
        }
    }
}

/// Judges the last run of `plugin`; its status does not matter, and neither does a dependency's.
pub fn freshness(
    plugin: &JsString,
    ttl_hours: f64,
    dependencies: &[JsString],
    runs: &Record<PluginRun>,
    force: bool,
    now: Instant,
) -> Freshness {
    if force {
        return Freshness::Forced;
    }
    let Some(run) = runs.get(plugin) else {
        return Freshness::NeverRun;
    };
    let Some(last_run_at) = instant(&run.last_run_at) else {
        return Freshness::TtlExpired;
    };
    let ran_later = |name: &JsString| {
        let last = runs.get(name).and_then(|run| instant(&run.last_run_at));
        last.is_some_and(|last| last > last_run_at)
    };
    if dependencies.iter().any(ran_later) {
        return Freshness::DependencyNewer;
    }
    if number(now.since(last_run_at)) < ttl_hours * HOUR_MS {
        Freshness::WithinTtl
    } else {
        Freshness::TtlExpired
    }
}

/// When a run stops counting by its age alone; `None` where its time does not parse, or no date can
/// tell.
pub fn expires_at(run: &PluginRun, ttl_hours: f64) -> Option<Instant> {
    let ttl_ms = (ttl_hours * HOUR_MS).ceil();
    // Dates end at 2^53 milliseconds, and a larger number stays too large when it is cut.
    #[allow(clippy::cast_possible_truncation)]
    instant(&run.last_run_at)?.plus_ms(ttl_ms as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures::{names, now, run};
    use crate::schema::engine_state::RunStatus;

    fn judge(own: Option<&str>, dependency: Option<&str>, force: bool) -> Freshness {
        let mut runs = Record::new();
        for (name, time) in [("p", own), ("d", dependency)] {
            if let Some(time) = time {
                runs.insert(name.into(), run(time, RunStatus::Success));
            }
        }
        freshness(&"p".into(), 24.0, &names(&["d", "toString"]), &runs, force, now())
    }

    const ONE_HOUR_AGO: &str = "2026-08-20T11:00:00.000Z";
    const TWO_HOURS_AGO: &str = "2026-08-20T10:00:00.000Z";
    const FIVE_HOURS_AGO: &str = "2026-08-20T07:00:00.000Z";
    const A_DAY_AGO: &str = "2026-08-19T12:00:00.000Z";
    const LONG_AGO: &str = "2026-08-19T11:00:00.000Z";

    /// Cases: T439, T440, T442, T443, T444, T446.
    #[test]
    fn the_first_reason_that_applies_decides() {
        for (own, dependency, force, reason) in [
            (Some(ONE_HOUR_AGO), None, true, Freshness::Forced),
            (None, Some(ONE_HOUR_AGO), false, Freshness::NeverRun),
            (Some(ONE_HOUR_AGO), None, false, Freshness::WithinTtl),
            (Some(FIVE_HOURS_AGO), Some(ONE_HOUR_AGO), false, Freshness::DependencyNewer),
            (Some(LONG_AGO), Some(TWO_HOURS_AGO), false, Freshness::DependencyNewer),
            (Some(LONG_AGO), None, false, Freshness::TtlExpired),
            (Some(LONG_AGO), Some("2026-08-18T00:00:00.000Z"), false, Freshness::TtlExpired),
        ] {
            assert_eq!(judge(own, dependency, force), reason, "{own:?} {dependency:?}");
        }
    }

    #[test]
    fn a_run_exactly_as_old_as_the_ttl_has_expired() {
        assert_eq!(judge(Some(A_DAY_AGO), None, false), Freshness::TtlExpired);
        assert!(judge(Some("2026-08-19T12:00:00.001Z"), None, false).is_fresh());
    }

    #[test]
    fn an_unparseable_time_makes_the_plugin_due_and_a_dependency_no_newer() {
        assert!(!judge(Some("nonsense"), Some(ONE_HOUR_AGO), false).is_fresh());
        assert!(judge(Some(ONE_HOUR_AGO), Some("nonsense"), false).is_fresh());
    }

    /// Cases: T439, T440, T442, T443, T444, T446.
    #[test]
    fn reasons_read_as_sentences() {
        assert_eq!(Freshness::WithinTtl.describe(24.0), "within TTL (24h)");
        assert_eq!(Freshness::TtlExpired.describe(0.5), "TTL expired (0.5h)");
        assert_eq!(Freshness::NeverRun.describe(1.0), "never run");
        assert_eq!(Freshness::DependencyNewer.describe(1.0), "dependency re-ran");
        assert_eq!(Freshness::Forced.describe(1.0), "forced");
    }
}
