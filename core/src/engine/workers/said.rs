//! What a worker says: every line is text from outside.

use std::sync::Arc;

use crate::engine::{CallId, Completion, Engine, Notice, Prints, Request};
use crate::json::{JsString, Value};
use crate::worker::protocol::{FromWorker, Question, ToWorker, VERSION};

use super::worker::Worker;

impl Worker {
    /// Takes a message.
    ///
    /// # Errors
    ///
    /// Why it is none of a worker that keeps to the rules.
    pub(super) fn take(&self, engine: &Engine, said: FromWorker) -> Result<(), &'static str> {
        const UNKNOWN: &str = "it spoke of what it was never given";
        match said {
            FromWorker::Hello { version } => self.with(|state| {
                if state.hello_until.take().is_none() {
                    return Err("it said twice that it was ready");
                }
                if version != VERSION {
                    state.give_up(self.launch.other_version(&version));
                }
                Ok(())
            }),
            FromWorker::Unable { text } => self.with(|state| {
                if state.hello_until.is_none() {
                    return Err("it said that it was ready, and then that it was not");
                }
                state.give_up(self.launch.unable(&text));
                Ok(())
            }),
            FromWorker::Ask { ask, question } => {
                let value = self.answer(engine, question).ok_or(UNKNOWN)?;
                self.process.say(ToWorker::Answer { ask, value }.to_line());
                Ok(())
            }
            FromWorker::Complete { call, completion } => {
                if !self.with(|state| state.given.contains(&call)) {
                    return Err(UNKNOWN);
                }
                self.complete(engine, call, completion);
                Ok(())
            }
            FromWorker::Aborted { call } => self.with(|state| {
                if !self.own && state.held.get(&call).is_some_and(|held| held.aborted) {
                    state.held.remove(&call);
                }
                state.given.contains(&call).then_some(()).ok_or(UNKNOWN)
            }),
            FromWorker::Warning { operation, text } => {
                let text = self.clean(operation, text).ok_or(UNKNOWN)?.to_text();
                engine.host.notify(operation, Notice::Warning { text });
                Ok(())
            }
            FromWorker::Stray { operation, text } => {
                let text = self.clean(operation, text).ok_or(UNKNOWN)?.to_text();
                engine.host.notify(operation, Notice::Stray { text });
                Ok(())
            }
            FromWorker::Fault { operation, plugin, text } => {
                let known = self.with(|state| state.plugins.contains(&plugin));
                let text = self.clean(operation, text).filter(|_| known).ok_or(UNKNOWN)?;
                engine.host.notify(operation, Notice::Fault { plugin, text });
                Ok(())
            }
        }
    }

    /// A text for the reader of this operation, without the secrets of whoever may have given it.
    fn clean(&self, operation: u64, text: JsString) -> Option<JsString> {
        let prints: Vec<_> = self.with(|state| state.prints.values().cloned().collect());
        let clean = |text, prints: &Arc<Prints>| prints.redact(&text);
        (operation == self.operation.number).then(|| prints.iter().fold(text, clean))
    }

    /// `None` where it has no business to ask that.
    fn answer(&self, engine: &Engine, question: Question) -> Option<Value> {
        let prints = |invocation| self.with(|state| state.prints.get(&invocation).cloned());
        Some(match question {
            Question::Begin(call) => self
                .with(|state| state.given.contains(&call).then(|| state.begin(engine, call)))?
                .into(),
            Question::Prints(invocation) => {
                prints(invocation)?;
                engine.prints(invocation).is_some().into()
            }
            Question::Print(invocation, text) => {
                let shown = prints(invocation)?.print(&text);
                engine.host.before_print(shown.as_ref().unwrap_or(&text));
                shown.map_or(Value::Null, Value::from)
            }
            Question::Release(invocation) => {
                let rest = prints(invocation)?.release();
                engine.host.before_print(&rest);
                rest.into()
            }
            Question::Redact(invocation, text) => prints(invocation)?.redact(&text).into(),
        })
    }

    fn complete(&self, engine: &Engine, call: CallId, completion: Completion) {
        let Some((held, kept)) = self.with(|state| {
            state.progressed = true;
            let held = state.held.remove(&call)?;
            let loads = matches!(held.request, Request::LoadHandler { .. });
            if let (Request::LoadHandler { plugin, .. }, Ok(_)) = (&held.request, &completion) {
                state.loaded.insert(plugin.directory.clone(), plugin.revision.clone());
            }
            // What a plugin leaves running in a process of its own ends with its call.
            let kept = !self.own || (loads && completion.is_ok() && !held.aborted);
            Some((held, kept))
        }) else {
            return;
        };
        if !kept {
            self.retire();
        }
        let Some(attempt) = held.load_for else {
            return engine.calls.complete(call, completion);
        };
        let failure = self.with(|state| {
            let waiting = state.held.get_mut(&attempt)?;
            if let Err(failure) = completion {
                state.held.remove(&attempt);
                return Some(failure);
            }
            waiting.waits = false;
            let request = waiting.request.clone();
            self.send(state, engine, attempt, &request);
            None
        });
        if let Some(failure) = failure {
            engine.calls.complete(attempt, Err(failure));
        }
    }
}
