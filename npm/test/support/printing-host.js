// A host process for the tests of prints: runs one plugin, prints before, meanwhile and after.
//
// Argument: the plugin root, holding `printer`. What was captured goes to standard output, last.

import { join } from 'node:path'

import { AskingEngine } from './engine.js'

const engine = new AskingEngine()
const root = process.argv[2] ?? ''
const plugin = { name: 'printer', directory: join(root, 'printer'), revision: '1' }

console.log('host before')
await engine.manifests(plugin)
await engine.handler(plugin)
const { answer } = engine.startAttempt(plugin, { invocation: 5, prints: true })
console.log('host meanwhile')
await answer
console.log('host after')
await new Promise((resolve) => setTimeout(resolve, 30))
console.log(`captured ${JSON.stringify(engine.prints)}`)
