// Readings of a machine, on fixed files.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invokePlugin } from 'warpline/unstable-runtime'
import { pluginsDir, proc, temporaryHome } from './support.mjs'

const witness = { granted: false, reason: 'no-declared-side-effects' }
const invoke = (args, options = {}) =>
  invokePlugin('host-metrics', args, { pluginsDir, ...options }, witness)

test('fixed readings give a fixed Output', async (t) => {
  await temporaryHome(t)
  const { result } = await invoke({ source: proc('quiet') })
  assert.equal(result.status, 'success')
  assert.equal(result.artifacts_produced.length, 1)
  const [output] = result.artifacts_produced
  assert.equal(output.type, 'host-metrics')
  assert.equal(output.format, 'json')
  assert.deepEqual(JSON.parse(output.body), {
    load: { one: 0.5, five: 0.3, fifteen: 0.15, cpus: 2, one_per_cpu: 0.25 },
    memory: { total_bytes: 8_192_000_000, free_bytes: 6_144_000_000, used_percent: 25 },
    disk: { total_bytes: 1_000_000_000, free_bytes: 400_000_000, used_percent: 60 },
    uptime_seconds: 90061.5,
  })
})

test('this machine can be read', async (t) => {
  await temporaryHome(t)
  const { result } = await invoke({})
  assert.equal(result.status, 'success', result.summary)
  const body = JSON.parse(result.artifacts_produced[0].body)
  assert.ok(body.memory.total_bytes > 0 && body.disk.total_bytes > 0 && body.uptime_seconds > 0)
})

test('a file in another layout is named, its directory is not', async (t) => {
  await temporaryHome(t)
  const { result, attempt_count } = await invoke({ source: proc('malformed') })
  assert.equal(result.status, 'failed')
  assert.equal(result.errors[0].code, 'parse_error')
  assert.match(result.errors[0].message, /`meminfo`/)
  assert.doesNotMatch(JSON.stringify(result), /proc-malformed/)
  assert.equal(attempt_count, 1)
})

test('a file that is not there is named, its directory is not', async (t) => {
  await temporaryHome(t)
  const { result } = await invoke({ source: proc('incomplete') })
  assert.equal(result.status, 'failed')
  assert.equal(result.errors[0].code, 'data_missing')
  assert.match(result.errors[0].message, /`uptime`.*ENOENT/)
  assert.doesNotMatch(JSON.stringify(result), /proc-incomplete/)
})

test('a disk that is not there is named by its input', async (t) => {
  await temporaryHome(t)
  const { result } = await invoke({ disk_path: '/no/such/disk' })
  assert.equal(result.errors[0].code, 'data_missing')
  assert.match(result.errors[0].message, /`disk_path`/)
  assert.doesNotMatch(JSON.stringify(result), /no\/such/)
})

test('a cancelled call is cancelled, not missing data', async (t) => {
  await temporaryHome(t)
  const { cancelled, result } = await invoke(
    { source: proc('quiet') },
    { signal: AbortSignal.abort() },
  )
  assert.equal(cancelled, true)
  assert.equal(result.status, 'failed')
})
