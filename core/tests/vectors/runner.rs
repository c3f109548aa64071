//! Runs family files: reads them strictly, feeds each case to its adapter, collects the faults.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use warpline_core::json::{Map, Value, parse};

use crate::compare::differences;
use crate::input::Input;

/// Computes the whole `expect` value of a case from its input.
pub type Adapter = fn(&Input) -> Result<Value, String>;

/// One case of a family file.
pub struct Case {
    /// Its stable name, for reports.
    pub id: String,
    input: Map,
    /// What the adapter must compute.
    pub expect: Value,
}

/// One family file.
pub struct Family {
    /// Its name, that of the file too.
    pub name: String,
    /// Its cases; never none.
    pub cases: Vec<Case>,
}

/// The folder that holds the family files: `WARPLINE_VECTORS`, else the one of this repository.
pub fn folder() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.parent().unwrap_or(package);
    folder_of(std::env::var_os("WARPLINE_VECTORS").as_deref(), root)
}

/// The folder that a name means; a relative one counts from the root of the workspace.
pub fn folder_of(named: Option<&OsStr>, root: &Path) -> PathBuf {
    root.join(named.filter(|named| !named.is_empty()).unwrap_or("tests/vectors".as_ref()))
}

/// Reads every family file of a folder, in the order of their names.
pub fn read_folder(folder: &Path) -> Result<Vec<Family>, String> {
    let fault = |what: String| format!("{}: {what}", folder.display());
    let listing = std::fs::read_dir(folder).map_err(|error| fault(error.to_string()))?;
    let mut paths = Vec::new();
    for entry in listing {
        let path = entry.map_err(|error| fault(error.to_string()))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(fault("there are no family files (*.json)".into()));
    }
    paths.sort();
    paths.iter().map(|path| read_family(path)).collect()
}

const FAMILY_KEYS: [&str; 3] = ["family", "about", "cases"];

fn read_family(path: &Path) -> Result<Family, String> {
    let fault = |what: &str| format!("{}: {what}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| fault(&error.to_string()))?;
    let value = parse(&text).map_err(|error| fault(&error.to_string()))?;
    let mut keys = value.as_object().into_iter().flat_map(Map::keys);
    if let Some(odd) = keys.find(|key| FAMILY_KEYS.iter().all(|known| *key != known)) {
        return Err(fault(&format!("`{odd}` is no key of a family")));
    }
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if value.get("family").and_then(Value::as_string) != Some(&name.into()) {
        return Err(fault("`family` is not the name of the file"));
    }
    let cases = value.get("cases").and_then(Value::as_array).unwrap_or_default();
    if cases.is_empty() {
        return Err(fault("the family has no cases"));
    }
    let mut ids = HashSet::new();
    let mut read = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let case = read_case(case).ok_or_else(|| fault(&format!("case {index} is malformed")))?;
        if !ids.insert(case.id.clone()) {
            return Err(fault(&format!("`{}` stands there twice", case.id)));
        }
        read.push(case);
    }
    Ok(Family { name: name.into(), cases: read })
}

fn read_case(case: &Value) -> Option<Case> {
    const KEYS: [&str; 6] = ["id", "name", "input", "expect", "note", "spec_over_reference"];
    let object = case.as_object()?;
    object.keys().all(|key| KEYS.iter().any(|known| *key == *known)).then_some(())?;
    Some(Case {
        id: object.get("id")?.as_string()?.to_text(),
        input: object.get("input")?.as_object()?.clone(),
        expect: object.get("expect").filter(|expect| expect.as_object().is_some())?.clone(),
    })
}

impl Case {
    /// Runs an adapter over this case: what it computed, or why that cannot count.
    pub fn run(&self, adapter: Adapter) -> Result<Value, String> {
        let expected = self.expect.as_object().map(|expect| expect.keys().cloned().collect());
        let input = Input::new(self.input.clone(), expected.unwrap_or_default());
        let actual = catch_unwind(AssertUnwindSafe(|| adapter(&input)))
            .map_err(|_| "the adapter panicked".to_owned())??;
        match input.unread().as_slice() {
            [] => Ok(actual),
            unread => Err(format!("unknown key in the input: {}", unread.join(", "))),
        }
    }
}

/// The faults of every family of a folder; each line names the case.
///
/// Families without an adapter are left to the check of the folder as a whole.
pub fn run_folder(
    families: &[Family],
    adapters: &HashMap<&'static str, Adapter>,
    mut report: impl FnMut(&Family, usize),
) -> Vec<String> {
    let mut faults = Vec::new();
    for family in families {
        let Some(adapter) = adapters.get(family.name.as_str()) else { continue };
        let before = faults.len();
        for case in &family.cases {
            match case.run(*adapter) {
                Err(fault) => faults.push(format!("{}: {fault}", case.id)),
                Ok(actual) => faults.extend(
                    differences(&case.expect, &actual)
                        .into_iter()
                        .map(|difference| format!("{}: {difference}", case.id)),
                ),
            }
        }
        report(family, faults.len() - before);
    }
    faults
}

/// What keeps a folder and a set of adapters from covering the known families, no more, no less.
pub fn coverage_faults(known: &[&str], present: &[Family], adapters: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    for family in present.iter().filter(|family| !known.contains(&family.name.as_str())) {
        faults.push(format!("`{}` is a family that nobody knows", family.name));
    }
    for name in known {
        if !present.iter().any(|family| family.name == *name) {
            faults.push(format!("the family `{name}` has no file in the folder"));
        }
        match adapters.iter().filter(|adapter| *adapter == name).count() {
            1 => {}
            count => faults.push(format!("the family `{name}` has {count} adapters")),
        }
    }
    for name in adapters.iter().filter(|name| !known.contains(*name)) {
        faults.push(format!("the adapter `{name}` belongs to no known family"));
    }
    faults
}
