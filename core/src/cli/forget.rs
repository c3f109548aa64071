//! `forget`: takes the last runs of plugins off the record.

use crate::answers::{self, Forgotten};
use crate::json::{JsString, Map, Value};
use crate::schema::engine_state::PluginRun;

use super::context::{Context, Refused};
use super::fleet::Fleet;
use super::{exit, names, paint, text};

/// Removes the records, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(
    context: &Context<'_, F>,
    plugins: &[JsString],
    json: bool,
) -> i32 {
    let refused = match answers::forget_runs(&context.paths, plugins, context.now()) {
        Ok(Forgotten::Removed(removed)) => {
            report(context, &removed, json);
            return exit::DONE;
        }
        Ok(Forgotten::Unknown { missing, recorded }) => unknown(&missing, &recorded),
        Ok(Forgotten::Waiting(waiting)) => waits(context, &waiting).await,
        Ok(Forgotten::Denied(denied)) => {
            let command = text::command("deny --remove", &denied, "");
            Refused::new(format!("a denial of {} is on record", names::list(&denied)))
                .hint(format!("take it back first: `{command}`"))
        }
        Err(error) => return context.fail(&error),
    };
    context.refuse(&refused.leaving("nothing was written"));
    exit::FAILED
}

fn report<F>(context: &Context<'_, F>, removed: &[(JsString, PluginRun)], json: bool) {
    let value = |(name, run): &(JsString, PluginRun)| {
        let mut map = Map::new();
        map.insert("plugin", name);
        map.insert("last_run_at", &run.last_run_at);
        map.insert("status", run.status);
        Value::from(map)
    };
    let line = |(name, run): &(JsString, PluginRun)| {
        let (name, at) = (text::line(name), text::at(&run.last_run_at));
        let status = paint::outcome(run.status.as_str(), run.status);
        let output = run.last_output.as_ref().map_or("", |_| ", and with it its last Output");
        format!("{name}: its run of {at} ({status}) is off the record{output}\n")
    };
    context.report(
        json,
        || {
            let forgotten: Vec<Value> = removed.iter().map(value).collect();
            Map::from_iter([("forgotten", forgotten)]).into()
        },
        || removed.iter().map(line).collect(),
    );
}

fn unknown(missing: &[JsString], recorded: &[JsString]) -> Refused {
    let refused = Refused::new(format!("no run of {} is on record", names::list(missing)));
    refused.hint_near(missing, recorded, "`warpline status` shows what is on record")
}

async fn waits<F: Fleet>(context: &Context<'_, F>, waiting: &[JsString]) -> Refused {
    let refused = Refused::new(format!("a result of {} waits for an answer", names::list(waiting)));
    let loaded = context.fleet.load(&context.paths.plugins).await;
    let here: Vec<&JsString> =
        waiting.iter().filter(|name| loaded.manifest(name).is_some()).collect();
    if here.is_empty() {
        let why = "its plugin does not load, so nobody can answer";
        return refused.hint(format!("{why}; an advance drops it 23 hours after its run"));
    }
    let command = |verb: &str| text::command(verb, here.iter().copied(), "");
    refused.hint(format!("answer it first: `{}` or `{}`", command("approve"), command("deny")))
}
