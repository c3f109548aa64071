//! What a run leaves in `plugin_runs`.

use crate::json::JsString;
use crate::schema::engine_state::{EngineState, PluginRun, RunStatus};
use crate::schema::output::OutputRecord;
use crate::schema::skill_result::{ResultStatus, SkillResult};

/// The status that a result's own status is recorded as.
pub fn status_of(result: &SkillResult) -> RunStatus {
    match result.status {
        ResultStatus::Success => RunStatus::Success,
        ResultStatus::Partial => RunStatus::Partial,
        ResultStatus::Failed => RunStatus::Failed,
        ResultStatus::Skipped => RunStatus::Skipped,
    }
}

/// The entry of a run that ended with `result` at `ended_at`.
///
/// `last_output` tells of the plugin, not of this run: the run's own last Output where it produced
/// one, whatever its status, else the one in `previous`. `result` is `None` for an invocation that
/// threw. `status` is the caller's, since a parked run is recorded as gated.
pub fn entry(
    previous: Option<&PluginRun>,
    status: RunStatus,
    result: Option<&SkillResult>,
    ended_at: JsString,
    duration_ms: f64,
) -> PluginRun {
    let own = result.and_then(|result| result.artifacts_produced.last());
    let carried = || previous.and_then(|run| run.last_output.as_ref());
    PluginRun {
        last_run_at: ended_at,
        status,
        duration_ms: Some(duration_ms),
        last_output: own.or_else(carried).cloned(),
    }
}

/// Records a run that an earlier document was the base of.
///
/// Where the run produced no Output of its own (none is stamped with `run_id`), the pointer that the
/// document holds now wins over the one the run started from: it may have been moved meanwhile.
pub(super) fn put(state: &mut EngineState, plugin: &JsString, run: &PluginRun, run_id: &JsString) {
    let mut run = run.clone();
    let produced = |output: &OutputRecord| output.run_id.as_ref() == Some(run_id);
    if !run.last_output.as_ref().is_some_and(produced) {
        let current = state.plugin_runs.get(plugin);
        run.last_output = current.and_then(|current| current.last_output.clone());
    }
    state.plugin_runs.insert(plugin.clone(), run);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures;

    #[test]
    fn the_last_output_of_a_run_is_recorded_whatever_its_status() {
        let mut result = fixtures::result(ResultStatus::Failed);
        result.artifacts_produced =
            vec![fixtures::output("a.md", "r2"), fixtures::output("b.md", "r2")];
        let entry = entry(None, status_of(&result), Some(&result), "t".into(), 5.0);
        assert_eq!(entry.status, RunStatus::Failed);
        assert_eq!(entry.duration_ms, Some(5.0));
        assert_eq!(entry.last_output, Some(fixtures::output("b.md", "r2")));
    }

    #[test]
    fn a_run_without_an_output_carries_the_earlier_pointer_forward() {
        let mut previous = fixtures::run("t", RunStatus::Success);
        previous.last_output = Some(fixtures::output("a.md", "r1"));
        let success = fixtures::result(ResultStatus::Success);
        for result in [None, Some(&success)] {
            let entry = entry(Some(&previous), RunStatus::Failed, result, "t".into(), 0.0);
            assert_eq!(entry.last_output, previous.last_output);
        }
        let skipped = fixtures::result(ResultStatus::Skipped);
        assert_eq!(status_of(&skipped), RunStatus::Skipped);
        assert_eq!(entry(None, RunStatus::Failed, None, "t".into(), 0.0).last_output, None);
    }
}
