// The shape of what a handler returns.

import { createRequire } from 'node:module'

export const {
  makeSkillError,
  NeedsLlmSchema,
  OUTPUT_BODY_CAP_BYTES,
  OutputRecordSchema,
  SkillErrorSchema,
  SkillResultSchema,
} = createRequire(import.meta.url)('./skill-result.js')
