//! Plugin names typed by a person: known, unknown with their nearest neighbour, or not loadable.

use crate::answers::Named;
use crate::error::Error;
use crate::json::JsString;

use super::context::Refused;
use super::fleet::Loaded;
use super::text;

/// The plugins of these names with their manifests; refuses names that are not plugins, and plugins
/// that do not load.
pub(super) fn known<'a>(
    names: &'a [JsString],
    loaded: &'a Loaded,
) -> Result<Vec<Named<'a>>, Refused> {
    if let Some((path, code)) = &loaded.root_error {
        let error = Error::PluginRoot { path: path.clone(), code: code.clone() };
        return Err(Refused::from(&error));
    }
    let unknown: Vec<&JsString> =
        names.iter().filter(|name| loaded.manifest(name).is_none()).collect();
    if !unknown.is_empty() {
        return Err(refusal(&unknown, loaded));
    }
    Ok(names.iter().filter_map(|name| Some((name, loaded.manifest(name)?))).collect())
}

/// The refusal of names of which no plugin could be loaded.
pub(super) fn refusal(unknown: &[&JsString], loaded: &Loaded) -> Refused {
    let broken =
        unknown.iter().find_map(|name| loaded.failures.iter().find(|(failed, _)| failed == *name));
    if let Some((name, error)) = broken {
        let refused = Refused::new(format!("plugin `{name}` does not load: {error}"));
        return refused.hint("mend its files; `warpline plan` lists what does not load");
    }
    let message = format!("unknown plugin {}", list(unknown.iter().copied()));
    let known = loaded.manifests.iter().map(|(name, _)| name);
    let otherwise = if loaded.manifests.is_empty() {
        "no plugin is installed; `warpline init` brings a first one"
    } else {
        "`warpline plan` lists the plugins"
    };
    Refused::new(message).hint_near(unknown.iter().copied(), known, otherwise)
}

/// Names in backticks, separated by commas.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a JsString>) -> String {
    names.into_iter().map(|name| format!("`{}`", text::line(name))).collect::<Vec<_>>().join(", ")
}
