// Compares the reader of literal manifests with what Node.js makes of the same modules.
//
// Every module of manifests.json is read, and where it is read, also erased and imported, with a
// schema whose `parse` gives back its argument. A module that is read must import, and to the same
// JSON.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { build, erase, installSchema, literal } from '../eraser.mjs'

const { cases } = JSON.parse(readFileSync(new URL('./manifests.json', import.meta.url), 'utf8'))

let home

before(() => {
  home = mkdtempSync(join(tmpdir(), 'manifests-'))
  installSchema(home)
  build()
})

after(() => rmSync(home, { recursive: true }))

test('there are cases of every kind', () => {
  const kinds = new Set(cases.map(({ expect }) => expect))
  assert.deepEqual([...kinds].sort(), ['bare', 'parsed', 'unread'])
})

for (const { name, expect, source } of cases) {
  test(name, async () => {
    const read = literal(source)
    const kind = Object.keys(JSON.parse(read) ?? { unread: null })[0]
    assert.equal(kind, expect)
    if (kind === 'unread') return
    const { code, text } = erase(source)
    assert.equal(code, null)
    const path = join(home, `${name}.mjs`)
    writeFileSync(path, text)
    const { manifest } = await import(pathToFileURL(path).href)
    assert.equal(read, JSON.stringify(kind === 'parsed' ? manifest : { bare: manifest }))
  })
}
