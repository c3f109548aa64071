//! The families of the pure rules.

use crate::runner::Adapter;

/// Each family with the adapter that computes its expectations.
pub fn families() -> Vec<(&'static str, Adapter)> {
    vec![]
}
