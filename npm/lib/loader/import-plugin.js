// Imports a plugin's modules, each revision of its directory once.

'use strict'

const { existsSync } = require('node:fs')
const nodeModule = require('node:module')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

const { native, nativePath } = require('../native.js')
const { PluginFiles } = require('./plugin-files.js')
const { importError } = require('./syntax-error.js')

/** @typedef {import('../native-engine.js').PluginModule} PluginModule */

/** A path that a URL holds as it is. */
const PLAIN = /^\/[\w./-]*$/

// Another copy of this package in the thread has another one. It guards nothing, and `node:crypto` would
// be half of what there is to load.
const realm = (((Math.random() * 2 ** 32) ^ process.hrtime()[1]) >>> 0).toString(16)

/** @type {Map<string, number>} number by plugin directory and revision; 0 is for shared files */
const revisions = new Map()
/** @type {Set<string>} directories of which a revision was loaded */
const seen = new Set()
let installed = false
/** @type {InstanceType<typeof PluginFiles> | undefined} where the hooks run in this thread */
let filesHere

/**
 * Imports `manifest.ts` or `handler.ts` of a plugin.
 *
 * @param {PluginModule} plugin
 * @param {string} file
 * @param {import('../native-engine.js').Erased | null} [erased] the file, where it was read already
 * @returns {Promise<Record<string, unknown>>}
 */
async function importPlugin(plugin, file, erased = null) {
  const path = `${plugin.directory}/${file}`
  const number = revisionNumber(plugin)
  install()
  // Bun reads a file again only where a plain path carries the query.
  const module = `${process.versions.bun ? path : urlOf(path)}?warpline=${realm}.${number}`
  if (erased) filesHere?.keep(module, erased)
  try {
    return await import(module)
  } catch (thrown) {
    throw existsSync(path) ? importError(thrown, path) : new Error(`${path} does not exist`)
  } finally {
    if (erased) filesHere?.forget(module)
  }
}

/**
 * The URL of a file by its canonical path.
 *
 * @param {string} path
 */
function urlOf(path) {
  return PLAIN.test(path) ? `file://${path}` : pathToFileURL(path).href
}

/**
 * A key for what was loaded of this plugin, the same for the same revision.
 *
 * @param {PluginModule} plugin
 */
function revisionNumber(plugin) {
  const key = `${plugin.directory}\0${plugin.revision}`
  const known = revisions.get(key)
  if (known !== undefined) return known
  const number = revisions.size + 1
  revisions.set(key, number)
  if (seen.has(plugin.directory)) forgetCommonJs(plugin.directory)
  seen.add(plugin.directory)
  return number
}

/**
 * CommonJS modules are kept by file name: those of an edited plugin must be read again.
 *
 * @param {string} directory
 */
function forgetCommonJs(directory) {
  for (const file of Object.keys(require.cache)) {
    if (!file.startsWith(`${directory}/`)) continue
    if (!file.slice(directory.length).includes('/node_modules/')) delete require.cache[file]
  }
}

/**
 * Installs the module hooks before the first plugin loads.
 *
 * Bun has none, and needs none: it strips types itself, and forgets files that are taken off its
 * list. Deno strips types as well, but keeps to the URL it is given.
 */
function install() {
  if (installed || process.versions.bun) return
  const ownPackage = pathToFileURL(join(__dirname, '../../package.json')).href
  if (typeof nodeModule.registerHooks === 'function') {
    const files = new PluginFiles(realm, ownPackage, native().eraseFile)
    /** @type {import('node:module').RegisterHooksOptions} */
    const hooks = {
      resolve(specifier, context, next) {
        const step = files.resolve(specifier, context)
        if ('result' in step) return step.result
        const from = step.parentURL ? { ...context, parentURL: step.parentURL } : context
        const resolved = next(specifier, from)
        return step.finish ? Object.assign(resolved, step.finish(resolved)) : resolved
      },
    }
    if (!process.versions.deno) {
      hooks.load = (url, context, next) => files.load(url) ?? next(url, context)
      filesHere = files
      native().takeErased()
    }
    nodeModule.registerHooks(hooks)
  } else {
    nodeModule.register('./thread-hooks.js', {
      parentURL: pathToFileURL(__filename).href,
      data: { realm, ownPackage, native: nativePath() },
    })
  }
  installed = true
}

module.exports = { importPlugin, revisionNumber }
