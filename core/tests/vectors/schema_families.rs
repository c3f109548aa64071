//! The families of documents and their JSON text.

use warpline_core::json::{Map, Value, parse};

use crate::input::Input;
use crate::js;
use crate::runner::Adapter;

/// Each family with the adapter that computes its expectations.
pub fn families() -> Vec<(&'static str, Adapter)> {
    vec![("js-json", js_json)]
}

fn object(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    entries.into_iter().collect::<Map>().into()
}

fn js_json(input: &Input) -> Result<Value, String> {
    let value = js::evaluate(input.text("js")?)?;
    if let Some(json) = input.optional_text("json")? {
        let parsed = parse(json).map_err(|error| error.to_string())?;
        let (from_js, from_json) = (value.to_pretty(), parsed.to_pretty());
        if from_js != from_json {
            return Err(format!("`js` gives {from_js}, `json` gives {from_json}"));
        }
    }
    if let Some(marked) = input.get("lone_surrogate") {
        let unpaired = value.to_compact().contains("\\ud");
        if marked.as_bool() != Some(unpaired) {
            return Err("`lone_surrogate` does not say whether one is there".into());
        }
    }
    Ok(object([("pretty", value.to_pretty().into()), ("compact", value.to_compact().into())]))
}
