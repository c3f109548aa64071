//! What plugin code prints under a direct invocation, on its way into the transcript.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::home::runs::Transcript;
use crate::json::JsString;
use crate::schema::redact::redact_text;

/// The transcripts of the invocations that are being recorded.
#[derive(Default)]
pub(super) struct Prints {
    open: Mutex<HashMap<u64, Recording>>,
}

struct Recording {
    transcript: Transcript,
    /// The first thing that could not be written.
    fault: Option<Error>,
    secrets: Vec<JsString>,
    /// Whether a secret spans lines: then only a whole attempt can be redacted.
    whole: bool,
    /// Text that is not written yet, because a secret may end in text still to come. In pieces, as
    /// it came: joining at each piece would cost the square of a long line.
    held: Vec<JsString>,
    /// Whether the first attempt has begun. What a module printed while it was evaluated waits for
    /// that: a run that never gets there leaves no transcript.
    begun: bool,
}

/// A recording in progress.
pub(super) struct Printing<'a> {
    prints: &'a Prints,
    invocation: u64,
}

impl Prints {
    fn with<T>(&self, change: impl FnOnce(&mut HashMap<u64, Recording>) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins to record an invocation.
    pub(super) fn attach(
        &self,
        invocation: u64,
        transcript: Transcript,
        secrets: Vec<JsString>,
    ) -> Printing<'_> {
        let whole = secrets.iter().any(|secret| secret.as_bytes().contains(&b'\n'));
        let (fault, held) = (None, Vec::new());
        let recording = Recording { transcript, fault, secrets, whole, held, begun: false };
        self.with(|open| open.insert(invocation, recording));
        Printing { prints: self, invocation }
    }

    /// Marks the start of an attempt.
    pub(super) fn begin_attempt(&self, invocation: u64, attempt: u32) {
        self.with(|open| {
            if let Some(recording) = open.get_mut(&invocation) {
                if recording.begun {
                    recording.flush();
                }
                recording.begun = true;
                let begun = recording.transcript.begin_attempt(attempt);
                recording.keep(begun);
            }
        });
    }

    /// Takes text that plugin code printed. Text of an invocation nobody records is dropped.
    pub(super) fn print(&self, invocation: u64, text: &JsString) {
        self.with(|open| {
            if let Some(recording) = open.get_mut(&invocation) {
                recording.print(text);
            }
        });
    }
}

impl Printing<'_> {
    /// Ends the recording; the error is the first thing that could not be written.
    pub(super) fn end(self) -> Result<()> {
        self.stop().map_or(Ok(()), Err)
    }

    fn stop(&self) -> Option<Error> {
        let mut recording = self.prints.with(|open| open.remove(&self.invocation))?;
        if recording.begun {
            recording.flush();
        }
        recording.fault
    }
}

impl Drop for Printing<'_> {
    fn drop(&mut self) {
        // Only an invocation that nobody waits for any more gets here with a recording.
        let _unheard = self.stop();
    }
}

impl Recording {
    fn print(&mut self, text: &JsString) {
        self.held.push(text.clone());
        if self.whole || !self.begun || !text.as_bytes().contains(&b'\n') {
            return;
        }
        let held = self.take_held();
        let bytes = held.as_bytes();
        if let Some(newline) = bytes.iter().rposition(|byte| *byte == b'\n') {
            let (lines, rest) = bytes.split_at(newline + 1);
            let (lines, rest) =
                (JsString::from_wtf8(lines.into()), JsString::from_wtf8(rest.into()));
            self.held.push(rest);
            let written = self.transcript.print(&redact_text(&lines, &self.secrets));
            self.keep(written);
        }
    }

    fn keep(&mut self, written: Result<()>) {
        if let Err(error) = written {
            self.fault.get_or_insert(error);
        }
    }

    /// Takes the pieces out as one text; halves of a pair that came apart are joined again.
    fn take_held(&mut self) -> JsString {
        let pieces = std::mem::take(&mut self.held);
        let units: Vec<u16> = pieces.iter().flat_map(JsString::units).collect();
        JsString::from_utf16(&units)
    }

    fn flush(&mut self) {
        let held = self.take_held();
        if !held.is_empty() {
            let written = self.transcript.print(&redact_text(&held, &self.secrets));
            self.keep(written);
        }
    }
}
