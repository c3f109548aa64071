// Whole homes, step by step, under Node.js: plugins in TypeScript, those of two languages beside it in Python.

import { isolated, players, scenarios, suite } from './harness/suite.mjs'

suite(players.node, scenarios())
suite({ ...players.node, options: ['--isolate'] }, isolated, {
  title: 'with a process for each attempt',
})
