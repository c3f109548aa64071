// An API, served by the test: what is worth another attempt, and what changed since the last time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAdvance } from 'warpline'
import {
  bodyOf,
  configure,
  deadUrl,
  errorOf,
  grant,
  install,
  readJson,
  serve,
  temporaryHome,
  testHome,
} from './support.mjs'

const repository = (stars) => ({ stargazers_count: stars, forks_count: 2, open_issues_count: 3 })
const poll = (home, url, options = {}) =>
  home.run('github-poll', {
    retries: 0,
    config: { base_url: url, repo: 'sesame/street' },
    ...options,
  })

test('the first look has counters, later ones what changed', async (t) => {
  const home = await testHome(t)
  let stars = 10
  const { url, asked } = await serve(t, () => [200, repository(stars)])
  const first = await poll(home, `${url}/`)
  assert.deepEqual(bodyOf(first.result), { stars: 10, forks: 2, open_issues: 3, delta: null })
  stars = 7
  const second = await poll(home, url)
  assert.deepEqual(bodyOf(second.result).delta, { stars: -3, forks: 0, open_issues: 0 })
  assert.deepEqual(
    asked.map(({ method, path }) => `${method} ${path}`),
    ['GET /repos/sesame/street', 'GET /repos/sesame/street'],
  )
  assert.doesNotMatch(JSON.stringify([first.result, second.result]), /sesame|127\.0\.0\.1/)
  const moved = await poll(home, url, { config: { base_url: url, repo: 'a/b' } })
  assert.equal(bodyOf(moved.result).delta, null, 'another repository is nothing to compare with')
})

test('only what time mends is tried again', async (t) => {
  const home = await testHome(t)
  for (const [status, headers, code, retryable] of [
    [503, {}, 'dependency_unavailable', true],
    [400, {}, 'dependency_unavailable', false],
    [404, {}, 'data_missing', false],
    [429, {}, 'rate_limit', false],
    [403, { 'x-ratelimit-remaining': '0' }, 'rate_limit', false],
    [403, {}, 'dependency_unavailable', false],
  ]) {
    const { url } = await serve(t, () => [status, {}, headers])
    const error = errorOf(await poll(home, url))
    assert.deepEqual([error.code, error.retryable], [code, retryable], String(status))
  }
  const error = errorOf(await poll(home, await deadUrl()))
  assert.deepEqual([error.code, error.retryable], ['dependency_unavailable', true])
})

test('answers and inputs of another shape are refused without their values', async (t) => {
  const home = await testHome(t)
  const bodies = ['no json', '[]', 'null', { ...repository(1), forks_count: 'two' }]
  const { url, asked } = await serve(t, () => [200, bodies[asked.length - 1]])
  for (const _ of bodies) assert.equal(errorOf(await poll(home, url)).code, 'parse_error')
  for (const repo of ['sesame', 'a/b/c', '../x', 'a/..', 'a/b?c', '']) {
    const ended = await poll(home, url, { config: { base_url: url, repo } })
    assert.match(errorOf(ended).message, /`repo` must be in the form/)
  }
  for (const base_url of ['sesame', 'file:///etc', 'http://']) {
    const ended = await poll(home, url, { config: { base_url } })
    assert.match(errorOf(ended).message, /^input `base_url` must be/)
  }
  assert.equal(asked.length, bodies.length)
  await home.write('state/github-poll.json', '{"repo": 5}')
  assert.match(errorOf(await poll(home, url)).message, /state\/github-poll\.json/)
})

test('the signal ends the request', async (t) => {
  const home = await testHome(t)
  const controller = new AbortController()
  const { url } = await serve(t, () => void controller.abort())
  assert.equal((await poll(home, url, { signal: controller.signal })).cancelled, true)
})

test('an advance asks nobody without a grant', async (t) => {
  const home = await temporaryHome(t)
  await install(home, 'github-poll')
  const { url, asked } = await serve(t, () => [200, repository(1)])
  await configure(home, 'github-poll', { base_url: url })
  assert.equal((await runAdvance()).plugin_states.get('github-poll'), 'skipped')
  assert.equal(asked.length, 0)
  await grant(home, 'github-poll')
  assert.equal((await runAdvance()).plugin_states.get('github-poll'), 'completed')
  const { plugin_runs } = await readJson(home, 'state/engine-state.json')
  assert.equal(JSON.parse(plugin_runs['github-poll'].last_output.body).stars, 1)
})
