//! `log --follow`: what runs do, as they do it.

use std::time::Duration;

use crate::cli::context::Context;
use crate::cli::{exit, paint, text};
use crate::home::days::{Logged, Tail};
use crate::home::history::{Document, Watch};
use crate::home::jsonl::LineEvent;
use crate::json::{JsString, Map, Value, number_text};
use crate::schema::run_artifact::{ArtifactStatus, RunArtifact};

use super::model::{Kind, Unreadable};
use super::render::outcome;

/// How long it waits before it looks again.
const PAUSE: Duration = Duration::from_millis(250);

/// Something that happened.
struct Told {
    kind: Kind,
    line: Logged,
}

/// Tells of runs until it is interrupted (exit code 130) or nobody reads any more (0).
pub(super) async fn run<F>(context: &Context<'_, F>, plugin: Option<&JsString>, json: bool) -> i32 {
    let mut tail = Tail::at_end(&context.paths, context.now());
    let mut watch = Watch::from_now(&context.paths);
    loop {
        let interrupted = context.cancel.is_cancelled();
        let mut unreadable = Unreadable::default();
        let lines = tail.poll(context.now()).into_iter().filter_map(|line| {
            unreadable.lines += usize::from(line.is_none());
            Some(Told { kind: Kind::Advance, line: line? })
        });
        let mut told: Vec<Told> = lines.collect();
        for document in watch.poll() {
            match document {
                Ok(Document::Direct(artifact)) => told.push(Told::of(artifact)),
                // The daily files tell of advances.
                Ok(Document::Advance(_)) => {}
                Err(_) => unreadable.documents += 1,
            }
        }
        let concerns =
            |told: &&Told| plugin.is_none_or(|name| told.line.plugin.as_ref() == Some(name));
        let one = |told: &Told| {
            if json { told.to_value().to_compact() + "\n" } else { told.to_text() }
        };
        let report: String = told.iter().filter(concerns).map(one).collect();
        if !report.is_empty() {
            context.io.out.show(&report);
        }
        if let Some(note) = unreadable.note() {
            context.note(&note);
        }
        if interrupted {
            return exit::INTERRUPTED;
        }
        if context.io.out.is_over() {
            return exit::DONE;
        }
        tokio::select! {
            () = context.cancel.cancelled() => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

impl Told {
    fn of(artifact: RunArtifact) -> Self {
        let runs = artifact.status == ArtifactStatus::Running;
        let ended = artifact.completed_at.filter(|_| !runs);
        let line = Logged {
            ts: ended.unwrap_or(artifact.started_at),
            run_id: artifact.run_id,
            event: if runs { LineEvent::RunStart } else { LineEvent::RunEnd },
            plugin: Some(artifact.plugin),
            status: (!runs).then(|| artifact.status.as_str().into()),
            elapsed_ms: None,
            detail: (!runs).then_some(artifact.summary),
        };
        Self { kind: Kind::Run, line }
    }

    /// `{ts, run_id, kind, event, plugin, status, elapsed_ms, detail}`.
    fn to_value(&self) -> Value {
        let line = &self.line;
        let mut map = Map::new();
        map.insert("ts", &line.ts);
        map.insert("run_id", &line.run_id);
        map.insert("kind", self.kind);
        map.insert("event", line.event);
        map.insert("plugin", line.plugin.as_ref());
        map.insert("status", line.status.as_ref());
        map.insert("elapsed_ms", line.elapsed_ms);
        map.insert("detail", line.detail.as_ref());
        map.into()
    }

    fn to_text(&self) -> String {
        let Logged { ts, run_id, event, plugin, status, elapsed_ms, detail } = &self.line;
        let shown = |text: &Option<JsString>| text.as_ref().map(text::line).unwrap_or_default();
        let at = paint::faint(text::at_second(ts));
        let (id, plugin) = (text::line(run_id), shown(plugin));
        let run = match self.kind {
            Kind::Advance => format!("{at}  {id}"),
            Kind::Run => format!("{at}  {id}, by hand: {plugin}"),
        };
        let status = status.as_ref().map(outcome).unwrap_or_default();
        let detail = detail.as_ref().filter(|detail| !detail.is_empty()).map(text::line);
        let detail = detail.map(|detail| format!(" — {detail}")).unwrap_or_default();
        match (event, self.kind) {
            (LineEvent::RunStart, _) => format!("{run} began\n"),
            (LineEvent::PluginResult, _) => {
                let took = elapsed_ms.map(|ms| paint::faint(format!(" ({} ms)", number_text(ms))));
                format!("{run}: {plugin} {status}{detail}{}\n", took.unwrap_or_default())
            }
            (LineEvent::RunEnd, Kind::Advance) => format!("{run} ended: {status}\n"),
            (LineEvent::RunEnd, Kind::Run) => format!("{run} ended: {status}{detail}\n"),
        }
    }
}
