// Runs plugins for their tests: the real engine, in a home of its own, on facts that a test makes up.

export * from './unstable-testing.js'
