// Values keep their exact JSON text on the way into the engine and back, and into files.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInThisContext } from 'node:vm'

import { PluginConfigSchema } from '../lib/schemas/plugin-config.js'
import { atomicWriteJson } from '../lib/unstable-fs.js'
import { temporaryDirectory } from './support/plugins.js'
import { eachVector } from './support/vectors.js'

const directory = temporaryDirectory()

eachVector('js-json', async (input, expect, { id }) => {
  const value = runInThisContext(`(${input.js})`)
  const parsed = PluginConfigSchema.parse({ value })
  assert.equal(JSON.stringify(parsed), `{"value":${expect.compact}}`)

  const file = join(directory, `${id}.json`)
  await atomicWriteJson(file, value)
  assert.equal(readFileSync(file, 'utf8'), `${expect.pretty}\n`)
})
