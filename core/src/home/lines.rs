//! The lines of a file from its end on, however long the file is.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::{disk, files};

/// The least that is read at a time, in bytes.
const BLOCK: usize = 64 * 1024;

/// A longer line counts as unreadable, so that a file without line ends fills no memory.
pub(super) const LINE_CAP: usize = 8 * 1024 * 1024;

/// Opens a regular file that no link stands in for.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(files::flags(OFlags::NOFOLLOW | OFlags::NONBLOCK));
    let file = disk::open(&options, path)?;
    files::require_regular(&file, path)?;
    Ok(file)
}

/// Yields the lines of a file from the last to the first, empty ones left out, an overlong one as
/// an error. A file that shrinks meanwhile ends the lines.
pub(super) struct Backward {
    file: File,
    /// Where the file was opened.
    path: PathBuf,
    /// Bytes in front of the buffer that are still to be read.
    before: u64,
    buffer: Vec<u8>,
    /// Whether the line whose beginning is looked for is too long already.
    overlong: bool,
}

impl Backward {
    pub(super) fn of(file: File, path: &Path) -> io::Result<Self> {
        let before = disk::facts(&file, path)?.len();
        Ok(Self { file, path: path.to_owned(), before, buffer: Vec::new(), overlong: false })
    }

    /// Takes what lies behind the last line end of the buffer.
    fn cut(&mut self) -> Option<Vec<u8>> {
        let end = self.buffer.iter().rposition(|byte| *byte == b'\n')?;
        let line = self.buffer.split_off(end + 1);
        self.buffer.truncate(end);
        Some(line)
    }

    fn read_more(&mut self) -> io::Result<()> {
        // As much again as is there already keeps the copying linear.
        let wanted = self.buffer.len().max(BLOCK);
        let start = self.before.saturating_sub(wanted as u64);
        let size = usize::try_from(self.before - start).unwrap_or(wanted);
        let mut block = vec![0; size];
        disk::read_exact_at(&self.file, &self.path, &mut block, start)?;
        block.append(&mut self.buffer);
        self.buffer = block;
        self.before = start;
        Ok(())
    }

    fn finish(&mut self, line: Vec<u8>) -> Option<io::Result<Vec<u8>>> {
        if std::mem::take(&mut self.overlong) || line.len() > LINE_CAP {
            return Some(Err(io::ErrorKind::InvalidData.into()));
        }
        (!line.is_empty()).then_some(Ok(line))
    }
}

impl Iterator for Backward {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(line) = self.cut() {
                match self.finish(line) {
                    Some(line) => return Some(line),
                    None => continue,
                }
            }
            if self.before == 0 {
                let first = std::mem::take(&mut self.buffer);
                return self.finish(first);
            }
            if self.buffer.len() > LINE_CAP {
                self.overlong = true;
                self.buffer.clear();
            }
            if let Err(error) = self.read_more() {
                self.before = 0;
                self.buffer.clear();
                self.overlong = false;
                return Some(Err(error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backward(bytes: &[u8]) -> Vec<Option<String>> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("f");
        std::fs::write(&path, bytes).expect("a file");
        let lines = Backward::of(open(&path).expect("open"), &path).expect("facts");
        lines.map(|line| line.ok().map(|line| String::from_utf8(line).expect("text"))).collect()
    }

    #[test]
    fn lines_come_from_the_last_to_the_first_across_blocks() {
        assert!(backward(b"").is_empty());
        assert_eq!(backward(b"a\n\nb\nc"), ["c", "b", "a"].map(|line| Some(line.to_owned())));
        assert_eq!(backward(b"\n\n"), []);
        let lines: Vec<String> =
            (0..5000).map(|at| format!("{at} {}", "x".repeat(at % 70))).collect();
        let mut found = backward((lines.join("\n") + "\n").as_bytes());
        found.reverse();
        assert_eq!(found, lines.into_iter().map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn a_line_that_would_fill_the_memory_is_passed_over() {
        let long = "y".repeat(LINE_CAP + 1);
        let found = backward(format!("a\n{long}\nb\n").as_bytes());
        assert_eq!(found, [Some("b".into()), None, Some("a".into())]);
        let huge = "y".repeat(3 * LINE_CAP);
        assert_eq!(backward(huge.as_bytes()), [None]);
    }

    #[test]
    fn links_and_pipes_are_not_opened() {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, link) = (directory.path().join("f"), directory.path().join("l"));
        std::fs::write(&file, "a\n").expect("a file");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert!(open(&file).is_ok());
        assert!(open(&link).is_err());
        assert!(open(directory.path()).is_err());
    }

    #[test]
    fn a_file_that_is_cut_meanwhile_ends_in_one_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("f");
        std::fs::write(&path, "a line\n".repeat(100_000)).expect("a file");
        let mut lines = Backward::of(open(&path).expect("open"), &path).expect("facts");
        assert!(matches!(lines.next(), Some(Ok(_))));
        std::fs::File::options().write(true).open(&path).expect("open").set_len(0).expect("cut");
        assert_eq!(lines.filter(Result::is_err).count(), 1);
    }
}
