// The plugin that `init` installs: its rows, its memory, its sample.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { bodyOf, errorOf, testHome } from './support.mjs'

const now = '2026-03-11T08:00:00Z' // a Wednesday
const row = (at, name, value) => ({ at, name, value })
const run = (home, config = {}) =>
  home.run('metrics-rollup', { now, config: { metrics_path: 'metrics.json', ...config } })

test('rows are summed up by week, newest week first', async (t) => {
  const home = await testHome(t)
  await home.write('metrics.json', [
    row('2026-03-02', 'visits', 10), // a Monday
    row('2026-03-08T23:59:59.999Z', 'visits', 5),
    row('2026-03-09T00:00:00Z', 'visits', 1),
    row('2026-03-09T00:00:00Z', 'errors', 0.5),
    row('2026-03-10', 'visits', 2),
    row('2026-03-11', 'visits', 2),
  ])
  const { result } = await run(home)
  assert.equal(result.summary, '6 rows read, 6 kept')
  assert.deepEqual(bodyOf(result), {
    weeks: [
      { week: '2026-03-09', name: 'errors', count: 1, sum: 0.5, min: 0.5, max: 0.5, mean: 0.5 },
      { week: '2026-03-09', name: 'visits', count: 3, sum: 5, min: 1, max: 2, mean: 1.67 },
      { week: '2026-03-02', name: 'visits', count: 2, sum: 15, min: 5, max: 10, mean: 7.5 },
    ],
    omitted: 0,
  })
  assert.equal(result.data_freshness.metrics, '2026-03-11T00:00:00.000Z')
})

test('rows stay when the file has dropped them, until they are too old', async (t) => {
  const home = await testHome(t)
  await home.write('metrics.json', [row('2026-03-01', 'visits', 1), row('2026-03-02', 'visits', 2)])
  await run(home, { retention_days: 10 })
  await home.write('metrics.json', [row('2026-03-02', 'visits', 7)])
  const { result } = await run(home, { retention_days: 10 })
  assert.equal(result.summary, '1 rows read, 1 kept')
  assert.deepEqual(JSON.parse(await home.read('state/metrics-rollup.json')), [
    { at: '2026-03-02T00:00:00.000Z', name: 'visits', value: 7 },
  ])
  await home.write('metrics.json', [])
  assert.equal((await run(home)).result.summary, '0 rows read, 1 kept')
  // Run twice, it comes to the same.
  assert.deepEqual(bodyOf((await run(home)).result), bodyOf((await run(home)).result))
  assert.deepEqual((await readdir(`${home.path}/state`)).sort(), ['metrics-rollup.json'])
})

test('more lines than an Output should hold are counted', async (t) => {
  const home = await testHome(t)
  const many = Array.from({ length: 100 }, (_, at) => row('2026-03-10', `m${at}`, 1e15 + at))
  await home.write('metrics.json', many)
  const { result } = await run(home)
  assert.equal(result.status, 'success', result.summary)
  const { weeks, omitted } = bodyOf(result)
  assert.deepEqual([weeks.length, omitted], [80, 20])
})

test('a file that cannot be used is refused, and its path is not told', async (t) => {
  const home = await testHome(t)
  assert.equal(errorOf(await run(home, { metrics_path: 'sesame.json' })).code, 'data_missing')
  for (const [content, said] of [
    ['{', /is not a JSON array/],
    ['{}', /is not a JSON array/],
    [[row('2026-03-02', 'visits', 1), row('2026-02-30', 'visits', 1)], /at position 2/],
    [[row('2026-03-02T08:00:00', 'visits', 1)], /at position 1/],
    [[row('2026-03-02T24:00:00Z', 'visits', 1)], /at position 1/],
    [[row('2026-03-02', 'Visits', 1)], /at position 1/],
    [[row('2026-03-02', 'visits', '1')], /at position 1/],
    ['[{"at":"2026-03-02","name":"visits","value":1e400}]', /at position 1/],
    [[null], /at position 1/],
  ]) {
    await home.write('sesame.json', content)
    const ended = await run(home, { metrics_path: 'sesame.json' })
    assert.equal(errorOf(ended).code, 'parse_error')
    assert.match(errorOf(ended).message, said)
    assert.doesNotMatch(JSON.stringify(ended), /sesame/)
  }
  assert.equal(await home.read('state/metrics-rollup.json'), null)
})

test('inputs out of range, and a record it did not write, stop it', async (t) => {
  const home = await testHome(t)
  await home.write('metrics.json', [])
  for (const config of [{ retention_days: 0 }, { retention_days: 1e9 }, { metrics_path: '' }]) {
    assert.equal(errorOf(await run(home, config)).code, 'parse_error')
  }
  await home.write('state/metrics-rollup.json', '{"mine": true}')
  assert.match(errorOf(await run(home)).message, /state\/metrics-rollup\.json/)
  assert.equal(await home.read('state/metrics-rollup.json'), '{"mine": true}')
})

test('without a file, a sample is summed up and not remembered', async (t) => {
  const home = await testHome(t)
  const { result } = await home.run('metrics-rollup', { now })
  assert.match(result.summary, /^a sample of 21 rows: `metrics_path`/)
  const { weeks } = bodyOf(result)
  assert.deepEqual(
    weeks.map(({ week, count, min, max }) => [week, count, min, max]),
    [
      ['2026-03-09', 3, 68, 70],
      ['2026-03-02', 7, 61, 67],
      ['2026-02-23', 7, 54, 60],
      ['2026-02-16', 4, 50, 53],
    ],
  )
  assert.equal(await home.read('state/metrics-rollup.json'), null)
})
