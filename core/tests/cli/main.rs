//! The command line, verb by verb, over real homes and a fleet that is not run.

mod advance;
mod approve;
mod args;
mod board;
mod check;
mod configure;
mod deny;
mod forget;
mod handoffs;
mod help;
mod init;
mod journey;
mod log;
mod plan;
mod plan_lists;
mod run;
mod scaffold;
mod show;
mod snapshot_cases;
mod snapshots;
mod status;
mod streams;
mod support;
