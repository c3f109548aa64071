//! `configure`: asks for the inputs of a plugin, or takes them, and writes its configuration once.

pub(super) mod ask;
mod given;
pub(super) mod report;

use crate::error::Error;
use crate::home::config::{Stored, schema_path};
use crate::home::setup::{Outcome, current_file};
use crate::json::Map;
use crate::schema::config::{ConfigFault, ConfigProblem, an};
use crate::schema::manifest::Manifest;
use crate::schema::settings;

use super::authoring::Configure;
use super::context::{Context, Refused};
use super::fleet::Fleet;
use super::input::Ended;
use super::{exit, names};

/// Why nothing was written.
pub(super) enum Stop {
    /// It was refused.
    Refused(Refused),
    /// A signal ended it.
    Interrupted,
}

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(Refused::from(&error))
    }
}

impl From<Ended> for Stop {
    fn from(ended: Ended) -> Self {
        let undone = "nothing was written";
        match ended {
            Ended::Cancelled => Self::Interrupted,
            Ended::Input => {
                Refused::new("standard input ended before the last answer").leaving(undone).into()
            }
            Ended::Failed(why) => {
                Refused::new(format!("cannot read standard input: {why}")).leaving(undone).into()
            }
        }
    }
}

impl Stop {
    /// Reports it and returns the exit code.
    pub(super) fn tell<F>(&self, context: &Context<'_, F>) -> i32 {
        match self {
            Self::Refused(refused) => {
                context.refuse(refused);
                exit::FAILED
            }
            Self::Interrupted => exit::INTERRUPTED,
        }
    }
}

/// Configures one plugin, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>, options: &Configure) -> i32 {
    match configure(context, options).await {
        Ok(()) => exit::DONE,
        Err(stop) => stop.tell(context),
    }
}

async fn configure<F: Fleet>(context: &Context<'_, F>, options: &Configure) -> Result<(), Stop> {
    if options.from.is_none() && !options.schema && !context.io.input.is_terminal() {
        let refused = Refused::new("standard input is no terminal, so nobody can be asked");
        return Err(refused.hint("give the inputs as JSON with `--from`").into());
    }
    let loaded = context.fleet.load(&context.paths.plugins).await;
    let plugin = std::slice::from_ref(&options.plugin);
    let known = names::known(plugin, &loaded)?;
    let Some((plugin, manifest)) = known.into_iter().next() else { return Ok(()) };
    if options.schema {
        context.io.out.write(&settings::json_schema_text(manifest));
        return Ok(());
    }
    let stored = Stored::read(&context.paths, plugin)?;
    refuse_secrets(manifest, &stored)?;
    let chosen = match &options.from {
        Some(from) => {
            let given = given::read(context, from, manifest).await?;
            take(manifest, &given, &stored)?
        }
        None => ask::walk(context, manifest, &stored.values).await?,
    };
    let values = settings::arranged(manifest, &chosen, &stored.values);
    // First, so that a configuration never stands without it; by itself it changes nothing.
    let schema = schema_path(&context.paths, plugin)?;
    let described =
        current_file(&context.paths.home, &schema, &settings::json_schema_text(manifest))?;
    let written = stored.replace(&context.paths, context.now(), values.clone())?;
    let described = described != Outcome::Kept;
    let (values, path) = (&values, stored.path());
    report::Report { plugin, manifest, values, path, written, schema: &schema, described }
        .tell(context, options.json);
    Ok(())
}

/// A secret that stands in the file would be written again.
fn refuse_secrets(manifest: &Manifest, stored: &Stored) -> Result<(), Refused> {
    let secrets = stored.values.keys().filter(|key| manifest.secrets.contains(key));
    let problems: Vec<_> = secrets.cloned().map(ConfigProblem::SecretInFile).collect();
    if problems.is_empty() {
        return Ok(());
    }
    let message = ConfigFault::Problems(problems).message(stored.path());
    Err(Refused::new(message).hint("take it out of the file; nothing was written"))
}

/// What was given, and for the other inputs what they have already, which must be of their type.
fn take(manifest: &Manifest, given: &Map, stored: &Stored) -> Result<Map, Refused> {
    let mut chosen = Map::new();
    for (name, input) in settings::askable(manifest) {
        let present = stored.values.get_js(name);
        let kept = given.get_js(name).or(present);
        if let (None, Some(present)) = (given.get_js(name), present)
            && !settings::is_settable(present, input.kind)
        {
            let file = stored.path().display();
            let message = format!("the input `{name}` in {file} must be {}", an(input.kind));
            return Err(Refused::new(message).hint(format!("give `{name}` as well")));
        }
        let value = kept.or_else(|| settings::proposal(name, input, &stored.values));
        if let Some(value) = value {
            chosen.insert(name.clone(), value.clone());
        }
    }
    Ok(chosen)
}
