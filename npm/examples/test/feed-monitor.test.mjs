// Feeds of strangers, served by the test: formats, encodings, sizes, and what must not get through.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyOf, deadUrl, errorOf, importRules, serve, testHome } from './support.mjs'

const { parseFeed } = await importRules('feed-monitor/feed.ts')
const { toText } = await importRules('feed-monitor/text.ts')

const RSS = `<?xml version="1.0"?><!DOCTYPE rss><rss version="2.0"><channel><title>All</title>
<item><title>First &amp; &#x201c;best&#8221;</title><link>https://a.example/1?x=1&amp;y=2</link>
<guid isPermaLink="false">g1</guid><pubDate>Mon, 02 Mar 2026 08:00:00 GMT</pubDate></item>
<item><title><![CDATA[Second <b>bold</b> & raw]]></title><link>javascript:alert(1)</link><!-- <item> --><guid>g2</guid></item>
</channel></rss>`

const ATOM = `<feed xmlns="http://www.w3.org/2005/Atom"><title>All</title>
<entry><id>urn:1</id><title type="xhtml"><div>One <b>two</b></div></title><media:title>no</media:title>
<link rel="self" href="https://a.example/self"/><link href='https://a.example/?a>b'/>
<updated>2026-03-03T08:00:00Z</updated></entry><entry/>
</feed>`

test('RSS and Atom are read alike', () => {
  assert.deepEqual(parseFeed(RSS), [
    {
      id: 'g1',
      title: 'First & “best”',
      link: 'https://a.example/1?x=1&y=2',
      published: '2026-03-02T08:00:00.000Z',
    },
    { id: 'g2', title: 'Second <b>bold</b> & raw', link: null, published: null },
  ])
  assert.deepEqual(parseFeed(ATOM), [
    {
      id: 'urn:1',
      title: 'One two',
      link: 'https://a.example/?a>b',
      published: '2026-03-03T08:00:00.000Z',
    },
  ])
  const rdf = '<rdf:RDF><item><title>t</title><dc:date>2026-03-04</dc:date></item></rdf:RDF>'
  assert.deepEqual(parseFeed(rdf), [
    { id: 't', title: 't', link: null, published: '2026-03-04T00:00:00.000Z' },
  ])
})

test('what is no feed is none, however it ends', () => {
  for (const text of [
    '',
    'text',
    '<html><body></body></html>',
    '<rss><item></rss></item>',
    '<rss><item>',
    '</rss>',
    '<rss',
    '<rss><!-- ',
    '<rss><![CDATA[ ]]',
    '<rss a="',
    '<rss></rss></rss>',
  ]) {
    assert.equal(parseFeed(text), null, text)
  }
  // No part of any feed makes it slow or throws.
  for (let end = 0; end < RSS.length; end += 7) parseFeed(RSS.slice(0, end))
  assert.equal(parseFeed('<'.repeat(100_000)), null)
  assert.equal(parseFeed(`<rss>${'<a b="'.repeat(20_000)}`), null)
  assert.deepEqual(parseFeed('<rss>&#x110000;&unknown;</rss>'), [])
})

const watch = (home, url) => home.run('feed-monitor', { retries: 0, config: { feed_url: url } })

test('each entry is passed on once', async (t) => {
  const home = await testHome(t)
  let feed = RSS
  const { url } = await serve(t, () => [200, feed])
  const first = await watch(home, url)
  assert.equal(first.result.summary, '2 of 2 entries are new')
  assert.deepEqual(
    bodyOf(first.result).entries.map(({ link }) => link),
    ['https://a.example/1?x=1&y=2', null],
  )
  assert.deepEqual(bodyOf((await watch(home, url)).result), { entries: [], omitted: 0 })
  feed = RSS.replace('g2', 'g3')
  assert.equal((await watch(home, url)).result.summary, '1 of 2 entries are new')
  assert.doesNotMatch(JSON.stringify(first.result), /127\.0\.0\.1/)
})

test('however much a feed holds, the Output fits', async (t) => {
  const home = await testHome(t)
  const item = (at) =>
    `<item><guid>${at}</guid><title>${'語"\n'.repeat(999)}</title><link>https://a.example/${'p'.repeat(270)}${at}</link></item>`
  const items = Array.from({ length: 50 }, (_, at) => item(at)).join('')
  const { url } = await serve(t, () => [200, `<rss>${items}</rss>`])
  const { result } = await watch(home, url)
  assert.equal(result.status, 'success', result.summary)
  assert.deepEqual([bodyOf(result).entries.length, bodyOf(result).omitted], [15, 35])
})

test('a feed that fails is told apart', async (t) => {
  const home = await testHome(t)
  for (const [status, text, code, retryable] of [
    [500, '', 'dependency_unavailable', true],
    [429, '', 'rate_limit', true],
    [304, '', 'dependency_unavailable', false],
    [404, '', 'dependency_unavailable', false],
    [200, '<html></html>', 'parse_error', false],
    [200, `<rss>${' '.repeat(2_000_000)}</rss>`, 'parse_error', false],
  ]) {
    const { url } = await serve(t, () => [status, text])
    const error = errorOf(await watch(home, url))
    assert.deepEqual([error.code, error.retryable], [code, retryable])
  }
  assert.equal(errorOf(await watch(home, await deadUrl())).retryable, true)
  for (const url of ['sesame', 'file:///etc/passwd', 'http://']) {
    assert.match(errorOf(await watch(home, url)).message, /^input `feed_url` must be/)
  }
  await home.write('state/feed-monitor.json', '["mine"]')
  assert.match(errorOf(await watch(home, 'http://127.0.0.1/')).message, /state\/feed-monitor\.json/)
})

test('entities that stand for more of themselves come to nothing', () => {
  const bomb = `<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>
<rss><item><guid>g</guid><title>&b;&c;&amp;lt;</title></item></rss>`
  assert.deepEqual(
    parseFeed(bomb).map(({ title }) => title),
    ['&b;&c;&lt;'],
  )
  const deep = '<a>'.repeat(200_000) + '</a>'.repeat(200_000)
  assert.deepEqual(parseFeed(`<rss><item>${deep}</item></rss>`), [])
})

test('a feed is read in the encoding that it has', () => {
  const bytes = (text, encoding) => Buffer.from(text, encoding)
  const declared = '<?xml version="1.0" encoding="ISO-8859-1"?>é'
  assert.equal(toText(bytes(declared, 'latin1'), null), declared)
  assert.equal(toText(bytes('é', 'latin1'), 'text/xml; charset="windows-1252"'), 'é')
  assert.equal(toText(bytes(declared), 'text/xml;charset=utf-8'), declared, 'the server knows')
  assert.equal(toText(bytes('\ufeffé', 'utf16le'), 'text/xml'), 'é')
  assert.equal(toText(bytes('\ufeffé'), 'text/xml; charset=latin1'), 'é')
  assert.equal(toText(Buffer.of(0x61, 0xff), null), 'a\ufffd')
  assert.equal(toText(bytes('a'), 'text/xml; charset=klingon'), null)
})

test('a feed without an end is left where it is too long', async (t) => {
  const home = await testHome(t)
  let left
  const gone = new Promise((resolve) => {
    left = resolve
  })
  const { url } = await serve(t, (_request, outgoing) => {
    outgoing.writeHead(200)
    const more = () => {
      while (outgoing.write(' '.repeat(100_000)));
    }
    outgoing.on('drain', more).on('close', left)
    more()
  })
  assert.equal(errorOf(await watch(home, url)).code, 'parse_error')
  await gone
})

test('the signal ends the request', async (t) => {
  const home = await testHome(t)
  const controller = new AbortController()
  const { url } = await serve(t, () => void controller.abort())
  const config = { feed_url: url }
  const run = await home.run('feed-monitor', { config, signal: controller.signal })
  assert.equal(run.cancelled, true)
})
