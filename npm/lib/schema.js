// The error of a value that does not have the shape of its schema.

'use strict'

/** @typedef {import('./schema.js').SchemaIssue} SchemaIssue */

/** A value that does not have the shape of its schema. */
class SchemaError extends Error {
  /** @param {readonly SchemaIssue[]} issues */
  constructor(issues) {
    super(issues.map(lineOf).join('; '))
    /** @type {'SchemaError'} */
    this.name = 'SchemaError'
    /** @type {'ERR_WARPLINE_SCHEMA'} */
    this.code = 'ERR_WARPLINE_SCHEMA'
    this.issues = issues
  }
}

/** @param {SchemaIssue} issue */
function lineOf({ path, message }) {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else text += text === '' ? part : `.${part}`
  }
  return text === '' ? message : `\`${text}\`: ${message}`
}

module.exports = { SchemaError }
