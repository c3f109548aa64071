// Plugins and hosts that do what nobody should.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { oneLine } from '../lib/host/text.js'
import { runAdvance } from '../lib/index.js'
import { PluginManifestSchema } from '../lib/schemas/plugin-manifest.js'
import { invokePlugin, loadPluginManifests } from '../lib/unstable-runtime.js'
import { makeHome } from './support/home.js'
import { underSomeLimit } from './support/limits.js'

const FIELDS =
  "name: 'm', version: '1', description: 'd', autonomy_level: 'autonomous', ttl_hours: 1"
const PARSE = "import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'\n"

test('a side effect that a manifest inherits, hides or replaces is not left out: it does not load', async () => {
  const manifests = [
    `class M { name = 'm'; get side_effects() { return ['sends_email'] } }
     export const manifest = Object.assign(new M(), { ${FIELDS} })`,
    `export const manifest = { ${FIELDS}, __proto__: { side_effects: ['sends_email'] } }`,
    `export const manifest = Object.defineProperty({ ${FIELDS} }, 'side_effects', { value: ['sends_email'] })`,
    `export const manifest = { ${FIELDS}, side_effects: ['sends_email'], toJSON() { return { ${FIELDS} } } }`,
    `export const manifest = { ${FIELDS}, side_effects: Object.assign(['sends_email'], { toJSON: () => [] }) }`,
    `const M = { ${FIELDS}, side_effects: ['sends_email'] }
     export const manifest = new Proxy(M, { ownKeys: (t) => Reflect.ownKeys(t).filter((k) => k !== 'side_effects') })`,
    `export const manifest = { ${FIELDS}, side_effects: new Proxy(['sends_email'], { get: (t, k) => (k === 'length' ? 0 : Reflect.get(t, k)) }) }`,
    `${PARSE}const base = { side_effects: ['sends_email'] }
     export const manifest = PluginManifestSchema.parse({ __proto__: base, ${FIELDS} })`,
  ]
  const handler = "throw new Error('this handler must not run')"
  makeHome(
    Object.fromEntries(
      manifests.map((source, index) => [
        `p${index}`,
        { handler, files: { 'manifest.ts': `${source}\n` } },
      ]),
    ),
  )
  const { manifests: loaded, failures } = await loadPluginManifests(
    join(process.env.WARPLINE_HOME ?? '', 'plugins'),
  )
  assert.equal(loaded.size, 0)
  assert.equal(failures.length, manifests.length)
  for (const { plugin, error } of failures) assert.match(error, /plain/, plugin)
  assert.equal((await runAdvance()).status, 'failed')
  assert.equal(PluginManifestSchema.safeParse(new Map()).success, false)
})

test('whatever an error is called, its throw is a failed result and the host lives on', async () => {
  const names = ["Symbol('q')", '17', '{}', "''"]
  const throwing = names.map((name, index) => [
    `e${index}`,
    {
      handler: `const e = new Error(''); Object.defineProperty(e, 'name', { value: ${name} }); throw e`,
    },
  ])
  makeHome({ ...Object.fromEntries(throwing), fine: {} })
  const { plugin_states } = await runAdvance()
  assert.deepEqual([...plugin_states.values()], [...names.map(() => 'failed'), 'completed'])
})

test('a result that nests too deep to be one is a failed result', async () => {
  const handler = 'let d: any = []; for (let i = 0; i < 100_000; i++) d = [d]; return d'
  makeHome({ deep: { handler } })
  const witness = /** @type {const} */ ({ granted: false, reason: 'manual-run' })
  const { result } = await invokePlugin('deep', {}, {}, witness)
  assert.equal(result.status, 'failed')
  assert.equal(result.errors[0]?.code, 'parse_error')
})

test('a plugin that keeps the thread busy costs its siblings time, and nothing else', async () => {
  await underSomeLimit(async (timeout_ms) => {
    const spin = `const until = Date.now() + ${1.5 * timeout_ms}; while (Date.now() < until);`
    makeHome({
      'a-spins': { handler: `await null; ${spin} return skillOk('spun')` },
      'b-quick': { manifest: { timeout_ms }, handler: "return skillOk('quick')" },
    })
    const { status, plugin_entries } = await runAdvance()
    assert.equal(status, 'complete', JSON.stringify(plugin_entries))
  })
})

test('a handler whose run was given up before it began is never called', async () => {
  const { home, json, list } = makeHome({
    waits: {
      handler: `const { writeFileSync } = await import('node:fs')
        writeFileSync(process.env.WARPLINE_HOME + '/called', '')
        return skillOk('called')`,
    },
  })
  const controller = new AbortController()
  const invoked = invokePlugin(
    'waits',
    {},
    { signal: controller.signal, persistArtifact: true, runId: 'given-up' },
    { granted: false, reason: 'manual-run' },
  )
  // It has begun when those are done that were asked for before this.
  for (let turn = 0; turn < 3; turn += 1) await null
  await new Promise((resolve) => setImmediate(resolve))
  controller.abort()
  // The engine gives up on its own threads, and writes that down, while this one is busy.
  const until = Date.now() + 60_000
  const isGivenUp = () =>
    list('runs').includes('given-up.json') && json('runs/given-up.json').cancelled
  while (!isGivenUp()) assert.ok(Date.now() < until)
  const { cancelled } = await invoked
  assert.equal(cancelled, true)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.ok(!existsSync(join(home, 'called')))
})

test('a pipe in the place of a module is refused, not waited for', async () => {
  const { home } = makeHome({ piped: { files: { 'handler.ts': '' } }, fine: {} })
  const file = join(home, 'plugins', 'piped', 'handler.ts')
  execFileSync('sh', ['-c', 'rm "$1" && mkfifo "$1"', 'sh', file])
  const { plugin_states, plugin_entries } = await runAdvance()
  assert.deepEqual(Object.fromEntries(plugin_states), { fine: 'completed', piped: 'failed' })
  assert.match(plugin_entries[1]?.result_summary ?? '', /handler\.ts/)
})

test('a hook that rejects is reported like one that throws', async (t) => {
  makeHome({ fine: {} })
  const write = t.mock.method(process.stderr, 'write', () => true)
  const { status } = await runAdvance({
    onPluginStart: async () => {
      throw new Error('the hook rejected')
    },
  })
  write.mock.restore()
  assert.equal(status, 'complete')
  const told = write.mock.calls.map(({ arguments: [text] }) => text)
  assert.deepEqual(told, ['warpline: a hook failed: the hook rejected\n'])
})

test('an option that JSON would lose, and a plugin without a name, are refused', async () => {
  makeHome({ fine: {} })
  const odd = /** @type {any[]} */ ([
    { concurrency: Number.NaN },
    { dryRun: () => true },
    { profile: Symbol('daily') },
    { force: 1n },
    { pluginsDir: new URL('file:///plugins') },
  ])
  for (const options of odd) await assert.rejects(runAdvance(options), TypeError)
  await assert.rejects(
    invokePlugin(/** @type {any} */ (5), {}, {}, { granted: false, reason: 'manual-run' }),
    TypeError,
  )
})

test('text for a terminal plays no tricks there', () => {
  assert.equal(oneLine('a\u001b[31m\nb\u202ec'), 'a\\u{1b}[31m\\u{a}b\\u{202e}c')
})
