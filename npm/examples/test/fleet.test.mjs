// The four plugins together, as an advance runs them, on fixed readings.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runAdvance } from 'warpline'
import {
  configure,
  grant,
  install,
  lastBody,
  pluginsDir,
  proc,
  readJson,
  temporaryHome,
  write,
} from './support.mjs'

async function fleetHome(t) {
  const home = await temporaryHome(t)
  await install(home, 'anomaly-watch', 'daily-digest', 'host-metrics', 'incident-note')
  return home
}

// force: the readings change faster here than any ttl.
const advance = (options = {}) => runAdvance({ force: true, ...options })
const states = ({ plugin_states }) => Object.fromEntries([...plugin_states].sort())
const names = (breaches) => breaches.map(({ limit }) => limit)
const errorOf = ({ plugin_entries }, plugin) =>
  plugin_entries.find((entry) => entry.plugin === plugin).result.errors[0]

async function report(home) {
  return JSON.parse(await lastBody(home, 'anomaly-watch'))
}

test('breaches come, stay and go', async (t) => {
  const home = await fleetHome(t)
  await configure(home, 'host-metrics', { source: proc('quiet') })
  await advance()
  assert.deepEqual(await report(home), { breached: [], newly_breached: [], cleared: [] })

  await configure(home, 'host-metrics', { source: proc('busy') })
  const { run_id } = await advance()
  const first = await report(home)
  const all = ['load_per_cpu_max', 'memory_used_max_percent', 'uptime_min_seconds']
  assert.deepEqual(names(first.breached), all)
  assert.deepEqual(first.newly_breached, all)
  assert.deepEqual(
    first.breached.map(({ reading }) => reading),
    [4.5, 95, 120],
  )
  assert.ok(first.breached.every(({ since_run }) => since_run === run_id))

  await advance()
  const second = await report(home)
  assert.deepEqual(second.breached, first.breached, 'a standing breach keeps its beginning')
  assert.deepEqual(second.newly_breached, [])

  await configure(home, 'host-metrics', { source: proc('quiet') })
  await advance()
  assert.deepEqual(await report(home), { breached: [], newly_breached: [], cleared: all })
})

test('a reading equal to its limit is within it', async (t) => {
  const home = await fleetHome(t)
  await configure(home, 'host-metrics', { source: proc('busy') })
  await configure(home, 'anomaly-watch', {
    load_per_cpu_max: 4.5,
    memory_used_max_percent: 95,
    uptime_min_seconds: 120,
  })
  await advance()
  assert.deepEqual((await report(home)).breached, [])
})

test('a record that anomaly-watch did not write stops it and stays as it is', async (t) => {
  const home = await fleetHome(t)
  await configure(home, 'host-metrics', { source: proc('busy') })
  for (const text of [
    '{"disk_used_max_percent": true}',
    '[]',
    '{',
    '{"other": {"since": "", "since_run": ""}}',
  ]) {
    await write(home, 'state/anomaly-watch.json', text)
    const result = await advance()
    assert.equal(result.plugin_states.get('anomaly-watch'), 'failed')
    const { code, message } = errorOf(result, 'anomaly-watch')
    assert.equal(code, 'parse_error')
    assert.match(message, /state\/anomaly-watch\.json/)
    assert.equal(await readFile(join(home, 'state/anomaly-watch.json'), 'utf8'), text)
  }
})

test('without a grant no note is written, and the digest says what it lacks', async (t) => {
  const home = await fleetHome(t)
  await configure(home, 'host-metrics', { source: proc('busy') })
  const result = await advance()
  assert.equal(result.status, 'complete')
  assert.deepEqual(states(result), {
    'anomaly-watch': 'completed',
    'daily-digest': 'completed',
    'host-metrics': 'completed',
    'incident-note': 'skipped',
  })
  await assert.rejects(readdir(join(home, 'notes')), { code: 'ENOENT' })
  const since = (await report(home)).breached[0].since
  assert.equal(
    await lastBody(home, 'daily-digest'),
    `# Daily digest

## Host

- Load per processor: 4.5
- Memory used: 95 %
- Disk used: 60 %
- Up for: 0 d 0 h 2 min

## Limits

- Breached: load_per_cpu_max (4.5), since ${since}
- Breached: memory_used_max_percent (95), since ${since}
- Breached: uptime_min_seconds (120), since ${since}

## Notes

no data from incident-note
`,
  )
})

test('one note for each breach, however often it is seen', async (t) => {
  const home = await fleetHome(t)
  await configure(home, 'host-metrics', { source: proc('busy') })
  await grant(home, 'incident-note')
  const result = await advance()
  assert.equal(result.status, 'partial')
  assert.deepEqual(states(result), {
    'anomaly-watch': 'completed',
    'daily-digest': 'pending',
    'host-metrics': 'completed',
    'incident-note': 'gated',
  })
  const notes = (await readdir(join(home, 'notes'))).sort()
  assert.deepEqual(
    notes,
    ['load_per_cpu_max', 'memory_used_max_percent', 'uptime_min_seconds'].map(
      (limit) => `${limit}-${result.run_id}.md`,
    ),
  )
  const [gate] = (await readJson(home, 'state/engine-state.json')).pending_gates
  const paths = gate.plugin_result.artifacts_produced.map(({ path }) => path)
  assert.deepEqual(
    paths,
    notes.map((note) => join(home, 'notes', note)),
  )
  assert.equal(gate.plugin_result.reversible, true)
  for (const path of paths) assert.ok(gate.plugin_result.undo_instruction.includes(path))

  await write(home, `notes/${notes[0]}`, 'what a person wrote')
  await advance()
  assert.deepEqual((await readdir(join(home, 'notes'))).sort(), notes)
  assert.equal(await readFile(join(home, 'notes', notes[0]), 'utf8'), 'what a person wrote')
})

test('what another plugin wrote never becomes a path', async (t) => {
  const home = await temporaryHome(t)
  const body = (breach) =>
    JSON.stringify({
      breached: [
        { limit: 'a', reading: 1, since: '2026-01-01T00:00:00.000Z', since_run: 'r', ...breach },
      ],
    })
  const hostile = [
    body({ limit: '../a' }),
    body({ since_run: '../../a' }),
    body({ since_run: '.a' }),
    body({ limit: 5 }),
    '{}',
    'no json',
  ]
  const watch = (text) => `import { skillOk } from 'warpline/unstable-result'
export const handler = async () => skillOk('', { artifacts_produced: [{ type: 'anomaly-report', format: 'json', body: ${JSON.stringify(text)} }] })
`
  await write(
    home,
    'plugins/anomaly-watch/manifest.ts',
    `import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'
export const manifest = PluginManifestSchema.parse({ name: 'anomaly-watch', version: '1', description: '', autonomy_level: 'autonomous', ttl_hours: 1 })
`,
  )
  for (const file of ['manifest.ts', 'handler.ts', 'notes.ts']) {
    await write(
      home,
      `plugins/incident-note/${file}`,
      await readFile(join(pluginsDir, 'incident-note', file), 'utf8'),
    )
  }
  await grant(home, 'incident-note')
  for (const text of hostile) {
    await write(home, 'plugins/anomaly-watch/handler.ts', watch(text))
    const result = await advance()
    assert.equal(result.plugin_states.get('incident-note'), 'failed', text)
    assert.equal(errorOf(result, 'incident-note').code, 'parse_error', text)
    await assert.rejects(readdir(join(home, 'notes')), { code: 'ENOENT' })
  }
})

test('the levels put the digest behind the notes', async (t) => {
  const home = await fleetHome(t)
  await configure(home, 'host-metrics', { source: proc('quiet') })
  const order = []
  await advance({ onPluginStart: (plugin) => order.push(plugin) })
  assert.deepEqual(order, ['host-metrics', 'anomaly-watch', 'daily-digest'])
  await grant(home, 'incident-note')
  order.length = 0
  await advance({ onPluginStart: (plugin) => order.push(plugin) })
  assert.deepEqual(order, ['host-metrics', 'anomaly-watch', 'incident-note'])
})
