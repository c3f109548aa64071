// The shape of what a handler returns.

import { makeError } from '../result.js'
import { defineSchema } from '../schema-object.js'

/** @typedef {typeof import('./skill-result.js')} Published */

/** The largest inline body of an output, in UTF-8 bytes. */
export const OUTPUT_BODY_CAP_BYTES = 16_384

/** @type {Published['SkillResultSchema']} */
export const SkillResultSchema = defineSchema('skill-result')

/** @type {Published['SkillErrorSchema']} */
export const SkillErrorSchema = defineSchema('skill-error')

/** @type {Published['OutputRecordSchema']} */
export const OutputRecordSchema = defineSchema('output-record')

/** @type {Published['NeedsLlmSchema']} */
export const NeedsLlmSchema = defineSchema('needs-llm')

/** @type {Published['makeSkillError']} */
export const makeSkillError = makeError
