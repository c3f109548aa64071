// Undoes what plugin code changes in the process: the working directory and the environment.
//
// A change belongs to the call in whose async context it was made; it lasts until the last call that
// made it is over. What the host changes stays, whenever it does.

import { currentCall } from './plugin-call.js'

/** @typedef {import('./plugin-call.js').PluginCall} PluginCall */

const DIRECTORY = Symbol('working directory')

/** @type {Map<string | symbol, { original: string | undefined, writers: Set<PluginCall> }>} */
const changes = new Map()

let watching = false
/** @type {NodeJS.ProcessEnv} */
let realEnvironment
/** @type {NodeJS.ProcessEnv} */
let watchedEnvironment
/** @type {(directory: string) => void} */
let realChdir

/** Begins to watch the process, once. */
export function watchProcess() {
  if (watching) return
  watching = true
  realChdir = process.chdir.bind(process)
  process.chdir = (directory) => {
    if (allowed(DIRECTORY, currentDirectory)) realChdir(directory)
  }
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
  const valueBefore = (/** @type {string | symbol} */ key) => () => Reflect.get(environment, key)
  realEnvironment = environment
  watchedEnvironment = new Proxy(environment, {
    set: (target, key, value) => !allowed(key, valueBefore(key)) || Reflect.set(target, key, value),
    deleteProperty: (target, key) =>
      !allowed(key, valueBefore(key)) || Reflect.deleteProperty(target, key),
    defineProperty: (target, key, property) =>
      !allowed(key, valueBefore(key)) || Reflect.defineProperty(target, key, property),
  })
}

/**
 * Ends a call: what it changed is put back.
 *
 * @param {PluginCall} call
 * @returns {string[]} what it had left changed, in words
 */
export function restoreAfter(call) {
  call.over = true
  const words = []
  for (const key of call.changed) {
    const change = changes.get(key)
    change?.writers.delete(call)
    if (!change || change.writers.size > 0) continue
    changes.delete(key)
    const current = key === DIRECTORY ? currentDirectory() : Reflect.get(realEnvironment, key)
    if (current === change.original) continue
    words.push(restore(key, change.original))
  }
  call.changed.clear()
  return words
}

/**
 * @param {string | symbol} key
 * @param {string | undefined} original
 */
function restore(key, original) {
  if (key !== DIRECTORY) {
    if (original === undefined) Reflect.deleteProperty(realEnvironment, key)
    else Reflect.set(realEnvironment, key, original)
    return `the environment variable \`${String(key)}\``
  }
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
 * @param {() => string | undefined} current
 */
function allowed(key, current) {
  const call = currentCall()
  if (!call) {
    // The host's word is final: nothing is put back over it.
    changes.delete(key)
    return true
  }
  if (call.over) return false
  const change = changes.get(key) ?? { original: current(), writers: new Set() }
  change.writers.add(call)
  changes.set(key, change)
  call.changed.add(key)
  return true
}

function currentDirectory() {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}
