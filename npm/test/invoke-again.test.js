// A plugin that is called again and again: what may have changed is seen, and what is kept is nobody's to change.

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

import { invokePlugin } from '../lib/unstable-runtime.js'
import { makeHome, writePlugins } from './support/home.js'
import { limits, underSomeLimit } from './support/limits.js'
import { temporaryDirectory } from './support/plugins.js'

/** @type {import('../lib/unstable-capabilities.js').GrantWitness} */
const byHand = { granted: false, reason: 'manual-run' }

/** Longer than the times of a file that was just written may say nothing of another write. */
const SETTLED_MS = 3_100

/**
 * What a plugin says of itself.
 *
 * @param {string} plugin
 * @param {Record<string, unknown>} [args]
 */
async function said(plugin, args = {}) {
  const { result } = await invokePlugin(plugin, args, {}, byHand)
  return result.summary
}

/**
 * A home whose plugins have been called and are known.
 *
 * @param {Parameters<typeof makeHome>[0]} plugins
 */
async function known(plugins) {
  const made = makeHome(plugins)
  await wait(SETTLED_MS)
  for (const name of Object.keys(plugins)) {
    for (let call = 0; call < 3; call += 1) await invokePlugin(name, {}, {}, byHand)
  }
  return made
}

const says = (/** @type {string} */ text) => ({ handler: `return skillOk('${text}')` })

test('an edit is seen by the next call, in the same breath too', async () => {
  const { home } = await known({ edited: says('one'), grows: says('one') })
  assert.equal(await said('edited'), 'one')
  writePlugins(home, { edited: says('two') })
  assert.equal(await said('edited'), 'two')

  await wait(SETTLED_MS)
  for (let call = 0; call < 3; call += 1) assert.equal(await said('edited'), 'two')
  const before = said('edited')
  writePlugins(home, { edited: says('ten') })
  const after = said('edited')
  assert.equal(await after, 'ten')
  assert.match(await before, /^(two|ten)$/)

  const handler = "const { text } = await import('./text.ts'); return skillOk(text)"
  writePlugins(home, { grows: { handler, files: { 'text.ts': "export const text = 'a'" } } })
  assert.equal(await said('grows'), 'a')
  writePlugins(home, { grows: { handler, files: { 'text.ts': "export const text = 'b'" } } })
  assert.equal(await said('grows'), 'b')
})

test('a link that leads elsewhere now, and a root in the place of another, are seen', async () => {
  const { home } = await known({ there: says('real') })
  const elsewhere = temporaryDirectory()
  for (const text of ['one', 'two']) {
    writePlugins(join(elsewhere, text), { linked: says(text), there: says(text) })
  }
  const link = join(home, 'plugins', 'linked')
  symlinkSync(join(elsewhere, 'one/plugins/linked'), link)
  await wait(SETTLED_MS)
  for (let call = 0; call < 3; call += 1) assert.equal(await said('linked'), 'one')
  rmSync(link)
  symlinkSync(join(elsewhere, 'two/plugins/linked'), link)
  assert.equal(await said('linked'), 'two')

  assert.equal(await said('there'), 'real')
  renameSync(join(home, 'plugins'), join(home, 'former'))
  symlinkSync(join(elsewhere, 'one/plugins'), join(home, 'plugins'))
  assert.equal(await said('there'), 'one')
  rmSync(join(home, 'plugins'))
  renameSync(join(home, 'former'), join(home, 'plugins'))
  assert.equal(await said('there'), 'real')
})

test('manifest, configuration, rights and the home itself are those of the moment', async () => {
  const { home } = await known({
    p: {
      manifest: { inputs: { text: { type: 'string', default: 'unset' } } },
      handler: 'return skillOk(args.text)',
    },
  })
  assert.equal(await said('p'), 'unset')
  mkdirSync(join(home, 'config'))
  writeFileSync(join(home, 'config/p.json'), '{"text":"set"}')
  assert.equal(await said('p'), 'set')
  writeFileSync(join(home, 'config/p.json'), '{"text":"reset"}')
  assert.equal(await said('p'), 'reset')
  chmodSync(home, 0o777)
  await assert.rejects(said('p'), /mode 0777/)
  chmodSync(home, 0o755)
  assert.equal(await said('p'), 'reset')
  const another = join(temporaryDirectory(), '.warpline')
  cpSync(join(home, 'plugins'), join(another, 'plugins'), { recursive: true })
  process.env.WARPLINE_HOME = another
  assert.equal(await said('p'), 'unset')
  process.env.WARPLINE_HOME = home
  assert.equal(await said('p'), 'reset')
  rmSync(join(home, 'plugins/p'), { recursive: true })
  assert.match(await said('p'), /no plugin named/)
})

const readsKey = {
  manifest: { secrets: ['AGAIN_KEY'] },
  handler: "return skillOk('got ' + process.env.AGAIN_KEY)",
}

test('a variable is what it is when the call is made, whatever stands for the environment', async () => {
  const { home } = await known({ reads: readsKey })
  const missing = await invokePlugin('reads', {}, {}, byHand)
  assert.equal(missing.result.errors[0]?.code, 'auth_failure')
  process.env.AGAIN_KEY = 'first-secret'
  const first = said('reads')
  process.env.AGAIN_KEY = 'second-secret'
  const second = said('reads')
  // The handler runs later; what counts for a secret is what was set when the call was made.
  assert.equal(await first, 'got second-secret')
  assert.equal(await second, 'got [redacted]')
  delete process.env.AGAIN_KEY
  assert.equal((await invokePlugin('reads', {}, {}, byHand)).result.errors[0]?.code, 'auth_failure')

  const real = process.env
  try {
    for (const [environment, text] of /** @type {const} */ ([
      [{ ...real, AGAIN_KEY: 'of-a-copy' }, 'got [redacted]'],
      [
        new Proxy(real, {
          get: (target, key) => (key === 'AGAIN_KEY' ? 'shown' : Reflect.get(target, key)),
          ownKeys: (target) => [...Reflect.ownKeys(target), 'AGAIN_KEY'],
          getOwnPropertyDescriptor: (target, key) =>
            key === 'AGAIN_KEY'
              ? { value: 'shown', configurable: true, enumerable: true, writable: true }
              : Reflect.getOwnPropertyDescriptor(target, key),
        }),
        'got [redacted]',
      ],
    ])) {
      process.env = environment
      for (let call = 0; call < 2; call += 1) assert.equal(await said('reads'), text)
    }
    process.env = { WARPLINE_HOME: home }
    assert.equal(
      (await invokePlugin('reads', {}, {}, byHand)).result.errors[0]?.code,
      'auth_failure',
    )
  } finally {
    process.env = real
  }
  process.env.AGAIN_KEY = 'third-secret'
  assert.equal(await said('reads'), 'got [redacted]')
  delete process.env.AGAIN_KEY
})

const published = fileURLToPath(new URL('../lib/unstable-runtime.js', import.meta.url))
const calls = `const { invokePlugin } = require(${JSON.stringify(published)})
const call = async () => {
  const { result } = await invokePlugin('reads', {}, {}, { granted: false, reason: 'manual-run' })
  return result.errors?.[0]?.code ?? result.summary
}
`

test('a thread with variables of its own calls with those', async () => {
  const { home } = makeHome({ reads: readsKey })
  const code = `${calls}
const { parentPort } = require('node:worker_threads')
const main = async () => {
  const answers = [await call()]
  process.env.AGAIN_KEY = 'of-the-thread'
  answers.push(await call())
  delete process.env.AGAIN_KEY
  parentPort.postMessage([...answers, await call()])
}
main()`
  process.env.AGAIN_KEY = 'of-the-process'
  const worker = new Worker(code, { eval: true, env: { WARPLINE_HOME: home } })
  const answers = await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  delete process.env.AGAIN_KEY
  assert.deepEqual(answers, ['auth_failure', 'got [redacted]', 'auth_failure'])
})

test('a variable that is no text is what Node.js makes of it', () => {
  const { home } = makeHome({ reads: readsKey })
  const code = `${calls}
call().then((first) => { process.env.OTHER = 'x'; return call().then((then) => console.log(first, then)) })`
  const env = { ...process.env, WARPLINE_HOME: home, NODE: process.execPath, CODE: code }
  const script = 'AGAIN_KEY="$(printf \'key-\\377-end\')" exec "$NODE" -e "$CODE"'
  const printed = execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' })
  assert.equal(printed, 'got [redacted] got [redacted]\n')
})

test('timers that a test has replaced hold up no call', () => {
  const { home } = makeHome({ reads: says('done') })
  const code = `${calls}
require('node:test').mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate'] })
const all = async () => [await call(), ...(await Promise.all([call(), call()]))]
all().then((said) => console.log(...said))`
  const env = { ...process.env, WARPLINE_HOME: home }
  const printed = execFileSync(process.execPath, ['-e', code], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.equal(printed, 'done done done\n')
})

test('what a handler does to its manifest and arguments is not there at the next call', async () => {
  await known({
    mutates: {
      manifest: { outputs: { o: { type: 'report', temporality: 'replace' } } },
      handler: `const seen = JSON.stringify([manifest.name, manifest.outputs, args])
  Object.assign(manifest, { name: 'mine', outputs: null })
  Object.assign(args, { mine: true })
  return skillOk(seen)`,
    },
  })
  const one = await said('mutates')
  assert.match(one, /^\["mutates",\{"o":/)
  const many = await Promise.all(Array.from({ length: 10 }, () => said('mutates')))
  assert.deepEqual(new Set([one, await said('mutates'), ...many]), new Set([one]))
})

test('a plugin calls a plugin, which calls another', async () => {
  await known({
    nested: {
      handler: `const { invokePlugin } = await import('warpline/unstable-runtime')
  if (args.depth === 0) return skillOk('deep')
  const next = { depth: (args.depth ?? 3) - 1 }
  const calls = [1, 2].map(() => invokePlugin('nested', next, {}, { granted: false, reason: 'manual-run' }))
  const [one, two] = await Promise.all(calls)
  return skillOk(one.result.summary + (one.result.summary === two.result.summary ? '!' : '?'))`,
      manifest: { max_parallelism: 100 },
    },
  })
  assert.equal(await said('nested'), 'deep!!!')
})

test('a call that is known can still time out, be cancelled, be retried and tell of it', async () => {
  const handler = `if (args.waits) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  return skillOk('in time')`
  const waits = limits.map((timeout_ms) => [
    `waits-${timeout_ms}`,
    { manifest: { timeout_ms, max_parallelism: 10 }, handler },
  ])
  await known({
    ...Object.fromEntries(waits),
    patient: { handler },
    again: {
      manifest: { max_retries: 1, retry_delay_ms: 0 },
      handler: "return args.fails ? skillFailure('rate_limit', 'slow down') : skillOk('fine')",
    },
  })
  await underSomeLimit(async (limit) => {
    const [late, quick] = await Promise.all([
      invokePlugin(`waits-${limit}`, { waits: true }, {}, byHand),
      invokePlugin(`waits-${limit}`, {}, {}, byHand),
    ])
    assert.deepEqual([late.timed_out, late.cancelled, late.result.status], [true, false, 'failed'])
    assert.equal(quick.result.summary, 'in time')
  })

  const controller = new AbortController()
  const cancelled = invokePlugin('patient', { waits: true }, { signal: controller.signal }, byHand)
  controller.abort()
  assert.equal((await cancelled).cancelled, true)
  const never = invokePlugin('patient', {}, { signal: AbortSignal.abort() }, byHand)
  assert.equal((await never).cancelled, true)

  /** @type {unknown[]} */
  const told = []
  const outcome = await invokePlugin(
    'again',
    { fails: true },
    {
      onAttemptStart: (attempt) => told.push(attempt),
      onAttemptFailed: (attempt, message) => told.push(`${attempt} ${message}`),
    },
    byHand,
  )
  assert.equal(outcome.attempt_count, 2)
  assert.deepEqual(told, [1, '1 slow down', 2, '2 slow down'])
})

test('a handler that keeps the thread takes no time from those called in the same breath', async () => {
  const handlers = {
    quick: "return skillOk('quick')",
    turns: "for (let turn = 0; turn < 50; turn += 1) await null; return skillOk('turns')",
  }
  const short = Object.entries(handlers).flatMap(([name, handler]) =>
    limits.map((timeout_ms) => [
      `${name}-${timeout_ms}`,
      { manifest: { timeout_ms, max_retries: 0 }, handler },
    ]),
  )
  await known({
    ...Object.fromEntries(short),
    busy: {
      handler: `const until = Date.now() + (args.busy ?? 0)
  while (Date.now() < until);
  return skillOk('busy')`,
    },
  })
  for (const order of [
    ['quick', 'busy', 'turns'],
    ['turns', 'quick', 'busy'],
    ['busy', 'quick', 'busy', 'turns'],
  ]) {
    await underSomeLimit(async (limit) => {
      const calls = order.map((name) =>
        name === 'busy' ? said('busy', { busy: 1.5 * limit }) : said(`${name}-${limit}`),
      )
      assert.deepEqual(await Promise.all(calls), order)
    })
  }
})

test('calls that wait for one another leave the thread to others', async () => {
  await known({ quick: says('done') })
  let isOver = false
  setTimeout(() => {
    isOver = true
  }, 20)
  while (!isOver) assert.equal(await said('quick'), 'done')
})

test('a thousand calls at once keep to the bound of the plugin, each in the context of its caller', async () => {
  const { home } = makeHome({})
  const handler = `const shared = globalThis as any
  shared.againOpen = (shared.againOpen ?? 0) + 1
  shared.againMost = Math.max(shared.againMost ?? 0, shared.againOpen)
  await Promise.resolve()
  shared.againOpen -= 1
  return skillOk(String(shared.againContext.getStore()) + ' ' + args.number)`
  writePlugins(home, {
    bounded: { manifest: { max_parallelism: 3 }, handler },
    wide: { manifest: { max_parallelism: 1000 }, handler },
  })
  const shared = /** @type {any} */ (globalThis)
  const context = new AsyncLocalStorage()
  shared.againContext = context
  await wait(SETTLED_MS)
  for (const [plugin, most] of /** @type {const} */ ([
    ['bounded', 3],
    ['wide', 1000],
  ])) {
    await context.run('first', () => said(plugin, { number: 0 }))
    shared.againMost = 0
    const numbers = Array.from({ length: 1000 }, (_, number) => number)
    const all = numbers.map((number) => context.run(`c${number}`, () => said(plugin, { number })))
    assert.deepEqual(
      await Promise.all(all),
      numbers.map((number) => `c${number} ${number}`),
    )
    assert.ok(shared.againMost <= most)
  }
})
