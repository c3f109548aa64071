// Runs a fleet of plugins once.

export * from './index.js'
