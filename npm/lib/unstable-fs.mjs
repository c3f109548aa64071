// Files that are whole or absent: atomic replacement, and reading what may not be there.

import { createRequire } from 'node:module'

export const { atomicWriteJson, atomicWriteText, readJsonOrNull } = createRequire(import.meta.url)(
  './unstable-fs.js',
)
