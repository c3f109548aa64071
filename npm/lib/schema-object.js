// Schema objects: a name of the engine's validators and the faces it is used through.

'use strict'

const { jsonOf, textOfThrown } = require('./host/text.js')
const { parse } = require('./intrinsics.js')
const { native } = require('./native.js')
const { SchemaError } = require('./schema.js')

/** @typedef {import('./schema.js').SchemaIssue} SchemaIssue */

/**
 * A schema object over the engine's validator of this name.
 *
 * @template Input, Output
 * @param {string} name
 * @param {(value: unknown) => string} [toJson]
 * @returns {import('./schema.js').Schema<Input, Output>}
 */
function defineSchema(name, toJson = jsonOf) {
  /** @param {unknown} value */
  const validate = (value) => {
    let json
    try {
      json = toJson(value)
    } catch (thrown) {
      const why = `expected a value that JSON can hold: ${textOfThrown(thrown)}`
      return { issues: [{ path: [], message: why }] }
    }
    const outcome = parse(native().validateJson(name, json))
    if (outcome.issues) return { issues: /** @type {SchemaIssue[]} */ (outcome.issues) }
    return { value: /** @type {Output} */ (outcome.value) }
  }
  /** @type {import('./schema.js').Schema<Input, Output>['safeParse']} */
  const safeParse = (value) => {
    const { value: data, issues } = validate(value)
    if (issues) return { success: false, error: new SchemaError(issues) }
    return { success: true, data: /** @type {Output} */ (data) }
  }
  return Object.freeze({
    /** @param {unknown} value */
    parse(value) {
      const outcome = safeParse(value)
      if (outcome.success) return outcome.data
      throw outcome.error
    },
    safeParse,
    toJSONSchema: () => parse(native().jsonSchema(name)),
    '~standard': Object.freeze({
      version: /** @type {const} */ (1),
      vendor: /** @type {const} */ ('warpline'),
      validate: /** @type {any} */ (validate),
    }),
  })
}

module.exports = { defineSchema }
