// Builders of the three results that a plugin writes.

import { resolve } from 'node:path'

import { warplineHome } from './paths.js'
import { makeError, makeResult } from './result.js'

/** @typedef {typeof import('./unstable-result.js')} Published */

/** @type {Published['skillOk']} */
export function skillOk(summary, overrides = {}) {
  return makeResult('success', summary, {}, overrides)
}

/** @type {Published['skillFailure']} */
export function skillFailure(code, message, overrides = {}) {
  const { impact, source, retryable, ...fields } = overrides
  const errors = [makeError(code, message, { impact, source, retryable })]
  return makeResult('failed', message, { errors }, fields)
}

/** @type {Published['skillHandoff']} */
export function skillHandoff(task, contextPath, overrides = {}) {
  // Below the home, whatever the path looks like; one that leaves it is refused at validation.
  const file = resolve(warplineHome(), `./${contextPath}`)
  const needs_llm = { task, context_path: contextPath }
  const summary = `[needs-llm] ${task}. Context: ${file}`
  return makeResult('skipped', summary, { needs_llm }, overrides)
}
