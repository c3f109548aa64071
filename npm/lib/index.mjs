// Runs a fleet of plugins once.

import { createRequire } from 'node:module'

export const { runAdvance } = createRequire(import.meta.url)('./index.js')
