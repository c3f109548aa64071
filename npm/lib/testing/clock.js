// A `Date` that stands still for the code of one run, and goes on for everybody else.

'use strict'

const { AsyncLocalStorage } = require('node:async_hooks')

/** @type {import('node:async_hooks').AsyncLocalStorage<number>} milliseconds since 1970 */
const instants = new AsyncLocalStorage()

/** @param {DateConstructor} real */
function standing(real) {
  const now = () => instants.getStore() ?? real.now()
  return new Proxy(real, {
    construct(target, given, made) {
      return Reflect.construct(target, given.length === 0 ? [now()] : given, made)
    },
    apply: () => new real(now()).toString(),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  })
}

/**
 * Runs code for which `new Date()` and `Date.now()` show one instant, whatever it waits for.
 *
 * @template T
 * @param {number} instant milliseconds since 1970
 * @param {() => Promise<T>} code
 * @returns {Promise<T>}
 */
async function standingAt(instant, code) {
  const before = globalThis.Date
  const ours = standing(before)
  globalThis.Date = ours
  try {
    return await instants.run(instant, code)
  } finally {
    // Somebody else may have put theirs in place meanwhile.
    if (globalThis.Date === ours) globalThis.Date = before
  }
}

module.exports = { standingAt }
