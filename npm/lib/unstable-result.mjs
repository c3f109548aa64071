// Builders of the three results that a plugin writes.

import { createRequire } from 'node:module'

export const { skillFailure, skillHandoff, skillOk } = createRequire(import.meta.url)(
  './unstable-result.js',
)
