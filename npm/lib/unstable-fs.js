// Files that are whole or absent: atomic replacement, and reading what may not be there.

'use strict'

const { resolve } = require('node:path')

const { awaitNative } = require('./errors.js')
const { parse, stringify } = require('./intrinsics.js')
const { native } = require('./native.js')

/** @typedef {typeof import('./unstable-fs.js')} Published */

/** @type {Published['atomicWriteText']} */
async function atomicWriteText(path, text) {
  const file = resolve(path)
  await awaitNative(() => native().writeAtomic(file, String(text)))
}

/** @type {Published['atomicWriteJson']} */
async function atomicWriteJson(path, value) {
  const text = stringify(value, null, 2)
  if (text === undefined) throw new TypeError(`a ${typeof value} has no JSON form`)
  await atomicWriteText(path, `${text}\n`)
}

/** @type {Published['readJsonOrNull']} */
async function readJsonOrNull(path) {
  const file = resolve(path)
  const text = await awaitNative(() => native().readText(file))
  if (text === null) return null
  try {
    return parse(text)
  } catch {
    // The reason that JSON.parse gives may quote the content.
    throw new SyntaxError(`${file} is not valid JSON`)
  }
}

module.exports = { atomicWriteText, atomicWriteJson, readJsonOrNull }
