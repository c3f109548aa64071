//! The files of a new plugin, as text in which the plugin's name stands in for itself.

use std::path::PathBuf;

use crate::home::plugins::Language;
use crate::home::setup::PluginFile;

/// What stands in the templates for the name.
const NAME: &str = "plugin-name";

/// What a type checker needs to know of a home.
pub(super) const TSCONFIG: &str = include_str!("../../../templates/ts/tsconfig.json");

/// The files of a plugin of this name, its test last.
pub(super) fn files(language: Language, name: &str) -> Vec<PluginFile> {
    let texts = match language {
        Language::TypeScript => [
            ("manifest.ts".to_owned(), include_str!("../../../templates/ts/manifest.ts")),
            ("handler.ts".to_owned(), include_str!("../../../templates/ts/handler.ts")),
            ("handler.test.mjs".to_owned(), include_str!("../../../templates/ts/handler.test.mjs")),
        ],
        // Named after the plugin, because pytest tells files apart by their names alone.
        Language::Python => [
            ("manifest.py".to_owned(), include_str!("../../../templates/python/manifest.py")),
            ("handler.py".to_owned(), include_str!("../../../templates/python/handler.py")),
            (
                format!("test_{}.py", name.replace('-', "_")),
                include_str!("../../../templates/python/test_plugin.py"),
            ),
        ],
    };
    let filled = |(file, text): (String, &str)| PluginFile {
        path: PathBuf::from(file),
        bytes: text.replace(NAME, name).into_bytes(),
    };
    texts.into_iter().map(filled).collect()
}
