// Direct invocations through the published function.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { runAdvance } from '../lib/index.js'
import { invokePlugin, loadPluginManifests } from '../lib/unstable-runtime.js'
import { makeHome } from './support/home.js'

/** @type {import('../lib/unstable-capabilities.js').GrantWitness} */
const byHand = { granted: false, reason: 'manual-run' }

test('a plugin runs with its arguments, and its result is validated and stamped', async () => {
  const { list } = makeHome({
    echo: {
      manifest: { inputs: { text: { type: 'string', default: 'unset' } } },
      handler:
        "return skillOk(String(args.text), { artifacts_produced: ['a.md', { type: 't', body: JSON.stringify(Object.keys(args)) }] })",
    },
  })
  const args = JSON.parse('{ "text": "given", "__proto__": 1, "cut": "\\ud83d" }')
  const outcome = await invokePlugin('echo', args, { runId: 'run-7' }, byHand)
  assert.deepEqual(Object.keys(outcome).slice(0, 9), [
    'plugin',
    'result',
    'duration_ms',
    'attempt_count',
    'attempts',
    'final_error',
    'retried',
    'cancelled',
    'timed_out',
  ])
  assert.equal(outcome.result.summary, 'given')
  assert.equal(outcome.result.artifacts_produced[0]?.path, 'a.md')
  assert.equal(outcome.result.artifacts_produced[0]?.run_id, 'run-7')
  assert.deepEqual(JSON.parse(outcome.result.artifacts_produced[1]?.body ?? ''), [
    'text',
    '__proto__',
    'cut',
  ])
  assert.deepEqual([outcome.attempt_count, outcome.retried, outcome.final_error], [1, false, null])
  assert.deepEqual(list('.'), ['plugins'])
  assert.equal((await invokePlugin('echo', undefined, undefined, byHand)).result.summary, 'unset')
})

// Cases: T541.
test('a handler that takes three parameters is called like any other', async () => {
  makeHome({
    three: {
      files: {
        'handler.ts': `
import { skillOk } from 'warpline/unstable-result'
export const handler = async (manifest: object, args: { city: string }, signal: AbortSignal) =>
  skillOk([args.city, signal.aborted].join(), { phases_completed: ['asked'] })
`,
      },
    },
  })
  const { result, final_error } = await invokePlugin('three', { city: 'Bern' }, {}, byHand)
  assert.deepEqual(
    [result.status, result.summary, result.phases_completed, final_error],
    ['success', 'Bern,false', ['asked'], null],
  )
})

test('without a witness nothing is invoked', async () => {
  makeHome({ never: { handler: "throw new Error('this handler must not run')" } })
  for (const witness of [
    undefined,
    null,
    {},
    { granted: true },
    { granted: true, scope: '' },
    { granted: 'true', scope: 'never' },
    { granted: false },
    { granted: false, reason: 'because' },
  ]) {
    await assert.rejects(invokePlugin('never', {}, {}, /** @type {any} */ (witness)), TypeError)
  }
})

test('a witness that cannot be true of the plugin is refused', async () => {
  makeHome({ writes: { manifest: { side_effects: ['modifies_file'] } } })
  await assert.rejects(
    invokePlugin('writes', {}, {}, { granted: false, reason: 'no-declared-side-effects' }),
    { code: 'ERR_WARPLINE_OPTION' },
  )
  await assert.rejects(invokePlugin('writes', {}, {}, { granted: true, scope: 'another' }), {
    code: 'ERR_WARPLINE_OPTION',
  })
  const outcome = await invokePlugin('writes', {}, {}, { granted: true, scope: 'writes' })
  assert.equal(outcome.result.status, 'success')
})

test('retryable failures are retried, attempts are told as they go', async () => {
  makeHome({
    flaky: {
      manifest: { retry_delay_ms: 0, max_retries: 3 },
      handler: `
        const count = (globalThis as any).flakyCount = ((globalThis as any).flakyCount ?? 0) + 1
        return count < 3 ? skillFailure('rate_limit', 'slow down ' + count) : skillOk('at last')
      `,
    },
  })
  /** @type {unknown[]} */
  const seen = []
  const outcome = await invokePlugin(
    'flaky',
    {},
    {
      onAttemptStart: (attempt) => seen.push(attempt),
      onAttemptFailed: (attempt, message) => seen.push([attempt, message]),
    },
    byHand,
  )
  assert.equal(outcome.result.summary, 'at last')
  assert.deepEqual([outcome.attempt_count, outcome.retried], [3, true])
  assert.deepEqual(seen, [1, [1, 'slow down 1'], 2, [2, 'slow down 2'], 3])
  assert.deepEqual(
    outcome.attempts.map(({ status }) => status),
    ['failed', 'failed', 'success'],
  )
})

test('a timeout is the runtime’s own, a cancellation the caller’s', async () => {
  makeHome({
    sleeps: {
      manifest: { timeout_ms: 50 },
      handler: 'await new Promise(() => {}); return skillOk("x")',
    },
    patient: { handler: 'await new Promise(() => {}); return skillOk("x")' },
  })
  /** @type {unknown[]} */
  const failures = []
  const onAttemptFailed = (/** @type {unknown[]} */ ...failed) => failures.push(failed)
  const slow = await invokePlugin('sleeps', {}, { onAttemptFailed }, byHand)
  assert.deepEqual(
    [slow.timed_out, slow.cancelled, slow.attempts[0]?.status],
    [true, false, 'timeout'],
  )
  assert.deepEqual(failures, [[1, 'timeout', undefined]])
  const cancelled = await invokePlugin('patient', {}, { signal: AbortSignal.timeout(40) }, byHand)
  assert.deepEqual([cancelled.timed_out, cancelled.cancelled], [false, true])
})

test('what is printed goes to the transcript of the artifact, secrets redacted', async () => {
  process.env.WARPLINE_TEST_TOKEN = 'hunter2-token'
  const { json, text } = makeHome({
    prints: {
      manifest: { secrets: ['WARPLINE_TEST_TOKEN'], retry_delay_ms: 0 },
      handler: `
        console.log('token is', process.env.WARPLINE_TEST_TOKEN)
        await null
        process.stdout.write('no newline')
        const count = (globalThis as any).printCount = ((globalThis as any).printCount ?? 0) + 1
        return count < 2 ? skillFailure('timeout', 'again') : skillOk(capabilities.secrets.resolvedNames(capabilities.caller).join())
      `,
    },
  })
  const options = { persistArtifact: true, runId: 'run-1', userInitiated: true }
  const outcome = await invokePlugin('prints', {}, options, byHand)
  assert.equal(outcome.result.summary, 'WARPLINE_TEST_TOKEN')
  const attempt = 'token is [redacted]\nno newline'
  assert.equal(
    text('runs/run-1.log').replaceAll('\n\n', '\n').trimEnd(),
    `=== Attempt 1 ===\n${attempt}\n=== Attempt 2 ===\n${attempt}`,
  )
  const artifact = json('runs/run-1.json')
  assert.deepEqual(
    [artifact.status, artifact.user_initiated, artifact.retried],
    ['success', true, true],
  )
})

// Cases: T094.
test('a dependency is read from what the host supplies', async () => {
  makeHome({
    reader: {
      manifest: { dependencies: ['source', 'other'] },
      handler: `
        const { caller, dependencies } = capabilities
        return skillOk(JSON.stringify([
          dependencies.lastRun(caller, 'source'), dependencies.lastOutput(caller, 'source')?.body ?? null,
          dependencies.lastRun(caller, 'other'), dependencies.lastOutput(caller, 'other'),
        ]))
      `,
    },
  })
  /** @type {Record<string, import('../lib/schemas/engine-state.js').PluginRun>} */
  const dependencyRuns = {
    source: {
      last_run_at: '2026-08-20T12:00:00.000Z',
      status: 'failed',
      last_output: { type: 'report', format: 'text', body: 'b' },
    },
  }
  const outcome = await invokePlugin('reader', {}, { dependencyRuns }, byHand)
  assert.deepEqual(JSON.parse(outcome.result.summary), ['failed', 'b', null, null])
})

// Cases: T096.
test('a dependency that the manifest does not name is not read, whatever is recorded of it', async () => {
  makeHome({
    source: { handler: "return skillOk('made', { artifacts_produced: ['a.md'] })" },
    ...Object.fromEntries(
      [[], ['other']].map((dependencies, index) => [
        `reader-${index}`,
        {
          manifest: { dependencies },
          handler: `
            const { caller, dependencies } = capabilities
            return skillOk(JSON.stringify(dependencies.lastOutput(caller, 'source')))`,
        },
      ]),
    ),
  })
  await runAdvance()
  const { plugin_entries } = await runAdvance({ force: true })
  const told = plugin_entries.filter(({ plugin }) => plugin !== 'source')
  assert.equal(told.length, 2)
  for (const { status, result_summary } of told) {
    assert.equal(status, 'failed')
    assert.match(result_summary, /`source`.*`dependencies`/)
  }
})

test('a plugin that is not there, or does not load, is a failed result', async () => {
  makeHome({ broken: { files: { 'manifest.ts': "throw new Error('no')\n" } } })
  for (const name of ['absent', 'broken', '../plugins/broken', '__proto__']) {
    const { result, attempt_count } = await invokePlugin(name, {}, {}, byHand)
    assert.equal(result.status, 'failed')
    assert.equal(result.errors[0]?.code, 'dependency_unavailable')
    assert.equal(attempt_count, 1)
  }
})

test('what plugin code threw reaches the host as it was thrown, and stays out of the record', async () => {
  makeHome({
    throws: { handler: "throw Object.assign(new RangeError('boom'), { token: 'kept' })" },
    unloadable: { files: { 'handler.ts': "throw new URIError('at load')\n" } },
    unread: { files: { 'manifest.ts': 'let a; let a\n' } },
    returns: { handler: "return skillFailure('data_missing', 'nothing there')" },
  })
  /** @type {unknown[]} */
  const seen = []
  const options = {
    persistArtifact: true,
    runId: 'run-3',
    onAttemptFailed: (/** @type {unknown[]} */ ...told) => seen.push(told),
  }
  const outcome = await invokePlugin('throws', {}, options, byHand)
  const cause = /** @type {RangeError & { token: string }} */ (outcome.cause)
  assert.ok(cause instanceof RangeError)
  assert.deepEqual([cause.message, cause.token], ['boom', 'kept'])
  assert.match(cause.stack ?? '', /throws\/handler\.ts:4:/)
  assert.deepEqual(seen, [[1, 'boom', cause]])
  assert.ok(!JSON.stringify(outcome).includes('kept'))
  assert.ok(!Object.keys(outcome).includes('cause'))

  const loaded = await invokePlugin('unloadable', {}, {}, byHand)
  assert.ok(loaded.cause instanceof URIError)
  const returned = await invokePlugin('returns', {}, {}, byHand)
  assert.ok(!('cause' in returned))
  const { failures } = await loadPluginManifests()
  const fault = /** @type {Error} */ (failures[0]?.cause)
  assert.equal(fault.message, failures[0]?.error)
  assert.ok(fault.cause instanceof SyntaxError, 'what the JavaScript engine said')

  const causes = new Map()
  const { plugin_entries } = await runAdvance({
    onPluginEnd: (plugin, _state, _elapsed, _reason, thrown) => causes.set(plugin, thrown),
  })
  assert.equal(causes.get('throws').message, 'boom')
  assert.equal(causes.get('returns'), undefined)
  assert.ok(!JSON.stringify(plugin_entries).includes('kept'))
})

test('options of the wrong shape, and a run id that is no file name, are refused', async () => {
  makeHome({ fine: {} })
  for (const options of [
    { maxRetriesOverride: 11 },
    { runId: '../x' },
    { runid: 'x' },
    { userInitiated: 1 },
  ]) {
    await assert.rejects(invokePlugin('fine', {}, /** @type {any} */ (options), byHand), {
      name: 'WarplineError',
    })
  }
  await assert.rejects(invokePlugin('fine', /** @type {any} */ ([]), {}, byHand), {
    name: 'WarplineError',
  })
  await assert.rejects(invokePlugin('fine', { big: 1n }, {}, byHand), TypeError)
})

test('what a module prints while it is evaluated belongs to the first attempt', async () => {
  const handler = `console.log('evaluated')
export const handler = async () => { console.log('called'); return { status: 1n } }
`
  const { json, text } = makeHome({ speaks: { files: { 'handler.ts': handler } } })
  const outcome = await invokePlugin(
    'speaks',
    {},
    { persistArtifact: true, runId: 'run-2' },
    byHand,
  )
  assert.equal(text('runs/run-2.log'), '=== Attempt 1 ===\nevaluated\ncalled\n')
  assert.equal(outcome.result.errors[0]?.code, 'parse_error', 'what has no JSON form is no result')
  assert.match(outcome.final_error ?? '', /no JSON form/)
  assert.equal(json('runs/run-2.json').status, 'failed')
})
