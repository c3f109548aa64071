//! What plugin code prints: without secrets on its way to the reader, and into the transcript.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::home::runs::{TRANSCRIPT_CAP, Transcript};
use crate::json::JsString;
use crate::schema::redact::{Redactor, redact_thrown};

/// How much of a line that does not end is kept back, in bytes.
const LINE_LIMIT: usize = 64 * 1024;

/// What the plugin code of one invocation prints. A host keeps it for as long as such code can run:
/// a handler that was given up knows its secrets as well as any other.
pub struct Prints {
    secrets: Vec<JsString>,
    open: Mutex<Open>,
}

struct Open {
    redactor: Redactor,
    /// Until the invocation ends, where it has a transcript.
    recording: Option<Recording>,
}

struct Recording {
    transcript: Transcript,
    /// The first thing that could not be written.
    fault: Option<Error>,
    /// Text of a line that has not ended, in pieces: joining at each would cost the square of a long
    /// line.
    line: Vec<JsString>,
    /// The length of these pieces, in bytes.
    held: usize,
    /// Whether the first attempt has begun. What a module printed while it was evaluated waits for
    /// that: a run that never gets there leaves no transcript.
    begun: bool,
}

impl Prints {
    /// Prints that nobody records, without these secrets.
    pub fn of(secrets: Vec<JsString>) -> Self {
        Self::new(secrets, None)
    }

    fn new(secrets: Vec<JsString>, recording: Option<Recording>) -> Self {
        let redactor = Redactor::new(&secrets);
        Self { secrets, open: Mutex::new(Open { redactor, recording }) }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Open) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether what is printed next is looked at. Where it is not, it may be shown as it came, and a
    /// host need not hand it over.
    pub fn listens(&self) -> bool {
        self.with(|open| open.listens())
    }

    /// Takes text and gives what may be shown now; what may be the beginning of a secret is kept back.
    /// `None` where there is no secret to look for: then it may be shown as it came.
    pub fn print(&self, text: &JsString) -> Option<JsString> {
        self.with(|open| {
            if !open.listens() {
                return None;
            }
            let given = open.redactor.push(text);
            if let Some(recording) = &mut open.recording {
                recording.print(given.clone());
            }
            (!open.redactor.is_idle()).then_some(given)
        })
    }

    /// Gives what was kept back: for the end of a load or an attempt.
    pub fn release(&self) -> JsString {
        self.with(|open| {
            let rest = open.redactor.release();
            if let Some(recording) = &mut open.recording {
                recording.print(rest.clone());
            }
            rest
        })
    }

    /// Takes the secrets out of what was thrown.
    pub fn redact(&self, text: &JsString) -> JsString {
        redact_thrown(text, &self.secrets)
    }

    /// The same secrets, and nothing printed yet: for a process that was forked, where a lock may be
    /// held by a thread that is not there.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self::of(self.secrets.clone())
    }

    fn begin_attempt(&self, attempt: u32) {
        self.with(|open| {
            if let Some(recording) = &mut open.recording {
                recording.begin_attempt(attempt);
            }
        });
    }

    fn end(&self) -> Result<()> {
        self.with(|open| {
            let Some(mut recording) = open.recording.take() else { return Ok(()) };
            if recording.begun {
                // The host may still have to show it.
                recording.line.push(open.redactor.rest());
                recording.flush();
            }
            recording.fault.map_or(Ok(()), Err)
        })
    }
}

/// The prints of the invocations that are running.
#[derive(Default)]
pub(super) struct OpenPrints {
    open: Mutex<HashMap<u64, Arc<Prints>>>,
}

/// The prints of an invocation in progress.
pub(super) struct Printing<'a> {
    all: &'a OpenPrints,
    invocation: u64,
    prints: Arc<Prints>,
}

impl OpenPrints {
    fn with<T>(&self, change: impl FnOnce(&mut HashMap<u64, Arc<Prints>>) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins to take the prints of an invocation.
    pub(super) fn attach(
        &self,
        invocation: u64,
        secrets: Vec<JsString>,
        transcript: Option<Transcript>,
    ) -> Printing<'_> {
        let recording = transcript.map(|transcript| Recording {
            transcript,
            fault: None,
            line: Vec::new(),
            held: 0,
            begun: false,
        });
        let prints = Arc::new(Prints::new(secrets, recording));
        self.with(|open| open.insert(invocation, prints.clone()));
        Printing { all: self, invocation, prints }
    }

    /// Ends every transcript: the process ends now, and what was printed last may be a line without
    /// its end.
    pub(super) fn end(&self) -> Result<()> {
        let open: Vec<_> = self.with(|open| open.values().cloned().collect());
        let mut outcome = Ok(());
        for prints in open {
            outcome = outcome.and(prints.end());
        }
        outcome
    }

    pub(super) fn get(&self, invocation: u64) -> Option<Arc<Prints>> {
        self.with(|open| open.get(&invocation).cloned())
    }
}

impl Printing<'_> {
    /// Marks the start of an attempt.
    pub(super) fn begin_attempt(&self, attempt: u32) {
        self.prints.begin_attempt(attempt);
    }

    /// Ends the transcript; the error is the first thing that could not be written.
    pub(super) fn end(self) -> Result<()> {
        self.prints.end()
    }
}

impl Drop for Printing<'_> {
    fn drop(&mut self) {
        self.all.with(|open| open.remove(&self.invocation));
        // Only of an invocation that nobody waits for any more is there something to end.
        let _unheard = self.prints.end();
    }
}

impl Open {
    /// Whether there is a secret to look for, or a transcript that takes more: a plugin that prints
    /// without end costs no more than what is kept of it.
    fn listens(&self) -> bool {
        let records = self.recording.as_ref().is_some_and(|each| !each.transcript.is_cut());
        records || !self.redactor.is_idle()
    }
}

impl Recording {
    fn begin_attempt(&mut self, attempt: u32) {
        if self.begun {
            self.flush();
        }
        let begun = self.transcript.begin_attempt(attempt);
        self.keep(begun);
        if !self.begun {
            self.begun = true;
            self.flush();
        }
    }

    /// Takes text without secrets.
    fn print(&mut self, text: JsString) {
        if self.transcript.is_cut() {
            return;
        }
        // A module that prints without end before anything is called is cut here; the transcript ends
        // no later.
        if !self.begun && self.held as u64 > TRANSCRIPT_CAP {
            return;
        }
        let ends_line = text.as_bytes().contains(&b'\n');
        self.held += text.as_bytes().len();
        self.line.push(text);
        if self.begun && (ends_line || self.held > LINE_LIMIT) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let pieces = std::mem::take(&mut self.line);
        self.held = 0;
        let units: Vec<u16> = pieces.iter().flat_map(JsString::units).collect();
        if !units.is_empty() {
            let written = self.transcript.print(&JsString::from_utf16(&units));
            self.keep(written);
        }
    }

    fn keep(&mut self, written: Result<()>) {
        if let Err(error) = written {
            self.fault.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::Paths;

    #[test]
    fn what_nobody_would_keep_or_cut_is_not_listened_to() {
        assert!(!Prints::of(Vec::new()).listens());
        assert!(Prints::of(vec!["hunter2-token".into()]).listens());

        let root = tempfile::tempdir().expect("temporary directory");
        let paths = Paths::new(root.path().join("home"));
        let all = OpenPrints::default();
        let attach = |invocation, secrets| {
            let transcript = Transcript::open(&paths, "r").expect("transcript");
            all.attach(invocation, secrets, Some(transcript))
        };
        assert!(attach(1, Vec::new()).prints.listens());

        std::fs::create_dir_all(&paths.runs_dir).expect("runs/");
        let cut = "[transcript cut: the run printed more than 10 MiB]\n";
        std::fs::write(paths.runs_dir.join("r.log"), cut).expect("transcript");
        assert!(!attach(2, Vec::new()).prints.listens());

        let watched = attach(3, vec!["hunter2-token".into()]);
        let shown = watched.prints.print(&"is hunter2-token\n".into());
        assert_eq!(shown, Some("is [redacted]\n".into()));
    }
}
