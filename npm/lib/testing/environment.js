// Environment variables for the time of one run. The environment is the process's, so runs take turns.

'use strict'

/** @type {Promise<unknown>} */
let lastTurn = Promise.resolve()

/**
 * Runs code with variables set, or missing where `undefined`, and puts back what was there.
 *
 * @template T
 * @param {Record<string, string | undefined>} variables
 * @param {() => Promise<T>} code
 * @returns {Promise<T>}
 */
function withVariables(variables, code) {
  const turn = lastTurn.then(async () => {
    const before = Object.keys(variables).map((name) => [name, process.env[name]])
    for (const [name, value] of Object.entries(variables)) set(name, value)
    try {
      return await code()
    } finally {
      for (const [name, value] of before) set(/** @type {string} */ (name), value)
    }
  })
  lastTurn = turn.catch(() => {})
  return turn
}

/**
 * @param {string} name
 * @param {string | undefined} value
 */
function set(name, value) {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

module.exports = { withVariables }
