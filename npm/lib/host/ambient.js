// Undoes what plugin code changes in the process: working directory, environment, file mode mask.
//
// A change belongs to the call in whose async context it was made; it lasts until the last call that
// made it is over. What the host changes stays, whenever it does.

'use strict'

const { showsEnvironment } = require('../environment.js')
const { ownMap, ownSet } = require('../intrinsics.js')

const { currentCall } = require('./plugin-call.js')

/** @typedef {InstanceType<typeof import('./plugin-call.js').PluginCall>} PluginCall */

const DIRECTORY = Symbol('working directory')
const MASK = Symbol('file mode mask')

const { deleteProperty, get, set } = Reflect

/** @type {Map<string | symbol, { original: any, writers: Set<PluginCall> }>} */
const changes = ownMap()

let watching = false
/** @type {NodeJS.ProcessEnv} */
let realEnvironment
/** @type {NodeJS.ProcessEnv} */
let watchedEnvironment
/** @type {() => string} */
let realCwd
/** @type {(directory: string) => void} */
let realChdir
/** @type {(mask: string | number) => number} */
let realUmask

/** Begins to watch the process, once. */
function watchProcess() {
  if (watching) return
  watching = true
  realCwd = process.cwd.bind(process)
  realChdir = process.chdir.bind(process)
  process.chdir = (directory) => {
    if (allowed(DIRECTORY, currentDirectory)) realChdir(directory)
  }
  realUmask = process.umask.bind(process)
  process.umask = /** @type {typeof process.umask} */ (
    (/** @type {any} */ mask) => {
      // Without an argument it is a question, which Node answers by setting the mask twice.
      if (mask === undefined) return realUmask(mask)
      const before = realUmask(mask)
      if (!allowed(MASK, () => before)) realUmask(before)
      return before
    }
  )
  watchEnvironment(process.env)
  Object.defineProperty(process, 'env', {
    configurable: true,
    enumerable: true,
    get: () => watchedEnvironment,
    set(value) {
      if (!currentCall()) return watchEnvironment(value)
      // From a plugin, a whole new environment is so many variables set and removed.
      for (const key of Object.keys(watchedEnvironment)) {
        if (!Object.hasOwn(value, key)) delete watchedEnvironment[key]
      }
      Object.assign(watchedEnvironment, value)
    },
  })
}

/** @param {NodeJS.ProcessEnv} environment */
function watchEnvironment(environment) {
  const valueBefore = (/** @type {string | symbol} */ key) => () => get(environment, key)
  realEnvironment = environment
  watchedEnvironment = new Proxy(environment, {
    set: (target, key, value) => !allowed(key, valueBefore(key)) || set(target, key, value),
    deleteProperty: (target, key) => !allowed(key, valueBefore(key)) || deleteProperty(target, key),
    defineProperty: (target, key, property) =>
      !allowed(key, valueBefore(key)) || Reflect.defineProperty(target, key, property),
  })
  showsEnvironment(watchedEnvironment, environment)
}

/**
 * Ends a call: what it changed is put back.
 *
 * @param {PluginCall} call
 * @param {(what: string) => void} tell takes what it had left changed, in words
 */
function restoreAfter(call, tell) {
  call.over = true
  if (!call.changed) return
  for (const key of call.changed) {
    const change = changes.get(key)
    change?.writers.delete(call)
    if (!change || change.writers.size > 0) continue
    changes.delete(key)
    const word = restore(key, change.original)
    if (word) tell(word)
  }
  call.changed.clear()
}

/**
 * @param {string | symbol} key
 * @param {any} original
 * @returns {string | undefined} what was put back, where anything was
 */
function restore(key, original) {
  if (key === MASK) return realUmask(original) === original ? undefined : 'the mask of file modes'
  if (key !== DIRECTORY) {
    if (get(realEnvironment, key) === original) return undefined
    if (original === undefined) deleteProperty(realEnvironment, key)
    else set(realEnvironment, key, original)
    return `the environment variable \`${String(key)}\``
  }
  if (currentDirectory() === original) return undefined
  try {
    realChdir(original ?? '/')
    return 'the working directory'
  } catch {
    return 'the working directory (it could not be restored)'
  }
}

/**
 * Whether the running code may change `key`; remembers whose change it is.
 *
 * @param {string | symbol} key
 * @param {() => unknown} before gives what it is now
 */
function allowed(key, before) {
  const call = currentCall()
  if (!call) {
    // The host's word is final: nothing is put back over it.
    changes.delete(key)
    return true
  }
  if (call.over) return false
  const change = changes.get(key) ?? { original: before(), writers: ownSet() }
  change.writers.add(call)
  changes.set(key, change)
  call.changed ??= ownSet()
  call.changed.add(key)
  return true
}

function currentDirectory() {
  try {
    return realCwd()
  } catch {
    return undefined
  }
}

module.exports = { watchProcess, restoreAfter }
