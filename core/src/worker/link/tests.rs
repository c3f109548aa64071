//! The engine's side of the talk, played over pipes.

use super::*;
use std::io::{PipeReader, PipeWriter, pipe};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(60);

/// Remembers what it is told.
struct Told(Mutex<Sender<(CallId, String)>>);

impl Told {
    fn hear(&self, call: CallId, what: String) {
        self.0.lock().expect("no panic").send((call, what)).expect("a listening test");
    }
}

impl WorkerHost for Told {
    fn start(&self, call: CallId, request: String) {
        self.hear(call, request);
    }

    fn abort(&self, call: CallId, reason: AbortReason) {
        self.hear(call, reason.as_str().to_owned());
    }
}

/// The engine's side.
struct Other {
    link: Arc<Link>,
    heard: BufReader<PipeReader>,
    say: PipeWriter,
    told: Receiver<(CallId, String)>,
    ended: Receiver<()>,
}

impl Other {
    fn new() -> Self {
        let (input, say) = pipe().expect("a pipe");
        let (heard, output) = pipe().expect("a pipe");
        let (tell, told) = channel();
        let (end, ended) = channel();
        let end = Mutex::new(end);
        let finish = move || {
            let _gone = end.lock().expect("no panic").send(());
        };
        let host = Arc::new(Told(Mutex::new(tell)));
        let link = Link::over(input.into(), output.into(), host, Box::new(finish));
        let heard = BufReader::new(heard);
        let mut other = Self { link: link.expect("a link"), heard, say, told, ended };
        assert_eq!(other.hear(), FromWorker::Hello { version: VERSION.to_owned() });
        other
    }

    fn hear(&mut self) -> FromWorker {
        let mut line = String::new();
        self.heard.read_line(&mut line).expect("a line");
        FromWorker::from_line(&line).expect("a message")
    }

    fn say(&mut self, message: &ToWorker) {
        self.say.write_all(message.to_line().as_bytes()).expect("a listening worker");
    }

    fn start(&mut self, call: CallId) {
        self.say(&ToWorker::Start { call, request: Value::Null });
        assert_eq!(self.told.recv_timeout(SOON), Ok((call, "null".to_owned())));
    }

    /// Has the worker ask, and answers what it has asked with `value`.
    fn answers<T: Send + 'static>(
        &mut self,
        ask: impl FnOnce(&Link) -> T + Send + 'static,
        value: Value,
    ) -> (Question, T) {
        let link = self.link.clone();
        let asking = thread::spawn(move || ask(&link));
        let FromWorker::Ask { ask, question } = self.hear() else { panic!("a question") };
        self.say(&ToWorker::Answer { ask, value });
        (question, asking.join().expect("no panic"))
    }
}

#[test]
fn what_is_asked_waits_for_its_own_answer() {
    let mut other = Other::new();
    other.start(7);
    assert_eq!(other.answers(|link| link.begin(7), true.into()), (Question::Begin(7), true));
    assert_eq!(other.answers(|link| link.begin(7), false.into()), (Question::Begin(7), false));
    assert_eq!(other.answers(|link| link.prints(3), true.into()), (Question::Prints(3), true));
    let print = |link: &Link| link.print(3, &"x".into());
    let asked = Question::Print(3, "x".into());
    assert_eq!(other.answers(print, Value::Null), (asked.clone(), None));
    assert_eq!(other.answers(print, "y".into()), (asked, Some("y".into())));
    let release = other.answers(|link| link.release(3), "z".into());
    assert_eq!(release, (Question::Release(3), "z".into()));
    let redact = other.answers(|link| link.redact(3, &"s".into()), "r".into());
    assert_eq!(redact, (Question::Redact(3, "s".into()), "r".into()));
}

#[test]
fn answers_may_come_in_another_order() {
    let mut other = Other::new();
    let ask = |invocation| {
        let link = other.link.clone();
        thread::spawn(move || (invocation, link.release(invocation)))
    };
    let asking = [ask(1), ask(2)];
    let mut asked = [other.hear(), other.hear()];
    asked.reverse();
    for said in asked {
        let FromWorker::Ask { ask, question: Question::Release(invocation) } = said else {
            panic!("a question")
        };
        other.say(&ToWorker::Answer { ask, value: invocation.to_string().into() });
    }
    for thread in asking {
        let (invocation, text) = thread.join().expect("no panic");
        assert_eq!(text, JsString::from(invocation.to_string()));
    }
}

#[test]
fn a_call_that_was_aborted_or_never_started_does_not_begin_and_nobody_is_asked() {
    let mut other = Other::new();
    other.start(7);
    other.say(&ToWorker::Abort { call: 7, reason: AbortReason::Timeout });
    assert_eq!(other.told.recv_timeout(SOON), Ok((7, "timeout".to_owned())));
    assert!(!other.link.begin(7));
    assert!(!other.link.begin(8));
    other.link.aborted(7);
    assert_eq!(other.hear(), FromWorker::Aborted { call: 7 });
    // The host may still say when the code of it is over.
    other.link.complete(7, Ok(Value::Null));
    assert_eq!(other.hear(), FromWorker::Complete { call: 7, completion: Ok(Value::Null) });
}

#[test]
fn lines_of_many_threads_stay_whole() {
    let mut other = Other::new();
    let text = JsString::from("x".repeat(300_000));
    let saying: Vec<_> = (0..4)
        .map(|operation| {
            let (link, text) = (other.link.clone(), text.clone());
            thread::spawn(move || link.warn(operation, text))
        })
        .collect();
    let mut operations = Vec::new();
    for _ in 0..4 {
        let FromWorker::Warning { operation, text: heard } = other.hear() else {
            panic!("a warning")
        };
        assert_eq!(heard, text);
        operations.push(operation);
    }
    operations.sort_unstable();
    assert_eq!(operations, [0, 1, 2, 3]);
    saying.into_iter().for_each(|thread| thread.join().expect("no panic"));
}

#[test]
fn the_end_of_the_input_ends_the_worker_and_answers_nobody_with_yes() {
    let mut other = Other::new();
    other.start(7);
    let link = other.link.clone();
    let asking = thread::spawn(move || link.begin(7));
    let said = other.hear();
    assert!(matches!(said, FromWorker::Ask { question: Question::Begin(7), .. }), "{said:?}");
    drop(other.say);
    assert_eq!(other.ended.recv_timeout(SOON), Ok(()));
    assert!(!asking.join().expect("no panic"));
    assert!(!other.link.prints(1));
    assert_eq!(other.link.print(1, &"secret".into()), Some(JsString::new()));
}

#[test]
fn what_is_no_message_ends_the_worker() {
    for line in [&b"hello\n"[..], b"\xff\n", b"{}\n", b"\n"] {
        let mut other = Other::new();
        other.say.write_all(line).expect("a listening worker");
        assert_eq!(other.ended.recv_timeout(SOON), Ok(()), "{line:?}");
    }
}

#[test]
fn a_worker_that_nobody_hears_ends() {
    let other = Other::new();
    drop(other.heard);
    // A process that another test is just starting still has the other end for a moment.
    let since = Instant::now();
    while other.ended.recv_timeout(Duration::from_millis(5)).is_err() {
        assert!(since.elapsed() < SOON, "it goes on");
        other.link.aborted(1);
    }
}
