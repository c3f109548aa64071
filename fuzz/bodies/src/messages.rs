//! What the engine and a worker process say to each other.

use warpline_core::worker::protocol::{FromWorker, ToWorker};

pub fn protocol(data: &[u8]) {
    let Ok(line) = str::from_utf8(data) else { return };
    let from = FromWorker::from_line(line);
    let to = ToWorker::from_line(line);
    assert!(from.is_none() || to.is_none(), "a line has one speaker");
    if let Some(said) = from {
        let line = said.to_line();
        assert_one_line(&line);
        let heard = FromWorker::from_line(&line).expect("what is said is heard");
        assert_eq!(heard.to_line(), line);
    }
    if let Some(said) = to {
        let line = said.to_line();
        assert_one_line(&line);
        let heard = ToWorker::from_line(&line).expect("what is said is heard");
        assert_eq!(heard.to_line(), line);
    }
}

fn assert_one_line(line: &str) {
    assert_eq!(line.find('\n'), Some(line.len() - 1), "a message is one line");
}
