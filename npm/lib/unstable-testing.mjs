// Runs plugins for their tests: the real engine, in a home of its own, on facts that a test makes up.

import { createRequire } from 'node:module'

export const { openTestHome } = createRequire(import.meta.url)('./unstable-testing.js')
