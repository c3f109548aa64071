// What the host needs of JavaScript as it was before any plugin ran. Plugins share the process with it, and
// can replace what everybody sees, and so can a test.

'use strict'

const { setImmediate } = require('node:timers')

const { defineProperties, getOwnPropertyDescriptors, getPrototypeOf } = Object

const { parse, stringify } = JSON

/** @type {(text: string, pattern: RegExp, replacer: (found: string) => string) => string} */
const replace = Function.prototype.call.bind(String.prototype.replace)

/** @param {object} prototype */
function methodsOf(prototype) {
  const { constructor: _, ...methods } = getOwnPropertyDescriptors(prototype)
  return methods
}

const MAP = methodsOf(Map.prototype)
const SET = methodsOf(Set.prototype)

/**
 * A map that has its methods for its own.
 *
 * @template K, V
 * @returns {Map<K, V>}
 */
function ownMap() {
  return defineProperties(new Map(), MAP)
}

/**
 * A set that has its methods for its own.
 *
 * @template T
 * @returns {Set<T>}
 */
function ownSet() {
  return defineProperties(new Set(), SET)
}

/**
 * Gives an object the methods that its class has now for its own.
 *
 * @template {object} T
 * @param {T} object
 * @returns {T}
 */
function shielded(object) {
  return defineProperties(object, methodsOf(getPrototypeOf(object)))
}

module.exports = { nextTurn: setImmediate, ownMap, ownSet, parse, replace, shielded, stringify }
