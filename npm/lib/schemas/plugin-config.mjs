// The shape of a plugin's configuration file, and where a value may come from.

import { createRequire } from 'node:module'

export const { PLUGIN_CONFIG_PRECEDENCE, PluginConfigSchema } = createRequire(import.meta.url)(
  './plugin-config.js',
)
