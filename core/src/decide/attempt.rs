//! How an attempt ended, whether another follows, and how the run ends.

use crate::json::JsString;
use crate::schema::run_artifact::{ArtifactStatus, AttemptStatus};
use crate::schema::skill_result::{ResultStatus, SkillResult};

/// The start of a summary that hands work to a model.
pub(crate) const HANDOFF_PREFIX: &str = "[needs-llm]";

/// Whether a result hands its work to a model: skipped, with the field or with the prefix.
pub fn is_handoff(result: &SkillResult) -> bool {
    result.status == ResultStatus::Skipped
        && (result.needs_llm.is_some() || result.summary.starts_with(HANDOFF_PREFIX))
}

/// The status of one attempt. An abort decides before the result does.
pub fn classify(result: &SkillResult, cancelled: bool, timed_out: bool) -> AttemptStatus {
    if cancelled {
        AttemptStatus::Cancelled
    } else if timed_out {
        AttemptStatus::Timeout
    } else if is_handoff(result) {
        AttemptStatus::Delegated
    } else if result.status == ResultStatus::Success {
        AttemptStatus::Success
    } else {
        AttemptStatus::Failed
    }
}

/// The error of an attempt: the first error's message; none for a success and a hand-off.
pub fn error_text(status: AttemptStatus, result: &SkillResult) -> Option<JsString> {
    match status {
        AttemptStatus::Success | AttemptStatus::Delegated => None,
        AttemptStatus::Failed | AttemptStatus::Cancelled | AttemptStatus::Timeout => {
            result.errors.first().map(|error| error.message.clone())
        }
    }
}

/// Whether another attempt follows attempt number `attempt` (from 1).
///
/// Only a result that says `failed`, and whose first error is retryable, is tried again: a partial
/// or skipped result ends the loop although its attempt counts as failed.
pub fn retries(
    attempt: u32,
    max_retries: u32,
    status: AttemptStatus,
    result: &SkillResult,
) -> bool {
    attempt <= max_retries
        && status == AttemptStatus::Failed
        && result.status == ResultStatus::Failed
        && result.errors.first().is_some_and(|error| error.retryable)
}

/// The status of a run whose last attempt gave `result`.
pub fn run_status(cancelled: bool, timed_out: bool, result: &SkillResult) -> ArtifactStatus {
    match classify(result, cancelled, timed_out) {
        AttemptStatus::Success => ArtifactStatus::Success,
        AttemptStatus::Failed => ArtifactStatus::Failed,
        AttemptStatus::Cancelled => ArtifactStatus::Cancelled,
        AttemptStatus::Timeout => ArtifactStatus::Timeout,
        AttemptStatus::Delegated => ArtifactStatus::Delegated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures;
    use crate::schema::skill_result::{ErrorCode, Impact, NeedsLlm, SkillError};

    fn result(status: ResultStatus, retryable: &[bool]) -> SkillResult {
        let mut result = fixtures::result(status);
        let error = |(index, retryable): (usize, &bool)| SkillError {
            code: ErrorCode::RateLimit,
            message: format!("error {index}").into(),
            impact: Impact::Low,
            source: None,
            retryable: *retryable,
        };
        result.errors = retryable.iter().enumerate().map(error).collect();
        result
    }

    fn handoff() -> SkillResult {
        let mut result = result(ResultStatus::Skipped, &[true]);
        result.needs_llm = Some(NeedsLlm { task: "t".into(), context_path: "a".into() });
        result
    }

    #[test]
    fn a_handoff_with_errors_is_delegated_and_carries_none_of_them() {
        let handoff = handoff();
        let status = classify(&handoff, false, false);
        assert_eq!(status, AttemptStatus::Delegated);
        assert_eq!(error_text(status, &handoff), None);
        assert!(!retries(1, 5, status, &handoff));
        assert_eq!(run_status(false, false, &handoff), ArtifactStatus::Delegated);
    }

    /// Cases: T422.
    #[test]
    fn a_handoff_needs_a_skipped_status_and_one_of_its_marks() {
        let mut prefixed = result(ResultStatus::Skipped, &[]);
        assert!(!is_handoff(&prefixed));
        assert_eq!(run_status(false, false, &prefixed), ArtifactStatus::Failed);
        assert_eq!(classify(&prefixed, false, false), AttemptStatus::Failed);
        prefixed.summary = "[needs-llm]".into();
        assert!(is_handoff(&prefixed));
        let mut partial = handoff();
        partial.status = ResultStatus::Partial;
        assert!(!is_handoff(&partial));
        assert_eq!(classify(&partial, false, false), AttemptStatus::Failed);
    }

    #[test]
    fn a_success_has_no_error_and_no_second_attempt() {
        let success = result(ResultStatus::Success, &[true]);
        let status = classify(&success, false, false);
        assert_eq!(status, AttemptStatus::Success);
        assert_eq!(error_text(status, &success), None);
        assert!(!retries(1, 10, status, &success));
    }

    #[test]
    fn only_a_retryable_first_error_of_a_failed_result_is_tried_again() {
        let tried_again = |status, retryable: &[bool]| {
            let result = result(status, retryable);
            retries(1, 1, classify(&result, false, false), &result)
        };
        assert!(tried_again(ResultStatus::Failed, &[true, false]));
        assert!(!tried_again(ResultStatus::Failed, &[false, true]));
        assert!(!tried_again(ResultStatus::Failed, &[]));
        assert!(!tried_again(ResultStatus::Partial, &[true]));
        assert!(!tried_again(ResultStatus::Skipped, &[true]));
        let failed = result(ResultStatus::Failed, &[false]);
        let status = classify(&failed, false, false);
        assert_eq!(error_text(status, &failed), Some("error 0".into()));
    }

    #[test]
    fn the_number_of_attempts_is_one_more_than_the_retries() {
        let failed = result(ResultStatus::Failed, &[true]);
        for (max_retries, attempts) in [(0, 1), (1, 2), (3, 4), (10, 11)] {
            let next = |attempt| retries(attempt, max_retries, AttemptStatus::Failed, &failed);
            let made = (1..).find(|attempt| !next(*attempt));
            assert_eq!(made, Some(attempts));
        }
        assert!(!retries(u32::MAX, 10, AttemptStatus::Failed, &failed));
    }

    #[test]
    fn an_abort_decides_before_the_result_and_is_never_retried() {
        for (cancelled, timed_out, expected, run) in [
            (true, false, AttemptStatus::Cancelled, ArtifactStatus::Cancelled),
            (false, true, AttemptStatus::Timeout, ArtifactStatus::Timeout),
            (true, true, AttemptStatus::Cancelled, ArtifactStatus::Cancelled),
        ] {
            let failed = result(ResultStatus::Failed, &[true]);
            for result in [&failed, &handoff(), &result(ResultStatus::Success, &[])] {
                let status = classify(result, cancelled, timed_out);
                assert_eq!(status, expected);
                assert!(!retries(1, 10, status, result));
                assert_eq!(run_status(cancelled, timed_out, result), run);
            }
        }
    }
}
