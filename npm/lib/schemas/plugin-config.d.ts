// The shape of a plugin's configuration file, and where a value may come from.

import type { Schema } from '../schema.js'

/** The content of `config/<plugin>.json`: values by input name. */
export type PluginConfig = Record<string, unknown>

/** Validates the content of a configuration file, not the values against a manifest. */
export declare const PluginConfigSchema: Schema<PluginConfig, PluginConfig>

/** The sources of an input's value; later ones win. */
export declare const PLUGIN_CONFIG_PRECEDENCE: readonly [
  'manifest_default',
  'config_file',
  'invocation_args',
]
