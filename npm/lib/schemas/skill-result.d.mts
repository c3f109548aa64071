// The shape of what a handler returns.

export * from './skill-result.js'
