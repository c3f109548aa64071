// An effect that nobody can take back, against a tracker of the test, through grant and parked result.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runAdvance } from 'warpline'
import {
  bodyOf,
  configure,
  deadUrl,
  errorOf,
  grant,
  install,
  proc,
  readJson,
  serve,
  temporaryHome,
  testHome,
} from './support.mjs'

const breach = (limit, since_run = 'r1') => ({
  limit,
  reading: 5,
  since: '2026-03-11T08:00:00.000Z',
  since_run,
})
const report = (...breached) => ({
  output: { type: 'anomaly-report', format: 'json', body: JSON.stringify({ breached }) },
})
const file = (home, base_url, ...breached) =>
  home.run('anomaly-issue', {
    config: { repo: 'sesame/street', base_url },
    secrets: { GITHUB_TOKEN: 'sesame-token' },
    dependencies: { 'anomaly-watch': report(...breached) },
  })
const issue = (number) => ({ html_url: `https://issues.example/sesame/street/${number}` })

test('each breach is filed once, and whoever cleans up is told where', async (t) => {
  const home = await testHome(t)
  const { url, asked } = await serve(t, () => [201, issue(asked.length)])
  const { result } = await file(home, url, breach('load'), breach('disk'))
  assert.deepEqual(
    asked.map(({ method, path, headers }) => [method, path, headers.authorization]),
    Array(2).fill(['POST', '/repos/sesame/street/issues', 'Bearer sesame-token']),
  )
  assert.equal(JSON.parse(asked[0].body).title, 'Limit breached: load')
  assert.deepEqual(bodyOf(result), { limits: ['load', 'disk'] })
  assert.equal(result.reversible, false)
  assert.equal(
    result.undo_instruction,
    'close by hand: https://issues.example/sesame/street/1, https://issues.example/sesame/street/2',
  )
  const { undo_instruction, ...rest } = result
  assert.doesNotMatch(JSON.stringify(rest), /sesame|127\.0\.0\.1/)

  const again = await file(home, url, breach('load'), breach('disk'), breach('load', 'r2'))
  assert.equal(again.result.summary, '1 issues filed, 2 there before, of 3 breached')
  const none = await file(home, url, breach('load'))
  assert.deepEqual([none.result.reversible, none.result.undo_instruction], [undefined, undefined])
  assert.equal(asked.length, 3)
})

test('what stops half-way is partial and keeps what was done', async (t) => {
  const home = await testHome(t)
  const { url, asked } = await serve(t, () => (asked.length === 2 ? [502, ''] : [201, issue(1)]))
  const { result } = await file(home, url, breach('load'), breach('disk'), breach('memory'))
  assert.deepEqual([result.status, result.phases_completed], ['partial', ['load']])
  assert.equal(result.errors[0].message, 'the API answered with status 502')
  assert.match(result.undo_instruction, /street\/1$/)
  assert.equal(asked.length, 2, 'nothing is filed behind the one that failed')
  const { result: rest } = await file(home, url, breach('load'), breach('disk'), breach('memory'))
  assert.deepEqual([rest.status, rest.phases_completed], ['success', ['disk', 'memory']])
})

test('where nothing was filed it is an ordinary failure, and is not tried again', async (t) => {
  const home = await testHome(t)
  for (const [answer, code] of [
    [[401, ''], 'auth_failure'],
    [[429, ''], 'rate_limit'],
    [[500, ''], 'dependency_unavailable'],
    [[200, issue(1)], 'dependency_unavailable'],
    [[201, '{}'], 'parse_error'],
    [[201, { html_url: 'javascript:x' }], 'parse_error'],
  ]) {
    const { url, asked } = await serve(t, () => answer)
    const ended = await file(home, url, breach('load'))
    assert.equal(errorOf(ended).code, code)
    assert.deepEqual([errorOf(ended).retryable, asked.length], [false, 1])
  }
  const dead = await file(home, await deadUrl(), breach('load'))
  assert.equal(errorOf(dead).code, 'dependency_unavailable')
  assert.equal(await home.read('state/anomaly-issue.json'), null)
})

test('what cannot be used files nothing', async (t) => {
  const home = await testHome(t)
  const { url, asked } = await serve(t, () => [201, issue(1)])
  for (const wrong of [
    breach('../x'),
    breach('load', 'a b'),
    { ...breach('load'), reading: '5' },
  ]) {
    assert.equal(errorOf(await file(home, url, wrong)).code, 'parse_error')
  }
  const facts = {
    secrets: { GITHUB_TOKEN: 'sesame-token' },
    dependencies: { 'anomaly-watch': report() },
  }
  for (const config of [{ repo: 'sesame' }, { repo: 'a/b', base_url: 'sesame' }]) {
    const ended = await home.run('anomaly-issue', { ...facts, config })
    assert.equal(errorOf(ended).code, 'parse_error')
    assert.doesNotMatch(JSON.stringify(ended.result), /sesame/)
  }
  const config = { repo: 'a/b', base_url: url }
  const untold = await home.run('anomaly-issue', { ...facts, config, secrets: {} })
  assert.equal(errorOf(untold).code, 'auth_failure')
  const alone = await home.run('anomaly-issue', { ...facts, config, dependencies: {} })
  assert.equal(errorOf(alone).code, 'data_missing')
  await home.write('state/anomaly-issue.json', '{"load@r1": 5}')
  assert.match(errorOf(await file(home, url, breach('load'))).message, /state\/anomaly-issue\.json/)
  assert.equal(asked.length, 0)
})

test('an advance files nothing without a grant, and its result waits for an answer', async (t) => {
  const home = await temporaryHome(t)
  await install(home, 'host-metrics', 'anomaly-watch', 'anomaly-issue')
  const { url, asked } = await serve(t, () => [201, issue(asked.length)])
  await configure(home, 'host-metrics', { source: proc('busy') })
  await configure(home, 'anomaly-issue', { repo: 'a/b', base_url: url })
  process.env.GITHUB_TOKEN = 'sesame-token'
  t.after(() => delete process.env.GITHUB_TOKEN)
  assert.equal((await runAdvance()).plugin_states.get('anomaly-issue'), 'skipped')
  assert.equal(asked.length, 0)
  await grant(home, 'anomaly-issue')
  assert.deepEqual((await runAdvance({ force: true })).gated_plugins, ['anomaly-issue'])
  assert.equal(asked.length, 3)
  const [gate] = (await readJson(home, 'state/engine-state.json')).pending_gates
  assert.match(gate.plugin_result.undo_instruction, /^close by hand: .*street\/3$/)

  const bin = fileURLToPath(new URL('../../bin/warpline.cjs', import.meta.url))
  const yes = spawnSync(process.execPath, [bin, 'approve', 'anomaly-issue'], { encoding: 'utf8' })
  assert.equal(yes.status, 0, yes.stderr)
  const { plugin_runs } = await readJson(home, 'state/engine-state.json')
  assert.equal(plugin_runs['anomaly-issue'].status, 'success')
  assert.equal(asked.length, 3, 'an answer calls nothing')
})
