// What a reader of a terminal is shown of a thrown value: its text, and where in the plugin it came from.

'use strict'

const { dirname, sep } = require('node:path')
const { fileURLToPath } = require('node:url')

const { oneLine, textOfThrown } = require('./text.js')

/** The mark that makes an edited plugin a new module; it says nothing to a reader. */
const MARK = /[?&]warpline=[0-9a-f]+\.\d+/g

const FRAMES_LIMIT = 8

/** Where the code lies that loads plugins and calls them. */
const HOST = dirname(__dirname) + sep

/** How far into a stack it is looked for frames, in UTF-16 units. */
const STACK_LIMIT = 64 * 1024

/**
 * @param {unknown} thrown
 * @param {(text: string) => string} redact
 * @returns {string[]} lines that play no tricks on a terminal
 */
function excerpt(thrown, redact) {
  const frames = framesOf(thrown).map((frame) => `    ${frame}`)
  return [textOfThrown(thrown), ...frames].map((line) => oneLine(redact(line)))
}

/**
 * The frames of the plugin: those above the host that called it.
 *
 * @param {unknown} thrown
 */
function framesOf(thrown) {
  let stack
  try {
    stack = /** @type {{ stack?: unknown } | null | undefined} */ (thrown)?.stack
  } catch {
    return []
  }
  if (typeof stack !== 'string') return []
  const frames = []
  for (const line of stack.slice(0, STACK_LIMIT).split('\n')) {
    const frame = line.trim()
    if (!/^at .*:\d+:\d+\)?$/.test(frame)) continue
    if (frame.includes(HOST) || frames.length === FRAMES_LIMIT) break
    frames.push(frame.replace(MARK, '').replace(/file:\/\/\/.*?(?=:\d+:\d+\)?$)/, pathOf))
  }
  return frames
}

/** @param {string} url */
function pathOf(url) {
  try {
    return fileURLToPath(url)
  } catch {
    return url
  }
}

module.exports = { MARK, excerpt }
