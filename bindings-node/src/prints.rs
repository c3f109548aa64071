//! What plugin code prints, on its way to the reader.

use std::sync::Arc;

use napi_derive::napi;
use warpline_core::engine::Prints;
use warpline_core::worker::Link;

/// The prints of one invocation.
#[napi]
pub struct NativePrints {
    held: Held,
}

/// Who holds them.
enum Held {
    /// An engine of this process.
    Here(Arc<Prints>),
    /// The engine whose worker this process is.
    There(Arc<Link>, u64),
}

impl From<Arc<Prints>> for NativePrints {
    fn from(prints: Arc<Prints>) -> Self {
        Self { held: Held::Here(prints) }
    }
}

impl NativePrints {
    /// The prints of an invocation that runs in a worker.
    pub(crate) fn remote(link: Arc<Link>, invocation: u64) -> Self {
        Self { held: Held::There(link, invocation) }
    }
}

#[napi]
impl NativePrints {
    /// Takes text and gives what may be shown now; `null` where it may be shown as it came.
    #[napi(catch_unwind)]
    pub fn print(&self, text: String) -> Option<String> {
        let text = text.into();
        let shown = match &self.held {
            Held::Here(prints) => prints.print(&text),
            Held::There(link, invocation) => link.print(*invocation, &text),
        };
        shown.map(|shown| shown.to_text())
    }

    /// Gives what was kept back.
    #[napi(catch_unwind)]
    pub fn release(&self) -> String {
        let rest = match &self.held {
            Held::Here(prints) => prints.release(),
            Held::There(link, invocation) => link.release(*invocation),
        };
        rest.to_text()
    }

    /// Takes the secrets out of what was thrown.
    #[napi(catch_unwind)]
    pub fn redact(&self, text: String) -> String {
        let text = text.into();
        let redacted = match &self.held {
            Held::Here(prints) => prints.redact(&text),
            Held::There(link, invocation) => link.redact(*invocation, &text),
        };
        redacted.to_text()
    }
}
