// Finds and opens the native engine, and says of each place why it did not serve.

import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const FLOOR = '20.10'
const PLATFORM_PACKAGE = 'warpline-linux-x64-gnu'

/** @typedef {import('./native-engine.js').NativeModule} NativeModule */

/** @type {{ module: NativeModule, path: string } | undefined} */
let opened

/**
 * Opens the native engine at the first call.
 *
 * Looked for in this order: the file that `WARPLINE_NATIVE` names (and then nowhere else), the file
 * beside this package, the package of this platform.
 *
 * @returns {NativeModule}
 */
export function native() {
  return open().module
}

/** The file that the native engine came from, for another thread to open. */
export function nativePath() {
  return open().path
}

function open() {
  opened ??= search(process.env.WARPLINE_NATIVE, process.versions.node)
  return opened
}

/**
 * @param {string | undefined} override the file to open, where the environment names one
 * @param {string} version the Node version that runs
 */
export function search(override, version) {
  if (isBelowFloor(version)) {
    throw new Error(`warpline needs Node.js ${FLOOR} or newer, and this is ${version}`)
  }
  const require = createRequire(import.meta.url)
  const beside = fileURLToPath(new URL('../native/warpline.node', import.meta.url))
  const places = override ? [resolve(override)] : [beside, PLATFORM_PACKAGE]
  const causes = []
  for (const place of places) {
    try {
      const path = require.resolve(place)
      return { module: /** @type {NativeModule} */ (require(path)), path }
    } catch (error) {
      causes.push(`${place}: ${firstLine(error)}`)
    }
  }
  throw new Error(
    `the native engine of warpline could not be opened on ${process.platform}-${process.arch}; tried ${causes.join('; ')}`,
  )
}

/** @param {string} version */
function isBelowFloor(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [floorMajor = 0, floorMinor = 0] = FLOOR.split('.').map(Number)
  return major < floorMajor || (major === floorMajor && minor < floorMinor)
}

/** @param {unknown} error */
function firstLine(error) {
  return String(error instanceof Error ? error.message : error).split('\n')[0]
}
