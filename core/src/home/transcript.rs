//! `runs/<run_id>.log`: what a plugin printed, attempt by attempt, up to a limit.

use std::path::PathBuf;

use crate::error::Result;
use crate::json::JsString;

use super::{Paths, files, run_id};

/// The most that one run may print into its transcript, in bytes.
pub const TRANSCRIPT_CAP: u64 = 10 * 1024 * 1024;

/// The last line of a transcript that reached the limit.
const CUT: &str = "[transcript cut: the run printed more than 10 MiB]\n";

/// The transcript of one run. The file appears with the first text.
#[derive(Debug)]
pub struct Transcript {
    home: PathBuf,
    path: PathBuf,
    written: u64,
    ends_line: bool,
    cut: bool,
}

impl Transcript {
    /// The transcript of `run_id`; goes on behind what an earlier one wrote.
    ///
    /// # Errors
    ///
    /// [`Error::Option`](crate::error::Error::Option) for a run id that may not become a file name,
    /// [`Error::File`](crate::error::Error::File) for a file that cannot be read.
    pub fn open(paths: &Paths, run_id: &str) -> Result<Self> {
        run_id::check_run_id(run_id)?;
        let path = paths.runs_dir.join(format!("{run_id}.log"));
        let before = files::read_bytes(&path)?.unwrap_or_default();
        let ends_line = before.last().is_none_or(|last| *last == b'\n');
        let cut = before.ends_with(CUT.as_bytes());
        Ok(Self { home: paths.home.clone(), path, written: before.len() as u64, ends_line, cut })
    }

    /// Begins the part of an attempt, counted from 1.
    ///
    /// # Errors
    ///
    /// [`Error::File`](crate::error::Error::File).
    pub fn begin_attempt(&mut self, attempt: u32) -> Result<()> {
        let start = if self.ends_line { "" } else { "\n" };
        self.push(&format!("{start}=== Attempt {attempt} ===\n"))
    }

    /// Whether the limit was reached: nothing more is kept of this run.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Adds what was printed, secrets already taken out. Past the limit, one line says that the
    /// rest is missing, and what follows is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::File`](crate::error::Error::File).
    pub fn print(&mut self, text: &JsString) -> Result<()> {
        self.push(&text.to_text())
    }

    fn push(&mut self, text: &str) -> Result<()> {
        if self.cut || text.is_empty() {
            return Ok(());
        }
        let left = usize::try_from(TRANSCRIPT_CAP.saturating_sub(self.written)).unwrap_or(0);
        if text.len() <= left {
            files::append_text(&self.home, &self.path, text)?;
            self.written += text.len() as u64;
            self.ends_line = text.ends_with('\n');
            return Ok(());
        }
        let kept = text.get(..text.floor_char_boundary(left)).unwrap_or_default();
        let ends_line = if kept.is_empty() { self.ends_line } else { kept.ends_with('\n') };
        let start = if ends_line { "" } else { "\n" };
        files::append_text(&self.home, &self.path, &format!("{kept}{start}{CUT}"))?;
        self.cut = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::runs::tests::home;

    fn text(paths: &Paths) -> String {
        std::fs::read_to_string(paths.runs_dir.join("r.log")).expect("transcript")
    }

    /// Cases: T313, T314.
    #[test]
    fn attempts_follow_each_other_each_on_a_line_of_its_own() {
        let (_root, paths) = home();
        let mut transcript = Transcript::open(&paths, "r").expect("open");
        assert!(!paths.runs_dir.exists(), "nothing is written before there is something");
        transcript.begin_attempt(1).expect("attempt");
        transcript.print(&"one\nno ".into()).expect("print");
        transcript.print(&"end".into()).expect("print");
        transcript.begin_attempt(2).expect("attempt");
        transcript.print(&"two\n".into()).expect("print");
        let expected = "=== Attempt 1 ===\none\nno end\n=== Attempt 2 ===\ntwo\n";
        assert_eq!(text(&paths), expected);
        let mut again = Transcript::open(&paths, "r").expect("open");
        again.begin_attempt(1).expect("attempt");
        assert_eq!(text(&paths), format!("{expected}=== Attempt 1 ===\n"));
    }

    #[test]
    fn the_limit_cuts_once_and_between_characters() {
        let (_root, paths) = home();
        let mut transcript = Transcript::open(&paths, "r").expect("open");
        let cap = usize::try_from(TRANSCRIPT_CAP).expect("fits");
        transcript.print(&"x".repeat(cap - 2).into()).expect("print");
        transcript.print(&"日本".into()).expect("print");
        transcript.print(&"more".into()).expect("print");
        transcript.begin_attempt(2).expect("attempt");
        let whole = text(&paths);
        assert_eq!(whole.len(), cap - 2 + 1 + CUT.len());
        assert!(whole.ends_with(&format!("x\n{CUT}")));
        let mut again = Transcript::open(&paths, "r").expect("open");
        again.print(&"more".into()).expect("print");
        assert_eq!(text(&paths).len(), whole.len());
    }

    #[test]
    fn a_run_id_that_leaves_the_directory_is_refused() {
        let (_root, paths) = home();
        assert!(Transcript::open(&paths, "../r").is_err());
    }
}
