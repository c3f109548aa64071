// Imports a plugin's modules, each revision of its directory once.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { native, nativePath } from '../native.js'
import { PluginFiles } from './plugin-files.js'

/** @typedef {import('../native-engine.js').PluginModule} PluginModule */

const realm = randomUUID().slice(0, 8)
/** @type {Map<string, number>} number by plugin directory and revision; 0 is for shared files */
const revisions = new Map()
/** @type {Set<string>} directories of which a revision was loaded */
const seen = new Set()
let installed = false

/**
 * Imports `manifest.ts` or `handler.ts` of a plugin.
 *
 * @param {PluginModule} plugin
 * @param {string} file
 * @returns {Promise<Record<string, unknown>>}
 */
export async function importPlugin(plugin, file) {
  const path = join(plugin.directory, file)
  if (!existsSync(path)) throw new Error(`${path} does not exist`)
  const number = revisionNumber(plugin)
  if (process.versions.bun) {
    // Bun strips types by itself, and reads a file again only where a plain path carries the query.
    return import(`${path}?warpline=${realm}.${number}`)
  }
  install()
  try {
    return await import(`${pathToFileURL(path).href}?warpline=${realm}.${number}`)
  } catch (error) {
    throw named(error, path)
  }
}

/**
 * A key for what was loaded of this plugin, the same for the same revision.
 *
 * @param {PluginModule} plugin
 */
export function revisionNumber(plugin) {
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
  const { cache } = module.createRequire(import.meta.url)
  for (const file of Object.keys(cache)) {
    if (!file.startsWith(`${directory}/`)) continue
    if (!file.slice(directory.length).includes('/node_modules/')) delete cache[file]
  }
}

/** Installs the module hooks before the first plugin loads. Bun and Deno strip types themselves. */
function install() {
  if (installed || process.versions.bun || process.versions.deno) return
  const ownPackage = import.meta.url
  if (typeof module.registerHooks === 'function') {
    const files = new PluginFiles(realm, ownPackage, native().eraseFile)
    module.registerHooks({
      resolve(specifier, context, next) {
        const step = files.resolve(specifier, context)
        if ('result' in step) return step.result
        const from = step.parentURL ? { ...context, parentURL: step.parentURL } : context
        const resolved = next(specifier, from)
        return step.finish ? Object.assign(resolved, step.finish(resolved)) : resolved
      },
      load(url, context, next) {
        const loaded = files.load(url)
        return loaded ?? next(url, context)
      },
    })
  } else {
    module.register('./thread-hooks.js', {
      parentURL: import.meta.url,
      data: { realm, ownPackage, native: nativePath() },
    })
  }
  installed = true
}

/**
 * A syntax error that only the JavaScript engine sees says nothing of the file: the entry is named.
 *
 * @param {unknown} error
 * @param {string} path
 */
function named(error, path) {
  if (error instanceof SyntaxError && !error.message.includes('/')) {
    return new SyntaxError(`${path}: ${error.message}`, { cause: error })
  }
  return error
}
