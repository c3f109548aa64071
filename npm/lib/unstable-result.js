// Builders of the three results that a plugin writes.

'use strict'

const { resolve } = require('node:path')

const { warplineHome } = require('./paths.js')
const { makeError, makeResult } = require('./result.js')

/** @typedef {typeof import('./unstable-result.js')} Published */

/** @type {Published['skillOk']} */
function skillOk(summary, overrides = {}) {
  return makeResult('success', summary, {}, overrides)
}

/** @type {Published['skillFailure']} */
function skillFailure(code, message, overrides = {}) {
  const { impact, source, retryable, ...fields } = overrides
  const errors = [makeError(code, message, { impact, source, retryable })]
  return makeResult('failed', message, { errors }, fields)
}

/** @type {Published['skillHandoff']} */
function skillHandoff(task, contextPath, overrides = {}) {
  // Below the home, whatever the path looks like; one that leaves it is refused at validation.
  const file = resolve(warplineHome(), `./${contextPath}`)
  const needs_llm = { task, context_path: contextPath }
  const summary = `[needs-llm] ${task}. Context: ${file}`
  return makeResult('skipped', summary, { needs_llm }, overrides)
}

module.exports = { skillOk, skillFailure, skillHandoff }
