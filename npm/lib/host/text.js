// Turns whatever plugin code returns or throws into text, without ever failing.

'use strict'

const { inspect, types } = require('node:util')

const { replace, stringify } = require('../intrinsics.js')

/** The longest text of a thrown value, in UTF-16 units. */
const ERROR_LIMIT = 16_384

/** The longest JSON text of a value that a plugin hands over, in UTF-16 units. */
const JSON_LIMIT = 32 * 1024 * 1024

/** What would move the cursor, colour, hide or reorder text on a terminal, or end the line. */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]/g

/**
 * Text for one line of a terminal: what could play tricks there is shown as an escape.
 *
 * @param {string} text
 */
function oneLine(text) {
  return replace(text, UNSAFE, (unsafe) => `\\u{${unsafe.charCodeAt(0).toString(16)}}`)
}

/**
 * The JSON text of a value; `null` where JSON has no form for it.
 *
 * @param {unknown} value
 * @returns {string}
 * @throws {Error} saying why there is none: a cycle, a BigInt, a `toJSON` that throws, too long
 */
function jsonOf(value) {
  const text = stringify(value) ?? 'null'
  if (text.length > JSON_LIMIT) {
    throw new RangeError(`the value is longer than ${JSON_LIMIT} characters as JSON`)
  }
  return text
}

/**
 * The JSON text of a value made of plain objects and arrays alone.
 *
 * `JSON.stringify` leaves out what an object inherits or hides, and lets `toJSON` say something else.
 * A manifest must say all that it says to a reader of its properties: a side effect that is left out
 * would be one that nobody is asked about.
 *
 * @param {unknown} value
 * @returns {string}
 * @throws {TypeError} for anything that is not plain
 */
function plainJsonOf(value) {
  const open = [value]
  const seen = new Set()
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    if (!isPlain(next)) throw new TypeError(NOT_PLAIN)
    for (const key of Reflect.ownKeys(next)) {
      const property = Reflect.getOwnPropertyDescriptor(next, key)
      const isLength = Array.isArray(next) && key === 'length'
      if (!isLength && !(property?.enumerable && 'value' in property))
        throw new TypeError(NOT_PLAIN)
      open.push(property?.value)
    }
  }
  return jsonOf(value)
}

const NOT_PLAIN =
  'expected plain objects and arrays: no class, nothing inherited, hidden or computed, no `toJSON`'

/**
 * Whether a value is an object or array of no class, that JSON shows as it is.
 *
 * @param {object} value
 */
function isPlain(value) {
  // A proxy can show one thing here and another to JSON.
  if (types.isProxy(value)) return false
  const prototype = Object.getPrototypeOf(value)
  const plain = Array.isArray(value) ? [Array.prototype] : [Object.prototype, null]
  return plain.includes(prototype) && typeof Reflect.get(value, 'toJSON') !== 'function'
}

/**
 * The text of a thrown value: an error's message, or the value as a developer reads it.
 *
 * @param {unknown} thrown
 * @returns {string}
 */
function textOfThrown(thrown) {
  const text = messageOf(thrown)
  return text.length > ERROR_LIMIT ? `${text.slice(0, ERROR_LIMIT)}… (cut)` : text
}

/** @param {unknown} thrown */
function messageOf(thrown) {
  try {
    if (typeof thrown === 'string') return thrown
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    const { message } = /** @type {{ message?: unknown }} */ (thrown)
    if (typeof message === 'string' && message !== '') return message
    if (thrown instanceof Error) return typeof thrown.name === 'string' ? thrown.name : 'Error'
    return inspect(thrown, { depth: 2, customInspect: false, maxStringLength: 1000 })
  } catch {
    return 'a value that cannot be shown'
  }
}

module.exports = { JSON_LIMIT, oneLine, jsonOf, plainJsonOf, isPlain, textOfThrown }
