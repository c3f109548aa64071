//! The command line, verb by verb, over real homes and a fleet that is not run.

mod advance;
mod approve;
mod args;
mod board;
mod deny;
mod init;
mod journey;
mod plan;
mod run;
mod streams;
mod support;
