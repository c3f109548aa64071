// Whose code is running: every call into a plugin has an async context of its own.

import { AsyncLocalStorage } from 'node:async_hooks'

/** @type {AsyncLocalStorage<PluginCall>} */
const storage = new AsyncLocalStorage()

/** One call into plugin code: an import or an attempt. */
export class PluginCall {
  /** Over calls can still run code, and may no longer change the process. */
  over = false
  /** @type {Set<string | symbol>} what it changed in the process, to be undone */
  changed = new Set()

  /**
   * @param {string} plugin
   * @param {((text: string) => void) | undefined} capture takes what is printed, where it is wanted
   */
  constructor(plugin, capture) {
    this.plugin = plugin
    this.capture = capture
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
export function currentCall() {
  return storage.getStore()
}

/**
 * Runs code that belongs to the host, whoever asked for it.
 *
 * @template T
 * @param {() => T} code
 * @returns {T}
 */
export function outside(code) {
  return storage.exit(code)
}
