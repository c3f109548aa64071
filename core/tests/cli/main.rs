//! The command line, verb by verb, over real homes and a fleet that is not run.

mod args;
