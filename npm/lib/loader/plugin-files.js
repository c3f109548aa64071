// Decides which modules belong to plugins, and how their imports resolve and load.
//
// A plugin's module is known by its URL: `?warpline=<realm>.<revision>`, `realm` naming the running
// copy of this package and `revision` one state of one plugin directory. The query is what makes an
// edited plugin a new module; it passes from importer to imported file, so the whole plugin is new.
// Files outside of the plugin's directory, and its installed packages, carry revision 0: they are
// shared by all plugins and loaded once. Nothing else in the process is touched.

'use strict'

const { realpathSync } = require('node:fs')
const { fileURLToPath, pathToFileURL } = require('node:url')

const { fromNative } = require('../errors.js')
const { syntaxError } = require('./syntax-error.js')

const TYPESCRIPT = /\.m?ts$/
/** A URL of a file that holds the path as it is. */
const PLAIN = /^file:\/\/\/[\w./-]*$/
const RELATIVE = /^(?:\.\.?\/|file:)/

/**
 * @typedef {import('../native-engine.js').NativeModule} NativeModule
 * @typedef {import('../native-engine.js').Erased} Erased
 * @typedef {import('node:module').ResolveFnOutput} Resolved
 * @typedef {{ parentURL?: string | undefined }} ResolveContext
 * @typedef {{ result: Resolved } | { parentURL?: string, finish?: (resolved: Resolved) => Resolved }} ResolveStep
 */

/** One realm's plugin modules. The same code serves synchronous hooks and the hooks thread. */
class PluginFiles {
  #query
  #realm
  #ownPackage
  #eraseFile
  /** @type {Map<string, string>} URL of the plugin's directory, by revision */
  #directories = new Map()
  /** @type {Map<string, Erased>} what the next load of a URL need not read */
  #kept = new Map()

  /**
   * @param {string} realm
   * @param {string} ownPackage URL of a file of the running package
   * @param {NativeModule['eraseFile']} eraseFile
   */
  constructor(realm, ownPackage, eraseFile) {
    this.#realm = realm
    this.#query = new RegExp(`[?&]warpline=${realm}\\.(\\d+)(?:[&#]|$)`)
    this.#ownPackage = ownPackage
    this.#eraseFile = eraseFile
  }

  /**
   * What to do with an import: a `result`, or the default resolution (as imported from `parentURL`
   * where given) whose outcome goes through `finish`.
   *
   * @param {string} specifier
   * @param {ResolveContext} context
   * @returns {ResolveStep}
   */
  resolve(specifier, context) {
    const revision = this.#revision(context.parentURL)
    if (revision === undefined) return this.#entry(specifier)
    if (specifier === 'warpline' || specifier.startsWith('warpline/')) {
      return { parentURL: this.#ownPackage }
    }
    const relative = RELATIVE.test(specifier)
    if (relative) {
      const url = new URL(specifier, context.parentURL)
      const real = TYPESCRIPT.test(url.pathname) ? realFile(url) : undefined
      if (real) {
        real.search = url.search
        return { result: { ...this.#marked(real, revision), shortCircuit: true } }
      }
    }
    return { finish: (resolved) => this.#finish(resolved, revision, relative) }
  }

  /**
   * The source of a plugin's TypeScript module, or `undefined` where Node is to load the URL.
   *
   * @param {string} url
   */
  load(url) {
    if (this.#revision(url) === undefined) return undefined
    const clean = url.slice(0, url.search(/[?#]/))
    if (!TYPESCRIPT.test(clean)) return undefined
    const path = PLAIN.test(clean) ? clean.slice('file://'.length) : fileURLToPath(clean)
    const { source, fault } = this.#kept.get(url) ?? this.#erased(path)
    if (fault) throw syntaxError(path, fault)
    // No source and no fault: there is no such file. Node says so in its own words.
    if (typeof source !== 'string') return undefined
    return {
      format: 'module',
      source: `${source}\n\n//# sourceURL=${clean}`,
      shortCircuit: true,
    }
  }

  /**
   * Keeps what a file was read as for the load that follows at once.
   *
   * @param {string} url
   * @param {Erased} erased
   */
  keep(url, erased) {
    this.#kept.set(url, erased)
  }

  /** @param {string} url */
  forget(url) {
    this.#kept.delete(url)
  }

  /** @param {string} path */
  #erased(path) {
    try {
      return this.#eraseFile(path)
    } catch (thrown) {
      throw fromNative(thrown)
    }
  }

  /**
   * A plugin's own module that the host imports.
   *
   * @param {string} specifier
   * @returns {ResolveStep}
   */
  #entry(specifier) {
    const revision = specifier.startsWith('file:') ? this.#revision(specifier) : undefined
    if (revision === undefined) return {}
    const end = specifier.lastIndexOf('/', specifier.indexOf('?'))
    this.#directories.set(revision, specifier.slice(0, end + 1))
    return { result: { url: specifier, format: 'module', shortCircuit: true } }
  }

  /**
   * @param {Resolved} resolved
   * @param {string} revision
   * @param {boolean} relative whether the importer named a file rather than a package
   * @returns {Resolved}
   */
  #finish(resolved, revision, relative) {
    if (!resolved.url.startsWith('file:')) return resolved
    const directory = this.#directories.get(revision)
    const inside = directory !== undefined && resolved.url.startsWith(directory)
    if (!relative && !inside) return resolved
    return { ...resolved, ...this.#marked(new URL(resolved.url), revision) }
  }

  /**
   * @param {URL} url
   * @param {string} revision of the importer
   */
  #marked(url, revision) {
    const directory = this.#directories.get(revision)
    const inside =
      directory !== undefined &&
      url.href.startsWith(directory) &&
      !url.pathname.slice(new URL(directory).pathname.length).includes('node_modules/')
    const mark = `warpline=${this.#realm}.${inside ? revision : '0'}`
    url.search = url.search ? `${url.search}&${mark}` : `?${mark}`
    return TYPESCRIPT.test(url.pathname) ? { url: url.href, format: 'module' } : { url: url.href }
  }

  /** @param {string | undefined} url */
  #revision(url) {
    return url === undefined ? undefined : this.#query.exec(url)?.[1]
  }
}

/**
 * The file behind a URL with links followed, or `undefined` where there is none.
 *
 * @param {URL} url
 */
function realFile(url) {
  try {
    return pathToFileURL(realpathSync.native(fileURLToPath(url)))
  } catch {
    return undefined
  }
}

module.exports = { PluginFiles }
