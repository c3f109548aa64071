// The capability context of a handler, and the witness that an invocation takes.

export * from './unstable-capabilities.js'
