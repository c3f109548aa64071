// Results and errors as plain objects: the keys a handler would write, in the documented order.

'use strict'

/**
 * @typedef {import('./schemas/skill-result.js').SkillResultInput} SkillResultInput
 * @typedef {import('./schemas/skill-result.js').SkillErrorCode} SkillErrorCode
 * @typedef {import('./schemas/skill-result.js').SkillErrorInput} SkillErrorInput
 * @typedef {import('./schemas/skill-result.js').SkillError} SkillError
 */

/** Codes that time mends. */
const RETRYABLE = new Set(['rate_limit', 'timeout'])

/**
 * @param {SkillErrorCode} code
 * @param {string} message
 * @param {import('./unstable-result.js').ErrorOverrides} [overrides]
 * @returns {SkillError}
 */
function makeError(code, message, overrides = {}) {
  const { impact = 'MEDIUM', source, retryable = RETRYABLE.has(code) } = overrides
  return { code, message, impact, ...(source === undefined ? {} : { source }), retryable }
}

/**
 * A result; what `overrides` defines takes a field's place or follows behind.
 *
 * @param {SkillResultInput['status']} status
 * @param {string} summary
 * @param {Partial<SkillResultInput>} fields
 * @param {import('./unstable-result.js').ResultOverrides} overrides
 * @returns {SkillResultInput}
 */
function makeResult(status, summary, fields, overrides) {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined)
  return {
    status,
    phases_completed: [],
    phases_failed: [],
    data_freshness: {},
    summary,
    ...fields,
    ...Object.fromEntries(given),
  }
}

module.exports = { makeError, makeResult }
