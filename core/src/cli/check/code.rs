//! What a plugin's code is seen to do, held against what its manifest declares.

use crate::home::plugins::{Candidate, Language};
use crate::schema::manifest::{Manifest, SideEffect};
use crate::source::{Import, Shape, Sight};

use super::files::File;
use super::finding::{self, Finding, Rule};

/// The capability of a plugin that hands work to a model.
const LLM_REQUIRED: &str = "llm_required";

/// How many arguments a handler is called with.
const ARGUMENTS: usize = 4;

/// Modules of Node.js, and packages, that are there to reach over the network.
const NODE_NETWORK: [&str; 15] = [
    "http",
    "https",
    "http2",
    "net",
    "tls",
    "dgram",
    "dns",
    "undici",
    "axios",
    "got",
    "ky",
    "node-fetch",
    "superagent",
    "ws",
    "nodemailer",
];

/// Those of Python.
const PYTHON_NETWORK: [&str; 13] = [
    "urllib.request",
    "http.client",
    "requests",
    "httpx",
    "aiohttp",
    "urllib3",
    "socket",
    "smtplib",
    "ftplib",
    "imaplib",
    "xmlrpc.client",
    "websockets",
    "websocket",
];

/// Variables that tell of the machine and the user, and are no credentials.
const ORDINARY: [&str; 14] = [
    "HOME", "PATH", "PWD", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM", "TMPDIR", "HOSTNAME",
    "NODE_ENV", "CI", "DEBUG",
];

/// Checks the handler's export, and every file against the manifest.
pub(super) fn check(
    candidate: &Candidate,
    files: &[File],
    manifest: Option<&Manifest>,
    findings: &mut Vec<Finding>,
) {
    if let Some(file) = files.get(1) {
        handler(candidate.language, file, findings);
    }
    let Some(manifest) = manifest else { return };
    for file in files {
        imports(candidate.language, file, manifest, findings);
        for sighting in &file.module.sightings {
            let found = declared(&sighting.what, manifest, &file.name);
            findings.extend(found.map(|finding| finding.at(sighting.line)));
        }
    }
}

fn handler(language: Language, file: &File, findings: &mut Vec<Finding>) {
    let name = file.name.as_str();
    let Some(handler) = &file.module.handler else {
        if !finding::is_unread(name, findings) {
            let message = "no `handler` is exported";
            let finding = Finding::error(Rule::HandlerMissing, name, message);
            findings.push(finding.hint(match language {
                Language::TypeScript => "write `export const handler: CapabilityHandlerFn = ...`",
                Language::Python => "write `def handler(manifest, args, signal, capabilities):`",
            }));
        }
        return;
    };
    let wrong = match handler.shape {
        Shape::Other => Some("`handler` is no function".to_owned()),
        Shape::Function { generator: true, .. } => {
            Some("`handler` is a generator, which a call does not run".to_owned())
        }
        Shape::Function { required, .. } if required > ARGUMENTS => {
            Some(format!("`handler` needs {required} arguments and is called with {ARGUMENTS}"))
        }
        // JavaScript drops arguments that nobody takes; Python refuses the call.
        Shape::Function { most: Some(most), .. }
            if language == Language::Python && most < ARGUMENTS =>
        {
            Some(format!("`handler` takes {most} arguments and is called with {ARGUMENTS}"))
        }
        Shape::Function { .. } | Shape::Unknown => None,
    };
    findings.extend(wrong.map(|message| {
        Finding::error(Rule::HandlerShape, name, message)
            .at(handler.line)
            .hint("a handler takes manifest, args, signal and capabilities")
    }));
}

fn imports(language: Language, file: &File, manifest: &Manifest, findings: &mut Vec<Finding>) {
    if manifest.side_effects.contains(&SideEffect::ExternalApi) {
        return;
    }
    let others = file.module.imports.iter().zip(&file.own).filter(|(_, own)| !**own);
    let mut told: Vec<(&str, usize)> = Vec::new();
    for (import, _) in others.filter(|(import, _)| !import.types) {
        let Some(module) = network(language, import) else { continue };
        if !told.contains(&(module, import.line)) {
            told.push((module, import.line));
            let what = format!("`{module}` reaches over the network");
            findings.push(undeclared_network(&what, &file.name).at(import.line));
        }
    }
}

fn network(language: Language, import: &Import) -> Option<&'static str> {
    let module = import.module.strip_prefix("node:").unwrap_or(&import.module);
    let (known, separator): (&[&'static str], char) = match language {
        Language::TypeScript => (&NODE_NETWORK, '/'),
        Language::Python => (&PYTHON_NETWORK, '.'),
    };
    known.iter().copied().find(|name| {
        module.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
    })
}

fn undeclared_network(what: &str, file: &str) -> Finding {
    let message = format!("{what}, and `side_effects` does not hold `external_api`");
    Finding::error(Rule::UndeclaredNetwork, file, message)
        .hint("declare it: an effect that is not declared is never asked about")
}

fn declared(sight: &Sight, manifest: &Manifest, file: &str) -> Option<Finding> {
    match sight {
        Sight::Network(name) => {
            let declared = manifest.side_effects.contains(&SideEffect::ExternalApi);
            (!declared)
                .then(|| undeclared_network(&format!("`{name}` reaches over the network"), file))
        }
        Sight::Handoff => {
            let declared = manifest.capabilities.iter().any(|word| *word == LLM_REQUIRED);
            let message =
                "work is handed to a model, and `capabilities` does not hold `llm_required`";
            (!declared).then(|| Finding::warning(Rule::UndeclaredHandoff, file, message))
        }
        Sight::Dependency(plugin) => {
            let declared = manifest.dependencies.iter().any(|name| *name == plugin.as_str());
            let message =
                format!("`{plugin}` is read, and `dependencies` does not hold it: the call throws");
            (!declared).then(|| Finding::error(Rule::UndeclaredDependency, file, message))
        }
        Sight::Variable(name) => {
            let ordinary = ORDINARY.contains(&name.as_str())
                || name.starts_with("WARPLINE_")
                || name.starts_with("LC_")
                || name.starts_with("XDG_");
            let declared = manifest.secrets.iter().any(|secret| *secret == name.as_str());
            let message = format!(
                "the environment variable `{name}` is read, and `secrets` does not hold it"
            );
            (!declared && !ordinary).then(|| {
                Finding::warning(Rule::UndeclaredVariable, file, message).hint(
                    "a declared secret is checked before a run, and redacted in what it leaves",
                )
            })
        }
    }
}
