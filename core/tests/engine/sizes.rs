//! Large inputs: cost stays in proportion, and nothing is cut or refused for its size.

use warpline_core::engine::{InvokeOptions, PluginState};
use warpline_core::json::{Value, parse};
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{Answer, Fleet, at, keys, list_at, ok, result, state_of, summary_of, text_at};

/// Bytes and calls of this thread's reads and writes so far, from the kernel's own books.
#[cfg(target_os = "linux")]
fn file_operations() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/io").expect("Linux keeps these books");
    let counted = ["rchar", "wchar", "syscr", "syscw"];
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(name, _)| counted.contains(name)).map(|(_, n)| n.parse::<u64>().unwrap()).sum()
}

/// What two advances over a fleet of this size cost: all of it runs, then all of it is fresh.
#[cfg(target_os = "linux")]
async fn cost(plugins: usize) -> u64 {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 10);
    for index in 0..plugins {
        let fields = match index.checked_sub(1) {
            None => String::new(),
            Some(before) if index % 100 == 0 => format!(r#""dependencies":["p{before:04}"]"#),
            Some(_) => r#""side_effects":["sends_email"]"#.to_owned(),
        };
        fleet.plugin(&format!("p{index:04}"), &fields, |_| async {
            ok("done", r#""artifacts_produced":[{"type":"note","body":"some text"}]"#)
        });
    }
    let before = file_operations();
    assert_eq!(fleet.advance().await.status, AdvanceStatus::Complete);
    assert_eq!(fleet.advance().await.plugin_entries.len(), plugins);
    let spent = file_operations() - before;
    assert_eq!(fleet.started().len(), plugins, "each ran once");
    assert_eq!(keys(at(&fleet.state(), "plugin_runs")).len(), plugins);
    spent
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn an_advance_costs_in_proportion_to_its_plugins() {
    let (few, many) = (cost(250).await, cost(1000).await);
    assert!(many < few * 5, "four times the plugins cost {few} and {many}");
}

#[tokio::test(start_paused = true)]
async fn a_large_summary_is_kept_whole() {
    let fleet = Fleet::new();
    let summary = "日x".repeat(5 * 1024 * 1024 / 4);
    let length = summary.len();
    fleet.plugin("p", "", move |_| {
        let answer = ok(&summary, "");
        async { answer }
    });
    let advanced = fleet.advance().await;
    assert_eq!(state_of(&advanced, "p"), PluginState::Completed);
    let log = fleet.run_log(&advanced);
    assert_eq!(text_at(&log, "plugin_entries.0.result.summary").len(), length);
    let events = fleet.events();
    let told = events.iter().find(|event| text_at(event, "source") == "p").unwrap();
    assert_eq!(text_at(told, "summary").encode_utf16().count(), 200);
}

fn nested(depth: usize) -> Value {
    parse(&("[".repeat(depth) + &"]".repeat(depth))).unwrap()
}

fn with_member(key: &str, member: Value) -> Answer {
    let mut value = result("success", "deep", "").unwrap();
    value.as_object_mut().unwrap().insert(key, member);
    Ok(value)
}

#[tokio::test(start_paused = true)]
async fn depth_exhausts_nothing() {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("TOKEN".into(), "t0ken".into());
    for (name, key) in [("unknown", "extra"), ("misplaced", "artifacts_produced")] {
        fleet.plugin(name, r#""secrets":["TOKEN"]"#, move |_| {
            std::future::ready(with_member(key, nested(50_000)))
        });
    }
    fleet.plugin("all", "", |_| std::future::ready(Ok(nested(50_000))));
    let advanced = fleet.advance().await;
    assert_eq!(state_of(&advanced, "unknown"), PluginState::Completed, "unknown keys are dropped");
    assert_eq!(state_of(&advanced, "misplaced"), PluginState::Failed);
    assert!(summary_of(&advanced, "misplaced").contains("artifacts_produced"));
    assert_eq!(state_of(&advanced, "all"), PluginState::Failed);
    let args = [("deep", nested(50_000))].into_iter().collect();
    let seen = fleet.spy("reader", "");
    fleet.invoke("reader", InvokeOptions { args, ..InvokeOptions::default() }).await;
    let seen = seen.lock().unwrap();
    assert_eq!(at(&seen[0].args, "deep").to_compact().len(), 100_000);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_outputs_are_all_stamped_and_the_last_is_kept() {
    let fleet = Fleet::new();
    let paths: Vec<String> = (0..10_000).map(|index| format!("\"{index}.md\"")).collect();
    let fields = format!(r#""artifacts_produced":[{}]"#, paths.join(","));
    fleet.plugin("p", "", move |_| {
        let answer = ok("many", &fields);
        async { answer }
    });
    let advanced = fleet.advance().await;
    let log = fleet.run_log(&advanced);
    let outputs = list_at(&log, "plugin_entries.0.result.artifacts_produced");
    assert_eq!(outputs.len(), 10_000);
    let id = advanced.run_id.to_text();
    assert!(outputs.iter().all(|output| text_at(output, "run_id") == id));
    assert_eq!(text_at(&fleet.state(), "plugin_runs.p.last_output.path"), "9999.md");
}

#[tokio::test(start_paused = true)]
async fn a_long_line_without_its_end_is_written_once() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""timeout_ms":3600000"#, |call| async move {
        let piece = "x".repeat(100).as_str().into();
        for _ in 0..50_000 {
            call.print(&piece);
        }
        ok("done", "")
    });
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    let text = fleet.text(&fleet.paths.runs_dir.join(format!("{}.log", run.run_id)));
    assert_eq!(text.len(), "=== Attempt 1 ===\n".len() + 5_000_000);
}
