//! A directory with a home in it, its plugins, and a record of their effects that no home holds.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use warpline_core::clock::Instant;
use warpline_core::json::{Value, parse};

/// The instant of the command that meets the fault; what follows comes a minute later.
pub const NOW: &str = "2026-08-20T12:00:00.000Z";
pub const LATER: &str = "2026-08-20T12:01:00.000Z";

/// The run whose journal is left over where a scenario has one.
pub const DEAD: &str = "2026-08-20T113000000Z-0a1b2c3d";

pub fn at(text: &str) -> Instant {
    Instant::parse(text).expect("an instant")
}

/// Where one command meets one fault.
#[derive(Clone, Debug)]
pub struct Place {
    pub root: PathBuf,
}

impl Place {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.home().join(relative)
    }

    pub fn read(&self, relative: &str) -> Option<String> {
        fs::read_to_string(self.path(relative)).ok()
    }

    pub fn json(&self, relative: &str) -> Option<Value> {
        parse(&self.read(relative)?).ok()
    }

    /// A value of the state document by its path.
    pub fn state(&self, keys: &[&str]) -> Option<Value> {
        let state = self.json("state/engine-state.json")?;
        keys.iter().try_fold(state, |value, key| value.get(key).cloned())
    }

    pub fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("a file");
    }

    /// Adds a plugin; `fields` are JSON members over a minimal manifest without effects.
    pub fn plugin(&self, name: &str, fields: &str) {
        let separator = if fields.is_empty() { "" } else { "," };
        let literal = format!(
            r#"{{"name":"{name}","version":"1","description":"","autonomy_level":"autonomous","ttl_hours":12{separator}{fields}}}"#
        );
        // A later member wins.
        let literal = parse(&literal).expect("JSON").to_compact();
        self.write(
            &format!("plugins/{name}/manifest.ts"),
            &format!("export const manifest = {literal}"),
        );
        self.write(&format!("plugins/{name}/handler.ts"), "export const handler = 1");
    }

    pub fn grant(&self, scopes: &str) {
        let start = "2026-08-20T11:00:00.000Z";
        let end = "2026-08-20T14:00:00.000Z";
        self.write(".session-approval", &format!(
            r#"{{"granted_at":"{start}","first_granted_at":"{start}","expires_at":"{end}","scopes":{scopes}}}"#
        ));
    }

    /// Notes the effect of a handler.
    pub fn fire(&self, plugin: &str) {
        let file = OpenOptions::new().create(true).append(true).open(self.root.join("effects"));
        file.expect("a file").write_all(format!("{plugin}\n").as_bytes()).expect("a line");
    }

    /// How often each handler had its effect.
    pub fn effects(&self) -> BTreeMap<String, usize> {
        let text = fs::read_to_string(self.root.join("effects")).unwrap_or_default();
        let mut count = BTreeMap::new();
        for plugin in text.lines() {
            *count.entry(plugin.to_owned()).or_default() += 1;
        }
        count
    }

    /// Every file and link of the home by its path below it, with its bytes.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.home()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).into_iter().flatten() {
                let path = entry.expect("an entry").path();
                let facts = fs::symlink_metadata(&path).expect("facts");
                if facts.is_dir() {
                    open.push(path);
                    continue;
                }
                let bytes = if facts.is_symlink() {
                    fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
                } else {
                    fs::read(&path).expect("bytes")
                };
                let name = path.strip_prefix(self.home()).expect("below the home");
                found.insert(name.display().to_string(), bytes);
            }
        }
        found
    }
}

/// Whether a file of this name is one that a broken write left: nothing reads it.
pub fn is_leftover(name: &str) -> bool {
    let is_one = |part: &str| {
        (part.starts_with('.') && part.ends_with(".tmp")) || part.starts_with(".warpline-")
    };
    Path::new(name).iter().any(|part| is_one(&part.to_string_lossy()))
}

/// Whether a file of this name only carries a lock.
pub fn is_lock(name: &str) -> bool {
    name == "state/.lock" || name == "state/.state.lock"
}
