// THIRD-PARTY.md: it names what is compiled in, for every target, and has the text that each licence asks for.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { taken } from '../../../scripts/release/third-party.mjs'
import { account, root, run } from '../../support.mjs'

const script = join(root, 'scripts/release/third-party.mjs')
const page = readFileSync(join(root, 'THIRD-PARTY.md'), 'utf8')

test('the page fits the lock file, whatever the target', () => {
  for (const arch of ['x86_64', 'aarch64']) {
    for (const libc of ['gnu', 'musl']) {
      const env = { ...process.env, WARPLINE_TARGET: `${arch}-unknown-linux-${libc}` }
      const checked = run(process.execPath, [script, '--check'], { env })
      assert.equal(checked.status, 0, account(checked))
    }
  }
})

test('every crate whose name stands in the compiled engines is a line of the page', () => {
  const rows = new Set(page.match(/^\| \S+ \| \d\S* \|/gm))
  for (const library of ['npm/native/warpline.node', 'python/warpline/_native.abi3.so']) {
    // The places that a panic names.
    const text = readFileSync(join(root, library), 'latin1')
    const sources = text.matchAll(/registry\/src\/[^/]+\/([\w-]+?)-(\d+\.\d+\.\d+[\w.+-]*)\/src\//g)
    const named = new Set([...sources].map(([, name, version]) => `| ${name} | ${version} |`))
    assert.ok(named.size > 30, `${library}: ${named.size}`)
    for (const row of named) assert.ok(rows.has(row), `${library}: ${row}`)
  }
  assert.ok(rows.size > 100)
  assert.ok(!page.includes('| proptest |'))
})

test('a choice of licences is made, and all of several are kept', () => {
  assert.deepEqual(taken('MIT OR Apache-2.0'), ['Apache-2.0'])
  assert.deepEqual(taken('Unlicense/MIT'), ['MIT'])
  assert.deepEqual(taken('(MIT OR Apache-2.0) AND Unicode-3.0'), ['Apache-2.0', 'Unicode-3.0'])
  assert.throws(() => taken('GPL-3.0-only'), /no licence of/)
  assert.throws(() => taken('MIT AND GPL-3.0-only'), /no licence of/)
})

test('who wrote what is under MIT, ISC or Unicode-3.0 is named with its text', () => {
  const texts = page.split('\n## Texts\n')[1]
  for (const [row, name, licence] of page.matchAll(/^\| (\S+) \| \S+ \| (.+) \|$/gm)) {
    if (licence === 'licence') continue
    for (const each of taken(licence).filter((one) => !one.startsWith('Apache-2.0'))) {
      assert.ok(texts.includes(`${name} (${each})`), row)
    }
  }
  assert.ok((texts.match(/Copyright/g) ?? []).length > 20)
})
