// The module hooks of a plugin realm where Node runs hooks in a thread of their own.

'use strict'

const { PluginFiles } = require('./plugin-files.js')

/** @type {InstanceType<typeof PluginFiles>} */
let files

/** @param {{ realm: string, ownPackage: string, native: string }} data */
function initialize(data) {
  const native = require(data.native)
  files = new PluginFiles(data.realm, data.ownPackage, native.eraseFile)
}

/** @type {import('node:module').ResolveHook} */
async function resolve(specifier, context, next) {
  const step = files.resolve(specifier, context)
  if ('result' in step) return step.result
  const from = step.parentURL ? { ...context, parentURL: step.parentURL } : context
  const resolved = await next(specifier, from)
  return step.finish ? Object.assign(resolved, step.finish(resolved)) : resolved
}

/** @type {import('node:module').LoadHook} */
async function load(url, context, next) {
  const loaded = files.load(url)
  return loaded ?? next(url, context)
}

module.exports = { initialize, resolve, load }
