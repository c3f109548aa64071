//! JSON as JavaScript has it: key order, IEEE doubles, unpaired surrogates, any depth.
//!
//! Whatever a plugin or an operator supplied is held in [`Value`], never in a type that would
//! round, reorder or refuse it. Text written here equals `JSON.stringify(value)` (compact) or
//! `JSON.stringify(value, null, 2)` (pretty) byte for byte. Parsing, writing, comparing and
//! dropping never recurse, so that no document can exhaust the stack.
//!
//! ```
//! use warpline_core::json::{Map, Value, parse};
//!
//! let value = parse(r#"{"b": 1e21, "2": "\ud800", "a": [-0, 25.0]}"#)?;
//! assert_eq!(value.to_compact(), r#"{"2":"\ud800","b":1e+21,"a":[0,25]}"#);
//!
//! let built = Value::from(Map::from_iter([("plugin", Value::from("uptime-line")), ("attempt", Value::from(1.0))]));
//! assert_eq!(built.to_pretty(), "{\n  \"plugin\": \"uptime-line\",\n  \"attempt\": 1\n}");
//! # Ok::<(), warpline_core::json::ParseError>(())
//! ```

mod map;
mod parse;
mod pick;
mod scan;
mod string;
mod value;
mod write;

pub use map::{Map, Record};
pub use parse::{ParseError, parse};
pub(crate) use pick::pick;
pub use string::JsString;
pub use value::{List, Value};
pub use write::{number_text, quote};
