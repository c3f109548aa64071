//! What an engine remembers of plugins that it has met, so that calling one again costs a look at its files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::Instant;
use crate::home::plugins::{self, Candidate, Footprint};

use super::{LoadedPlugin, PluginModule};

/// For how many seconds after a file was written its times may not tell of another write.
const UNSETTLED_SECONDS: i64 = 2;

/// How many plugins are remembered.
const KEPT: usize = 1_000;

/// What is known of plugins, each at one revision of its files.
#[derive(Default)]
pub(super) struct Memory {
    /// By the path below the root, whatever that leads to.
    met: Mutex<HashMap<PathBuf, Met>>,
    /// By directory.
    handlers: Mutex<HashMap<PathBuf, String>>,
}

/// A plugin as its files are, or were when it was looked at.
#[derive(Clone)]
pub(super) struct Met {
    pub(super) plugin: Arc<LoadedPlugin>,
    pub(super) module: Arc<PluginModule>,
    footprint: Option<Arc<Footprint>>,
}

fn with<T, R>(
    table: &Mutex<HashMap<PathBuf, T>>,
    change: impl FnOnce(&mut HashMap<PathBuf, T>) -> R,
) -> R {
    change(&mut table.lock().unwrap_or_else(PoisonError::into_inner))
}

fn keep<T>(table: &Mutex<HashMap<PathBuf, T>>, path: &Path, what: T) {
    with(table, |table| {
        if table.len() >= KEPT && !table.contains_key(path) {
            table.clear();
        }
        table.insert(path.to_owned(), what);
    });
}

impl Memory {
    /// The plugin at `path`, if a look at each of its few files shows that it is as it was.
    pub(super) fn unchanged(&self, path: &Path) -> Option<Met> {
        let met = with(&self.met, |table| table.get(path).cloned())?;
        met.footprint.as_ref()?.holds(path).then_some(met)
    }

    /// The plugin that was found at `path`, as it was read from these very files, or what `read` says of
    /// it, which is remembered unless a file was written only just now.
    pub(super) fn plugin(
        &self,
        path: &Path,
        candidate: &Candidate,
        now: Instant,
        read: impl FnOnce() -> Option<Result<LoadedPlugin, String>>,
    ) -> Option<Result<Met, String>> {
        let directory = &candidate.directory;
        let found = plugins::survey(directory);
        let same = |met: &Met| {
            met.module.directory == *directory
                && met.module.revision == found.revision
                && met.plugin.name == candidate.name
        };
        let known = with(&self.met, |table| table.get(path).filter(|met| same(met)).cloned());
        let plugin = match known {
            Some(met) => met.plugin,
            None => match read()? {
                Ok(plugin) => Arc::new(plugin),
                Err(reason) => return Some(Err(reason)),
            },
        };
        let (name, directory) = (candidate.name.clone(), directory.clone());
        let module = Arc::new(PluginModule { name, directory, revision: found.revision });
        let footprint = found.footprint.map(Arc::new);
        let met = Met { plugin, module, footprint };
        if found.changed.saturating_add(UNSETTLED_SECONDS) < now.ms() / 1000 {
            keep(&self.met, path, met.clone());
        }
        Some(Ok(met))
    }

    /// Whether the host has loaded the handler of this module.
    pub(super) fn has_handler(&self, module: &PluginModule) -> bool {
        with(&self.handlers, |table| table.get(&module.directory) == Some(&module.revision))
    }

    /// Remembers that it has.
    pub(super) fn keep_handler(&self, module: &PluginModule) {
        keep(&self.handlers, &module.directory, module.revision.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use crate::engine::known::validated;
    use crate::home::plugins::find;
    use crate::home::plugins::tests::next_tick;

    use super::*;

    /// Reads the plugin at `path`, so long after the last change of its files.
    fn meet(memory: &Memory, root: &Path, later_ms: i64) -> Met {
        let candidate = find(root, &"p".into()).expect("a plugin");
        let changed = plugins::survey(&candidate.directory).changed;
        let now = Instant::from_ms(changed * 1000 + later_ms).expect("in range");
        let manifest = crate::json::parse(
            r#"{"name":"p","version":"1","description":"","autonomy_level":"manual","ttl_hours":1}"#,
        );
        let read = || Some(validated(candidate.clone(), &manifest.expect("JSON"), true));
        let met = memory.plugin(&root.join("p"), &candidate, now, read);
        met.expect("read").expect("valid")
    }

    #[test]
    fn a_plugin_is_unchanged_until_anything_of_it_changes() {
        let home = tempfile::tempdir().expect("temporary directory");
        let (root, other) = (home.path().join("plugins"), home.path().join("other"));
        for directory in [root.join("p/deep"), other.clone()] {
            fs::create_dir_all(directory).expect("directory");
        }
        for file in ["manifest.ts", "handler.ts", "deep/part.ts"] {
            fs::write(root.join("p").join(file), "").expect("file");
        }
        fs::write(other.join("part.ts"), "").expect("file");
        symlink(other.join("part.ts"), root.join("p/linked.ts")).expect("link");
        symlink(root.join("p"), other.join("p")).expect("link");
        let path = root.join("p");

        let memory = Memory::default();
        assert!(memory.unchanged(&path).is_none(), "nothing is known yet");
        meet(&memory, &root, 0);
        assert!(memory.unchanged(&path).is_none(), "its times may not tell of another write");

        let write = |path: PathBuf| move || fs::write(&path, "changed").expect("file");
        let changes: Vec<Box<dyn Fn()>> = vec![
            Box::new(write(root.join("p/handler.ts"))),
            Box::new(write(root.join("p/deep/part.ts"))),
            Box::new(write(root.join("p/new.ts"))),
            Box::new(write(root.join("p/deep/new.ts"))),
            Box::new(write(other.join("part.ts"))),
            Box::new(|| fs::remove_file(root.join("p/new.ts")).expect("removed")),
            Box::new(|| {
                fs::rename(root.join("p/deep/new.ts"), root.join("p/deep/n.ts")).expect("moved")
            }),
            Box::new(|| {
                fs::remove_file(root.join("p/linked.ts")).expect("removed");
                symlink(root.join("p/handler.ts"), root.join("p/linked.ts")).expect("link");
            }),
            Box::new(|| {
                fs::remove_file(other.join("part.ts")).expect("removed");
                fs::rename(root.join("p"), other.join("moved")).expect("moved");
                symlink(other.join("moved"), root.join("p")).expect("link");
            }),
            Box::new(|| {
                fs::create_dir_all(other.join("twin")).expect("directory");
                fs::copy(root.join("p/manifest.ts"), other.join("twin/manifest.ts")).expect("copy");
                fs::remove_file(root.join("p")).expect("removed");
                symlink(other.join("twin"), root.join("p")).expect("link");
            }),
            Box::new(|| fs::remove_file(root.join("p")).expect("removed")),
        ];
        for (number, change) in changes.iter().enumerate() {
            let met = meet(&memory, &root, 10_000);
            let same = memory.unchanged(&path).expect("nothing has changed");
            assert_eq!(same.module.revision, met.module.revision);
            next_tick(home.path());
            change();
            assert!(memory.unchanged(&path).is_none(), "change {number}");
        }
    }

    #[test]
    fn of_many_files_none_is_looked_at_by_itself() {
        let home = tempfile::tempdir().expect("temporary directory");
        let plugin = home.path().join("p");
        fs::create_dir(&plugin).expect("directory");
        fs::write(plugin.join("manifest.ts"), "").expect("file");
        for number in 0..70 {
            fs::write(plugin.join(format!("{number}.ts")), "").expect("file");
        }
        let memory = Memory::default();
        let met = meet(&memory, home.path(), 10_000);
        assert!(met.footprint.is_none() && memory.unchanged(&plugin).is_none());
        let again = meet(&memory, home.path(), 10_000);
        assert!(Arc::ptr_eq(&met.plugin, &again.plugin), "it is read once all the same");
    }
}
