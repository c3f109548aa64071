// The shape of a plugin's manifest.

import { createRequire } from 'node:module'

export const { PluginManifestSchema } = createRequire(import.meta.url)('./plugin-manifest.js')
