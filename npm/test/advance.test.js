// Whole advances through the published function.

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { getEventListeners } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runAdvance } from 'warpline'
import { RunLogSchema } from '../lib/schemas/run-log.js'
import { invokePlugin, loadPluginManifests } from '../lib/unstable-runtime.js'
import { makeHome } from './support/home.js'
import { temporaryDirectory } from './support/plugins.js'

test('due plugins run in order, hooks are called in order and before the end', async () => {
  const { home, json } = makeHome({
    first: {
      handler: "return skillOk('one', { artifacts_produced: [{ type: 'report', body: 'b' }] })",
    },
    second: {
      manifest: { dependencies: ['first'] },
      handler: `
        const output = capabilities.dependencies.lastOutput(capabilities.caller, 'first')
        return skillOk('saw ' + output?.body + ' ' + capabilities.dependencies.lastRun(capabilities.caller, 'first'))
      `,
    },
  })
  /** @type {unknown[]} */
  const seen = []
  const result = await runAdvance({
    onPluginStart: (plugin) => seen.push(['start', plugin]),
    onPluginEnd: (plugin, state, elapsed, reason) =>
      seen.push(['end', plugin, state, typeof elapsed, reason]),
    onRunFailure: (text) => seen.push(['failure', text]),
  })
  assert.equal(result.status, 'complete')
  assert.deepEqual(
    [...result.plugin_states],
    [
      ['first', 'completed'],
      ['second', 'completed'],
    ],
  )
  assert.deepEqual(result.gated_plugins, [])
  assert.equal(result.plugin_entries[1]?.result_summary, 'saw b success')
  assert.deepEqual(seen, [
    ['start', 'first'],
    ['end', 'first', 'completed', 'number', undefined],
    ['start', 'second'],
    ['end', 'second', 'completed', 'number', undefined],
  ])
  assert.equal(result.run_log_path, join(home, 'runs', `${result.run_id}.json`))
  const log = json(`runs/${result.run_id}.json`)
  assert.deepEqual(RunLogSchema.parse(log), log)
  assert.equal(json('state/engine-state.json').plugin_runs.second.status, 'success')
})

test('a supervised result waits, and its dependents with it', async () => {
  const { json } = makeHome({
    asks: { manifest: { autonomy_level: 'supervised' } },
    after: { manifest: { dependencies: ['asks'] } },
  })
  const result = await runAdvance()
  assert.equal(result.status, 'partial')
  assert.deepEqual(result.gated_plugins, ['asks'])
  assert.deepEqual(Object.fromEntries(result.plugin_states), { after: 'pending', asks: 'gated' })
  assert.equal(json('state/engine-state.json').pending_gates[0].plugin, 'asks')
})

test('an effect that nobody approved does not happen', async () => {
  const { list } = makeHome({
    writes: {
      manifest: { side_effects: ['modifies_file'] },
      handler: "throw new Error('this handler must not run')",
    },
  })
  const result = await runAdvance()
  assert.deepEqual([...result.plugin_states], [['writes', 'skipped']])
  assert.match(result.plugin_entries[0]?.result_summary ?? '', /approv/)
  assert.ok(!list('.').includes('.session-approval'))
})

test('plugins that throw, hang, fail to load or return garbage leave their siblings alone', async () => {
  makeHome({
    'a-throws': { handler: "throw new Error('boom')" },
    'b-hangs': { manifest: { timeout_ms: 50 }, handler: 'return new Promise(() => {})' },
    'c-garbage': { handler: 'return { status: "splendid" } as any' },
    'd-broken': { files: { 'handler.ts': 'export enum No { Way }\n' } },
    'e-late': {
      manifest: { timeout_ms: 30 },
      handler: `
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        ;(globalThis as any).isLate = true
        throw new Error('late')`,
    },
    'f-cyclic': { handler: 'const a: any = {}; a.a = a; return a' },
    'g-good': {},
    'h-no-manifest': { files: { 'manifest.ts': "throw new Error('at load')\n" } },
  })
  /** @type {string[]} */
  const failures = []
  const result = await runAdvance({ onRunFailure: (text) => failures.push(text) })
  // What it rejects with is nobody's by now; it would end this process.
  const late = /** @type {{ isLate?: boolean }} */ (globalThis)
  while (!late.isLate) await new Promise((resolve) => setTimeout(resolve, 1))
  assert.equal(result.status, 'partial')
  assert.equal(failures.length, 1)
  const summary = Object.fromEntries(result.plugin_entries.map((entry) => [entry.plugin, entry]))
  assert.equal(summary['g-good']?.status, 'completed')
  assert.match(summary['a-throws']?.result_summary ?? '', /boom/)
  assert.match(summary['b-hangs']?.result_summary ?? '', /timeout/)
  assert.match(summary['c-garbage']?.result_summary ?? '', /status/)
  assert.ok(!summary['c-garbage']?.result_summary.includes('splendid'))
  assert.match(summary['d-broken']?.result_summary ?? '', /d-broken\/handler\.ts:1:8: .*enum/)
  assert.match(summary['f-cyclic']?.result_summary ?? '', /circular/)
  assert.match(summary['h-no-manifest']?.result_summary ?? '', /at load/)
  for (const [name, entry] of Object.entries(summary)) {
    if (name !== 'g-good') assert.equal(entry.status, 'failed', name)
  }
})

test('a signal interrupts: the handler sees it, the log says so', async () => {
  const { json } = makeHome({
    waits: {
      handler: `
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return skillOk('reason ' + signal.reason.name)
      `,
    },
  })
  const controller = new AbortController()
  const result = await runAdvance({
    signal: controller.signal,
    onPluginStart: () => setTimeout(() => controller.abort(), 20),
  })
  assert.equal(result.status, 'interrupted')
  assert.equal(json(`runs/${result.run_id}.json`).completed_at, null)
})

test('a signal is let go of at the end, however the call ends', async () => {
  const { home } = makeHome({ fine: {}, fails: { handler: "throw new Error('no')" } })
  const { signal } = new AbortController()
  const listening = () => getEventListeners(signal, 'abort').length
  let during = 0
  await runAdvance({
    signal,
    onPluginStart: () => {
      during = listening()
    },
  })
  assert.deepEqual([during, listening()], [1, 0])
  await assert.rejects(runAdvance({ signal, pluginsDir: join(home, 'absent') }))
  await assert.rejects(runAdvance({ signal, concurrency: 0 }))
  await invokePlugin('fine', {}, { signal }, { granted: false, reason: 'manual-run' })
  assert.equal(listening(), 0)
})

test('every path that is moved is honoured, and nothing comes to be at the usual places', async () => {
  const { home } = makeHome({ sends: { manifest: { side_effects: ['sends_email'] } } })
  const there = join(temporaryDirectory(), 'there')
  mkdirSync(there)
  renameSync(join(home, 'plugins'), join(there, 'plugins'))
  const scopes = {
    granted_at: new Date(),
    expires_at: new Date(Date.now() + 3_600_000),
    scopes: '*',
  }
  writeFileSync(join(there, 'grant'), JSON.stringify(scopes))
  writeFileSync(join(there, 'prefs.json'), '{"review_gate":true}')
  const result = await runAdvance({
    pluginsDir: join(there, 'plugins'),
    stateDir: join(there, 'state/file.json'),
    runsDir: join(there, 'runs'),
    logsDir: join(there, 'logs'),
    eventsPath: join(there, 'events'),
    preferencesPath: join(there, 'prefs.json'),
    approvalPath: join(there, 'grant'),
  })
  assert.deepEqual(result.gated_plugins, ['sends'], 'grant and preferences were read')
  assert.equal(result.run_log_path, join(there, 'runs', `${result.run_id}.json`))
  assert.deepEqual(readdirSync(home), [])
  assert.deepEqual(readdirSync(there).sort(), [
    'events',
    'grant',
    'logs',
    'plugins',
    'prefs.json',
    'runs',
    'state',
  ])
  assert.deepEqual(readdirSync(join(there, 'state')), ['file.json', 'last-successful-advance'])
  assert.deepEqual(readdirSync(join(there, 'runs')), [`${result.run_id}.json`])
  // A pass over midnight has lines of two days.
  assert.ok(readdirSync(join(there, 'logs/runs')).length > 0)
  const state = JSON.parse(readFileSync(join(there, 'state/file.json'), 'utf8'))
  assert.equal(state.last_run_id, result.run_id)
  assert.match(readFileSync(join(there, 'events'), 'utf8'), /sends: awaiting approval/)
})

test('a signal that fired before the start runs nothing', async () => {
  makeHome({ never: { handler: "throw new Error('this handler must not run')" } })
  const result = await runAdvance({ signal: AbortSignal.abort() })
  assert.equal(result.status, 'interrupted')
  assert.equal(result.plugin_states.get('never'), 'pending')
  assert.deepEqual(result.plugin_entries, [])
})

// Cases: T200, T202, T203, T540.
test('an unusable root is refused by name, and nothing is written', async () => {
  const { list } = makeHome({ unused: {} })
  const absent = join(temporaryDirectory(), 'absent')
  const file = join(temporaryDirectory(), 'file')
  writeFileSync(file, '')
  for (const [pluginsDir, message] of /** @type {const} */ ([
    [absent, `cannot read plugin root ${absent}: ENOENT`],
    [file, `cannot read plugin root ${file}: ENOTDIR`],
    ['', 'the plugin root was given as an empty string'],
  ])) {
    await assert.rejects(runAdvance({ pluginsDir }), { code: 'ERR_WARPLINE_PLUGIN_ROOT', message })
  }
  assert.deepEqual(list('.'), ['plugins'])

  const strewn = makeHome({ good: {} })
  writeFileSync(join(strewn.home, 'plugins', '.DS_Store'), '')
  const { status, plugin_states } = await runAdvance()
  assert.deepEqual([status, [...plugin_states]], ['complete', [['good', 'completed']]])
})

test('an option nobody knows, or of the wrong shape, is refused before anything begins', async () => {
  const { list } = makeHome({ unused: {} })
  for (const options of [
    { dryrun: true },
    { profile: 'hourly' },
    { concurrency: 0 },
    { onPluginBegin: () => {} },
    { pluginsDir: 7 },
  ]) {
    const name = Object.keys(options)[0] ?? ''
    await assert.rejects(runAdvance(/** @type {any} */ (options)), { message: new RegExp(name) })
  }
  await assert.rejects(runAdvance(/** @type {any} */ ({ signal: {} })), TypeError)
  await assert.rejects(runAdvance(/** @type {any} */ ({ onPluginEnd: 'x' })), TypeError)
  assert.deepEqual(list('.'), ['plugins'])
})

test('a hook that throws loses nothing', async () => {
  const { json } = makeHome({ fine: {} })
  const fail = () => {
    throw new Error('hook')
  }
  const result = await runAdvance({ onPluginStart: fail, onPluginEnd: fail })
  assert.equal(result.status, 'complete')
  assert.equal(json('state/engine-state.json').plugin_runs.fine.status, 'success')
})

test('handlers and hooks run in the async context of the caller', async () => {
  const storage = new AsyncLocalStorage()
  const shared = /** @type {any} */ (globalThis)
  shared.advanceStorage = storage
  makeHome({
    asks: { handler: 'return skillOk(String((globalThis as any).advanceStorage.getStore()))' },
  })
  /** @type {unknown[]} */
  const hooks = []
  const run = () => runAdvance({ force: true, onPluginStart: () => hooks.push(storage.getStore()) })
  const results = await Promise.all([storage.run('left', run)])
  results.push(await storage.run('right', run))
  assert.deepEqual(hooks, ['left', 'right'])
  assert.deepEqual(
    results.map((result) => result.plugin_entries[0]?.result_summary),
    ['left', 'right'],
  )
})

test('a dry run writes nothing', async () => {
  const { list } = makeHome({ fine: {} })
  const result = await runAdvance({ dryRun: true })
  assert.equal(result.run_log_path, '')
  assert.deepEqual(list('.'), ['plugins'])
})

test('an advance runs what the files of a plugin say now, not what this process loaded before', async () => {
  const { home } = makeHome({
    edited: {
      files: { 'handler.ts': "export { handler } from './inner.ts'\n", 'inner.ts': handler('old') },
    },
  })
  const summaries = []
  summaries.push((await runAdvance({ force: true })).plugin_entries[0]?.result_summary)
  writeFileSync(join(home, 'plugins/edited/inner.ts'), handler('brand new'))
  summaries.push((await runAdvance({ force: true })).plugin_entries[0]?.result_summary)
  assert.deepEqual(summaries, ['old', 'brand new'])
})

/** @param {string} summary */
function handler(summary) {
  return `import { skillOk } from 'warpline/unstable-result'\nexport const handler = async () => skillOk('${summary}')\n`
}

// Cases: T295, T296, T298.
test('manifests load with their failures, sorted; an unusable root is a fact', async () => {
  const { home } = makeHome({
    good: { manifest: { ttl_hours: 5 } },
    'z-broken': { files: { 'manifest.ts': "export const manifest = { name: 'z\n" } },
    'a-invalid': { files: { 'manifest.ts': 'export const manifest = { name: 7 }\n' } },
    'm-absent': { files: { 'manifest.ts': 'export const other = 1\n' } },
    constructor: {},
  })
  const { manifests, failures, root_error } = await loadPluginManifests()
  assert.deepEqual([...manifests.keys()], ['good'])
  assert.equal(manifests.get('good')?.ttl_hours, 5)
  assert.equal(manifests.get('good')?.timeout_ms, 60_000)
  assert.deepEqual(
    failures.map(({ plugin }) => plugin),
    ['a-invalid', 'constructor', 'm-absent', 'z-broken'],
  )
  assert.match(failures[0]?.error ?? '', /`name`/)
  assert.equal(root_error, undefined)

  const absent = await loadPluginManifests(join(home, 'absent'))
  assert.equal(absent.manifests.size + absent.failures.length, 0)
  assert.deepEqual(absent.root_error, { path: join(home, 'absent'), code: 'ENOENT' })
})

test('handlers that load and those that do not are told apart, whichever comes first', async () => {
  const { home } = makeHome({
    a: { handler: "return skillOk('a ran')" },
    b: { manifest: { dependencies: ['a'] }, handler: "return skillOk('b ran')" },
    c: { manifest: { dependencies: ['a'] } },
    d: { manifest: { dependencies: ['a'] } },
    e: { manifest: { dependencies: ['a'] } },
  })
  const handler = (/** @type {string} */ name) => join(home, 'plugins', name, 'handler.ts')
  writeFileSync(handler('c'), 'export const handler = () => {}\nenum No { such }\n')
  rmSync(handler('d'))
  writeFileSync(handler('e'), "throw new Error('not today')\n")
  const { plugin_entries } = await runAdvance()
  const told = Object.fromEntries(plugin_entries.map((each) => [each.plugin, each.result_summary]))
  assert.equal(told.a, 'a ran')
  assert.equal(told.b, 'b ran')
  assert.match(told.c ?? '', /^c: \S+\/c\/handler\.ts:2:1: /)
  assert.match(told.d ?? '', /^d: \S+\/d\/handler\.ts does not exist$/)
  assert.equal(told.e, 'e: not today')
})
