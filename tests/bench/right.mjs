// Looks whether a measured run did its work: what it said, and every record of the home.
import { equal, ok } from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const BODY = 'x'.repeat(500)

const json = (path) => JSON.parse(readFileSync(path, 'utf8'))
const lines = (path) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** The run log, the lines and the events of the last pass. */
function lastPass(home) {
  const state = json(join(home, 'state', 'engine-state.json'))
  const id = state.last_run_id
  const ofPass = (all) => all.filter((each) => each.run_id === id)
  const days = join(home, 'logs', 'runs')
  return {
    state,
    log: json(join(home, 'runs', `${id}.json`)),
    streamed: ofPass(readdirSync(days).flatMap((day) => lines(join(days, day)))),
    events: ofPass(lines(join(home, 'state', 'events.jsonl'))),
  }
}

/**
 * Asserts that an advance ended as it should, for each of its plugins and in each record.
 *
 * @param {string} home
 * @param {string[]} names
 * @param {{ fresh?: boolean }} [options] whether nothing was due
 */
export function checkAdvance(home, names, { fresh = false } = {}) {
  const { state, log, streamed, events } = lastPass(home)
  ok(!existsSync(join(home, 'state', 'in-flight.jsonl')), 'the journal is gone')
  equal(json(join(home, 'state', 'last-successful-advance')).run_id, log.run_id)
  equal(log.status, 'complete')
  equal(log.manifests_loaded, names.length)
  equal(log.plugin_entries.length, names.length)
  equal(Object.keys(state.plugin_runs).length, names.length)
  const status = fresh ? 'skipped' : 'completed'
  const entries = new Map(log.plugin_entries.map((entry) => [entry.plugin, entry]))
  const told = new Set(
    events.filter((each) => each.type === 'plugin_result').map((each) => each.source),
  )
  const noted = new Set(
    streamed.filter((line) => line.status === status).map((line) => line.plugin),
  )
  for (const name of names) {
    const entry = entries.get(name)
    equal(entry?.status, status, name)
    ok(told.has(name) && noted.has(name), name)
    const run = state.plugin_runs[name]
    equal(run.status, 'success', name)
    equal(run.last_output.body, BODY, name)
    if (fresh) ok(entry.result_summary.startsWith('skipped: fresh'), entry.result_summary)
    else {
      equal(entry.result.artifacts_produced[0].body, BODY, name)
      equal(entry.result.artifacts_produced[0].run_id, log.run_id, name)
      ok(run.last_run_at >= log.started_at && run.last_run_at <= log.completed_at, name)
    }
  }
  for (const name of ['run_started', 'run_completed']) {
    equal(events.filter((each) => each.type === name).length, 1, name)
  }
  equal(streamed.length, names.length + 2)
  const place = new Map(log.plugin_entries.map(({ plugin }, at) => [plugin, at]))
  for (const name of names) {
    const before = `p${String(Number(name.slice(1)) - 1).padStart(4, '0')}`
    if (!name.endsWith('0'))
      ok(place.get(before) < place.get(name), `${name} comes after ${before}`)
  }
}

/** Asserts that a plan speaks of each plugin. */
export function checkPlan(text, names, { due }) {
  const plan = JSON.parse(text)
  equal(plan.failures.length, 0)
  const [all, none] = due ? [plan.due, plan.not_due] : [plan.not_due, plan.due]
  equal(none.length, 0)
  equal(new Set(all.map(({ plugin }) => plugin)).size, names.length)
  for (const { reason } of due ? [] : all) equal(reason, 'fresh')
}
