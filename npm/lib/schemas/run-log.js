// The shape of the log of one advance.

'use strict'

const { defineSchema } = require('../schema-object.js')

/** @typedef {typeof import('./run-log.js')} Published */

/** @type {Published['RunLogSchema']} */
const RunLogSchema = defineSchema('run-log')

/** @type {Published['PluginLogEntrySchema']} */
const PluginLogEntrySchema = defineSchema('plugin-log-entry')

module.exports = { RunLogSchema, PluginLogEntrySchema }
