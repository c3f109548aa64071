// The process as the engine sees it: environment variables and working directory.

'use strict'

const { AsyncLocalStorage } = require('node:async_hooks')

const { types } = require('node:util')

const { stringify } = require('./intrinsics.js')
const { native } = require('./native.js')

const { isProxy } = types

/**
 * The home of a test, for whatever code runs under it. A handler that was given up goes on after the
 * test: it must not find the home of the developer then.
 *
 * @type {import('node:async_hooks').AsyncLocalStorage<string>}
 */
const testHomes = new AsyncLocalStorage()

/** @returns {string} JSON text `{vars, cwd}` */
function environmentJson() {
  const home = testHomes.getStore()
  const vars = { ...process.env, ...(home === undefined ? {} : { WARPLINE_HOME: home }) }
  return stringify({ vars, cwd: workingDirectory() })
}

/**
 * What plugin code sees in the place of an environment, and changes through.
 *
 * @type {{ view: object, environment: NodeJS.ProcessEnv } | undefined}
 */
let watched

/**
 * The environment that it was found out about last: whether it is that of the process itself.
 *
 * @type {{ environment: NodeJS.ProcessEnv, isLive: boolean } | undefined}
 */
let asked

/**
 * Takes note that a view shows an environment as it is.
 *
 * @param {object} view
 * @param {NodeJS.ProcessEnv} environment
 */
function showsEnvironment(view, environment) {
  watched = { view, environment }
}

/**
 * The working directory, where the native engine can read the variables for itself: they are then those of the
 * process, and no copy that a test or a worker has put in their place. `undefined` where they have to be told.
 */
function liveDirectory() {
  if (testHomes.getStore() !== undefined) return undefined
  const { env } = process
  const environment = env === watched?.view ? watched.environment : env
  if (asked?.environment !== environment) asked = { environment, isLive: isLive(environment) }
  return asked.isLive ? (workingDirectory() ?? undefined) : undefined
}

/**
 * Whether what is set here is set in the process, and nothing else is to be seen.
 *
 * @param {NodeJS.ProcessEnv} environment
 */
function isLive(environment) {
  if (process.versions.bun || process.versions.deno || isProxy(environment)) return false
  if (!require('node:worker_threads').isMainThread) return false
  const { processVariable } = native()
  const name = `WARPLINE_PROBE_${process.pid}_${Date.now()}`
  try {
    if (processVariable(name) !== null || Object.hasOwn(environment, name)) return false
    environment[name] = name
    const arrived = processVariable(name) === name
    delete environment[name]
    if (!arrived || processVariable(name) !== null) return false
    return Object.entries(environment).every(([key, value]) => processVariable(key) === value)
  } catch {
    // It cannot be changed, or not like this.
    return false
  }
}

/** `null` where it was deleted: what its name was, or is to others now, is no place to look for a home. */
function workingDirectory() {
  try {
    return process.cwd()
  } catch {
    return null
  }
}

module.exports = { environmentJson, liveDirectory, showsEnvironment, testHomes }
