// The shape of a plugin's configuration file, and where a value may come from.

'use strict'

const { defineSchema } = require('../schema-object.js')

/** @type {import('../schema.js').Schema<import('./plugin-config.js').PluginConfig, import('./plugin-config.js').PluginConfig>} */
const PluginConfigSchema = defineSchema('plugin-config')

/** @type {typeof import('./plugin-config.js').PLUGIN_CONFIG_PRECEDENCE} */
const PLUGIN_CONFIG_PRECEDENCE = Object.freeze([
  'manifest_default',
  'config_file',
  'invocation_args',
])

module.exports = { PluginConfigSchema, PLUGIN_CONFIG_PRECEDENCE }
