//! A plan as JSON: the keys of the command-line contract, in its order.

use std::path::Path;

use crate::json::{JsString, Map, Value};
use crate::schema::grant::Scopes;

use super::model::{GrantLine, Held, Plan, Planned};

impl Plan {
    /// `{home, plugins_dir, profile, tier, now, grant, due, not_due, failures, root_error, warnings}`.
    pub fn to_value(&self) -> Value {
        let due: Vec<Value> = self.due.iter().map(|planned| planned.to_value(None)).collect();
        let not_due: Vec<Value> =
            self.not_due.iter().map(|(planned, held)| planned.to_value(Some(held))).collect();
        let failures: Vec<Value> = self.failures.iter().map(failure).collect();
        let root_error = self.root_error.as_ref().map(|(path, code)| {
            object([("path", path_value(path)), ("code", code.as_str().into())])
        });
        object([
            ("home", path_value(&self.home)),
            ("plugins_dir", path_value(&self.plugins_dir)),
            ("profile", self.profile.into()),
            ("tier", self.tier.into()),
            ("now", self.now.to_iso().into()),
            ("grant", grant(&self.grant)),
            ("due", due.into()),
            ("not_due", not_due.into()),
            ("failures", failures.into()),
            ("root_error", root_error.into()),
            ("warnings", self.warnings.clone().into()),
        ])
    }
}

impl Planned {
    fn to_value(&self, held: Option<&Held>) -> Value {
        let mut map = Map::new();
        map.insert("plugin", &self.plugin);
        map.insert("level", number(self.level));
        if let Some(held) = held {
            map.insert("reason", held.reason);
            map.insert("detail", held.detail.as_str());
            map.insert("data", held.data.clone());
        }
        let effects = self.side_effects.iter().map(|(effect, approved)| {
            object([("effect", (*effect).into()), ("approved", (*approved).into())])
        });
        map.insert("side_effects", effects.collect::<Vec<Value>>());
        map.insert("manifest", if self.literal { "literal" } else { "run" });
        map.into()
    }
}

fn grant(line: &GrantLine) -> Value {
    let GrantLine::Live(grant) = line else { return Value::Null };
    let scopes = match &grant.scopes {
        Scopes::All => Value::from("*"),
        Scopes::Plugins(names) => names.clone().into(),
    };
    object([("scopes", scopes), ("expires_at", (&grant.expires_at).into())])
}

fn failure((plugin, error): &(JsString, String)) -> Value {
    object([("plugin", plugin.into()), ("error", error.as_str().into())])
}

fn path_value(path: &Path) -> Value {
    path.display().to_string().into()
}

pub(super) fn number(number: usize) -> Value {
    u32::try_from(number).unwrap_or(u32::MAX).into()
}

pub(super) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries.into_iter().collect::<Map>().into()
}
