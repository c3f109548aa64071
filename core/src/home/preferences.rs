//! `preferences.json`: read, never written.

use crate::error::{Error, Result};
use crate::json::parse;
use crate::schema::preferences::Preferences;

use super::{Paths, files};

/// The operator's choices; defaults where there is no file.
///
/// # Errors
///
/// [`Error::File`], [`Error::NotJson`], [`Error::Invalid`]: what is there cannot be taken for a
/// choice, so nothing may run on a guess.
pub fn read(paths: &Paths) -> Result<Preferences> {
    let path = &paths.preferences;
    let Some(text) = files::read_text(path)? else {
        return Ok(Preferences::default());
    };
    let value = parse(&text).map_err(|source| Error::NotJson { path: path.clone(), source })?;
    Preferences::parse(&value).map_err(|issues| Error::Invalid { path: path.clone(), issues })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::runs::tests::home;

    #[test]
    fn no_file_means_the_defaults_and_an_unusable_one_is_refused_by_name() {
        let (root, mut paths) = home();
        assert_eq!(read(&paths).expect("absent"), Preferences::default());
        paths.preferences = root.path().join("moved.json");
        let put =
            |bytes: &[u8]| files::write_atomic(&paths.preferences, bytes, None).expect("file");
        put(br#"{"review_gate":true}"#);
        assert!(read(&paths).expect("readable").review_gate);
        for (bytes, code) in [
            (&b"{"[..], "ERR_WARPLINE_NOT_JSON"),
            (b"\xff", "ERR_WARPLINE_FILE"),
            (br#"{"review_gate":"yes"}"#, "ERR_WARPLINE_INVALID"),
            (br#"{"quiet_ours":null}"#, "ERR_WARPLINE_INVALID"),
        ] {
            put(bytes);
            let error = read(&paths).expect_err("refused");
            assert_eq!(error.code(), code);
            assert!(error.to_string().contains("moved.json"), "{error}");
        }
    }
}
