//! What documents of a home point to: runs, files of Outputs, context files of hand-offs.

use std::path::{Path, PathBuf};

use crate::json::JsString;
use crate::schema::closed_set;

use super::{Paths, disk, resolve, runs};

closed_set! {
    /// Whether a run that a document names is still kept.
    RunReference {
        /// Its document is there.
        Retained = "retained",
        /// It is named, and its document is gone.
        NotRetained = "not_retained",
        /// No run is named.
        None = "none",
    }
}

closed_set! {
    /// What lies where a hand-off has its context.
    ContextFile {
        /// A file of the home.
        Present = "present",
        /// No file.
        Missing = "missing",
        /// Something that lies outside of the home, or that a link leads out of it for.
        Outside = "outside",
        /// The hand-off names no file.
        Unnamed = "unnamed",
    }
}

/// Whether the run that is named, if one is, is still kept.
pub fn run_reference(paths: &Paths, run_id: Option<&JsString>) -> RunReference {
    match run_id {
        None => RunReference::None,
        Some(run_id) if runs::is_retained(paths, run_id) => RunReference::Retained,
        Some(_) => RunReference::NotRetained,
    }
}

/// Whether anything lies at the path of an Output. A relative one counts from the home.
pub fn output_exists(paths: &Paths, path: &JsString) -> bool {
    path.as_str().is_some_and(|path| disk::follow(&paths.home.join(path)).is_ok())
}

/// The absolute path of a context file, and what lies there.
pub fn context_file(paths: &Paths, path: &JsString) -> (PathBuf, ContextFile) {
    let path = resolve(&paths.home, Path::new(&path.to_text()));
    let found = match (disk::resolve(&path), disk::resolve(&paths.home)) {
        (Ok(file), Ok(home)) if !file.starts_with(&home) => ContextFile::Outside,
        (Ok(file), Ok(_)) if disk::is_file(&file) => ContextFile::Present,
        _ => ContextFile::Missing,
    };
    (path, found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::home::runs::tests::home;

    /// Cases: T495.
    #[test]
    fn a_named_run_is_kept_or_not_and_none_is_neither() {
        let (_root, paths) = home();
        fs::create_dir_all(&paths.runs_dir).expect("a directory");
        fs::write(paths.runs_dir.join("r1.json"), "").expect("a document");
        let of = |run_id: Option<&str>| run_reference(&paths, run_id.map(JsString::from).as_ref());
        assert_eq!(of(Some("r1")), RunReference::Retained);
        assert_eq!(of(Some("r2")), RunReference::NotRetained);
        assert_eq!(of(Some("../runs/r1")), RunReference::NotRetained);
        assert_eq!(of(None), RunReference::None);
    }

    #[test]
    fn a_context_is_a_file_inside_the_home_whatever_leads_to_it() {
        let (root, paths) = home();
        fs::create_dir_all(paths.home.join("state")).expect("a directory");
        fs::write(paths.home.join("state/c.json"), "").expect("a file");
        fs::write(root.path().join("secret"), "").expect("a file");
        std::os::unix::fs::symlink(root.path().join("secret"), paths.home.join("l")).expect("link");
        std::os::unix::fs::symlink("state/c.json", paths.home.join("k")).expect("link");
        let of = |path: &str| context_file(&paths, &path.into());
        assert_eq!(of("state/./c.json"), (paths.home.join("state/c.json"), ContextFile::Present));
        assert_eq!(of("k").1, ContextFile::Present);
        assert_eq!(of("l").1, ContextFile::Outside);
        assert_eq!(of(&root.path().join("secret").display().to_string()).1, ContextFile::Outside);
        assert_eq!((of("state").1, of("x").1), (ContextFile::Missing, ContextFile::Missing));
        assert!(output_exists(&paths, &"state/c.json".into()));
        assert!(!output_exists(&paths, &"gone.md".into()));
        assert!(!output_exists(&paths, &JsString::from_utf16(&[0xd83d])));
    }
}
