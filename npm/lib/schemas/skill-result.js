// The shape of what a handler returns.

'use strict'

const { makeError } = require('../result.js')
const { defineSchema } = require('../schema-object.js')

/** @typedef {typeof import('./skill-result.js')} Published */

/** The largest inline body of an output, in UTF-8 bytes. */
const OUTPUT_BODY_CAP_BYTES = 16_384

/** @type {Published['SkillResultSchema']} */
const SkillResultSchema = defineSchema('skill-result')

/** @type {Published['SkillErrorSchema']} */
const SkillErrorSchema = defineSchema('skill-error')

/** @type {Published['OutputRecordSchema']} */
const OutputRecordSchema = defineSchema('output-record')

/** @type {Published['NeedsLlmSchema']} */
const NeedsLlmSchema = defineSchema('needs-llm')

/** @type {Published['makeSkillError']} */
const makeSkillError = makeError

module.exports = {
  OUTPUT_BODY_CAP_BYTES,
  SkillResultSchema,
  SkillErrorSchema,
  OutputRecordSchema,
  NeedsLlmSchema,
  makeSkillError,
}
