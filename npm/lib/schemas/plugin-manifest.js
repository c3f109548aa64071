// The shape of a plugin's manifest.

'use strict'

const { plainJsonOf } = require('../host/text.js')
const { defineSchema } = require('../schema-object.js')

/** @type {import('../schema.js').Schema<import('./plugin-manifest.js').PluginManifestInput, import('./plugin-manifest.js').PluginManifest>} */
const PluginManifestSchema = defineSchema('plugin-manifest', plainJsonOf)

module.exports = { PluginManifestSchema }
