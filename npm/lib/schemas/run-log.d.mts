// The shape of the log of one advance, `runs/<run_id>.json`.

export * from './run-log.js'
