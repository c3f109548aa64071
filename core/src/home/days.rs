//! The daily files read back: the newest line first, or as they grow.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::clock::Instant;
use crate::json::{JsString, Value, parse};

use super::jsonl::{LineEvent, day_of, directory};
use super::lines::{self, Backward, LINE_CAP};
use super::{Paths, disk, runs};

/// The most that is read of a growing file at a time, in bytes.
const STEP: usize = 1024 * 1024;

/// One line of a daily file.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// When it was appended, as written.
    pub ts: JsString,
    /// The advance.
    pub run_id: JsString,
    /// What it tells of.
    pub event: LineEvent,
    /// The plugin of a `plugin_result`.
    pub plugin: Option<JsString>,
    /// The plugin's outcome, or the run's.
    pub status: Option<JsString>,
    /// Milliseconds.
    pub elapsed_ms: Option<f64>,
    /// The plugin's result summary, or the run's.
    pub detail: Option<JsString>,
}

impl Logged {
    fn parse(line: &[u8]) -> Option<Self> {
        let value = parse(std::str::from_utf8(line).ok()?).ok()?;
        let text = |key| value.get(key).and_then(Value::as_string).cloned();
        Some(Self {
            ts: text("ts")?,
            run_id: text("run_id")?,
            event: LineEvent::from_name(text("event")?.as_str()?)?,
            plugin: text("plugin"),
            status: text("status"),
            elapsed_ms: value.get("elapsed_ms").and_then(Value::as_number),
            detail: text("detail"),
        })
    }
}

/// The lines of the daily files from the newest to the oldest, `None` for one that cannot be read.
/// Files are opened one after the other, as far as the caller goes, and none of a day before `since`;
/// a line that is not wanted as it stands is not read.
pub fn newest_first<'a>(
    paths: &Paths,
    since: Option<Instant>,
    is_wanted: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = Option<Logged>> + 'a {
    let first = since.map(day_of);
    let days = days(paths, |day| first.as_deref().is_none_or(|first| day >= first));
    days.into_iter().rev().flat_map(|path| day(&path)).filter_map(move |line| {
        let Some(line) = line else { return Some(None) };
        let unwanted = std::str::from_utf8(&line).is_ok_and(|line| !is_wanted(line));
        (!unwanted).then(|| Logged::parse(&line))
    })
}

/// The ids of the advances that may begin so, in no order: those of the day that it names, of every day
/// where it names none. An id begins with its day, and the file of that day holds its first line.
pub fn ids_of(paths: &Paths, beginning: &str) -> HashSet<JsString> {
    let mut ids = HashSet::new();
    let names_day = shape(beginning).zip(*b"0000-00-00").all(|(found, expected)| found == expected);
    let beginning = if names_day { beginning } else { "" };
    for path in days(paths, |day| day.starts_with(beginning) || beginning.starts_with(day)) {
        for line in day(&path).flatten() {
            // A run has a line for each plugin: one of them is read.
            let known = std::str::from_utf8(&line).ok().and_then(spelt_id);
            if !known.is_some_and(|id| ids.contains(&JsString::from(id))) {
                ids.extend(Logged::parse(&line).map(|line| line.run_id));
            }
        }
    }
    ids
}

/// The run id of a line as warpline writes it; `None` for a line that may name another one behind it.
fn spelt_id(line: &str) -> Option<&str> {
    const KEY: &str = r#""run_id":""#;
    let (_, behind) = line.split_once(KEY)?;
    let (id, rest) = behind.split_once('"')?;
    (!rest.contains(KEY)).then_some(id)
}

/// The daily files of some days, the oldest first.
fn days(paths: &Paths, is_meant: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let directory = directory(paths);
    let mut days: Vec<String> = runs::names_with_times(&directory)
        .map(|(name, _)| name)
        .filter(|name| {
            let day = name.strip_suffix(".jsonl").filter(|day| is_day(day));
            day.is_some_and(&is_meant)
        })
        .collect();
    days.sort();
    days.into_iter().map(|name| directory.join(name)).collect()
}

fn day(path: &Path) -> Box<dyn Iterator<Item = Option<Vec<u8>>>> {
    match lines::open(path).and_then(|file| Backward::of(file, path)) {
        Ok(lines) => Box::new(lines.map(Result::ok)),
        // It has just been pruned.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Box::new(std::iter::empty()),
        Err(_) => Box::new(std::iter::once(None)),
    }
}

fn is_day(name: &str) -> bool {
    shape(name).eq(*b"0000-00-00")
}

fn shape(text: &str) -> impl Iterator<Item = u8> + '_ {
    text.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte })
}

/// Hears the lines that are appended from now on, over midnight as well.
#[derive(Debug)]
pub struct Tail {
    directory: PathBuf,
    /// The files of yesterday, where a pass of that day may still write its last line, and today.
    growing: Vec<Growing>,
}

/// One file that may be absent, grow, be cut off or be replaced.
#[derive(Debug)]
struct Growing {
    day: String,
    identity: Option<(u64, u64)>,
    offset: u64,
    /// The beginning of a line whose end is not there yet.
    partial: Vec<u8>,
    overlong: bool,
}

impl Tail {
    /// Begins behind what is there now.
    pub fn at_end(paths: &Paths, now: Instant) -> Self {
        let directory = directory(paths);
        let mut growing = Growing::new(day_of(now));
        let path = growing.path(&directory);
        if let Ok(file) = lines::open(&path)
            && let Ok(found) = disk::facts(&file, &path)
        {
            growing.identity = Some((found.dev(), found.ino()));
            growing.offset = found.len();
        }
        Self { directory, growing: vec![growing] }
    }

    /// The whole lines that have come since the last call, `None` for one that cannot be read.
    ///
    /// A file that is shorter than it was, or another one in its place, is read from its beginning.
    pub fn poll(&mut self, now: Instant) -> Vec<Option<Logged>> {
        let today = day_of(now);
        if self.growing.last().is_none_or(|last| last.day < today) {
            self.growing.push(Growing::new(today));
            let surplus = self.growing.len().saturating_sub(2);
            self.growing.drain(..surplus);
        }
        let mut heard = Vec::new();
        for growing in &mut self.growing {
            // What cannot be opened now may be there the next time.
            let _ = growing.read(&self.directory, &mut heard);
        }
        heard
    }
}

impl Growing {
    fn new(day: String) -> Self {
        Self { day, identity: None, offset: 0, partial: Vec::new(), overlong: false }
    }

    fn path(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{}.jsonl", self.day))
    }

    fn read(&mut self, directory: &Path, heard: &mut Vec<Option<Logged>>) -> io::Result<()> {
        let path = self.path(directory);
        let file = lines::open(&path).inspect_err(|error| {
            // The next file may get the same number. One that is only out of reach goes on where it was.
            if error.kind() == io::ErrorKind::NotFound {
                self.identity = None;
            }
        })?;
        let found = disk::facts(&file, &path)?;
        let identity = Some((found.dev(), found.ino()));
        if identity != self.identity || found.len() < self.offset {
            *self = Self { identity, ..Self::new(std::mem::take(&mut self.day)) };
        }
        while self.offset < found.len() && self.step(&file, &path, heard)? {}
        Ok(())
    }

    /// Reads a piece; whether there was one.
    fn step(
        &mut self,
        file: &File,
        path: &Path,
        heard: &mut Vec<Option<Logged>>,
    ) -> io::Result<bool> {
        let mut piece = vec![0; STEP];
        let read = disk::read_at(file, path, &mut piece, self.offset)?;
        piece.truncate(read);
        self.offset += read as u64;
        let mut rest = piece.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, behind) = rest.split_at(end);
            self.partial.extend_from_slice(line);
            rest = behind.get(1..).unwrap_or_default();
            let line = std::mem::take(&mut self.partial);
            if std::mem::take(&mut self.overlong) {
                heard.push(None);
            } else if !line.is_empty() {
                heard.push(Logged::parse(&line));
            }
        }
        self.partial.extend_from_slice(rest);
        if self.partial.len() > LINE_CAP {
            self.overlong = true;
        }
        if self.overlong {
            self.partial.clear();
        }
        Ok(read > 0)
    }
}

#[cfg(test)]
mod tests;
