//! The Node.js binding of the warpline engine.
