// Finds and opens the native engine, and says why it did not serve.

'use strict'

const { existsSync, statSync } = require('node:fs')
const { join, resolve } = require('node:path')

const { cutOff } = require('./elf.js')

const FLOOR = '20.10'

const BESIDE = join(__dirname, '../native/warpline.node')

const FROM_SOURCE =
  'build the engine from source: `make build` in a checkout of warpline makes npm/native/warpline.node, for WARPLINE_NATIVE to name'

/** @typedef {import('./native-engine.js').NativeModule} NativeModule */

/** @type {{ module: NativeModule, path: string } | undefined} */
let opened

/**
 * Opens the native engine at the first call.
 *
 * It is the file that `WARPLINE_NATIVE` names, else the file beside this package where there is one,
 * which a build from source puts there, else what the package of this platform holds. None is tried
 * in place of one that does not open: it would be another engine than the one that was meant.
 *
 * @returns {NativeModule}
 */
function native() {
  return open().module
}

/** The file that the native engine came from, for another thread to open. */
function nativePath() {
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
function search(override, version) {
  if (isBelowFloor(version)) {
    throw new Error(`warpline needs Node.js ${FLOOR} or newer, and this is ${version}`)
  }
  if (override) {
    return openFile(resolve(override), 'WARPLINE_NATIVE names', 'name another file, or none')
  }
  if (existsSync(BESIDE)) return openFile(BESIDE, 'beside the package lies', 'remove that file')
  return openPackage()
}

/** Opens what the package of this platform holds. */
function openPackage() {
  const { libc, targetFor, targets } = require('./platform.js')
  const library = libc()
  const target = targetFor(library)
  if (!target) {
    const built = targets.map(({ package: name }) => name).join(', ')
    throw failure(`no package holds it for this platform; there are ${built}`, FROM_SOURCE)
  }
  const name = target.package
  const { version } = require('../package.json')
  let path
  try {
    path = require.resolve(name)
  } catch (error) {
    const cause = /** @type {NodeJS.ErrnoException} */ (error).code
    throw failure(
      `the package ${name} is not installed${cause === 'MODULE_NOT_FOUND' ? '' : `: ${firstLine(error)}`}`,
      `it is an optional dependency, which \`npm install --omit=optional\`, or a lock file written on another platform, leaves out: install \`${name}@${version}\`, or ${FROM_SOURCE}`,
    )
  }
  const remedy = `install \`${name}@${version}\` and \`warpline@${version}\` anew`
  return openFile(path, `the package ${name} holds`, remedy)
}

/**
 * @param {string} path
 * @param {string} whence the words before it
 * @param {string} remedy what can be done where it does not serve
 */
function openFile(path, whence, remedy) {
  const { version } = require('../package.json')
  // Node.js runs anything else as JavaScript, or what has the name with an ending.
  const there = statSync(path, { throwIfNoEntry: false })
  if (!there?.isFile() || !path.endsWith('.node')) {
    const what = there ? 'no file with a name that ends in .node' : 'not there'
    throw failure(`${whence} ${path}, which is ${what}`, `${remedy}, or ${FROM_SOURCE}`)
  }
  const part = cutOff(path)
  if (part) {
    const why = `${whence} ${path}, which is cut off after ${part.has} of ${part.needs} bytes`
    throw failure(why, `${remedy}, or ${FROM_SOURCE}`)
  }
  let module
  try {
    module = /** @type {NativeModule} */ (require(path))
  } catch (error) {
    throw failure(`${whence} ${path}: ${firstLine(error)}`, `${remedy}, or ${FROM_SOURCE}`)
  }
  const found = typeof module.version === 'function' ? module.version() : undefined
  if (found !== version) {
    const says = found === undefined ? 'names no version' : `is version ${found}`
    throw failure(
      `${whence} ${path}, which ${says}, and this is warpline ${version}`,
      `${remedy}, or ${FROM_SOURCE}`,
    )
  }
  return { module, path }
}

/**
 * @param {string} why
 * @param {string} hint
 */
function failure(why, hint) {
  const { libc } = require('./platform.js')
  const platform = [`${process.platform}-${process.arch}`, libc()].filter(Boolean).join(' with ')
  return new Error(
    `the native engine of warpline could not be opened on ${platform}: ${why}\nhint: ${hint}`,
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

module.exports = { native, nativePath, search }
