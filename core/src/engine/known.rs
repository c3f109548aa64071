//! Manifests that are known without running anything: those that are one literal.

use std::num::NonZero;
use std::sync::OnceLock;

use tokio::task::JoinHandle;

use crate::home::plugins::{self, Candidate, Language};
use crate::json::{JsString, Map, Value};
use crate::schema::issue::issues_text;
use crate::schema::manifest::Manifest;
use crate::source::{LiteralManifest, python};

use super::LoadedPlugin;

/// From how many manifests on they are read on several threads.
const MANY: usize = 64;

/// A plugin whose manifest is known, and whether it is valid; `None` where only running it can tell.
pub(super) type Known = Option<Result<LoadedPlugin, String>>;

/// A plugin whose manifest has this value, or why it is none. `literal` says that nothing was run for it.
pub(super) fn validated(
    candidate: Candidate,
    manifest: &Value,
    literal: bool,
) -> Result<LoadedPlugin, String> {
    let Candidate { name, directory, language, .. } = candidate;
    let names = manifest.as_object().into_iter().flat_map(Map::keys);
    let unknown = |key: &&JsString| !Manifest::KEYS.iter().any(|known| *key == known);
    let unknown_keys = names.filter(unknown).cloned().collect();
    match Manifest::parse(manifest) {
        Ok(manifest) => {
            let document = OnceLock::new();
            Ok(LoadedPlugin {
                name,
                directory,
                language,
                manifest,
                literal,
                unknown_keys,
                document,
            })
        }
        Err(issues) => Err(format!("the manifest is not valid: {}", issues_text(&issues))),
    }
}

/// What can be said of a plugin without running its code: what its manifest's one literal says.
pub(super) fn known_without_import(candidate: &Candidate) -> Known {
    let source = plugins::module_bytes(&candidate.manifest).ok()??;
    // What lies behind the part that was read may be anything.
    if source.len() as u64 > plugins::MAX_MODULE_BYTES {
        return None;
    }
    let literal = match candidate.language {
        Language::TypeScript => typescript(&source),
        Language::Python => {
            python::literal_manifest(&source).filter(|_| !has_package_code(candidate))
        }
    };
    match literal? {
        LiteralManifest::Bare(manifest) => Some(validated(candidate.clone(), &manifest, true)),
        // A value that the schema refuses makes the module throw: the host reports what it throws.
        LiteralManifest::Parsed(manifest) => {
            validated(candidate.clone(), &manifest, true).ok().map(Ok)
        }
    }
}

/// Whether Python runs a module of the plugin before its manifest: a package begins with its `__init__.py`.
fn has_package_code(candidate: &Candidate) -> bool {
    let module = plugins::module_bytes(&candidate.directory.join("__init__.py"));
    !matches!(module.as_ref().map(Option::as_deref), Ok(None | Some([])))
}

#[cfg(feature = "typescript")]
fn typescript(source: &[u8]) -> Option<LiteralManifest> {
    use crate::typescript::{literal_manifest, source_text};
    literal_manifest(&source_text(source))
}

#[cfg(not(feature = "typescript"))]
fn typescript(_: &[u8]) -> Option<LiteralManifest> {
    None
}

/// [`known_without_import`] of each, on as many threads as there are processors where it is worth that.
pub(super) async fn all_known(candidates: &[Candidate]) -> Vec<Known> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    if threads == 1 || candidates.len() < MANY {
        return candidates.iter().map(known_without_import).collect();
    }
    let read = |part: &[Candidate]| {
        let part = part.to_vec();
        let count = part.len();
        let work = move || part.iter().map(known_without_import).collect();
        (count, tokio::task::spawn_blocking(work))
    };
    let parts: Vec<(usize, JoinHandle<Vec<Known>>)> =
        candidates.chunks(candidates.len().div_ceil(threads)).map(read).collect();
    let mut known: Vec<Known> = Vec::with_capacity(candidates.len());
    for (count, part) in parts {
        let end = known.len() + count;
        known.extend(part.await.unwrap_or_default());
        // Where a thread failed, only running the modules can tell.
        known.resize_with(end, || None);
    }
    known
}
