// Opening the native engine: where it is looked for, and what is said when it is not there.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

import { nativePath, search } from '../lib/native.js'
import { temporaryDirectory, writeFiles } from './support/plugins.js'

const directory = temporaryDirectory()

test('a Node below the floor is told the floor and its own version', () => {
  for (const version of ['18.20.4', '20.9.0']) {
    assert.throws(() => search(undefined, version), new RegExp(`20\\.10 or newer.*${version}`))
  }
  for (const version of ['20.10.0', '22.0.0', '100.0.0']) search(undefined, version)
})

test('the file that the environment names is the only one tried', () => {
  const path = nativePath()
  assert.equal(search(path, '20.10.0').path, path)
  const missing = join(directory, 'missing.node')
  assert.throws(
    () => search(missing, '20.10.0'),
    (/** @type {Error} */ error) => {
      return error.message.includes(missing) && !error.message.includes('warpline-linux')
    },
  )
})

test('a file that is no library fails with the cause the loader gives', () => {
  writeFiles(directory, { 'text.node': 'not a library' })
  assert.throws(() => search(join(directory, 'text.node'), '20.10.0'), /invalid ELF|file too short/)
})

test('a worker thread has an engine of its own, and ends', async () => {
  const url = new URL('./support/worker.js', import.meta.url)
  const worker = new Worker(url, { env: { ...process.env, WARPLINE_HOME: '/in/the/worker' } })
  const answer = await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  assert.equal(answer, '/in/the/worker')
})
