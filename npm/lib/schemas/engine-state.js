// The shape of the engine's state document.

'use strict'

const { defineSchema } = require('../schema-object.js')

/** @typedef {typeof import('./engine-state.js')} Published */

/** The newest `schema_version` that this build understands. */
const ENGINE_STATE_MAX_SCHEMA_VERSION = 1

/** @type {Published['EngineStateSchema']} */
const EngineStateSchema = defineSchema('engine-state')

module.exports = { ENGINE_STATE_MAX_SCHEMA_VERSION, EngineStateSchema }
