// The module hooks of a plugin realm where Node runs hooks in a thread of their own.

import { createRequire } from 'node:module'

import { PluginFiles } from './plugin-files.js'

/** @type {PluginFiles} */
let files

/** @param {{ realm: string, ownPackage: string, native: string }} data */
export function initialize(data) {
  const native = createRequire(import.meta.url)(data.native)
  files = new PluginFiles(data.realm, data.ownPackage, native.eraseFile)
}

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const step = files.resolve(specifier, context)
  if ('result' in step) return step.result
  const from = step.parentURL ? { ...context, parentURL: step.parentURL } : context
  const resolved = await next(specifier, from)
  return step.finish ? Object.assign(resolved, step.finish(resolved)) : resolved
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  const loaded = files.load(url)
  return loaded ?? next(url, context)
}
