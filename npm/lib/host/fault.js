// What a reader is shown of something that plugin code threw, without the values of its secrets.

'use strict'

const { stringify } = require('../intrinsics.js')
const { native } = require('../native.js')
const { excerpt } = require('./stack.js')

/**
 * What was thrown, and where: the result has its message alone.
 *
 * @param {unknown} thrown
 * @param {string[]} secrets names of variables
 * @param {NodeJS.ProcessEnv} variables
 * @returns {string} lines; the first has the message
 */
function faultText(thrown, secrets, variables) {
  const owned = secrets.filter((name) => Object.hasOwn(variables, name))
  const values = stringify(owned.map((name) => variables[name]))
  const redact = (/** @type {string} */ text) => native().redact(stringify(text), values)
  return excerpt(thrown, redact).join('\n')
}

module.exports = { faultText }
