//! `scaffold`: a plugin that type-checks, loads and runs, to be changed into what is wanted.

mod example;
mod templates;

use std::path::Path;

use crate::home::plugins::Language;
use crate::home::setup::{self, Outcome, PluginFile};
use crate::json::{JsString, Map, Value};
use crate::schema::is_prototype_member;

use super::authoring::Scaffold;
use super::configure::Stop;
use super::context::{Context, Refused, path_text};
use super::preparation::Preparation;
use super::{exit, text};

/// Writes the plugin, reports, and returns the exit code.
pub(super) fn run<F>(context: &Context<'_, F>, options: &Scaffold) -> i32 {
    match scaffold(context, options) {
        Ok(()) => exit::DONE,
        Err(stop) => stop.tell(context),
    }
}

fn scaffold<F>(context: &Context<'_, F>, options: &Scaffold) -> Result<(), Stop> {
    let name = options.plugin.as_str();
    refuse_name(name)?;
    let root = &context.paths.plugins;
    if root.as_os_str().is_empty() {
        return Err(crate::error::Error::EmptyPluginRoot.into());
    }
    let target = root.join(name);
    let taken = || {
        Refused::new(format!("{} is there already", target.display()))
            .leaving("nothing was written")
    };
    if setup::is_taken(&target) {
        return Err(taken().hint("choose another name").into());
    }
    let (language, files) = files(context, options)?;

    let mut preparation = Preparation::new(context, options.json);
    preparation.home()?;
    if language == Language::TypeScript && root.starts_with(&context.paths.home) {
        let file = context.paths.home.join("tsconfig.json");
        preparation
            .tell(setup::missing_file(&context.paths.home, &file, templates::TSCONFIG)?, &file);
    }
    if setup::new_plugin(&target, &files)? == Outcome::Kept {
        return Err(taken().into());
    }
    preparation.tell(Outcome::Created, &target);
    let own = language == host_language(context);
    let report = Report { options, language, own, target: &target, files: &files };
    context.report(options.json, || report.to_value(&preparation), || report.to_text());
    Ok(())
}

fn refuse_name(name: &str) -> Result<(), Refused> {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let refused = Refused::new(format!("invalid plugin name `{}`", text::line_str(name)));
    if !plain {
        return Err(refused.hint("a name is a-z, 0-9 and `-`, with a letter in front"));
    }
    if is_prototype_member(&JsString::from(name)) {
        return Err(refused.hint("every JavaScript object has a member of this name"));
    }
    Ok(())
}

/// The files to write, and the language they are in: that of the host unless another is asked for.
fn files<F>(
    context: &Context<'_, F>,
    options: &Scaffold,
) -> Result<(Language, Vec<PluginFile>), Stop> {
    let name = options.plugin.as_str();
    // The examples lie beside the seed, and are in the language of the host like it.
    let examples = context.io.package.seed.as_deref().and_then(Path::parent);
    let Some(example) = &options.from else {
        let language = options.language.unwrap_or_else(|| host_language(context));
        return Ok((language, templates::files(language, name)));
    };
    let (language, files) = example::files(examples, example, name)?;
    match options.language {
        Some(asked) if asked != language => {
            let message =
                format!("the example `{example}` is written in {language}, not in {asked}");
            Err(Refused::new(message)
                .hint("leave out `--lang`, or use the other host's command")
                .into())
        }
        _ => Ok((language, files)),
    }
}

fn host_language<F>(context: &Context<'_, F>) -> Language {
    let seed = context.io.package.seed.as_deref();
    let python = seed.is_some_and(|seed| seed.join(Language::Python.manifest()).is_file());
    if python { Language::Python } else { Language::TypeScript }
}

struct Report<'a> {
    options: &'a Scaffold,
    language: Language,
    /// Whether this host runs it.
    own: bool,
    target: &'a Path,
    files: &'a [PluginFile],
}

impl Report<'_> {
    /// `{plugin, directory, language, from, files, home, created, mended, unchanged, left_alone}`.
    fn to_value<F>(&self, preparation: &Preparation<'_, F>) -> Value {
        let files = self.files.iter().map(|file| Value::from(file.path.display().to_string()));
        let mut map = Map::new();
        map.insert("plugin", self.options.plugin.as_str());
        map.insert("directory", preparation.relative(self.target));
        map.insert("language", language_name(self.language));
        map.insert("from", self.options.from.as_deref().map(JsString::from));
        map.insert("files", files.collect::<Vec<_>>());
        for (key, value) in preparation.to_map() {
            map.insert(key, value);
        }
        map.into()
    }

    fn to_text(&self) -> String {
        let mut lines = String::new();
        for file in self.files {
            lines.push_str(&format!("  {}\n", path_text(&file.path)));
        }
        let name = &self.options.plugin;
        let command = match self.language {
            _ if self.own => "warpline",
            Language::TypeScript => "npx warpline",
            Language::Python => "python -m warpline",
        };
        lines.push_str(&format!("`{command} run {name} try` runs it"));
        // An example has its tests in the package; only a template brings one along.
        if let (None, Some(test)) = (&self.options.from, self.files.last()) {
            let path =
                text::word(&JsString::from(self.target.join(&test.path).display().to_string()));
            let command = match self.language {
                Language::TypeScript => "node --test",
                Language::Python => "python -m pytest",
            };
            lines.push_str(&format!(", `{command} {path}` tests it"));
        }
        lines + "\n"
    }
}

/// What `--lang` calls a language.
pub(super) fn language_name(language: Language) -> &'static str {
    match language {
        Language::TypeScript => "ts",
        Language::Python => "python",
    }
}

/// The language that `--lang` names.
pub(super) fn language_of(name: &str) -> Option<Language> {
    Language::ALL.iter().copied().find(|language| language_name(*language) == name)
}
