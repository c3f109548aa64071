// The shape of a plugin's manifest.

export * from './plugin-manifest.js'
