// Opening the native engine: where it is looked for, and what is said when it is not there.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

import { native, nativePath, search } from '../lib/native.js'
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

// `command` is the one way to a grant: the command line, typed by a human.
const FUNCTIONS = [
  'appendEvent',
  'beforePrint',
  'eraseFile',
  'examineFile',
  'formatIdle',
  'homeArgument',
  'isEligibleForTier',
  'jsonSchema',
  'makeEvent',
  'processVariable',
  'readText',
  'redact',
  'runAlone',
  'takeErased',
  'tier',
  'validateJson',
  'version',
  'warplineHome',
  'writeAtomic',
]
const METHODS = [
  'advance',
  'begin',
  'beginPrepared',
  'cancel',
  'command',
  'commandEnded',
  'commandOver',
  'complete',
  'exit',
  'loadManifests',
  'prepare',
  'prints',
  'restoreHandlers',
]

const PRINTS_METHODS = ['print', 'redact', 'release']
const WORKER_METHODS = ['aborted', 'begin', 'complete', 'fault', 'prints', 'stray', 'warn']
const CLASSES = ['NativeEngine', 'NativePrints', 'NativeWorker']

test('the native module offers exactly what is listed here, and its types say the same', () => {
  const module = native()
  assert.deepEqual(Object.keys(module).sort(), [...CLASSES, ...FUNCTIONS])
  const offered = /** @type {Record<string, any>} */ (/** @type {unknown} */ (module))
  for (const [name, listed] of Object.entries({
    NativeEngine: METHODS,
    NativePrints: PRINTS_METHODS,
    NativeWorker: WORKER_METHODS,
  })) {
    const methods = Object.getOwnPropertyNames(offered[name].prototype)
    assert.deepEqual(methods.filter((method) => method !== 'constructor').sort(), listed)
  }

  const types = readFileSync(new URL('../lib/native-engine.d.ts', import.meta.url), 'utf8')
  const declared = [...types.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name)
  assert.deepEqual(
    declared.sort(),
    [...FUNCTIONS, ...METHODS, ...PRINTS_METHODS, ...WORKER_METHODS].sort(),
  )
})

test('input that this package never sends is refused, and takes nothing down', () => {
  const module = native()
  assert.throws(() => module.validateJson('no-such-schema', '{}'), /no-such-schema/)
  assert.throws(() => module.jsonSchema('no-such-schema'), /no-such-schema/)
  assert.throws(() => module.validateJson('run-log', '{'), /not valid JSON/)
  assert.throws(() => module.warplineHome('nonsense'), /not valid JSON/)
  assert.throws(() => /** @type {any} */ (module).eraseFile(7))
  assert.deepEqual(module.eraseFile('/no/such/file.ts'), {})
  assert.equal(module.examineFile('/no/such/file.ts'), null)
  const ignore = () => {}
  const engine = new module.NativeEngine(ignore, ignore, ignore, process.execPath, [])
  engine.complete(99, 'value', 'not JSON')
  assert.equal(engine.prints(99), null)
  engine.cancel(-1)
  assert.equal(engine.exit(), '[]')
})
