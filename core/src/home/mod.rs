//! Placeholder line replaced by the module's owner.
