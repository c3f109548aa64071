// Sizes that no home should have, each met once: what they cost, and that nothing breaks.
import { equal, match, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bin } from '../support.mjs'
import { checkAdvance, checkPlan } from './right.mjs'
import { here, namesOf, node24, writeState } from './rows.mjs'

const advance = [node24, here('measured/advance.mjs')]
const plan = [node24, bin, 'plan', '--json']
const json = (...path) => JSON.parse(readFileSync(join(...path), 'utf8'))

/** What was said and measured of one run. */
const met = (limit, { wall, memory }) => ({ limit, wall, memory })

function manyPlugins(bench) {
  const count = bench.plugins * 10
  const home = bench.fleet('many', count)
  const first = bench.firstAdvance(node24, home, count)
  const fresh = bench.run(advance, home)
  checkAdvance(home, namesOf(count), { fresh: true })
  const planned = bench.run(plan, home)
  checkPlan(planned.output, namesOf(count), { due: false })
  return [
    met(`first advance of ${count} plugins`, first),
    met(`advance of ${count} plugins, nothing due`, fresh),
    met(`plan of ${count} plugins`, planned),
  ]
}

function hugeState(bench) {
  const home = bench.fleet('huge', 1)
  writeState(home, 50)
  const others = Object.keys(json(home, 'state', 'engine-state.json').plugin_runs).length
  const figures = bench.run(advance, home)
  equal(figures.output.trim(), 'complete')
  equal(Object.keys(json(home, 'state', 'engine-state.json').plugin_runs).length, others + 1)
  return [met('advance of one plugin over a state of 50 MB', figures)]
}

function parkedGates(bench) {
  const manifest = () => ({ autonomy_level: 'supervised', dependencies: [] })
  const home = bench.fleet('gates', bench.plugins, { manifest })
  const figures = bench.run(advance, home)
  const gates = json(home, 'state', 'engine-state.json').pending_gates
  equal(gates.length, bench.plugins)
  ok(gates.every((gate) => (gate.applied_at ?? null) === null))
  const planned = bench.run(plan, home)
  checkPlan(planned.output, namesOf(bench.plugins), { due: false })
  return [
    met(`advance that parks ${bench.plugins} results`, figures),
    met(`plan with ${bench.plugins} parked results`, planned),
  ]
}

function hugeResult(bench) {
  const returns = `({ status: 'success', phases_completed: [], phases_failed: [], data_freshness: {}, summary: '', artifacts_produced: [{ type: 'report', format: 'text', body: 'x'.repeat(10_000_000) }] })`
  const home = bench.fleet('result', 1, { returns, manifest: () => ({ max_retries: 0 }) })
  const figures = bench.run(advance, home)
  const { last_run_id } = json(home, 'state', 'engine-state.json')
  const text = readFileSync(join(home, 'runs', `${last_run_id}.json`), 'utf8')
  const [entry] = JSON.parse(text).plugin_entries
  equal(entry.status, 'failed')
  match(entry.result_summary, /artifacts_produced/)
  ok(text.length < 10_000, 'nothing of it is kept')
  return [met('a result of 10 MB, refused', figures)]
}

function thousandAtOnce(bench) {
  const returns = `await new Promise((resolve) => setTimeout(resolve, 1000, ({ status: 'success', phases_completed: [], phases_failed: [], data_freshness: {}, summary: '', artifacts_produced: [{ type: 'report', format: 'text', body: BODY }] })))`
  const home = bench.fleet('waiting', 1000, { returns, manifest: () => ({ dependencies: [] }) })
  const figures = bench.run([...advance, '1000'], home)
  equal(figures.output.trim(), 'complete')
  const { plugin_runs } = json(home, 'state', 'engine-state.json')
  equal(Object.keys(plugin_runs).length, 1000)
  ok(figures.wall < 60_000, 'they wait at the same time')
  return [met('1,000 handlers that wait a second each, all at once', figures)]
}

export const limits = [manyPlugins, hugeState, parkedGates, hugeResult, thousandAtOnce]
