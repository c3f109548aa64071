// The shape of a plugin's manifest.

import { plainJsonOf } from '../host/text.js'
import { defineSchema } from '../schema-object.js'

/** @type {import('../schema.js').Schema<import('./plugin-manifest.js').PluginManifestInput, import('./plugin-manifest.js').PluginManifest>} */
export const PluginManifestSchema = defineSchema('plugin-manifest', plainJsonOf)
