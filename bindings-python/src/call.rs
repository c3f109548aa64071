//! How a call ends: what Python hands over becomes what the engine is told.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpline_core::engine::{Completion, HostFailure};
use warpline_core::json::{Value, parse};

/// What the JSON of an answer is.
#[derive(Clone, Copy)]
pub(crate) enum Outcome {
    Value,
    Raised,
    NoJson,
}

impl Outcome {
    /// Reads `value`, `raised` or `no_json`.
    pub(crate) fn read(name: &str) -> PyResult<Self> {
        match name {
            "value" => Ok(Self::Value),
            "raised" => Ok(Self::Raised),
            "no_json" => Ok(Self::NoJson),
            _ => Err(PyValueError::new_err("a call ends by no such outcome")),
        }
    }

    /// What the call came to.
    pub(crate) fn completion(self, json: &str) -> Completion {
        let text = |value: Value| value.as_string().cloned().unwrap_or_default();
        match (self, parse(json)) {
            (Self::Value, Ok(value)) => Ok(value),
            (Self::Raised, Ok(value)) => Err(HostFailure::Threw(text(value))),
            (Self::NoJson, Ok(value)) => Err(HostFailure::NoJson(text(value))),
            (_, Err(fault)) => Err(HostFailure::NoJson(fault.to_string().into())),
        }
    }
}
