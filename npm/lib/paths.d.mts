// Where the home of warpline lies.

export * from './paths.js'
