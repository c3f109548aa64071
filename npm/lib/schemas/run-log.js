// The shape of the log of one advance.

import { defineSchema } from '../schema-object.js'

/** @typedef {typeof import('./run-log.js')} Published */

/** @type {Published['RunLogSchema']} */
export const RunLogSchema = defineSchema('run-log')

/** @type {Published['PluginLogEntrySchema']} */
export const PluginLogEntrySchema = defineSchema('plugin-log-entry')
