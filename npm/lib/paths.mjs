// Where the home of warpline lies.

import { createRequire } from 'node:module'

export const { warplineHome } = createRequire(import.meta.url)('./paths.js')
