// Several sources and a credential: one that fails leaves the others alone.
import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { bodyOf, deadUrl, errorOf, serve, testHome } from './support.mjs'

const secrets = { LINK_SERVICE_TOKEN: 'sesame' }
const entries = (...links) => ({
  output: {
    type: 'feed-entries',
    format: 'json',
    body: JSON.stringify({ entries: links.map((link) => ({ title: 't', link })) }),
  },
})
const file = (path, run = 'success') => ({ output: { type: 'text', path }, run })
const enrich = (home, base_url, dependencies, options = {}) =>
  home.run('link-enrich', { config: { base_url }, secrets, retries: 0, dependencies, ...options })
const preview = ({ path, headers }) =>
  headers.authorization === 'Bearer sesame'
    ? [200, { title: `About\n${decodeURIComponent(path.slice('/preview?url='.length))}` }]
    : [401, '']

test('links of three sources come together', async (t) => {
  const home = await testHome(t)
  await home.write('drafts/d.md', 'See https://b.example/x. And (https://b.example/y?a=1), again.')
  await home.write('notes/n.md', 'nothing here')
  const { url, asked } = await serve(t, preview)
  const { result } = await enrich(home, url, {
    'feed-monitor': entries('https://a.example/1', 'https://a.example/1', null, 'ftp://no'),
    'draft-writer': file(join(home.path, 'drafts/d.md'), 'skipped'),
    'incident-note': file(join(home.path, 'notes/n.md')),
  })
  assert.equal(result.status, 'success')
  const title = (link) => ({ url: link, title: `About ${link}` })
  assert.deepEqual(bodyOf(result), [
    {
      source: 'feed-monitor',
      last_run: 'success',
      links: [title('https://a.example/1')],
      ok: true,
    },
    {
      source: 'draft-writer',
      last_run: 'skipped',
      links: [title('https://b.example/x'), title('https://b.example/y?a=1')],
      ok: true,
    },
    { source: 'incident-note', last_run: 'success', links: [], ok: true },
  ])
  assert.equal(asked.length, 3)
  assert.doesNotMatch(JSON.stringify(result), /sesame|127\.0\.0\.1/)
})

test('a source that fails costs the others nothing', async (t) => {
  const home = await testHome(t)
  await home.write('drafts/d.md', 'https://broken.example/')
  await home.write('drafts/busy.md', 'https://busy.example/')
  await symlink('/etc/hostname', join(home.path, 'link.md'))
  const { url } = await serve(t, (request) =>
    request.path.includes('broken')
      ? [500, '']
      : request.path.includes('busy')
        ? [429, '']
        : preview(request),
  )
  for (const [dependency, code] of [
    [{ 'draft-writer': file(join(home.path, 'drafts/d.md')) }, 'dependency_unavailable'],
    [{ 'draft-writer': file(join(home.path, 'drafts/busy.md')) }, 'rate_limit'],
    [{ 'draft-writer': file(join(home.path, 'drafts/none.md')) }, 'data_missing'],
    [{ 'draft-writer': file('/etc/hostname') }, 'data_missing'],
    [{ 'draft-writer': file(join(home.path, 'link.md')) }, 'data_missing'],
    [{ 'draft-writer': { output: { type: 'draft', body: 'no entries' } } }, 'parse_error'],
  ]) {
    const { result, attempts } = await enrich(home, url, {
      'feed-monitor': entries('https://a.example/1'),
      ...dependency,
    })
    assert.equal(result.status, 'partial')
    assert.deepEqual(
      result.errors.map((error) => [error.code, error.source]),
      [[code, 'draft-writer']],
    )
    assert.deepEqual(
      [result.phases_completed, result.phases_failed],
      [['feed-monitor'], ['draft-writer']],
    )
    assert.equal(bodyOf(result)[0].links.length, 1)
    assert.equal(attempts.length, 1)
    assert.doesNotMatch(JSON.stringify(result.errors), /hostname|broken/)
  }
})

test('where every source fails, so does the run', async (t) => {
  const home = await testHome(t)
  const feed = { 'feed-monitor': entries('https://a.example/1') }
  const { url } = await serve(t, () => [403, ''])
  assert.equal(errorOf(await enrich(home, url, feed)).code, 'auth_failure')
  const dead = errorOf(await enrich(home, await deadUrl(), feed))
  assert.deepEqual([dead.code, dead.retryable], ['dependency_unavailable', true])
  assert.equal(errorOf(await enrich(home, url, {})).code, 'data_missing')
  assert.match(errorOf(await enrich(home, 'sesame', feed)).message, /^input `base_url`/)
  for (const links_max of [0, 1.5, 9]) {
    const config = { base_url: url, links_max }
    assert.match(errorOf(await enrich(home, url, feed, { config })).message, /^input `links_max`/)
  }
  const untold = await enrich(home, url, feed, { secrets: {} })
  assert.match(errorOf(untold).message, /LINK_SERVICE_TOKEN/)
})

test('a page without a title has none, and the longest ones fit', async (t) => {
  const home = await testHome(t)
  const answers = [
    [404, ''],
    [200, '{}'],
    [200, 'no json'],
    [200, { title: '語'.repeat(9999) }],
  ]
  const { url, asked } = await serve(t, () => answers[Math.min(asked.length, 4) - 1])
  const links = Array.from({ length: 9 }, (_, at) => `https://a.example/${'p'.repeat(270)}${at}`)
  const { result } = await enrich(
    home,
    url,
    { 'feed-monitor': entries(...links) },
    { config: { base_url: url, links_max: 8 } },
  )
  assert.equal(result.status, 'success', result.summary)
  const titles = bodyOf(result)[0].links.map(({ title }) => title)
  assert.deepEqual(titles.slice(0, 4), [null, null, null, '語'.repeat(100)])
  assert.equal(titles.length, 8)
})

test('the signal ends all requests', async (t) => {
  const home = await testHome(t)
  const controller = new AbortController()
  const { url } = await serve(t, () => void controller.abort())
  const feed = { 'feed-monitor': entries('https://a.example/1') }
  assert.equal((await enrich(home, url, feed, { signal: controller.signal })).cancelled, true)
})
