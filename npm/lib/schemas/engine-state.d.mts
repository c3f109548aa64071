// The shape of the engine's state document, `state/engine-state.json`.

export * from './engine-state.js'
