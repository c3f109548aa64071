//! The modules of a plugin: manifest, handler, and what they import of the plugin's own files.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::home::plugins::{Candidate, Language, module_bytes};
use crate::source::{Import, Module, Unreadable, python};

use super::finding::{Finding, Rule};

/// The most files of one plugin that are read.
const MOST_FILES: usize = 1000;

/// One file of the plugin.
pub(super) struct File {
    /// Its path below the plugin's directory.
    pub name: String,
    /// What it tells; empty where it could not be read.
    pub module: Module,
    /// Which of its imports are files of the plugin itself, in the order of the imports.
    pub own: Vec<bool>,
}

/// Reads manifest and handler, which come first, and every file of the plugin that they import.
pub(super) fn read(candidate: &Candidate, findings: &mut Vec<Finding>) -> Vec<File> {
    let extension = extension(candidate.language);
    let mut open: Vec<PathBuf> =
        ["manifest", "handler"].map(|file| PathBuf::from(format!("{file}.{extension}"))).to_vec();
    let mut files: Vec<File> = Vec::new();
    let mut next = 0;
    while let Some(path) = open.get(next).cloned() {
        next += 1;
        let name = path.display().to_string();
        let module = load(candidate, &path, &name, findings).unwrap_or_default();
        let mut own = Vec::new();
        for import in &module.imports {
            let found = match candidate.language {
                Language::TypeScript => resolve(candidate, &path, import, &name, findings),
                Language::Python => resolve_python(candidate, &path, import),
            };
            own.push(found.is_some());
            if let Some(found) = found.filter(|_| !import.types)
                && !open.contains(&found)
                && open.len() < MOST_FILES
            {
                open.push(found);
            }
        }
        files.push(File { name, module, own });
    }
    files
}

fn extension(language: Language) -> &'static str {
    match language {
        Language::TypeScript => "ts",
        Language::Python => "py",
    }
}

fn load(
    candidate: &Candidate,
    path: &Path,
    name: &str,
    findings: &mut Vec<Finding>,
) -> Option<Module> {
    let bytes = match module_bytes(&candidate.directory.join(path)) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            if name.starts_with("handler.") {
                let message = format!("there is no `{name}`");
                findings.push(Finding::error(Rule::HandlerMissing, name, message));
            }
            return None;
        }
        Err(error) => {
            let why = match error {
                Error::File { source, .. } => source.to_string(),
                other => other.to_string(),
            };
            let message = format!("the file cannot be read: {why}");
            findings.push(Finding::error(Rule::Unreadable, name, message));
            return None;
        }
    };
    let read = match candidate.language {
        Language::TypeScript => typescript(&bytes, name, findings),
        Language::Python => python::source_text(&bytes).and_then(|text| python::read(&text)),
    };
    match read {
        Ok(module) => Some(module),
        Err(Unreadable { line, message }) => {
            findings.push(Finding::error(Rule::Syntax, name, message).at(line));
            None
        }
    }
}

#[cfg(feature = "typescript")]
fn typescript(bytes: &[u8], name: &str, findings: &mut Vec<Finding>) -> Result<Module, Unreadable> {
    use crate::typescript::{FaultCode, erase, source_text};

    // What is neither, JSON for one, tells nothing.
    let is_typescript = name.ends_with(".ts") || name.ends_with(".mts");
    if !is_typescript && !name.ends_with(".js") && !name.ends_with(".mjs") {
        return Ok(Module::default());
    }
    let text = source_text(bytes);
    if is_typescript
        && let Err(fault) = erase(&text)
        && fault.code == FaultCode::Unsupported
    {
        let finding = Finding::error(Rule::Syntax, name, fault.message).at(fault.line);
        findings.push(finding.hint("use syntax whose types can be left out, such as a union"));
    }
    crate::source::typescript(&text)
}

#[cfg(not(feature = "typescript"))]
fn typescript(_: &[u8], _: &str, _: &mut Vec<Finding>) -> Result<Module, Unreadable> {
    Ok(Module::default())
}

/// The file of the plugin that a relative import names. One that leads nowhere is told.
fn resolve(
    candidate: &Candidate,
    importer: &Path,
    import: &Import,
    name: &str,
    findings: &mut Vec<Finding>,
) -> Option<PathBuf> {
    let module = import.module.as_str();
    if !module.starts_with("./") && !module.starts_with("../") {
        return None;
    }
    let is_file = |path: &Path| candidate.has_file(path);
    let plain = module.split(['?', '#']).next().unwrap_or(module);
    let target = crate::home::resolve(importer.parent().unwrap_or(Path::new("")), Path::new(plain));
    if is_file(&target) {
        // A file outside of the plugin is shared, and not the plugin's to answer for.
        return if leaves(importer, plain) { None } else { real(candidate, &target) };
    }
    if import.types || leaves(importer, plain) {
        return None;
    }
    let stem = plain.strip_suffix(".js").unwrap_or(plain);
    let spelt = format!("{stem}.ts");
    let meant = crate::home::resolve(importer.parent().unwrap_or(Path::new("")), Path::new(&spelt));
    let finding = if is_file(&meant) {
        let message = format!("the import of `{module}` needs the extension of the file");
        Finding::error(Rule::ImportPath, name, message).hint(format!("write `{spelt}`"))
    } else {
        Finding::error(Rule::ImportPath, name, format!("the import of `{module}` leads to no file"))
    };
    findings.push(finding.at(import.line));
    None
}

/// The path that a module has for the runtime, which follows links first; `None` outside of the plugin.
fn real(candidate: &Candidate, file: &Path) -> Option<PathBuf> {
    let directory = candidate.directory.canonicalize().ok()?;
    let real = candidate.directory.join(file).canonicalize().ok()?;
    real.strip_prefix(directory).ok().map(Path::to_owned)
}

/// Whether a relative path leads out of the plugin's directory.
fn leaves(importer: &Path, module: &str) -> bool {
    let mut depth = importer.components().count().saturating_sub(1);
    for part in module.split('/') {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

/// The file beside the importer, or at the top of the plugin, that a Python import names.
fn resolve_python(candidate: &Candidate, importer: &Path, import: &Import) -> Option<PathBuf> {
    let dots = import.module.chars().take_while(|c| *c == '.').count();
    let parts: Vec<&str> = import.module.split('.').filter(|part| !part.is_empty()).collect();
    let mut base = importer.parent().unwrap_or(Path::new("")).to_owned();
    for _ in 1..dots {
        base.pop();
    }
    let bases = if dots > 0 { vec![base] } else { vec![base, PathBuf::new()] };
    // `notes.to_text` is a name of `notes`, unless there is a module of that name.
    let ends = (1..=parts.len()).rev();
    ends.flat_map(|end| {
        let relative: PathBuf = parts.iter().take(end).collect();
        bases
            .iter()
            .flat_map(move |base| {
                let path = base.join(&relative);
                [path.with_extension("py"), path.join("__init__.py")]
            })
            .collect::<Vec<_>>()
    })
    .find(|path| candidate.has_file(path))
}
