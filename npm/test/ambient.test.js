// What a plugin changes in the process is undone; what the host changes stays.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'

import { AskingEngine } from './support/engine.js'
import { temporaryDirectory, writeFiles } from './support/plugins.js'

const root = temporaryDirectory()
const engine = new AskingEngine()
let plugins = 0

/** @param {string} body of the handler */
function plugin(body, top = '') {
  plugins += 1
  const name = `plugin-${plugins}`
  writeFiles(root, {
    [`${name}/handler.ts`]: `${top}\nexport const handler = async (manifest, args, signal) => { ${body} }\n`,
  })
  return { name, directory: join(root, name), revision: '1' }
}

/**
 * Starts an attempt and waits until its handler has put in `warplineAtWork` what lets it go on.
 *
 * @param {ReturnType<typeof plugin>} module
 */
async function atWork(module) {
  const shared = /** @type {any} */ (globalThis)
  shared.warplineAtWork = undefined
  await engine.handler(module)
  const { call, answer } = engine.startAttempt(module)
  while (!shared.warplineAtWork) await delay(1)
  return { call, running: answer, goOn: shared.warplineAtWork }
}

process.env.WARPLINE_TEST_KEPT = 'kept'
const directory = process.cwd()

test('directory and environment are put back after the call, and named', async () => {
  engine.warnings = []
  const changing = plugin(`
    process.chdir('/')
    process.env.WARPLINE_TEST_NEW = 'new'
    process.env.WARPLINE_TEST_KEPT = 'changed'
    delete process.env.PATH
    await null
    return { cwd: process.cwd(), env: process.env.WARPLINE_TEST_NEW, path: process.env.PATH ?? null }
  `)
  const path = process.env.PATH
  const { value } = await engine.attempt(changing)
  assert.deepEqual(value, { cwd: '/', env: 'new', path: null })
  assert.equal(process.cwd(), directory)
  assert.equal(process.env.WARPLINE_TEST_NEW, undefined)
  assert.equal(process.env.WARPLINE_TEST_KEPT, 'kept')
  assert.equal(process.env.PATH, path)
  for (const what of ['working directory', 'WARPLINE_TEST_NEW', 'WARPLINE_TEST_KEPT', 'PATH']) {
    assert.ok(
      engine.warnings.some((text) => text.includes(changing.name) && text.includes(what)),
      `${what} in ${engine.warnings.join(' | ')}`,
    )
  }
})

test('what a plugin put back by itself is not reported', async () => {
  engine.warnings = []
  await engine.attempt(
    plugin("process.env.WARPLINE_TEST_X = '1'; delete process.env.WARPLINE_TEST_X"),
  )
  assert.deepEqual(engine.warnings, [])
})

test('a whole new environment is undone too', async () => {
  const count = Object.keys(process.env).length
  const { value } = await engine.attempt(
    plugin("process.env = { ONLY: 'this' }; return { ...process.env }"),
  )
  assert.deepEqual(value, { ONLY: 'this' })
  assert.equal(Object.keys(process.env).length, count)
  assert.equal(process.env.ONLY, undefined)
})

test('a module that changes the process while it loads is undone after the load', async () => {
  const loading = plugin(
    'return process.env.WARPLINE_TEST_LOAD ?? null',
    "process.env.WARPLINE_TEST_LOAD = 'set'",
  )
  assert.deepEqual(await engine.attempt(loading), { ok: true, value: null })
})

test('a change that two calls made lasts until both are over', async () => {
  const holding = () =>
    plugin(`
      process.env.WARPLINE_TEST_BOTH = manifest.value
      globalThis.warplineHolding = (globalThis.warplineHolding ?? 0) + 1
      while (globalThis.warplineHolding < 2) await new Promise((resolve) => setTimeout(resolve, 1))
      if (manifest.waits) {
        await new Promise((resolve) => { globalThis.warplineGoOn = resolve })
      }
      return process.env.WARPLINE_TEST_BOTH ?? null
    `)
  const both = /** @type {any} */ (globalThis)
  const last = engine.attempt(holding(), { manifest: { value: 'b', waits: true } })
  const first = await engine.attempt(holding(), { manifest: { value: 'a' } })
  assert.equal(first.ok, true)
  assert.notEqual(process.env.WARPLINE_TEST_BOTH, undefined)
  while (!both.warplineGoOn) await delay(1)
  both.warplineGoOn()
  const second = await last
  assert.deepEqual(second, { ok: true, value: first.value })
  assert.equal(process.env.WARPLINE_TEST_BOTH, undefined)
})

test('what the host changes meanwhile stays', async () => {
  const { goOn, running } = await atWork(
    plugin('await new Promise((resolve) => { globalThis.warplineAtWork = resolve })'),
  )
  process.env.WARPLINE_TEST_HOST = 'host'
  goOn()
  await running
  assert.equal(process.env.WARPLINE_TEST_HOST, 'host')
})

test('an abandoned handler can change nothing any more', async () => {
  const abandoned = plugin(`
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve)
      globalThis.warplineAtWork = resolve
    })
    process.env.WARPLINE_TEST_LATE = 'late'
    process.chdir('/')
    globalThis.warplineAtWork = null
  `)
  const { call } = await atWork(abandoned)
  engine.host.abort(call, 'timeout')
  const shared = /** @type {any} */ (globalThis)
  while (shared.warplineAtWork !== null) await delay(1)
  assert.equal(process.env.WARPLINE_TEST_LATE, undefined)
  assert.equal(process.cwd(), directory)
})
