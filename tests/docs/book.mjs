// Builds the site of docs/ and follows every link on every page of it, fragments included.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { after, before, test } from 'node:test'
import { account, root, run } from '../support.mjs'

const docs = join(root, 'docs')
const mdbook = join(root, '.venv', 'bin', 'mdbook')

/** Path of each file of the site, to its ids and links where it is a page, else to `null`. */
const site = new Map()
let directory

/** The values of these attributes, entities resolved. */
function attributes(html, names) {
  const found = html.matchAll(new RegExp(`\\s(?:${names})="([^"]*)"`, 'g'))
  return [...found].map(([, value]) => value.replaceAll('&amp;', '&').replaceAll('&#39;', "'"))
}

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'warpline-book-'))
  const built = run(mdbook, ['build', docs, '--dest-dir', directory])
  assert.equal(built.status, 0, account(built))
  assert.doesNotMatch(built.stderr, /WARN|ERROR/, account(built))
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((entry) => entry.isFile())) {
    const path = join(entry.parentPath ?? entry.path, entry.name)
    const name = path.slice(directory.length + 1)
    if (!name.endsWith('.html')) {
      site.set(name, null)
      continue
    }
    const html = (await readFile(path, 'utf8')).replace(/<script\b.*?<\/script>/gs, '')
    site.set(name, {
      ids: new Set(attributes(html, 'id|name')),
      links: attributes(html, 'href|src'),
    })
  }
})

after(() => rm(directory, { recursive: true, force: true }))

/** What is wrong with a link of a page; `undefined` where nothing is. */
function fault(page, link) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) {
    return URL.canParse(link) ? undefined : 'is no address'
  }
  const [path, fragment] = link.split('#')
  const target = path ? posix.join(posix.dirname(page), decodeURIComponent(path)) : page
  const found = site.get(target)
  if (found === undefined) return 'leads to no file of the site'
  if (fragment && !found?.ids.has(decodeURIComponent(fragment))) return 'leads to no place there'
  return undefined
}

test('every link of the site leads to a page, and to a place on it', () => {
  const faults = []
  for (const [page, content] of site) {
    for (const link of content?.links ?? []) {
      const wrong = fault(page, link)
      if (wrong) faults.push(`${page}: ${link} ${wrong}`)
    }
  }
  assert.deepEqual(faults, [])
})

test('a link to nowhere is noticed', () => {
  assert.match(fault('guide.html', 'missing.html'), /no file/)
  assert.match(fault('guide.html', '../README.md'), /no file/)
  assert.match(fault('guide.html', 'reference.html#nowhere'), /no place/)
  assert.match(fault('guide.html', 'https://'), /no address/)
  assert.equal(fault('guide.html', 'reference.html#errors'), undefined)
})

test('every page of the folder is in the table of contents', async () => {
  const summary = await readFile(join(docs, 'SUMMARY.md'), 'utf8')
  const pages = (await readdir(docs)).filter((file) => file.endsWith('.md'))
  const left = pages.filter((page) => page !== 'SUMMARY.md' && !summary.includes(`(${page})`))
  assert.deepEqual(left, [])
})
