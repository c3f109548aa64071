// Says what machine runs this program, and which package holds the native engine for it.

'use strict'

const { readdirSync } = require('node:fs')

const { libcOf } = require('./elf.js')

/**
 * A machine that the native engine is built for.
 *
 * @typedef {object} Target
 * @property {string} package the npm package of its native engine
 * @property {string} platform as `process.platform` names it
 * @property {string} arch as `process.arch` names it
 * @property {'glibc' | 'musl' | null} libc `null` where there is one C library only
 * @property {string} triple as Rust names it
 */

const targets = /** @type {Target[]} */ (require('./targets.json'))

/**
 * The C library of this process; `null` on a system that has one only.
 *
 * The program itself says which one it is linked against. A machine can have both.
 *
 * @returns {'glibc' | 'musl' | null}
 */
function libc() {
  if (process.platform !== 'linux') return null
  return libcOf(process.execPath) ?? (isMuslThere() ? 'musl' : 'glibc')
}

function isMuslThere() {
  try {
    return readdirSync('/lib').some((name) => name.startsWith('ld-musl-'))
  } catch {
    return false
  }
}

/**
 * What the native engine was built for that fits this process.
 *
 * @param {'glibc' | 'musl' | null} library the C library of this process
 */
function targetFor(library) {
  return targets.find(
    ({ platform, arch, libc: needed }) =>
      platform === process.platform && arch === process.arch && needed === library,
  )
}

module.exports = { libc, targetFor, targets }
