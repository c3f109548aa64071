// Attempts: what a handler is given, and what becomes of whatever it does.

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'

import { AskingEngine } from './support/engine.js'
import { temporaryDirectory, writeFiles } from './support/plugins.js'

const root = temporaryDirectory()
const engine = new AskingEngine()
let plugins = 0

/** @param {string} code of the handler's module */
function handler(code) {
  plugins += 1
  const name = `plugin-${plugins}`
  writeFiles(root, { [`${name}/handler.ts`]: code })
  return { name, directory: join(root, name), revision: '1' }
}

/** @param {string} body of the handler */
const returning = (body) =>
  handler(`export const handler = async (manifest, args, signal, capabilities) => { ${body} }\n`)

// Cases: T542.
test('a handler gets manifest, arguments, a signal and its capabilities, fresh each time', async () => {
  const plugin = returning(`
    const seen = { manifest: { ...manifest }, args: { ...args }, aborted: signal.aborted, keys: Object.keys(capabilities).sort() }
    manifest.spoiled = args.spoiled = true
    return seen
  `)
  for (let round = 0; round < 2; round += 1) {
    const { ok, value } = await engine.attempt(plugin, {
      manifest: { name: 'x' },
      args: { a: [1] },
    })
    assert.equal(ok, true)
    assert.deepEqual(value, {
      manifest: { name: 'x' },
      args: { a: [1] },
      aborted: false,
      keys: ['caller', 'dependencies', 'secrets'],
    })
  }
})

test('a key such as __proto__ reaches the handler as a key, and no prototype', async () => {
  const plugin = returning(
    'return { keys: Object.keys(args), polluted: ({}).polluted, proto: Object.getPrototypeOf(args) === Object.prototype }',
  )
  const args = JSON.parse('{ "__proto__": { "polluted": 1 }, "constructor": 2 }')
  const { value } = await engine.attempt(plugin, { args })
  assert.deepEqual(value, { keys: ['__proto__', 'constructor'], proto: true })
})

test('whatever is returned becomes JSON, or an error that says why not', async () => {
  const cases = [
    ['return undefined', true, null],
    ['return () => 1', true, null],
    ['return Symbol("s")', true, null],
    ['return 7', true, 7],
    ['return { toJSON: () => ({ from: "toJSON" }) }', true, { from: 'toJSON' }],
    [
      'return { d: new Date(0), n: NaN, u: undefined }',
      true,
      { d: '1970-01-01T00:00:00.000Z', n: null },
    ],
    ['return { toJSON() { throw new Error("no JSON") } }', false, /no JSON/],
    ['return { get x() { throw new Error("no x") } }', false, /no x/],
    ['return { then(resolve) { resolve("from a thenable") } }', true, 'from a thenable'],
    ['return { get then() { throw new Error("no then") } }', false, /no then/],
    ['return 10n', false, /BigInt/],
    ['const a: any = {}; a.a = a; return a', false, /circular/],
    ['return "x".repeat(33 * 1024 * 1024)', false, /longer than/],
    ['return new Proxy({}, { ownKeys() { throw new Error("no keys") } })', false, /no keys/],
    ['return "cut \\ud83d"', true, 'cut \ud83d'],
  ]
  for (const [body, ok, expected] of cases) {
    const answer = await engine.attempt(returning(String(body)))
    assert.equal(answer.ok, ok, `${body}: ${JSON.stringify(answer)}`)
    if (expected instanceof RegExp) assert.match(answer.value, expected)
    else assert.deepEqual(answer.value, expected)
  }
})

test('whatever is thrown becomes text', async () => {
  const cases = [
    ['throw new Error("plain")', /^plain$/],
    ['throw new TypeError("")', /^TypeError$/],
    ['throw "a string"', /^a string$/],
    ['throw null', /^null$/],
    ['throw undefined', /^undefined$/],
    ['throw 5n', /^5$/],
    ['throw Symbol("s")', /^Symbol\(s\)$/],
    ['throw { message: "looks like one" }', /^looks like one$/],
    ['throw { code: 7 }', /code: 7/],
    ['throw { get message() { throw new Error("gotcha") } }', /cannot be shown/],
    ['throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })', /cannot be shown/],
    ['throw Object.create(null)', /null prototype/],
    ['const a: any = { b: 1 }; a.a = a; throw a', /Circular/],
    ['throw new Error("x".repeat(1_000_000))', /^x{16384}… \(cut\)$/],
    ['throw { s: "x".repeat(1_000_000) }', /more characters/],
    [
      'const e = new Error("m"); Object.defineProperty(e, "message", { get() { throw 1 } }); throw e',
      /cannot be shown/,
    ],
  ]
  for (const [body, expected] of cases) {
    const { ok, value } = await engine.attempt(returning(String(body)))
    assert.equal(ok, false)
    assert.match(value, /** @type {RegExp} */ (expected), String(body))
  }
})

test('a handler that is not async, or throws before its first await, is no special case', async () => {
  const plain = handler('export function handler() { return { plain: true } }\n')
  assert.deepEqual(await engine.attempt(plain), { ok: true, value: { plain: true } })
  const throws = handler('export function handler() { throw new Error("at once") }\n')
  assert.deepEqual(await engine.attempt(throws), { ok: false, value: 'at once' })
})

test('a module without a handler, or that throws, does not load', async () => {
  const none = await engine.handler(handler('export const other = 1\n'))
  assert.equal(none.ok, false)
  assert.match(none.value, /handler\.ts exports no function `handler`/)
  const throws = await engine.handler(handler('throw new Error("on load")\n'))
  assert.deepEqual(throws, { ok: false, value: 'on load' })
})

test('an attempt of a plugin that was not loaded is answered with an error', async () => {
  const { ok, value } = await engine.startAttempt(returning('return 1')).answer
  assert.equal(ok, false)
  assert.match(value, /is not loaded/)
})

test('a request that is none is answered with an error', () => {
  engine.host.start(9_001, 'not JSON')
  assert.deepEqual(engine.answers.at(-1)?.call, 9_001)
  assert.equal(engine.answers.at(-1)?.ok, false)
})

test('an abort fires the signal with its reason, and late answers are dropped', async () => {
  /** @type {unknown[]} */
  const unhandled = []
  const note = (/** @type {unknown} */ reason) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const seen = /** @type {any} */ (globalThis)
  for (const [reason, name] of /** @type {const} */ ([
    ['timeout', 'TimeoutError'],
    ['cancelled', 'AbortError'],
    ['dropped', 'AbortError'],
  ])) {
    const plugin = returning(`
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve)
        globalThis.seenReason = null
      })
      globalThis.seenReason = signal.reason
      throw new Error('too late')
    `)
    await engine.handler(plugin)
    seen.seenReason = undefined
    const { call } = engine.startAttempt(plugin)
    while (seen.seenReason === undefined) await delay(1)
    engine.host.abort(call, reason)
    while (seen.seenReason === null) await delay(1)
    assert.equal(seen.seenReason.name, name)
    assert.ok(seen.seenReason instanceof DOMException)
    // By then, what it throws would have been answered with.
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(!engine.answers.some((answer) => answer.call === call))
  }
  engine.host.abort(123_456, 'timeout')
  process.off('unhandledRejection', note)
  assert.deepEqual(unhandled, [])
})

test('a handler runs in the async context of whoever began the operation', async () => {
  const storage = new AsyncLocalStorage()
  const context = /** @type {any} */ (globalThis)
  context.testStorage = storage
  const plugin = returning(
    'await null; return { store: globalThis.testStorage.getStore() ?? null }',
  )
  storage.run('the caller', () => engine.callers.set(77, AsyncLocalStorage.snapshot()))
  assert.deepEqual((await engine.attempt(plugin, { operation: 77 })).value, { store: 'the caller' })
  assert.deepEqual((await engine.attempt(plugin, { operation: 78 })).value, { store: null })
})

// Cases: T094, T096, T337, T338.
test('capabilities answer for declared names, from copies, to the caller alone', async () => {
  const context = {
    caller: { plugin: 'reader', runId: 'run-1' },
    secrets: ['TOKEN'],
    dependencies: {
      source: { output: { type: 'report', body: 'b' }, run: 'success' },
      silent: { output: null, run: null },
    },
  }
  const plugin = returning(`
    const { caller, dependencies, secrets } = capabilities
    const attempt = (code: () => unknown) => { try { return code() } catch (error) { return 'threw: ' + (error as Error).message } }
    const first: any = dependencies.lastOutput(caller, 'source')
    first.body = 'spoiled'
    secrets.resolvedNames(caller).push('MORE')
    const keys = Object.keys(capabilities).sort()
    return {
      keys,
      caller,
      names: secrets.resolvedNames(caller),
      again: dependencies.lastOutput(caller, 'source'),
      run: dependencies.lastRun(caller, 'source'),
      silent: [dependencies.lastOutput(caller, 'silent'), dependencies.lastRun(caller, 'silent')],
      undeclared: attempt(() => dependencies.lastOutput(caller, 'other')),
      undeclaredRun: attempt(() => dependencies.lastRun(caller, 'other')),
      inherited: attempt(() => dependencies.lastRun(caller, 'toString')),
      noCaller: [
        attempt(() => secrets.resolvedNames()),
        attempt(() => dependencies.lastOutput(undefined, 'source')),
        attempt(() => dependencies.lastRun({ plugin: 'reader' }, 'source')),
        attempt(() => dependencies.lastRun('source')),
      ],
      frozen: [capabilities, caller, dependencies, secrets].every(Object.isFrozen),
    }
  `)
  const { value } = await engine.attempt(plugin, { context })
  assert.deepEqual(value.keys, ['caller', 'dependencies', 'secrets'])
  assert.deepEqual(value.caller, context.caller)
  assert.deepEqual(value.names, ['TOKEN'])
  assert.deepEqual(value.again, context.dependencies.source.output)
  assert.equal(value.run, 'success')
  assert.deepEqual(value.silent, [null, null])
  for (const text of [value.undeclared, value.undeclaredRun]) {
    assert.match(text, /^threw: .*`reader` reads `other`.*add it to `dependencies`$/)
  }
  assert.match(value.inherited, /^threw: /)
  for (const text of value.noCaller) assert.match(text, /^threw: .*capabilities\.caller/)
  assert.equal(value.frozen, true)
})
