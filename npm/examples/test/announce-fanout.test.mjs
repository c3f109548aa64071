// Lists and objects as inputs: what is refused, and who is told what.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAdvance } from 'warpline'
import {
  bodyOf,
  configure,
  errorOf,
  grant,
  install,
  serve,
  temporaryHome,
  testHome,
} from './support.mjs'

const channel = (name, path = `/${name}`) => ({ name, path })
const channels = [channel('ops', '/hooks/ops?x=1'), channel('all')]
const announce = (home, config, text = 'the digest', options = {}) =>
  home.run('announce-fanout', {
    config: { channels, ...config },
    dependencies: { 'daily-digest': { output: { type: 'digest', body: text } } },
    ...options,
  })

test('every channel is told once, with the labels', async (t) => {
  const home = await testHome(t)
  const { url, asked } = await serve(t, () => [204, ''])
  const config = { base_url: `${url}/`, labels: { team: 'sesame' } }
  const { result } = await announce(home, config)
  assert.deepEqual(
    asked.map(({ path, body }) => [path, JSON.parse(body)]),
    ['/hooks/ops?x=1', '/all'].map((path) => [
      path,
      { text: 'the digest', labels: { team: 'sesame' } },
    ]),
  )
  assert.deepEqual(bodyOf(result), { before: 0, delivered: 2, failed: 0 })
  assert.equal(result.reversible, false)
  assert.doesNotMatch(JSON.stringify(result), /sesame|hooks|ops|127\.0\.0\.1/)
  const again = await announce(home, config)
  assert.deepEqual(bodyOf(again.result), { before: 2, delivered: 0, failed: 0 })
  assert.equal(again.result.reversible, undefined)
  const more = await announce(home, { ...config, channels: [...channels, channel('new')] })
  assert.deepEqual(bodyOf(more.result), { before: 2, delivered: 1, failed: 0 })
  await announce(home, config, 'the next digest')
  assert.equal(asked.length, 5)
})

test('a channel that fails is told by the next run, alone', async (t) => {
  const home = await testHome(t)
  let broken = ['/all']
  const { url, asked } = await serve(t, ({ path }) => [broken.includes(path) ? 500 : 200, ''])
  const first = await announce(home, { base_url: url })
  assert.equal(first.result.status, 'partial')
  assert.equal(first.result.errors[0].message, '1 of 2 channels did not take the message')
  broken = []
  const second = await announce(home, { base_url: url })
  assert.deepEqual(bodyOf(second.result), { before: 1, delivered: 1, failed: 0 })
  assert.equal(asked.length, 3)
  broken = ['/all', '/hooks/ops?x=1']
  assert.equal(
    errorOf(await announce(home, { base_url: url }, 'another')).code,
    'dependency_unavailable',
  )
})

test('lists and objects are checked inside, and told without their values', async (t) => {
  const home = await testHome(t)
  const { url, asked } = await serve(t, () => [200, ''])
  for (const [config, said] of [
    [{ channels: [] }, /^input `channels` must hold 1 to 20/],
    [{ channels: [channel('ops'), 'sesame'] }, /position 2 is none$/],
    [{ channels: [channel('Sesame')] }, /position 1 is none$/],
    [{ channels: [channel('a', '//sesame.example')] }, /position 1 is none$/],
    [{ channels: [channel('a', 'sesame')] }, /position 1 is none$/],
    [{ channels: [channel('a'), channel('a')] }, /a name of its own$/],
    [{ channels: 'sesame' }, /channels/],
    [{ labels: { team: 5 } }, /^input `labels` must hold/],
    [{ labels: { Sesame: 'x' } }, /^input `labels` must hold/],
    [{ labels: { team: 's'.repeat(201) } }, /^input `labels` must hold/],
    [{ base_url: 'sesame' }, /^input `base_url` must be/],
  ]) {
    const ended = await announce(home, { base_url: url, ...config })
    assert.equal(errorOf(ended).code, 'parse_error')
    assert.match(errorOf(ended).message, said)
    assert.doesNotMatch(JSON.stringify(ended.result), /sesame/i)
  }
  const none = await announce(home, { base_url: url }, '', { dependencies: {} })
  assert.equal(errorOf(none).code, 'data_missing')
  await home.write('state/announce-fanout.json', '[]')
  assert.match(errorOf(await announce(home, { base_url: url })).message, /announce-fanout\.json/)
  assert.equal(asked.length, 0)
})

test('the signal ends it, and what was said stays on record', async (t) => {
  const home = await testHome(t)
  const controller = new AbortController()
  const { url } = await serve(t, ({ path }) =>
    path === '/all' ? void controller.abort() : [200, ''],
  )
  const options = { signal: controller.signal }
  assert.equal((await announce(home, { base_url: url }, 'the digest', options)).cancelled, true)
  assert.deepEqual(JSON.parse(await home.read('state/announce-fanout.json')).channels, ['ops'])
})

test('an advance tells nobody without a grant', async (t) => {
  const home = await temporaryHome(t)
  await install(home, 'daily-digest', 'announce-fanout')
  const { url, asked } = await serve(t, () => [200, ''])
  await configure(home, 'announce-fanout', { base_url: url })
  assert.equal((await runAdvance()).plugin_states.get('announce-fanout'), 'skipped')
  assert.equal(asked.length, 0)
  await grant(home, 'announce-fanout')
  await runAdvance()
  assert.match(JSON.parse(asked[0].body).text, /^# Daily digest/)
  assert.equal(asked.length, 1)
})
