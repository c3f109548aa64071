//! The JSON Schema of a manifest, with the meaning of each key. `docs/manifest.md` is made of it.

use crate::json::Map;
use crate::schema::manifest::{
    AutonomyLevel, InputType, MAX_RETRIES, Schedule, SideEffect, Temporality, Tier,
};

use super::{
    about, integer_from, kind, list, no_items, object, one_of, optional, or, record, required, with,
};

pub(super) fn schema() -> Map {
    let text = || kind("string");
    object([
        (
            "name",
            about("the name of the plugin's directory", required(with(text(), "minLength", 1.0))),
        ),
        (
            "version",
            about("free text; nothing compares it", required(with(text(), "minLength", 1.0))),
        ),
        ("description", about("one line for a reader", required(text()))),
        ("inputs", about("what it can be told, by input name", or(record(input()), Map::new()))),
        (
            "outputs",
            about("what it produces, by a name of its own", or(record(output()), Map::new())),
        ),
        ("capabilities", about("free words; they grant nothing", or(list(text()), no_items()))),
        (
            "schedule",
            about("which advances consider it", or(one_of::<Schedule>(), Schedule::OnRun)),
        ),
        (
            "autonomy_level",
            about("whether its result counts at once", required(one_of::<AutonomyLevel>())),
        ),
        (
            "side_effects",
            about(
                "what it does to the world; with any, it runs only while a grant covers it",
                or(list(one_of::<SideEffect>()), no_items()),
            ),
        ),
        (
            "secrets",
            about(
                "environment variables that must be set, and whose values are redacted",
                or(list(text()), no_items()),
            ),
        ),
        (
            "ttl_hours",
            about(
                "how long a run stays fresh, failed or not, in hours",
                required(with(kind("number"), "exclusiveMinimum", 0.0)),
            ),
        ),
        (
            "dependencies",
            about("directory names of the plugins before it", or(list(text()), no_items())),
        ),
        ("timeout_ms", about("how long each attempt may take", or(integer_from(1.0), 60_000.0))),
        (
            "max_retries",
            about(
                "attempts after the first, where a failure says that it may pass",
                or(with(integer_from(0.0), "maximum", MAX_RETRIES), 1.0),
            ),
        ),
        (
            "retry_delay_ms",
            about(
                "the wait before the second attempt; doubled for each further one, at most 30 s, \
                 give or take a quarter",
                or(with(integer_from(0.0), "maximum", 60_000.0), 2000.0),
            ),
        ),
        (
            "actions",
            about(
                "words for `warpline run`, for other programs to show; nothing checks them",
                optional(record(action())),
            ),
        ),
        (
            "max_parallelism",
            about(
                "how many direct calls of it one process runs at once; more wait",
                or(integer_from(1.0), 1.0),
            ),
        ),
        (
            "min_tier",
            about(
                "how long the home may have been idle for it to run",
                or(one_of::<Tier>(), Tier::Normal),
            ),
        ),
    ])
}

fn input() -> Map {
    object([
        ("type", about("the type of its value", required(one_of::<InputType>()))),
        ("required", about("whether a run without a value fails", or(kind("boolean"), true))),
        ("default", about("the value where nobody gives one", optional(Map::new()))),
        ("description", about("what it is for", optional(kind("string")))),
    ])
}

fn output() -> Map {
    object([
        ("type", about("what kind of thing it is, in words of your own", required(kind("string")))),
        ("description", about("what it holds", optional(kind("string")))),
        (
            "temporality",
            about("whether earlier ones stay", or(one_of::<Temporality>(), Temporality::Replace)),
        ),
    ])
}

fn action() -> Map {
    object([
        ("description", about("what it does", required(kind("string")))),
        ("is_default", about("whether it is the usual one", optional(kind("boolean")))),
    ])
}
