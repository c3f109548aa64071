// Builders of the three results that a plugin writes.

export * from './unstable-result.js'
