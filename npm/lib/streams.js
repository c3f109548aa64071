// The standard streams of the process, which cost more to make than a short command takes.

'use strict'

/** @type {(() => void) | undefined} */
let prepare

/**
 * Has code run right before this package uses `process.stdout` or `process.stderr` for the first time.
 *
 * @param {() => void} code
 */
function beforeStreams(code) {
  prepare = code
}

/** Says that a stream is about to be used. */
function usesStreams() {
  const code = prepare
  prepare = undefined
  code?.()
}

module.exports = { beforeStreams, usesStreams }
