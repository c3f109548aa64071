// Whole homes, step by step, under Python: plugins in Python, those of two languages beside it in TypeScript.

import { isolated, players, scenarios, suite } from './harness/suite.mjs'

suite(players.python, scenarios())
suite({ ...players.python, options: ['--isolate'] }, isolated, {
  title: 'with a process for each attempt',
})
