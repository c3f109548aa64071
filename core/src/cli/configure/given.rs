//! The inputs that `--from` gives: JSON text, or standard input. Of what is refused no value is shown.

use crate::json::{Map, Value, parse};
use crate::schema::manifest::Manifest;
use crate::schema::settings::{self, GivenProblem};

use super::super::context::{Context, Refused};
use super::super::text;
use super::Stop;

/// Reads the inputs and checks each against the manifest.
pub(super) async fn read<F>(
    context: &Context<'_, F>,
    from: &str,
    manifest: &Manifest,
) -> Result<Map, Stop> {
    let text = match from {
        "-" => {
            let bytes = context.io.input.rest(&context.cancel).await?;
            let refused = |_| Refused::new("standard input is not UTF-8 text");
            String::from_utf8(bytes).map_err(refused)?
        }
        text => text.to_owned(),
    };
    let source = if from == "-" { "standard input" } else { "the text of `--from`" };
    let given = match parse(&text) {
        Err(error) => {
            let refused = Refused::new(format!("{source} is {error}"));
            return Err(refused
                .hint("expected one object, such as `{\"name\": \"value\"}`")
                .into());
        }
        Ok(Value::Object(given)) => given.into_map(),
        Ok(_) => return Err(Refused::new(format!("{source} must be a JSON object")).into()),
    };
    let problems = settings::problems(manifest, &given);
    if problems.is_empty() {
        return Ok(given);
    }
    let lines: Vec<_> = problems.iter().map(GivenProblem::message).collect();
    let refused = Refused::new(lines.join("; ")).leaving("nothing was written");
    Err(match problems.iter().find_map(|problem| near(problem, manifest)) {
        Some(name) => refused.hint(format!("did you mean `{name}`?")),
        None => refused,
    }
    .into())
}

fn near(problem: &GivenProblem, manifest: &Manifest) -> Option<String> {
    let GivenProblem::Undeclared(name) = problem else { return None };
    let known: Vec<String> = settings::askable(manifest).map(|(name, _)| name.to_text()).collect();
    text::nearest(&name.to_text(), known.iter().map(String::as_str)).map(str::to_owned)
}
