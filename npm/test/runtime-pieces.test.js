// Tiers and events as hosts use them.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import {
  computeTier,
  emitAttemptFailed,
  emitBoardEvent,
  emitPluginCompleted,
  formatIdleDuration,
  isEligibleForTier,
  makeEvent,
} from '../lib/unstable-runtime.js'
import { temporaryDirectory } from './support/plugins.js'
import { eachVector } from './support/vectors.js'

const directory = temporaryDirectory()
process.env.WARPLINE_HOME = join(directory, 'home')

eachVector('tier', (input, expect) => {
  if (input.kind === 'tier') {
    assert.equal(computeTier(input.last_interaction_at, new Date(input.now)), expect.tier)
  } else {
    assert.equal(isEligibleForTier(input.current, input.min_tier), expect.eligible)
  }
})

test('a tier that is none, and an instant that is none, are refused', () => {
  const none = /** @type {any} */ ('sleepy')
  assert.throws(() => isEligibleForTier(none, 'normal'), /tier/)
  assert.throws(() => computeTier(null, new Date(Number.NaN)), /instant/)
})

test('idle time is shown in its largest unit', () => {
  const hour = 3_600_000
  assert.deepEqual([0, 59 * 60_000, 5 * hour, 49 * hour].map(formatIdleDuration), [
    '0m',
    '59m',
    '5h',
    '2d',
  ])
})

/** @param {string} file */
const lines = (file) => readFileSync(file, 'utf8').trimEnd().split('\n')

eachVector(
  'board-event',
  async (input, expect, { id }) => {
    const { event, event_id, timestamp, plugin, run_id } = input
    const eventsPath = join(directory, `${id}.jsonl`)
    if (event === 'raw') {
      const { type, source, summary } = input
      const made = makeEvent({ type, source, summary, run_id, event_id, timestamp })
      await emitBoardEvent(made, { eventsPath })
    } else if (event === 'plugin_completed') {
      await emitPluginCompleted(plugin, input.summary, run_id, { eventsPath })
    } else {
      await emitAttemptFailed(plugin, input.attempt, input.error, run_id, { eventsPath })
    }
    const [line = ''] = lines(eventsPath)
    assert.equal(JSON.stringify({ ...JSON.parse(line), event_id, timestamp }), expect.line)
    if (event === 'raw') assert.equal(line, expect.line)
  },
  ({ event }) => ['raw', 'plugin_completed', 'attempt_failed'].includes(event),
)

test('events go to the home where no path is given, each with an id and a clock of its own', async () => {
  const metadata = { b: 1, a: 'x' }
  const first = makeEvent({ type: 'notice', source: 's', summary: 'x', task_id: 't', metadata })
  const second = await emitPluginCompleted('p', 'done', 'run-1')
  await emitBoardEvent(first)
  assert.deepEqual(
    lines(join(directory, 'home/state/events.jsonl')).map((line) => JSON.parse(line)),
    [second, first],
  )
  assert.notEqual(first.event_id, second.event_id)
  assert.ok(Math.abs(Date.parse(first.timestamp) - Date.now()) < 60_000)
  assert.deepEqual([first.severity, first.task_id, first.run_id], ['info', 't', null])
  assert.equal(first.metadata_json, '{"b":1,"a":"x"}')
})

test('an event that is none is refused and nothing is written', async () => {
  const draft = /** @type {any} */ ({ type: 'gossip', source: 's', summary: 'x' })
  assert.throws(() => makeEvent(draft), /type/)
  const eventsPath = join(directory, 'never.jsonl')
  const event = /** @type {any} */ ({ type: 'notice' })
  await assert.rejects(emitBoardEvent(event, { eventsPath }), { code: 'ERR_WARPLINE_INVALID' })
  assert.throws(() => lines(eventsPath), /ENOENT/)
})
