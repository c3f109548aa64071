//! How a home stands, as JSON.

use crate::cli::handoffs;
use crate::cli::plan::{GrantLine, Planned, Waiting};
use crate::clock::Instant;
use crate::decide::dueness::ReasonCode;
use crate::decide::gate::Prospect;
use crate::json::{JsString, Map, Value};

use super::model::{FailedRun, Status};

impl Status {
    /// The keys of the reference, in its order.
    pub(super) fn to_value(&self) -> Value {
        let plan = &self.plan;
        let path = |path: &std::path::Path| Value::from(path.display().to_string());
        let mut map = Map::new();
        map.insert("home", path(&plan.home));
        map.insert("plugins_dir", path(&plan.plugins_dir));
        map.insert("now", plan.now.to_iso());
        map.insert("tier", plan.tier);
        map.insert("grant", self.grant_value());
        map.insert("running", self.running_value());
        map.insert("last_advance", self.last_value());
        map.insert("journal_left", self.journal_left);
        map.insert("parked", list(&plan.parked, parked));
        map.insert("unapproved", list(&self.unapproved(), |planned| unapproved(planned)));
        map.insert("handoffs", list(&self.handoffs, handoffs::to_value));
        map.insert(
            "denials",
            list(&self.denials, |denial| {
                object([
                    ("plugin", (&denial.plugin).into()),
                    ("denied_at", (&denial.denied_at).into()),
                    ("reason", (&denial.reason).into()),
                ])
            }),
        );
        map.insert(
            "tasks",
            object([
                ("pending", number(self.tasks_pending)),
                ("deferred", number(self.tasks_deferred)),
            ]),
        );
        let notices =
            self.notices.iter().map(|(severity, count)| (severity.as_str(), number(*count)));
        map.insert("notices", Map::from_iter(notices));
        map.insert("failed", list(&self.failed, failed));
        let due: Vec<&JsString> = plan.due.iter().map(|planned| &planned.plugin).collect();
        map.insert("due", list(&due, |name| (*name).into()));
        map.insert(
            "next",
            list(&self.next, |(at, plugin)| {
                object([("plugin", plugin.into()), ("at", at.to_iso().into())])
            }),
        );
        map.insert(
            "failures",
            list(&plan.failures, |(plugin, error)| {
                object([("plugin", plugin.into()), ("error", error.as_str().into())])
            }),
        );
        let root_error = plan.root_error.as_ref();
        let root_error = root_error
            .map(|(root, code)| object([("path", path(root)), ("code", code.as_str().into())]));
        map.insert("root_error", root_error);
        map.insert("warnings", plan.warnings.clone());
        map.into()
    }

    /// The plugins that an advance leaves out for want of a grant.
    pub(super) fn unapproved(&self) -> Vec<&Planned> {
        let held = self.plan.not_due.iter();
        held.filter(|(_, held)| held.reason == ReasonCode::Unapproved)
            .map(|(planned, _)| planned)
            .collect()
    }

    fn grant_value(&self) -> Value {
        let (GrantLine::Live(grant) | GrantLine::Expired(grant)) = &self.plan.grant else {
            return Value::Null;
        };
        object([
            ("live", matches!(self.plan.grant, GrantLine::Live(_)).into()),
            ("scopes", grant.scopes.to_value()),
            ("granted_at", (&grant.granted_at).into()),
            ("first_granted_at", (&grant.first_granted_at).into()),
            ("expires_at", (&grant.expires_at).into()),
        ])
    }

    fn running_value(&self) -> Value {
        let Some(holder) = &self.running else { return Value::Null };
        object([
            ("run_id", holder.run_id.as_ref().into()),
            ("pid", holder.pid.into()),
            ("started_at", holder.started_at.map(Instant::to_iso).into()),
        ])
    }

    fn last_value(&self) -> Value {
        let Some(last) = &self.last else { return Value::Null };
        object([
            ("run_id", (&last.run_id).into()),
            ("ended_at", last.ended_at.as_ref().into()),
            ("status", last.status.into()),
        ])
    }
}

fn parked(waiting: &Waiting) -> Value {
    let until = match &waiting.prospect {
        Some(Prospect::AcceptedUntil(last)) => Some(last.to_iso()),
        _ => None,
    };
    // The names of the outcomes that a yes would meet.
    let refused = match &waiting.prospect {
        Some(Prospect::ExpiredAt(_)) => Some("expired"),
        Some(Prospect::DependencyMoved(_)) => Some("dependency_moved"),
        Some(Prospect::Unusable) => Some("unusable"),
        Some(Prospect::AcceptedUntil(_)) => None,
        None => Some("not_loaded"),
    };
    object([
        ("plugin", (&waiting.plugin).into()),
        ("run_id", (&waiting.run_id).into()),
        ("completed_at", waiting.completed_at.as_ref().into()),
        ("summary", (&waiting.summary).into()),
        ("acceptable_until", until.into()),
        ("not_acceptable", refused.into()),
    ])
}

fn unapproved(planned: &Planned) -> Value {
    let missing = planned.side_effects.iter().filter(|(_, approved)| !approved);
    let missing: Vec<Value> = missing.map(|(effect, _)| (*effect).into()).collect();
    object([("plugin", (&planned.plugin).into()), ("side_effects", missing.into())])
}

fn failed(run: &FailedRun) -> Value {
    object([
        ("plugin", (&run.plugin).into()),
        ("failed_at", (&run.failed_at).into()),
        ("reason", run.reason.as_ref().into()),
        ("run_id", run.run_id.as_ref().into()),
    ])
}

fn list<T>(items: &[T], value: impl Fn(&T) -> Value) -> Value {
    items.iter().map(value).collect::<Vec<_>>().into()
}

fn number(number: usize) -> Value {
    u32::try_from(number).unwrap_or(u32::MAX).into()
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries.into_iter().collect::<Map>().into()
}
