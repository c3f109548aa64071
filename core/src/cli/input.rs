//! What a person types: lines of standard input, read without keeping a signal from ending the wait.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// How much is asked of the system at once, in bytes.
const CHUNK: usize = 4096;

/// The longest input that is read whole, in bytes: far more than anybody configures.
const WHOLE: usize = 16 * 1024 * 1024;

/// Reads a descriptor by lines. Clones share it, and what was read ahead.
#[derive(Clone)]
pub struct Input {
    source: Arc<Mutex<Source>>,
    terminal: bool,
}

struct Source {
    /// `None` once it has ended.
    file: Option<File>,
    /// Bytes that were read and belong to lines to come.
    ahead: Vec<u8>,
}

/// What came in place of an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is nothing more to read.
    Input,
    /// The command was asked to end.
    Cancelled,
    /// The system refused to read; the text says why.
    Failed(String),
}

impl Input {
    /// Reads any descriptor; whether a person is behind it, the system says.
    pub fn descriptor(source: OwnedFd) -> Self {
        let terminal = source.is_terminal();
        Self::new(Some(source.into()), terminal)
    }

    /// Reads any descriptor as if it were a terminal.
    pub fn terminal(source: OwnedFd) -> Self {
        Self::new(Some(source.into()), true)
    }

    /// Nothing to read, and nobody there.
    pub fn none() -> Self {
        Self::new(None, false)
    }

    fn new(file: Option<File>, terminal: bool) -> Self {
        let source = Source { file, ahead: Vec::new() };
        Self { source: Arc::new(Mutex::new(source)), terminal }
    }

    /// Whether a person can be asked.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// The next line without its end, byte for byte; a last line needs no end.
    ///
    /// # Errors
    ///
    /// [`Ended`], at the end of the input as often as it is asked.
    pub async fn line(&self, cancel: &CancellationToken) -> Result<Vec<u8>, Ended> {
        self.off_thread(cancel, Source::line).await
    }

    /// All that is left.
    ///
    /// # Errors
    ///
    /// [`Ended`], though never for the end of the input; more than 16 MiB is refused.
    pub async fn rest(&self, cancel: &CancellationToken) -> Result<Vec<u8>, Ended> {
        self.off_thread(cancel, Source::rest).await
    }

    /// Reads on a thread that nobody waits for: a read that no key ends must not hold the process.
    async fn off_thread(
        &self,
        cancel: &CancellationToken,
        read: fn(&mut Source) -> io::Result<Option<Vec<u8>>>,
    ) -> Result<Vec<u8>, Ended> {
        let (told, answer) = oneshot::channel();
        let source = self.source.clone();
        let reading = std::thread::Builder::new().name("warpline-input".to_owned());
        let reading = reading.spawn(move || {
            let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
            // Nobody listens any more once the command was cancelled.
            let _ = told.send(read(&mut source));
        });
        reading.map_err(|error| Ended::Failed(error.to_string()))?;
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Ended::Cancelled),
            answer = answer => match answer {
                Ok(Ok(Some(bytes))) => Ok(bytes),
                Ok(Ok(None)) => Err(Ended::Input),
                Ok(Err(error)) => Err(Ended::Failed(error.to_string())),
                Err(_) => Err(Ended::Failed("the reading thread ended".to_owned())),
            },
        }
    }
}

impl Source {
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut searched = 0;
        loop {
            let fresh = self.ahead.get(searched..).unwrap_or_default();
            if let Some(end) = fresh.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.ahead.drain(..=searched + end).collect();
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(Some(line));
            }
            searched = self.ahead.len();
            if !self.fill()? {
                let last = std::mem::take(&mut self.ahead);
                return Ok(if last.is_empty() { None } else { Some(last) });
            }
        }
    }

    fn rest(&mut self) -> io::Result<Option<Vec<u8>>> {
        while self.fill()? {
            if self.ahead.len() > WHOLE {
                return Err(io::Error::other("standard input is longer than 16 MiB"));
            }
        }
        Ok(Some(std::mem::take(&mut self.ahead)))
    }

    /// Reads once more; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let mut chunk = [0; CHUNK];
        loop {
            let Some(file) = &mut self.file else { return Ok(false) };
            match file.read(&mut chunk) {
                Ok(0) => self.file = None,
                Ok(count) => {
                    self.ahead.extend_from_slice(chunk.get(..count).unwrap_or_default());
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    poll(&mut [PollFd::new(file, PollFlags::IN)], None)?;
                }
                // What a terminal answers when the other side of it was closed.
                Err(error)
                    if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) =>
                {
                    self.file = None;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    fn pipe() -> (io::PipeWriter, Input) {
        let (reader, writer) = io::pipe().expect("a pipe");
        (writer, Input::descriptor(reader.into()))
    }

    async fn line(input: &Input) -> Result<String, Ended> {
        let bytes = input.line(&CancellationToken::new()).await?;
        Ok(String::from_utf8(bytes).expect("text"))
    }

    /// Cases: T340.
    #[tokio::test]
    async fn one_chunk_gives_its_lines_one_by_one_and_then_the_end_for_good() {
        let (mut writer, input) = pipe();
        assert!(!input.is_terminal());
        writer.write_all("one\n\r\n\ncafe\u{301}\r\nlast".as_bytes()).expect("room");
        drop(writer);
        for expected in ["one", "", "", "cafe\u{301}", "last"] {
            assert_eq!(line(&input).await.as_deref(), Ok(expected));
        }
        for _ in 0..3 {
            assert_eq!(line(&input).await, Err(Ended::Input));
        }
    }

    /// Cases: T340.
    #[tokio::test]
    async fn a_line_that_comes_in_pieces_is_one_line() {
        let (mut writer, input) = pipe();
        let slow = std::thread::spawn(move || {
            for piece in ["tw", "o\nthr", "ee\n"] {
                writer.write_all(piece.as_bytes()).expect("room");
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        assert_eq!(line(&input).await.as_deref(), Ok("two"));
        assert_eq!(line(&input).await.as_deref(), Ok("three"));
        assert_eq!(line(&input).await, Err(Ended::Input));
        slow.join().expect("the writer");
    }

    #[tokio::test]
    async fn a_wait_ends_with_the_command() {
        let (writer, input) = pipe();
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert_eq!(input.line(&cancel).await, Err(Ended::Cancelled));
        drop(writer);
    }

    #[tokio::test]
    async fn an_input_without_an_end_is_not_read_for_ever() {
        let (mut writer, input) = pipe();
        let endless = std::thread::spawn(move || while writer.write_all(&[b'x'; 65536]).is_ok() {});
        let refused = input.rest(&CancellationToken::new()).await;
        assert!(matches!(refused, Err(Ended::Failed(text)) if text.contains("16 MiB")));
        drop(input);
        endless.join().expect("the writer hears that nobody reads");
    }

    #[tokio::test]
    async fn the_rest_is_read_whole() {
        let (mut writer, input) = pipe();
        let text = "x".repeat(3 * CHUNK);
        writer.write_all(format!("first\n{text}").as_bytes()).expect("room");
        drop(writer);
        assert_eq!(line(&input).await.as_deref(), Ok("first"));
        let rest = input.rest(&CancellationToken::new()).await.expect("text");
        assert_eq!(rest, text.into_bytes());
        assert_eq!(Input::none().rest(&CancellationToken::new()).await, Ok(Vec::new()));
    }
}
