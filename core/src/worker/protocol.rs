//! The lines that the engine and a worker exchange: one JSON object each, over the worker's
//! standard input and output.
//!
//! The worker speaks first, with [`FromWorker::Hello`]. When its input ends, it ends as well. What
//! comes from a worker is outside text, because plugin code can reach its descriptors: a line that
//! is no message ends the worker, never the engine.

use crate::engine::{AbortReason, CallId, HostFailure};
use crate::json::{JsString, Map, Value, parse};

/// What both sides must agree on beside these messages: they are released together.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Names a question of a worker. Never reused within a worker.
pub type AskId = u64;

/// What the engine says.
#[derive(Clone, Debug, PartialEq)]
pub enum ToWorker {
    /// Start a call.
    Start {
        /// Names it.
        call: CallId,
        /// As [`crate::engine::Request::to_value`] writes it.
        request: Value,
    },
    /// Abort a started call. Answered by [`FromWorker::Aborted`].
    Abort {
        /// Which.
        call: CallId,
        /// Why.
        reason: AbortReason,
    },
    /// The answer to a question: see [`Question`] for its type.
    Answer {
        /// Which.
        ask: AskId,
        /// What the engine's own method gave.
        value: Value,
    },
}

/// What a worker says.
#[derive(Clone, Debug, PartialEq)]
pub enum FromWorker {
    /// It is ready. Comes once, first.
    Hello {
        /// [`VERSION`] on its side.
        version: String,
    },
    /// It cannot be one. Comes in place of [`FromWorker::Hello`], and nothing after it.
    Unable {
        /// Why, in one line.
        text: JsString,
    },
    /// It waits for an answer before it goes on.
    Ask {
        /// Names the question.
        ask: AskId,
        /// What it wants to know.
        question: Question,
    },
    /// A started call is over.
    Complete {
        /// Which.
        call: CallId,
        /// What it came to.
        completion: Result<Value, HostFailure>,
    },
    /// The host of the worker has handled an abort: the thread that plugin code runs on, where there is
    /// only one, was free to do so.
    Aborted {
        /// Which.
        call: CallId,
    },
    /// Something for a reader that does not stop anything.
    Warning {
        /// The operation it concerns, as the request named it.
        operation: u64,
        /// One line.
        text: JsString,
    },
    /// Plugin code threw where no call fails of it. Nothing stops, but all is not well.
    Stray {
        /// The operation it concerns, as the request named it.
        operation: u64,
        /// One line.
        text: JsString,
    },
    /// Plugin code threw: where, for a reader. The answer of the call follows.
    Fault {
        /// The operation it concerns, as the request named it.
        operation: u64,
        /// The directory name.
        plugin: JsString,
        /// What was thrown and where, over several lines, without the values of secrets.
        text: JsString,
    },
}

/// What a worker asks, each the method of the same name of the engine or of its prints.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// `Engine::begin`; answer: true or false.
    Begin(CallId),
    /// `Engine::prints`; answer: whether there are any.
    Prints(u64),
    /// `Prints::print`; answer: text, or null where it may be shown as it came.
    Print(u64, JsString),
    /// `Prints::release`; answer: text.
    Release(u64),
    /// `Prints::redact`; answer: text.
    Redact(u64, JsString),
}

impl ToWorker {
    /// The message as a line, the newline included.
    pub fn to_line(&self) -> String {
        line(match self {
            Self::Start { call, request } => {
                vec![
                    ("kind", "start".into()),
                    ("call", counter(*call)),
                    ("request", request.clone()),
                ]
            }
            Self::Abort { call, reason } => vec![
                ("kind", "abort".into()),
                ("call", counter(*call)),
                ("reason", reason.as_str().into()),
            ],
            Self::Answer { ask, value } => {
                vec![("kind", "answer".into()), ("ask", counter(*ask)), ("value", value.clone())]
            }
        })
    }

    /// Reads a line; `None` where it is no message.
    pub fn from_line(line: &str) -> Option<Self> {
        let message = parse(line).ok()?;
        match message.get("kind")?.as_string()?.as_str()? {
            "start" => Some(Self::Start {
                call: number(&message, "call")?,
                request: message.get("request")?.clone(),
            }),
            "abort" => {
                let reason = message.get("reason")?.as_string()?.as_str()?;
                let reason = AbortReason::from_name(reason)?;
                Some(Self::Abort { call: number(&message, "call")?, reason })
            }
            "answer" => Some(Self::Answer {
                ask: number(&message, "ask")?,
                value: message.get("value")?.clone(),
            }),
            _ => None,
        }
    }
}

impl FromWorker {
    /// The message as a line, the newline included.
    pub fn to_line(&self) -> String {
        line(match self {
            Self::Hello { version } => {
                vec![("kind", "hello".into()), ("version", version.as_str().into())]
            }
            Self::Unable { text } => vec![("kind", "unable".into()), ("text", text.into())],
            Self::Ask { ask, question } => {
                let mut members = vec![("kind", "ask".into()), ("ask", counter(*ask))];
                let (what, about, text) = match question {
                    Question::Begin(call) => ("begin", call, None),
                    Question::Prints(invocation) => ("prints", invocation, None),
                    Question::Print(invocation, text) => ("print", invocation, Some(text)),
                    Question::Release(invocation) => ("release", invocation, None),
                    Question::Redact(invocation, text) => ("redact", invocation, Some(text)),
                };
                members.extend([("what", what.into()), ("about", counter(*about))]);
                members.extend(text.map(|text| ("text", text.into())));
                members
            }
            Self::Complete { call, completion } => {
                let (outcome, value) = match completion {
                    Ok(value) => ("value", value.clone()),
                    Err(HostFailure::Threw(text)) => ("threw", text.into()),
                    Err(HostFailure::NoJson(text)) => ("no_json", text.into()),
                };
                vec![
                    ("kind", "complete".into()),
                    ("call", counter(*call)),
                    ("outcome", outcome.into()),
                    ("value", value),
                ]
            }
            Self::Aborted { call } => vec![("kind", "aborted".into()), ("call", counter(*call))],
            Self::Warning { operation, text } => vec![
                ("kind", "warning".into()),
                ("operation", counter(*operation)),
                ("text", text.into()),
            ],
            Self::Stray { operation, text } => vec![
                ("kind", "stray".into()),
                ("operation", counter(*operation)),
                ("text", text.into()),
            ],
            Self::Fault { operation, plugin, text } => vec![
                ("kind", "fault".into()),
                ("operation", counter(*operation)),
                ("plugin", plugin.into()),
                ("text", text.into()),
            ],
        })
    }

    /// Reads a line; `None` where it is no message.
    pub fn from_line(line: &str) -> Option<Self> {
        let message = parse(line).ok()?;
        let text = |key: &str| message.get(key)?.as_string().cloned();
        match message.get("kind")?.as_string()?.as_str()? {
            "hello" => Some(Self::Hello { version: text("version")?.to_text() }),
            "ask" => {
                let about = number(&message, "about")?;
                let question = match text("what")?.as_str()? {
                    "begin" => Question::Begin(about),
                    "prints" => Question::Prints(about),
                    "print" => Question::Print(about, text("text")?),
                    "release" => Question::Release(about),
                    "redact" => Question::Redact(about, text("text")?),
                    _ => return None,
                };
                Some(Self::Ask { ask: number(&message, "ask")?, question })
            }
            "complete" => {
                let completion = match text("outcome")?.as_str()? {
                    "value" => Ok(message.get("value")?.clone()),
                    "threw" => Err(HostFailure::Threw(text("value")?)),
                    "no_json" => Err(HostFailure::NoJson(text("value")?)),
                    _ => return None,
                };
                Some(Self::Complete { call: number(&message, "call")?, completion })
            }
            "aborted" => Some(Self::Aborted { call: number(&message, "call")? }),
            "warning" => Some(Self::Warning {
                operation: number(&message, "operation")?,
                text: text("text")?,
            }),
            "unable" => Some(Self::Unable { text: text("text")? }),
            "stray" => {
                Some(Self::Stray { operation: number(&message, "operation")?, text: text("text")? })
            }
            "fault" => Some(Self::Fault {
                operation: number(&message, "operation")?,
                plugin: text("plugin")?,
                text: text("text")?,
            }),
            _ => None,
        }
    }
}

fn line(members: Vec<(&'static str, Value)>) -> String {
    let message: Map = members.into_iter().collect();
    let mut line = Value::from(message).to_compact();
    line.push('\n');
    line
}

/// Counters stay far below 2^53, where a double stops being exact.
#[allow(clippy::cast_precision_loss)]
fn counter(number: u64) -> Value {
    Value::Number(number as f64)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn number(message: &Value, key: &str) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = message.get(key)?.as_number()?;
    (number.fract() == 0.0 && (0.0..EXACT).contains(&number)).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard_whatever_text_is_in_it() {
        let odd = parse(r#""a\n\ud800\u0000 😀""#).expect("JSON");
        let text = odd.as_string().expect("text").clone();
        let (call, ask, operation) = (7, 8, 9);
        for said in [
            ToWorker::Start { call, request: odd.clone() },
            ToWorker::Abort { call, reason: AbortReason::Timeout },
            ToWorker::Answer { ask, value: Value::Null },
        ] {
            let line = said.to_line();
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            assert_eq!(ToWorker::from_line(&line), Some(said));
        }
        let questions = [
            Question::Begin(call),
            Question::Prints(3),
            Question::Print(3, text.clone()),
            Question::Release(3),
            Question::Redact(3, text.clone()),
        ];
        let asks = questions.map(|question| FromWorker::Ask { ask, question });
        let plugin = JsString::from("p");
        let others = [
            FromWorker::Hello { version: VERSION.into() },
            FromWorker::Complete { call, completion: Ok(odd) },
            FromWorker::Complete { call, completion: Err(HostFailure::Threw(text.clone())) },
            FromWorker::Complete { call, completion: Err(HostFailure::NoJson(text.clone())) },
            FromWorker::Aborted { call },
            FromWorker::Warning { operation, text: text.clone() },
            FromWorker::Stray { operation, text: text.clone() },
            FromWorker::Unable { text: text.clone() },
            FromWorker::Fault { operation, plugin, text },
        ];
        for said in asks.into_iter().chain(others) {
            assert_eq!(FromWorker::from_line(&said.to_line()), Some(said));
        }
    }

    #[test]
    fn what_is_no_message_is_none() {
        for line in [
            "",
            "hello",
            "[]",
            "{}",
            r#"{"kind":"hello"}"#,
            r#"{"kind":"aborted","call":-1}"#,
            r#"{"kind":"aborted","call":1.5}"#,
            r#"{"kind":"aborted","call":"1"}"#,
            r#"{"kind":"aborted","call":1e300}"#,
            r#"{"kind":"ask","ask":1,"what":"grant","about":1}"#,
            r#"{"kind":"ask","ask":1,"what":"print","about":1}"#,
            r#"{"kind":"complete","call":1,"outcome":"maybe","value":1}"#,
            r#"{"kind":"complete","call":1,"outcome":"threw","value":1}"#,
        ] {
            assert_eq!(FromWorker::from_line(line), None, "{line}");
            assert_eq!(ToWorker::from_line(line), None, "{line}");
        }
    }
}
