// The shape of a plugin's configuration file, and where a value may come from.

export * from './plugin-config.js'
