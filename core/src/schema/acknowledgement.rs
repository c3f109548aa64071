//! `state/acknowledgements.json`: which events a human has answered, and how.

use crate::json::{JsString, Map, Record, Value};

use super::shape::{self, Faults, Fields, Place};
use super::{Issue, closed_set};

closed_set! {
    /// What a human did about an event.
    ActionTaken {
        /// Took note of it.
        Acknowledge = "acknowledge",
        /// Acted on it.
        Action = "action",
        /// Put it off.
        Defer = "defer",
        /// Called it done.
        MarkDone = "mark_done",
    }
}

/// One answer. Field order here is key order in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// When it was given.
    pub acknowledged_at: JsString,
    /// What it was.
    pub action_taken: ActionTaken,
}

/// The document: an answer for each event id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgements(pub Record<Acknowledgement>);

impl Acknowledgements {
    /// Reads the document.
    ///
    /// # Errors
    ///
    /// Every fault, with its path.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, shape::record(read)).map(Self)
    }

    /// The document, in the order that files have.
    pub fn to_value(&self) -> Value {
        shape::record_value(&self.0, |answer| {
            let mut map = Map::new();
            map.insert("acknowledged_at", &answer.acknowledged_at);
            map.insert("action_taken", answer.action_taken);
            map.into()
        })
    }
}

fn read(place: Place<'_>, faults: &mut Faults) -> Option<Acknowledgement> {
    let mut fields = Fields::of(place, faults)?;
    let acknowledged_at = fields.required("acknowledged_at", shape::string);
    let action_taken = fields.required("action_taken", shape::member);
    Some(Acknowledgement { acknowledged_at: acknowledged_at?, action_taken: action_taken? })
}
