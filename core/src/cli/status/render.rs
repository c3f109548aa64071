//! How a home stands, as text that fits a screen.

use crate::cli::context::path_text;
use crate::cli::plan::{GrantLine, Waiting, grant_line, prospect_text};
use crate::cli::{handoffs, paint, text};
use crate::clock::Instant;
use crate::home::lock::Holder;
use crate::json::JsString;
use crate::schema::event::EventSeverity;

use super::model::{FailedRun, Last, LastStatus, Status};

/// How many entries of a list are shown at the most, and at the least.
const SHOWN: std::ops::RangeInclusive<usize> = 2..=8;

/// How many lines all lists have together: a screen of 40 lines without those that are always there.
const LINES: usize = 29;

/// How many characters of a reason or a summary are shown.
const BRIEF: usize = 100;

impl Status {
    /// The report, ending in a newline.
    pub(super) fn to_text(&self) -> String {
        let now = self.plan.now;
        let mut page = Page { out: String::new(), shown: self.shown() };
        self.head(&mut page, now);
        self.waiting(&mut page, now);
        let title = paint::failed("Failed");
        page.list(&title, "warpline log --plugin NAME", &self.failed, |run| failed_line(run, now));
        self.dueness(&mut page, now);
        let failures = &self.plan.failures;
        page.list(&paint::failed("Load failures"), "warpline plan", failures, |(plugin, error)| {
            format!("  {}: {}\n", text::line(plugin), brief(&text::line_str(error)))
        });
        page.list(&paint::waits("Warnings"), "warpline plan", &self.plan.warnings, |warning| {
            format!("  {}\n", text::line_str(warning))
        });
        page.out
    }

    /// How many entries of each list let all of them fit.
    fn shown(&self) -> usize {
        // A parked result takes two lines.
        let lists = [
            (self.plan.parked.len(), 2),
            (self.unapproved().len(), 1),
            (self.handoffs.len(), 1),
            (self.denials.len(), 1),
            (self.failed.len(), 1),
            (self.plan.failures.len(), 1),
            (self.plan.warnings.len(), 1),
        ];
        let lines = |shown: usize| {
            let of = |(count, each): &(usize, usize)| match *count {
                0 => 0,
                count => 1 + count.min(shown) * each + usize::from(count > shown),
            };
            lists.iter().map(of).sum::<usize>()
        };
        SHOWN.rev().find(|shown| lines(*shown) <= LINES).unwrap_or(*SHOWN.start())
    }

    fn head(&self, page: &mut Page, now: Instant) {
        let plan = &self.plan;
        page.line(&format!("Home: {}", path_text(&plan.home)));
        page.line(&format!("Plugins: {}", self.plugins_text()));
        page.line(&grant_line(&plan.grant, now));
        if let GrantLine::Live(grant) | GrantLine::Expired(grant) = &plan.grant {
            let clock = text::at;
            let first = clock(&grant.first_granted_at);
            let last = clock(&grant.granted_at);
            let again = if first == last { String::new() } else { format!(", last at {last}") };
            let age = paint::faint(text::ago(&grant.first_granted_at, now).unwrap_or_default());
            page.line(&format!("  granted at {first} ({age}){again}"));
        }
        page.line(&match &self.running {
            Some(holder) => format!("Running now: {}", holder_text(holder)),
            None => "Running now: nothing".to_owned(),
        });
        page.line(&match (&self.last, &self.forgotten) {
            (Some(last), _) => last_line(last, now),
            (None, None) => "Last advance: none yet".to_owned(),
            (None, Some(run_id)) => {
                let run_id = text::line(run_id);
                format!("Last advance: none in the state; the newest run log is that of {run_id}")
            }
        });
        if self.journal_left {
            let told = "a pass was killed; the next advance or answer takes its journal over";
            page.line(&format!("  {}", paint::failed(told)));
        }
    }

    fn plugins_text(&self) -> String {
        let root = path_text(&self.plan.plugins_dir);
        match &self.plan.root_error {
            Some((_, code)) => {
                paint::failed(format!("{root} cannot be read ({})", text::line_str(code)))
            }
            None => root,
        }
    }

    fn waiting(&self, page: &mut Page, now: Instant) {
        let parked = &self.plan.parked;
        let title = paint::waits("Waiting for an answer");
        page.list(&title, "warpline plan", parked, |one| parked_lines(one, now));
        let title = paint::waits("Without a grant");
        page.list(&title, "warpline plan", &self.unapproved(), |planned| {
            let effects = planned.side_effects.iter().map(|(effect, _)| effect.as_str());
            let effects = effects.collect::<Vec<_>>().join(", ");
            format!("  {} — {effects}\n", text::line(&planned.plugin))
        });
        let title = paint::waits("Handed to a model");
        page.list(&title, "warpline handoffs", &self.handoffs, |handoff| {
            handoffs::headline(handoff, now, BRIEF)
        });
        page.list(&paint::strong("Denied"), "warpline deny --list", &self.denials, |denial| {
            let age = paint::faint(text::ago(&denial.denied_at, now).unwrap_or_default());
            let (plugin, reason) = (text::line(&denial.plugin), brief(&text::line(&denial.reason)));
            format!("  {plugin} — {reason} ({age})\n")
        });
        if self.tasks_pending + self.tasks_deferred > 0 {
            let (pending, deferred) = (self.tasks_pending, self.tasks_deferred);
            page.line(&format!("Tasks: {pending} pending, {deferred} put off — `warpline tasks`"));
        }
        let unread = self.notices.iter().filter(|(_, count)| *count > 0);
        let unread: Vec<String> =
            unread.map(|(severity, count)| notices_text(*severity, *count)).collect();
        if !unread.is_empty() {
            page.line(&format!("Notices: {} — `warpline board`", unread.join(", ")));
        }
    }

    fn dueness(&self, page: &mut Page, now: Instant) {
        let due: Vec<&JsString> = self.plan.due.iter().map(|planned| &planned.plugin).collect();
        page.line(&match due.len() {
            0 => "Due now: nothing".to_owned(),
            count => {
                format!("{} {}", paint::strong(format!("Due now ({count}):")), names_line(&due))
            }
        });
        let first = self.next.first().map(|(at, _)| *at);
        let next: Vec<&JsString> =
            self.next.iter().filter(|(at, _)| Some(*at) == first).map(|(_, name)| name).collect();
        match first {
            Some(at) => {
                let left = text::span(at.since(now));
                page.line(&format!("Next: {} at {}, in {left}", names_line(&next), at.to_local()));
            }
            None => page.line("Next: nothing that age alone makes due"),
        }
    }
}

/// A report that grows line by line.
struct Page {
    out: String,
    /// How many entries a list shows.
    shown: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// A heading with a count, and the first of the lines; nothing where there is none.
    fn list<T>(&mut self, title: &str, verb: &str, items: &[T], lines: impl Fn(&T) -> String) {
        if items.is_empty() {
            return;
        }
        self.line(&format!("{title} ({}):", items.len()));
        for item in items.iter().take(self.shown) {
            self.out.push_str(&lines(item));
        }
        if let Some(more @ 1..) = items.len().checked_sub(self.shown) {
            self.line(&format!("  and {more} more — `{verb}`"));
        }
    }
}

/// Names in one line.
fn names_line(names: &[&JsString]) -> String {
    let most = *SHOWN.end();
    let shown = names.iter().take(most).map(|name| text::line(name)).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(most) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

fn brief(text: &str) -> String {
    text::brief(text, BRIEF)
}

/// Run, process and beginning, as far as the lock file says them.
fn holder_text(holder: &Holder) -> String {
    let Holder { run_id, pid, started_at } = holder;
    let parts = [
        run_id.as_ref().map(|run| format!("run {}", text::line(run))),
        pid.map(|pid| format!("process {pid}")),
        started_at.map(|started| format!("since {}", started.to_local())),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { text::line_str(&holder.to_string()) } else { parts.join(", ") }
}

fn last_line(last: &Last, now: Instant) -> String {
    let age = last.ended_at.as_ref().map(|at| text::at_ago(at, now));
    let age = age.unwrap_or_else(|| "at an unknown time".to_owned());
    let run_id = text::line(&last.run_id);
    let status = match last.status {
        LastStatus::Killed => "killed before it could record itself".to_owned(),
        LastStatus::Unknown => "its run log is no longer retained".to_owned(),
        status => status.to_string(),
    };
    let status = paint::outcome(last.status.as_str(), status);
    // A pass that was killed has no end of its own.
    let age = if last.status == LastStatus::Killed { String::new() } else { format!(", {age}") };
    format!("Last advance: {run_id} — {status}{age}")
}

fn parked_lines(waiting: &Waiting, now: Instant) -> String {
    let (plugin, run_id) = (text::line(&waiting.plugin), text::line(&waiting.run_id));
    let age = waiting.completed_at.as_ref().and_then(|then| text::ago(then, now));
    let age = age.map(|age| format!(", {}", paint::faint(age))).unwrap_or_default();
    let prospect = match &waiting.prospect {
        Some(prospect) => prospect_text(prospect, now),
        None => paint::failed("its plugin does not load"),
    };
    let summary = brief(&text::line(&waiting.summary));
    format!("  {plugin} — {summary} (run {run_id}{age})\n    {prospect}\n")
}

fn notices_text(severity: EventSeverity, count: usize) -> String {
    match severity {
        EventSeverity::Critical => paint::failed(format!("{count} critical")),
        EventSeverity::Warning => paint::waits(text::count(count, "warning")),
        EventSeverity::Info => format!("{count} for the record"),
    }
}

fn failed_line(run: &FailedRun, now: Instant) -> String {
    let age = text::ago(&run.failed_at, now).unwrap_or_else(|| "at an unknown time".to_owned());
    let age = paint::faint(age);
    let reason = match &run.reason {
        Some(reason) => brief(&text::line(reason)),
        None => paint::faint("its run log is no longer retained"),
    };
    format!("  {} — {age}: {reason}\n", text::line(&run.plugin))
}
