//! Which plugins run and for how long, on a terminal, while an advance is under way.
//!
//! The line stands at the bottom of standard error and is drawn anew each second. Whoever prints there
//! meanwhile takes it away first with [`before_print`].

use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use unicode_width::UnicodeWidthStr;

use super::context::Io;
use super::writer::Writer;
use super::{paint, text};
use crate::clock::Instant;
use crate::home::Environment;
use crate::json::JsString;

/// The standard error that shows a line now.
static SHOWN: Mutex<Option<Writer>> = Mutex::new(None);

fn shown<T>(change: impl FnOnce(&mut Option<Writer>) -> T) -> T {
    change(&mut SHOWN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether a line may stand there now.
pub fn is_shown() -> bool {
    shown(|shown| shown.is_some())
}

/// Makes room for a print on standard error that comes next. `ends_line` says whether that ends in a
/// newline: nothing is drawn over a line that is still being written.
pub fn before_print(ends_line: bool) {
    if let Some(writer) = shown(|shown| shown.clone()) {
        writer.give_way(ends_line);
    }
}

/// Takes the line away when it is dropped, however the work ended.
struct Shown<'a>(&'a Writer);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        shown(|shown| *shown = None);
        self.0.draw("");
    }
}

/// Does `work`; where standard error is a terminal that can move its cursor, shows meanwhile what
/// `running` gives. A cancellation ends the showing at once, the work when it sees fit.
pub(super) async fn watched<T>(
    io: &Io,
    environment: &Environment,
    cancel: &CancellationToken,
    running: impl Fn() -> Vec<(JsString, Instant)>,
    work: impl Future<Output = T>,
) -> T {
    if !io.err.is_terminal() || !paint::is_able(environment) {
        return work.await;
    }
    let mut work = pin!(work);
    {
        shown(|shown| *shown = Some(io.err.clone()));
        let _shown = Shown(&io.err);
        let mut tick = interval(Duration::from_secs(1));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                result = &mut work => return result,
                () = cancel.cancelled() => break,
                _ = tick.tick() => {
                    io.err.draw(&line(&running(), (io.clock)(), io.err.columns()));
                }
            }
        }
    }
    work.await
}

/// `running: mailer 12s, digest 3s`, in fewer columns than `columns`; empty where nothing runs.
fn line(running: &[(JsString, Instant)], now: Instant, columns: usize) -> String {
    if running.is_empty() {
        return String::new();
    }
    // A terminal that is full to the last column goes to the next line.
    let room = columns.saturating_sub(1);
    let shown: Vec<String> = running
        .iter()
        .map(|(plugin, since)| format!("{} {}", text::line(plugin), elapsed(now.since(*since))))
        .collect();
    for count in (1..=shown.len()).rev() {
        let names = shown.iter().take(count).map(String::as_str).collect::<Vec<_>>().join(", ");
        let rest = match shown.len().saturating_sub(count) {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        let line = format!("running: {names}{rest}");
        if line.width() <= room || count == 1 {
            return cut(&line, room);
        }
    }
    String::new()
}

/// Seconds for the first minute, then as everywhere.
fn elapsed(ms: i64) -> String {
    match ms.max(0) / 1000 {
        seconds @ 0..60 => format!("{seconds}s"),
        _ => text::span(ms),
    }
}

/// As much of the text as fits, by the width of what a terminal shows.
fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for scalar in text.chars() {
        kept.push(scalar);
        // One column is for the mark.
        if kept.width() >= room {
            kept.pop();
            kept.push('…');
            break;
        }
    }
    kept.chars().take(room).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Instant {
        Instant::from_ms(1_000_000_000_000 + seconds * 1000).expect("an instant")
    }

    fn shown(names: &[&str], columns: usize) -> String {
        let running: Vec<(JsString, Instant)> =
            names.iter().map(|name| ((*name).into(), at(0))).collect();
        line(&running, at(12), columns)
    }

    #[test]
    fn plugins_are_told_with_the_time_they_have_run() {
        let running = [("a".into(), at(0)), ("b\u{1b}".into(), at(71)), ("c".into(), at(80))];
        assert_eq!(line(&running, at(75), 80), "running: a 1m, b\\u{1b} 4s, c 0s");
        assert_eq!(line(&[], at(0), 80), "");
    }

    #[test]
    fn what_does_not_fit_is_counted_and_a_single_name_is_cut() {
        let names = ["mailer", "digest", "collector"];
        assert_eq!(shown(&names, 80), "running: mailer 12s, digest 12s, collector 12s");
        assert_eq!(shown(&names, 47), "running: mailer 12s, digest 12s, collector 12s");
        assert_eq!(shown(&names, 46), "running: mailer 12s, digest 12s, 1 more");
        assert_eq!(shown(&names, 30), "running: mailer 12s, 2 more");
        assert_eq!(shown(&names, 20), "running: mailer 12…");
        for columns in 0..60 {
            for names in [&names[..], &["監視監視監視"], &["e\u{301}te\u{301}"]] {
                let line = shown(names, columns);
                assert!(line.width() < columns.max(1), "{columns}: {line}");
            }
        }
    }

    #[test]
    fn wide_characters_count_two_columns() {
        assert_eq!(shown(&["監視"], 18), "running: 監視 12s");
        assert_eq!(shown(&["監視"], 17), "running: 監視 1…");
        assert_eq!(shown(&["監視"], 13), "running: 監…");
        assert_eq!(shown(&["監視"], 12), "running: …");
    }
}
