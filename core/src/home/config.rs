//! `config/<plugin>.json`: what an operator set for a plugin.

use std::io;
use std::path::PathBuf;

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::json::{JsString, Map, Value, parse};
use crate::schema::config::check_file_value;

use super::lock::StateLock;
use super::{Paths, files};

/// The configuration file of a plugin.
///
/// # Errors
///
/// [`Error::Option`] for a name that cannot be that of a directory, and so could lead elsewhere.
pub fn path(paths: &Paths, plugin: &JsString) -> Result<PathBuf> {
    let name = plugin.as_str().filter(|name| {
        !name.is_empty() && !matches!(*name, "." | "..") && !name.contains(['/', '\0'])
    });
    match name {
        Some(name) => Ok(paths.config_dir.join(format!("{name}.json"))),
        None => Err(Error::Option { option: "plugin", expected: "the name of a directory".into() }),
    }
}

/// Where the JSON Schema of a plugin's configuration lies, for editors.
///
/// # Errors
///
/// As for [`path`].
pub fn schema_path(paths: &Paths, plugin: &JsString) -> Result<PathBuf> {
    let file = path(paths, plugin)?;
    Ok(paths.config_dir.join("schemas").join(file.file_name().unwrap_or_default()))
}

/// The text of a plugin's configuration; `None` where there is none.
///
/// # Errors
///
/// [`Error::File`] for a file that is there and cannot be read, [`Error::Option`] as for [`path`].
pub fn read(paths: &Paths, plugin: &JsString) -> Result<Option<String>> {
    files::read_text(&path(paths, plugin)?)
}

/// A configuration as it is on the disk, to be written anew.
#[derive(Clone, Debug)]
pub struct Stored {
    path: PathBuf,
    text: Option<String>,
    /// What it sets.
    pub values: Map,
}

impl Stored {
    /// Reads the configuration of a plugin; one that is not there sets nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NotJson`] and [`Error::Invalid`] for what is no configuration, and as for [`read`].
    pub fn read(paths: &Paths, plugin: &JsString) -> Result<Self> {
        let (path, text) = (path(paths, plugin)?, read(paths, plugin)?);
        let values = match text.as_deref().map(parse) {
            None => Map::new(),
            Some(Err(source)) => return Err(Error::NotJson { path, source }),
            Some(Ok(value)) => match check_file_value(&value) {
                Ok(value) => value.as_object().cloned().unwrap_or_default(),
                Err(issues) => return Err(Error::Invalid { path, issues }),
            },
        };
        Ok(Self { path, text, values })
    }

    /// The file.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Puts `values` in its place, unless it sets exactly these already; says whether it did.
    ///
    /// # Errors
    ///
    /// [`Error::File`] when it cannot be written, or is no longer what was read: somebody else may
    /// have edited it while a person was thinking about an answer. [`Error::StateLockTimeout`] where
    /// another writer does not come to its end.
    pub fn replace(&self, paths: &Paths, now: Instant, values: Map) -> Result<bool> {
        let text = Value::from(values).to_pretty();
        let changes = self.text.as_ref() != Some(&text);
        // Held from the look to the writing: of two that read the same, one writes and one is refused.
        let _lock = changes.then(|| StateLock::acquire(paths, now)).transpose()?;
        if files::read_text(&self.path)? != self.text {
            let changed = io::Error::other("it was changed by somebody else meanwhile");
            return Err(Error::file("write", &self.path)(changed));
        }
        if changes {
            files::replace(&paths.home, &self.path, text.as_bytes())?;
        }
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::runs::tests::home;

    #[test]
    fn a_configuration_is_found_by_the_name_of_the_directory() {
        let (_root, paths) = home();
        assert_eq!(read(&paths, &"p".into()).expect("absent"), None);
        files::write_atomic(&paths.config_dir.join("p.json"), b"{\"b\":1}", None).expect("write");
        let text = read(&paths, &"p".into()).expect("readable").expect("there");
        assert_eq!(text, "{\"b\":1}");
        std::fs::create_dir(paths.config_dir.join("q.json")).expect("directory");
        assert!(read(&paths, &"q".into()).is_err(), "unreadable is not absent");
    }

    #[test]
    fn a_name_cannot_lead_out_of_the_directory() {
        let (_root, paths) = home();
        for name in ["", "..", ".", "../preferences", "a/b", "a\0"] {
            assert!(read(&paths, &name.into()).is_err(), "{name:?}");
        }
        assert!(read(&paths, &JsString::from_utf16(&[0xd800])).is_err());
    }

    #[test]
    fn a_configuration_is_replaced_unless_somebody_else_changed_it() {
        let (_root, paths) = home();
        let one = || Map::from_iter([("a", 1.0)]);
        let stored = Stored::read(&paths, &"p".into()).expect("absent");
        assert!(stored.values.is_empty());
        assert!(stored.replace(&paths, Instant::now(), one()).expect("written"));
        assert_eq!(read(&paths, &"p".into()).expect("there").as_deref(), Some("{\n  \"a\": 1\n}"));
        let again = Stored::read(&paths, &"p".into()).expect("there");
        assert_eq!(again.values, one());
        assert!(!again.replace(&paths, Instant::now(), one()).expect("the same"));
        files::write_atomic(again.path(), b"{}", None).expect("an edit");
        let replaced = |stored: &Stored| stored.replace(&paths, Instant::now(), Map::new());
        assert!(replaced(&again).is_err(), "what was read is gone");
        assert!(replaced(&stored).is_err(), "there was no file");
    }

    #[test]
    fn no_writer_takes_back_what_another_one_wrote() {
        const TIMES: usize = 20;
        let (_root, paths) = home();
        let count = |key: &str| {
            let mut done = 0;
            while done < TIMES {
                // Both may be refused now and then: the other one was first.
                let Ok(stored) = Stored::read(&paths, &"p".into()) else { continue };
                let mut values = stored.values.clone();
                let before = values.get(key).and_then(Value::as_number).unwrap_or_default();
                values.insert(key, Value::Number(before + 1.0));
                done += usize::from(stored.replace(&paths, Instant::now(), values).is_ok());
            }
        };
        std::thread::scope(|scope| {
            for key in ["a", "b", "c"] {
                scope.spawn(move || count(key));
            }
        });
        let stored = Stored::read(&paths, &"p".into()).expect("there");
        let told = ["a", "b", "c"].map(|key| stored.values.get(key).and_then(Value::as_number));
        assert_eq!(told, [Some(TIMES as f64); 3]);
    }

    #[test]
    fn what_is_no_configuration_is_not_read_as_an_empty_one() {
        let (_root, paths) = home();
        for text in ["", "{", "[]", r#"{"":1}"#, r#"{"toString":1}"#] {
            files::write_atomic(&paths.config_dir.join("p.json"), text.as_bytes(), None)
                .expect("write");
            assert!(Stored::read(&paths, &"p".into()).is_err(), "{text}");
        }
    }
}
