//! `config/<plugin>.json`: what an operator set for a plugin.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::json::JsString;

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

/// The text of a plugin's configuration; `None` where there is none.
///
/// # Errors
///
/// [`Error::File`] for a file that is there and cannot be read, [`Error::Option`] as for [`path`].
pub fn read(paths: &Paths, plugin: &JsString) -> Result<Option<String>> {
    files::read_text(&path(paths, plugin)?)
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
}
