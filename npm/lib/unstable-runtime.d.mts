// The runtime piece by piece, for hosts. A minor version may rename anything in this file.

export * from './unstable-runtime.js'
