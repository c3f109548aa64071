// The shape of a plugin's configuration file, and where a value may come from.

import { defineSchema } from '../schema-object.js'

/** @type {import('../schema.js').Schema<import('./plugin-config.js').PluginConfig, import('./plugin-config.js').PluginConfig>} */
export const PluginConfigSchema = defineSchema('plugin-config')

/** @type {typeof import('./plugin-config.js').PLUGIN_CONFIG_PRECEDENCE} */
export const PLUGIN_CONFIG_PRECEDENCE = Object.freeze([
  'manifest_default',
  'config_file',
  'invocation_args',
])
