//! JSON as JavaScript has it: key order, IEEE doubles, unpaired surrogates, any depth.
//!
//! Whatever a plugin or an operator supplied is held in [`Value`], never in a type that would
//! round, reorder or refuse it. Text written here equals `JSON.stringify(value)` (compact) or
//! `JSON.stringify(value, null, 2)` (pretty) byte for byte. Parsing, writing, comparing and
//! dropping never recurse, so that no document can exhaust the stack.

mod map;
mod parse;
mod string;
mod value;
mod write;

pub use map::{Map, Record};
pub use parse::{ParseError, parse};
pub use string::JsString;
pub use value::{List, Value};
pub use write::{number_text, quote};
