// The shape of the engine's state document.

import { defineSchema } from '../schema-object.js'

/** @typedef {typeof import('./engine-state.js')} Published */

/** The newest `schema_version` that this build understands. */
export const ENGINE_STATE_MAX_SCHEMA_VERSION = 1

/** @type {Published['EngineStateSchema']} */
export const EngineStateSchema = defineSchema('engine-state')
