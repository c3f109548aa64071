// Entries handed to a model: what the file of facts holds, and when there is nothing to hand over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAdvance } from 'warpline'
import {
  configure,
  errorOf,
  grant,
  install,
  readJson,
  serve,
  temporaryHome,
  testHome,
} from './support.mjs'

const now = '2026-03-11T08:00:00.000Z'
const entry = { title: 'sesame', link: 'https://a.example/', published: null }
const triage = (home, value, run = 'success') => {
  const body = typeof value === 'string' ? value : JSON.stringify(value)
  const output = { type: 'feed-entries', format: 'json', body }
  return home.run('feed-triage', { now, dependencies: { 'feed-monitor': { output, run } } })
}

test('entries are handed over, in a file under the home', async (t) => {
  const home = await testHome(t)
  const { result, attempts } = await triage(home, { entries: [{ ...entry, more: 1 }] }, 'partial')
  assert.deepEqual([result.status, attempts[0].status], ['skipped', 'delegated'])
  assert.deepEqual(result.needs_llm, {
    task: 'say what deserves attention among the new feed entries (1), and why',
    context_path: 'state/feed-triage.json',
  })
  assert.match(result.summary, /^\[needs-llm\] .*state\/feed-triage\.json$/)
  const handed = await home.read('state/feed-triage.json')
  assert.deepEqual(JSON.parse(handed), {
    run_id: 'test-0',
    produced_at: now,
    last_run: 'partial',
    entries: [entry],
  })
  await triage(home, { entries: [entry] }, 'partial')
  assert.equal(await home.read('state/feed-triage.json'), handed)
  assert.doesNotMatch(JSON.stringify(result), /sesame/)
})

test('nothing new, no data and other data hand nothing over', async (t) => {
  const home = await testHome(t)
  assert.equal((await triage(home, { entries: [] })).result.status, 'success')
  assert.equal(errorOf(await home.run('feed-triage')).code, 'data_missing')
  for (const wrong of [
    '{',
    '{}',
    'null',
    { entries: [null] },
    { entries: [{ ...entry, title: 5 }] },
    { entries: [{ ...entry, link: 5 }] },
    { entries: [{ title: 'sesame' }] },
  ]) {
    const ended = await triage(home, wrong)
    assert.equal(errorOf(ended).code, 'parse_error')
    assert.doesNotMatch(JSON.stringify(ended), /sesame/)
  }
  assert.equal(await home.read('state/feed-triage.json'), null)
})

test('in an advance it comes after the feed, and its hand-off is on record', async (t) => {
  const home = await temporaryHome(t)
  await install(home, 'feed-monitor', 'feed-triage')
  const feed = '<rss><item><title>One</title></item></rss>'
  const { url } = await serve(t, () => [200, feed])
  await configure(home, 'feed-monitor', { feed_url: url })
  await grant(home, 'feed-monitor')
  const { run_id } = await runAdvance()
  const { plugin_entries } = await readJson(home, `runs/${run_id}.json`)
  assert.deepEqual(
    plugin_entries.map(({ plugin }) => plugin),
    ['feed-monitor', 'feed-triage'],
  )
  assert.equal(plugin_entries[1].result.needs_llm.context_path, 'state/feed-triage.json')
  assert.equal((await readJson(home, 'state/feed-triage.json')).run_id, run_id)
})
