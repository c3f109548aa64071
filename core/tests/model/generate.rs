//! Histories as chance makes them: few plugins, much happening to each, times around thresholds.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// A history: the plugins, then what happens to them.
pub fn history() -> impl Strategy<Value = Vec<String>> {
    let (fleet, scripts) = (NAMES.map(plugin), NAMES.map(plays));
    let turn = prop_oneof![
        12 => step().prop_map(|step| vec![step]),
        1 => on_the_dot(),
        1 => another_order(),
    ];
    let turns = prop::collection::vec(turn, 4..24);
    (fleet, scripts, turns).prop_map(|(fleet, scripts, turns)| {
        fleet.into_iter().chain(scripts).chain(turns.into_iter().flatten()).collect()
    })
}

/// Something that ages, and a look at it when it is as old as it may become, give or take a moment.
fn on_the_dot() -> impl Strategy<Value = Vec<String>> {
    let begins = prop_oneof![
        3 => Just("advance --force".to_owned()),
        1 => approve(),
    ];
    let limit = select(vec![1_800_000, 3_600_000, 21_600_000, 43_200_000, 82_800_000, 172_800_000]);
    let looks = prop_oneof![2 => approve(), 2 => Just("advance".to_owned())];
    (begins, limit, select(vec![-1, 0, 0, 1]), looks).prop_map(|(begins, limit, off, looks)| {
        vec![begins, format!("wait {}ms", limit + off), looks]
    })
}

/// A denial, and the same effects in another order.
fn another_order() -> impl Strategy<Value = Vec<String>> {
    select(&NAMES).prop_map(|name| {
        vec![
            format!("plugin {name} effects=sends_email,writes_db"),
            format!("deny {name}"),
            format!("plugin {name} effects=writes_db,sends_email"),
            "advance --force".to_owned(),
        ]
    })
}

fn step() -> impl Strategy<Value = String> {
    prop_oneof![
        30 => advance(),
        22 => wait(),
        12 => select(&NAMES).prop_flat_map(plays),
        7 => select(&NAMES).prop_flat_map(plugin),
        14 => approve(),
        7 => deny(),
        4 => names().prop_map(|names| format!("forget {names}")),
        2 => Just("revoke".to_owned()),
        6 => task(),
        3 => preferences(),
        2 => (select(vec!["*", "*,a", "a,b", "d", "b,*,c"]), select(vec!["1h", "4h", "30h"]))
            .prop_map(|(scopes, lasts)| format!("grant-file {scopes} {lasts}")),
        1 => select(&NAMES).prop_map(|name| format!("remove {name}")),
        1 => select(&NAMES).prop_map(|name| format!("break {name}")),
        3 => profile().prop_map(|profile| format!("plan {profile}")),
    ]
}

/// A plugin: mostly one that acts and depends on an earlier one, sometimes a cycle or a stranger.
fn plugin(name: &'static str) -> impl Strategy<Value = String> {
    let earlier: Vec<&'static str> = NAMES.into_iter().filter(|other| *other < name).collect();
    let count = earlier.len();
    let deps = prop_oneof![
        12 => subsequence(earlier, 0..=count.min(2)).prop_map(|names| names.join(",")),
        1 => select(vec!["a", "b", "c", "d", "ghost"]).prop_map(str::to_owned),
    ];
    let effects = select(vec![
        "",
        "",
        "sends_email",
        "writes_db",
        "sends_email,writes_db",
        "writes_db,sends_email",
    ]);
    let ttl = select(vec!["0.5", "1", "6", "6", "12", "23", "24", "30", "200"]);
    let autonomy = prop_oneof![
        6 => Just("autonomous"), 4 => Just("supervised"), 1 => Just("manual"),
    ];
    let schedule = select(vec!["on_run", "on_run", "on_run", "daily", "weekly", "manual"]);
    let min_tier = select(vec!["normal", "degraded", "extended", "suspended", "suspended"]);
    (deps, effects, ttl, autonomy, schedule, min_tier).prop_map(
        move |(deps, effects, ttl, autonomy, schedule, min_tier)| {
            format!(
                "plugin {name} ttl={ttl} deps={deps} effects={effects} autonomy={autonomy} \
                 schedule={schedule} min_tier={min_tier}"
            )
        },
    )
}

fn plays(name: &'static str) -> impl Strategy<Value = String> {
    let ending = prop_oneof![
        6 => Just("success"), 2 => Just("partial"), 4 => Just("failed"), 1 => Just("skipped"),
        1 => Just("handoff"), 1 => Just("throws"), 1 => Just("hangs"), 1 => Just("flaky"),
        1 => Just("unreadable"),
    ];
    let output = select(vec!["", "out=note|path:x", "out=note|path:y", "out=draft|path:x"]);
    (ending, output, select(vec![0, 10, 10, 20, 30])).prop_map(move |(ending, output, takes)| {
        format!("plays {name} {ending} {output} takes={takes}")
    })
}

/// Spans that end on, right before and right after each threshold of the contract.
fn wait() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => select(vec!["1ms", "1m", "30m", "1h", "3h", "4h", "6h", "7h", "12h"]),
        4 => select(vec!["1799999ms", "21599999ms", "6h", "82799999ms", "23h", "82800001ms"]),
        3 => select(vec!["1d", "30h", "2d", "172799999ms", "3d"]),
        2 => select(vec!["7d", "604799999ms", "8d", "14d", "1209599999ms", "20d"]),
        2 => select(vec!["-1ms", "-1m", "-1h", "-7h"]),
    ]
    .prop_map(|span| format!("wait {span}"))
}

fn profile() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        6 => Just(""),
        2 => Just("--profile=daily"),
        1 => Just("--profile=weekly"),
        1 => Just("--profile=manual"),
    ]
}

fn advance() -> impl Strategy<Value = String> {
    let force = prop_oneof![3 => Just(""), 2 => Just("--force")];
    let dry = prop_oneof![9 => Just(""), 1 => Just("--dry-run")];
    let strict = prop_oneof![4 => Just(""), 1 => Just("--strict")];
    let answer = prop_oneof![3 => approve(), 3 => deny(), 1 => Just("revoke".to_owned()),
        1 => names().prop_map(|names| format!("forget {names}"))];
    // Handlers end at multiples of ten.
    let at = select(vec![5, 5, 15, 15, 25, 35, 55]);
    let meanwhile = prop_oneof![
        5 => Just(String::new()),
        2 => at.clone().prop_map(|at| format!("@{at} killed")),
        1 => at.clone().prop_map(|at| format!("@{at} cancelled")),
        1 => at.clone().prop_map(|at| format!("@{at} unremoved")),
        3 => (at, answer).prop_map(|(at, answer)| format!("@{at} {answer}")),
    ];
    (profile(), force, dry, strict, meanwhile).prop_map(
        |(profile, force, dry, strict, meanwhile)| {
            format!("advance {profile} {force} {dry} {strict} {meanwhile}")
        },
    )
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        10 => select(&NAMES).prop_map(str::to_owned),
        3 => subsequence(NAMES.to_vec(), 2..=3).prop_map(|names| names.join(" ")),
        1 => select(vec!["ghost", "a a", "b ghost", "d b"]).prop_map(str::to_owned),
    ]
}

fn approve() -> impl Strategy<Value = String> {
    let whom = prop_oneof![
        6 => names(),
        3 => Just("--all".to_owned()),
    ];
    let ttl = prop_oneof![
        4 => Just(""),
        4 => select(vec!["--ttl 30m", "--ttl 2h", "--ttl 22h", "--ttl 23h", "--ttl 2d", "--ttl 30d"]),
    ];
    let long = prop_oneof![5 => Just(""), 1 => Just("--long")];
    let replace = prop_oneof![6 => Just(""), 1 => Just("--replace")];
    (whom, ttl, long, replace)
        .prop_map(|(whom, ttl, long, replace)| format!("approve {whom} {ttl} {long} {replace}"))
}

fn deny() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => names().prop_map(|names| format!("deny {names}")),
        2 => names().prop_map(|names| format!("deny --remove {names}")),
    ]
}

fn task() -> impl Strategy<Value = String> {
    let id = select(vec!["t1", "t2", "t3"]);
    let span = select(vec!["1h", "4h", "1d", "1w"]);
    prop_oneof![
        3 => (id.clone(), select(vec!["info", "warning"]), select(&NAMES))
            .prop_map(|(id, severity, plugin)| format!("task {id} {severity} {plugin}")),
        2 => (id.clone(), span).prop_map(|(id, span)| format!("defer {id} {span}")),
        2 => id.prop_map(|id| format!("done {id}")),
    ]
}

fn preferences() -> impl Strategy<Value = String> {
    let gate = prop_oneof![2 => Just(""), 1 => Just("review_gate")];
    // The histories begin at 17:30 local time.
    let quiet = select(vec![
        "",
        "",
        "quiet=17:30-17:31",
        "quiet=17:00-17:30",
        "quiet=22:00-07:00",
        "quiet=23:30-17:30",
        "quiet=09:00-09:00",
    ]);
    (gate, quiet).prop_map(|(gate, quiet)| format!("preferences {gate} {quiet}"))
}
