//! The configuration of one plugin as it is made: what is asked for, what an answer means, what is written.

use crate::json::{JsString, Map, Value, parse};

use super::config::{an, has_type};
use super::manifest::{Input, InputType, Manifest};

/// The inputs that a configuration may set, in declaration order: all but the declared secrets.
pub fn askable(manifest: &Manifest) -> impl Iterator<Item = (&JsString, &Input)> {
    manifest.inputs.iter().filter(|(name, _)| !manifest.secrets.contains(name))
}

/// The value that an input has unless another one is given: the present one, else its default. One of
/// another type than declared is none.
pub fn proposal<'a>(name: &JsString, input: &'a Input, present: &'a Map) -> Option<&'a Value> {
    let fits = |value: &&Value| is_settable(value, input.kind);
    present.get_js(name).filter(fits).or(input.default.as_ref().filter(fits))
}

/// Whether a value can stand in a configuration as an input of this type. A number that JSON text
/// cannot hold would be another value once it is read again.
pub fn is_settable(value: &Value, kind: InputType) -> bool {
    has_type(value, kind) && value.as_number().is_none_or(f64::is_finite)
}

/// The value that a typed line stands for: itself for a string, else JSON. `None` where it is of
/// another type.
pub fn answer(line: &str, kind: InputType) -> Option<Value> {
    let value = match kind {
        InputType::String => Value::from(line),
        _ => parse(line).ok()?,
    };
    is_settable(&value, kind).then_some(value)
}

/// What is wrong with one key of the inputs that a caller gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenProblem {
    /// No input has this name.
    Undeclared(JsString),
    /// It is a declared secret.
    Secret(JsString),
    /// The value has another type than declared.
    WrongType(JsString, InputType),
}

impl GivenProblem {
    /// One sentence that names the key and the shape, never the value.
    pub fn message(&self) -> String {
        match self {
            Self::Undeclared(key) => format!("there is no input `{key}`"),
            Self::Secret(key) => format!(
                "the secret `{key}` may not be configured; set the environment variable `{key}`"
            ),
            Self::WrongType(key, kind) => format!("the input `{key}` must be {}", an(*kind)),
        }
    }
}

/// Everything that is wrong with inputs that a caller gives, in their order.
pub fn problems(manifest: &Manifest, given: &Map) -> Vec<GivenProblem> {
    let problem = |(key, value): (&JsString, &Value)| {
        if manifest.secrets.contains(key) {
            return Some(GivenProblem::Secret(key.clone()));
        }
        match manifest.inputs.get(key) {
            None => Some(GivenProblem::Undeclared(key.clone())),
            Some(input) if is_settable(value, input.kind) => None,
            Some(input) => Some(GivenProblem::WrongType(key.clone(), input.kind)),
        }
    };
    given.iter().filter_map(problem).collect()
}

/// The whole configuration: the inputs that have a value in `chosen`, in declaration order, then what
/// else the file held.
pub fn arranged(manifest: &Manifest, chosen: &Map, present: &Map) -> Map {
    let declared = askable(manifest).filter_map(|(name, _)| Some((name, chosen.get_js(name)?)));
    let others = present.iter().filter(|(name, _)| !manifest.inputs.contains_key(*name));
    declared.chain(others).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The inputs without which the plugin cannot run and that have no value in `values` and no default.
pub fn missing<'a>(
    manifest: &'a Manifest,
    values: &'a Map,
) -> impl Iterator<Item = (&'a JsString, InputType)> {
    let lacks =
        |name, input: &Input| input.required && input.default.is_none() && !values.contains(name);
    askable(manifest)
        .filter(move |(name, input)| lacks(name, input))
        .map(|(name, input)| (name, input.kind))
}

/// The text of [`json_schema`] as it is printed and filed.
pub fn json_schema_text(manifest: &Manifest) -> String {
    json_schema(manifest).to_pretty() + "\n"
}

/// The JSON Schema of a plugin's configuration, for editors: types, descriptions and defaults of the
/// inputs. Keys that no input declares are allowed, as they are in the file; secrets are not.
pub fn json_schema(manifest: &Manifest) -> Value {
    let mut properties = Map::new();
    for (name, input) in askable(manifest) {
        let mut property = Map::new();
        property.insert("type", input.kind);
        property.insert_some("description", input.description.as_ref());
        property.insert_some("default", input.default.clone());
        properties.insert(name.clone(), property);
    }
    for name in &manifest.secrets {
        properties.insert(name.clone(), false);
    }
    let none = Map::new();
    let required: Vec<Value> = missing(manifest, &none).map(|(name, _)| name.into()).collect();
    Value::from(Map::from_iter([
        ("$schema", Value::from("https://json-schema.org/draft/2020-12/schema")),
        ("title", format!("Configuration of {}", manifest.name).into()),
        ("type", "object".into()),
        ("properties", properties.into()),
        ("required", required.into()),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let text = r#"{"name":"p","version":"1","description":"","autonomy_level":"manual",
            "ttl_hours":1,"secrets":["KEY","TOKEN"],"inputs":{
            "zulu":{"type":"string","description":"Last"},"KEY":{"type":"string","default":"x"},
            "alpha":{"type":"number","default":90},"list":{"type":"array","required":false},
            "odd":{"type":"boolean","default":"yes"}}}"#;
        Manifest::parse(&parse(text).expect("JSON")).expect("a manifest")
    }

    fn map(text: &str) -> Map {
        parse(text).expect("JSON").as_object().expect("an object").clone()
    }

    #[test]
    fn an_answer_is_text_or_json_of_the_declared_type() {
        use InputType::{Array, Boolean, Number, Object, String};
        for (line, kind, value) in [
            ("90", String, Some("\"90\"")),
            ("cafe\u{301} ", String, Some("\"cafe\u{301} \"")),
            (" 90 ", Number, Some("90")),
            ("-1.5e3", Number, Some("-1500")),
            ("1e999", Number, None),
            ("ninety", Number, None),
            ("true", Boolean, Some("true")),
            ("yes", Boolean, None),
            ("[1, \"a\"]", Array, Some("[1,\"a\"]")),
            ("{}", Array, None),
            ("{\"a\": {}}", Object, Some("{\"a\":{}}")),
            ("null", Object, None),
        ] {
            let shown = answer(line, kind).map(|value| value.to_compact());
            assert_eq!(shown.as_deref(), value, "{line}");
        }
    }

    #[test]
    fn a_proposal_is_the_present_value_else_the_default_and_never_of_another_type() {
        let manifest = manifest();
        let shown = |name: &str, present: &str| {
            let input = manifest.inputs.get(&JsString::from(name)).expect("declared");
            proposal(&name.into(), input, &map(present)).map(Value::to_compact)
        };
        assert_eq!(shown("alpha", "{}").as_deref(), Some("90"));
        assert_eq!(shown("alpha", r#"{"alpha":7}"#).as_deref(), Some("7"));
        assert_eq!(shown("alpha", r#"{"alpha":"7"}"#).as_deref(), Some("90"));
        assert_eq!(shown("zulu", "{}"), None);
        assert_eq!(shown("odd", "{}"), None);
    }

    #[test]
    fn each_given_key_that_is_wrong_is_told_without_its_value() {
        let given = map(r#"{"zulu":7,"KEY":"hunter2","other":1,"alpha":1e999,"list":[]}"#);
        let told: Vec<_> =
            problems(&manifest(), &given).iter().map(GivenProblem::message).collect();
        assert_eq!(
            told,
            [
                "the input `zulu` must be a string",
                "the secret `KEY` may not be configured; set the environment variable `KEY`",
                "there is no input `other`",
                "the input `alpha` must be a number",
            ]
        );
    }

    #[test]
    fn the_file_has_declared_inputs_in_their_order_and_then_its_other_keys() {
        let chosen = map(r#"{"alpha":1,"KEY":"never","zulu":"z"}"#);
        let present = map(r#"{"free":true,"alpha":9,"list":[1],"more":{}}"#);
        let file = arranged(&manifest(), &chosen, &present);
        let expected = r#"{"zulu":"z","alpha":1,"free":true,"more":{}}"#;
        assert_eq!(Value::from(file).to_compact(), expected);
    }

    #[test]
    fn the_schema_tells_types_and_refuses_secrets() {
        let expected = concat!(
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Configuration of p","#,
            r#""type":"object","properties":{"zulu":{"type":"string","description":"Last"},"#,
            r#""alpha":{"type":"number","default":90},"list":{"type":"array"},"#,
            r#""odd":{"type":"boolean","default":"yes"},"KEY":false,"TOKEN":false},"#,
            r#""required":["zulu"]}"#
        );
        assert_eq!(json_schema(&manifest()).to_compact(), expected);
    }
}
