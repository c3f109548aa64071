// Whose code is running: every call into a plugin has an async context of its own.

'use strict'

const { AsyncLocalStorage } = require('node:async_hooks')

const { shielded } = require('../intrinsics.js')

/** @type {AsyncLocalStorage<PluginCall>} */
const storage = shielded(new AsyncLocalStorage())

/** One call into plugin code: an import or an attempt. */
class PluginCall {
  /** Over calls can still run code, and may no longer change the process. */
  over = false
  /** @type {Set<string | symbol> | undefined} what it changed in the process, to be undone */
  changed

  /**
   * @param {string} plugin
   * @param {import('../native-engine.js').NativePrints | null} prints where what is printed goes before
   *   it is shown, if anywhere
   */
  constructor(plugin, prints) {
    this.plugin = plugin
    this.prints = prints
  }

  /**
   * Runs plugin code.
   *
   * @template T
   * @param {() => T} code
   * @returns {T}
   */
  run(code) {
    return storage.run(this, code)
  }
}

/** The call whose code is running now; `undefined` for the host's own code. */
function currentCall() {
  return storage.getStore()
}

/**
 * Runs code that belongs to the host, whoever asked for it.
 *
 * @template T
 * @param {() => T} code
 * @returns {T}
 */
function outside(code) {
  return storage.exit(code)
}

module.exports = { PluginCall, currentCall, outside }
