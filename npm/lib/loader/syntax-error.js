// Errors of modules that did not load: each names file, line and column, and shows the place.

'use strict'

const { existsSync } = require('node:fs')
const { dirname, resolve } = require('node:path')
const { fileURLToPath } = require('node:url')
const { stripVTControlCharacters } = require('node:util')

const { MARK } = require('../host/stack.js')
const { native } = require('../native.js')

/** @typedef {import('../native-engine.js').EraseFault} EraseFault */

/** What heads the stack of a fault that Node.js found when it linked modules. */
const LINKED = /^(file:\S+):(\d+)\n(.*)\n( *)\^/

/** What Node.js says of an import that names what is not exported, or what is a type. */
const NOT_EXPORTED = /does not provide an export named/

/** How many files of a plugin are looked at for the one that is at fault. */
const FILES_LIMIT = 1000

/**
 * @param {string} path
 * @param {EraseFault} fault
 */
function syntaxError(path, fault) {
  const { line, column, message, snippet, caret, code } = fault
  const error = new SyntaxError(shown(`${path}:${line}:${column}: ${message}`, snippet))
  error.stack = `${path}:${line}\n${snippet}\n${caret}\n\nSyntaxError [${code}]: ${error.message}`
  return Object.assign(error, { code })
}

/**
 * The line at fault behind the message, unless there is nothing on it.
 *
 * @param {string} message
 * @param {string} snippet
 */
function shown(message, snippet) {
  const line = snippet.trim()
  return line === '' ? message : `${message}: \`${line}\``
}

/**
 * The error of an import that failed, as it was thrown or, where that does not say which file is at
 * fault, as one that does.
 *
 * @param {unknown} thrown
 * @param {string} entry the file whose import failed
 */
function importError(thrown, entry) {
  if (!(thrown instanceof Error)) return thrown
  const message = stripVTControlCharacters(thrown.message).replace(MARK, '')
  if (isSyntaxFault(thrown)) return located(thrown, message, entry)
  // Module and importer are named by their URLs where a runtime resolves by itself.
  if (message !== thrown.message) thrown.message = message
  return thrown
}

/**
 * Whether a module could not be read as one, in the words of Node.js, Bun or Deno.
 *
 * @param {Error} thrown
 */
function isSyntaxFault(thrown) {
  if ('code' in thrown && /TYPESCRIPT_SYNTAX$/.test(String(thrown.code))) return false
  return (
    thrown instanceof SyntaxError ||
    thrown.name === 'BuildMessage' ||
    thrown.message.startsWith('SyntaxError: ')
  )
}

/**
 * @param {Error} thrown
 * @param {string} message
 * @param {string} entry
 */
function located(thrown, message, entry) {
  const linked = LINKED.exec(thrown.stack ?? '')
  if (linked) {
    const [, url = '', line, snippet = '', indent = ''] = linked
    const at = `${fileURLToPath(url.replace(MARK, ''))}:${line}:${indent.length + 1}`
    const why = NOT_EXPORTED.test(message)
      ? `${message}, and a type needs \`import type\``
      : message
    return new SyntaxError(shown(`${at}: ${why}`, snippet), { cause: thrown })
  }
  const found = faultOf(entry)
  if (found) return Object.assign(syntaxError(found.path, found.fault), { cause: thrown })
  return new SyntaxError(`${entry}: ${message}`, { cause: thrown })
}

/**
 * The first file that no engine accepts, among a module and those that it imports by path.
 *
 * @param {string} entry
 * @returns {{ path: string, fault: EraseFault } | undefined}
 */
function faultOf(entry) {
  const seen = new Set([entry])
  // Files that are added while this goes on are visited as well.
  for (const path of seen) {
    const examined = seen.size <= FILES_LIMIT && existsSync(path) ? examine(path) : null
    if (examined?.fault) return { path, fault: examined.fault }
    for (const specifier of examined?.imports ?? []) {
      if (/^\.\.?\//.test(specifier)) seen.add(resolve(dirname(path), specifier))
      else if (specifier.startsWith('file:')) seen.add(fileURLToPath(specifier))
    }
  }
  return undefined
}

/** @param {string} path */
function examine(path) {
  try {
    return native().examineFile(path)
  } catch {
    return null
  }
}

module.exports = { importError, syntaxError }
