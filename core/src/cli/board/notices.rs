//! `board` and `ack`: the events that somebody should have seen, and taking note of them.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::clock::Instant;
use crate::error::Error;
use crate::home::{Paths, acknowledgements, events};
use crate::json::{JsString, Map, Value};
use crate::schema::acknowledgement::{Acknowledgement, Acknowledgements, ActionTaken};
use crate::schema::event::{BoardEvent, EventSeverity, EventType};

use super::super::context::{Context, Refused};
use super::super::ids::{self, Found, Ids};
use super::super::{exit, paint, text};

/// How many notices `board` shows unless it is asked for all.
const NEWEST: usize = 50;

/// Shows the notices that nobody has taken note of, and returns the exit code.
pub(in super::super) fn show<F>(context: &Context<'_, F>, all: bool, json: bool) -> i32 {
    let paths = &context.paths;
    let notices = events::load(paths).map(notices).unwrap_or_else(|error| {
        context.note(&format!("note: {error}; no notice in it is shown"));
        Vec::new()
    });
    let (answers, unusable) = acknowledgements::preview(paths);
    if let Some(error) = unusable {
        context.note(&format!("note: {error}; every notice is shown as unanswered"));
    }
    let open = open(&notices, &answers);
    let shown = if all { open.len() } else { open.len().min(NEWEST) };
    let newest = || open.iter().take(shown);
    context.report(
        json,
        || newest().map(|event| event.to_value()).collect::<Vec<_>>().into(),
        || {
            let ids = Ids::of(notices.iter().map(|event| &event.event_id));
            let heading = match open.len() {
                0 => return "No notices.\n".to_owned(),
                total if total == shown => format!("Notices ({total}):\n"),
                total => format!("Notices ({shown} of {total}):\n"),
            };
            newest().fold(heading, |text, event| text + &notice_line(event, &ids, context.now()))
        },
    );
    let older = open.len().saturating_sub(shown);
    if older > 0 {
        let older = text::count(older, "older notice");
        context.note(&format!("note: {older} not shown; `warpline board --all` shows everything"));
    }
    exit::DONE
}

/// How many notices of each severity nobody has taken note of, and why that cannot be told.
pub(in super::super) fn unread(paths: &Paths) -> (Vec<(EventSeverity, usize)>, Option<Error>) {
    let (answers, unusable) = acknowledgements::preview(paths);
    let (notices, fault) = match events::load(paths) {
        Ok(events) => (notices(events), unusable),
        Err(error) => (Vec::new(), Some(error)),
    };
    let open = open(&notices, &answers);
    let count = |severity: &EventSeverity| {
        (*severity, open.iter().filter(|event| event.severity == *severity).count())
    };
    (EventSeverity::ALL.iter().map(count).collect(), fault)
}

/// Takes note of the notice whose id begins with `typed`, or of every one, and returns the exit code.
pub(in super::super) fn acknowledge<F>(
    context: &Context<'_, F>,
    typed: Option<&JsString>,
    json: bool,
) -> i32 {
    match try_acknowledge(context, typed, json) {
        Ok(()) => exit::DONE,
        Err(refused) => {
            context.refuse(&refused);
            exit::FAILED
        }
    }
}

fn try_acknowledge<F>(
    context: &Context<'_, F>,
    typed: Option<&JsString>,
    json: bool,
) -> Result<(), Refused> {
    let paths = &context.paths;
    let refused = |error: Error| Refused::from(&error);
    let notices = notices(events::load(paths).map_err(refused)?);
    let answers = match acknowledgements::preview(paths) {
        (_, Some(error)) => return Err(refused(error)),
        (answers, None) => answers,
    };
    let ids = Ids::of(notices.iter().map(|event| &event.event_id));
    let meant = match typed {
        None => open(&notices, &answers),
        Some(typed) => {
            let id = meant(&ids, typed)?;
            notices.iter().filter(|event| event.event_id == *id).collect()
        }
    };
    let answered = record(paths, &meant, &answers, context.now()).map_err(refused)?;
    context.report(json, || answered.to_value(), || answered.text(&ids));
    Ok(())
}

fn meant<'a>(ids: &Ids<'a>, typed: &JsString) -> Result<&'a JsString, Refused> {
    match ids.find(typed) {
        Found::One(id) => Ok(id),
        Found::Several(count) => Err(ids::ambiguous(typed, count, "notice", "warpline board")),
        Found::None => {
            let message = format!("no notice has an id that begins with `{}`", text::line(typed));
            let refused = Refused::new(message).leaving("nothing was written");
            Err(match ids.nearest(typed) {
                Some(id) => refused.hint(format!("did you mean `{}`?", ids.short(id))),
                None => refused.hint("`warpline board` shows the notices with their ids"),
            })
        }
    }
}

/// What became of each notice that was meant.
#[derive(Default)]
struct Answered<'a> {
    acknowledged: Vec<(&'a BoardEvent, Acknowledgement)>,
    /// Those that had an answer already, with that answer.
    unchanged: Vec<(&'a BoardEvent, Acknowledgement)>,
}

/// Writes an answer to each notice that has none yet; nothing where all have one.
fn record<'a>(
    paths: &Paths,
    meant: &[&'a BoardEvent],
    known: &Acknowledgements,
    now: Instant,
) -> Result<Answered<'a>, Error> {
    let mut answered = Answered::default();
    let mut take_note = |answers: &mut Acknowledgements| {
        for event in meant {
            if let Some(earlier) = answers.0.get(&event.event_id) {
                answered.unchanged.push((event, earlier.clone()));
                continue;
            }
            let acknowledged_at = now.to_iso().into();
            let answer =
                Acknowledgement { acknowledged_at, action_taken: ActionTaken::Acknowledge };
            answers.0.insert(event.event_id.clone(), answer.clone());
            answered.acknowledged.push((event, answer));
        }
    };
    if meant.iter().all(|event| known.0.contains_key(&event.event_id)) {
        take_note(&mut known.clone());
    } else {
        acknowledgements::update(paths, now, take_note)?;
    }
    Ok(answered)
}

impl Answered<'_> {
    /// `{acknowledged, unchanged}`, lists of `{event_id, acknowledged_at, action_taken}`.
    fn to_value(&self) -> Value {
        let list = |answers: &[(&BoardEvent, Acknowledgement)]| {
            let one = |(event, answer): &(&BoardEvent, Acknowledgement)| {
                let mut map = Map::new();
                map.insert("event_id", &event.event_id);
                map.insert("acknowledged_at", &answer.acknowledged_at);
                map.insert("action_taken", answer.action_taken);
                Value::from(map)
            };
            answers.iter().map(one).collect::<Vec<_>>()
        };
        let lists =
            [("acknowledged", list(&self.acknowledged)), ("unchanged", list(&self.unchanged))];
        Map::from_iter(lists).into()
    }

    fn text(&self, ids: &Ids<'_>) -> String {
        if self.acknowledged.is_empty() && self.unchanged.is_empty() {
            return "No notices to acknowledge.\n".to_owned();
        }
        let new = self.acknowledged.iter().map(|(event, _)| {
            format!("{}: acknowledged — {}\n", ids.short(&event.event_id), told(event))
        });
        let old = self.unchanged.iter().map(|(event, answer)| {
            format!(
                "{}: already answered at {} ({}); nothing was written\n",
                ids.short(&event.event_id),
                text::at(&answer.acknowledged_at),
                answer.action_taken
            )
        });
        new.chain(old).collect()
    }
}

/// The events that belong on the board, newest first, the last line of each id.
fn notices(events: Vec<BoardEvent>) -> Vec<BoardEvent> {
    let mut seen = HashSet::new();
    let mut notices: Vec<BoardEvent> = events
        .into_iter()
        .rev()
        .filter(|event| event.kind == EventType::Notice || event.severity != EventSeverity::Info)
        .filter(|event| seen.insert(event.event_id.clone()))
        .collect();
    // A clock that does not parse makes an event the oldest; of one instant, the later line is newer.
    notices.sort_by_cached_key(|event| Reverse(event.timestamp.as_str().and_then(Instant::parse)));
    notices
}

/// Those of them that nobody has answered.
fn open<'a>(notices: &'a [BoardEvent], answers: &Acknowledgements) -> Vec<&'a BoardEvent> {
    notices.iter().filter(|event| !answers.0.contains_key(&event.event_id)).collect()
}

fn notice_line(event: &BoardEvent, ids: &Ids<'_>, now: Instant) -> String {
    let age = text::ago(&event.timestamp, now).unwrap_or_else(|| "at an unknown time".to_owned());
    let severity = match event.severity {
        EventSeverity::Info => event.severity.to_string(),
        EventSeverity::Warning => paint::waits(event.severity),
        EventSeverity::Critical => paint::failed(event.severity),
    };
    let (id, age) = (ids.short(&event.event_id), paint::faint(age));
    format!("  {id} — {severity}, {age} — {}\n", told(event))
}

/// Source and summary; most summaries of the runtime begin with the source already.
fn told(event: &BoardEvent) -> String {
    let (source, summary) = (text::line(&event.source), text::line(&event.summary));
    if summary.starts_with(&format!("{source}: ")) {
        summary
    } else {
        format!("{source}: {summary}")
    }
}
