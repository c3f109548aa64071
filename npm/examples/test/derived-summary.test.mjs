// A plugin that writes nothing: what it makes of the Outputs before it.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { runAdvance } from 'warpline'
import {
  configure,
  errorOf,
  importRules,
  install,
  lastBody,
  temporaryHome,
  testHome,
  write,
} from './support.mjs'

const { moved } = await importRules('derived-summary/summary.ts')
const derive = (home, value) => {
  const body = typeof value === 'string' ? value : JSON.stringify(value)
  const output = { type: 'metrics-rollup', format: 'json', body }
  return home.run('derived-summary', { dependencies: { 'metrics-rollup': { output } } })
}
const week = (monday, name, sum) => ({ week: monday, name, sum })

test('how a sum moved', () => {
  for (const [before, now, said] of [
    [undefined, 1, 'no week before'],
    [2, 2, 'unchanged'],
    [0, 5, 'from 0'],
    [200, 100, '-50 %'],
    [100, 150, '+50 %'],
    [-100, -50, '+50 %'],
    [1000, 1001, '0 %'],
  ]) {
    assert.equal(moved(before, now), said)
  }
})

test('the same roll-up gives the same text, and no file', async (t) => {
  const home = await testHome(t)
  const weeks = [
    week('2026-03-09', 'visits', 5),
    week('2026-03-02', 'errors', 1),
    week('2026-03-02', 'visits', 10),
  ]
  const text = `# Week by week

- errors: 1 in the week of 2026-03-02 (no week before)
- visits: 5 in the week of 2026-03-09 (-50 %)
`
  for (const _ of [1, 2]) {
    const { result } = await derive(home, { weeks, omitted: 0 })
    assert.equal(result.artifacts_produced[0].body, text)
  }
  assert.deepEqual(await readdir(home.path), ['runs'])
  assert.equal((await derive(home, { weeks: [] })).result.summary, 'no metrics yet')
})

test('what is no roll-up is none', async (t) => {
  const home = await testHome(t)
  assert.equal(errorOf(await home.run('derived-summary')).code, 'data_missing')
  for (const wrong of ['{', '{}', 'null', { weeks: [null] }, { weeks: [week('x', 'visits', 1)] }]) {
    assert.equal(errorOf(await derive(home, wrong)).code, 'parse_error')
  }
})

test('in an advance it comes after the roll-up', async (t) => {
  const home = await temporaryHome(t)
  await install(home, 'metrics-rollup', 'derived-summary')
  await configure(home, 'metrics-rollup', { metrics_path: 'metrics.json', retention_days: 3660 })
  await write(home, 'metrics.json', [{ at: '2026-03-02', name: 'visits', value: 3 }])
  assert.equal((await runAdvance()).status, 'complete')
  assert.match(await lastBody(home, 'derived-summary'), /- visits: 3 in the week of 2026-03-02/)
})
