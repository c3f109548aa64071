// The published specifiers, each with exactly its names, and nothing else.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { published } from './support/published.js'

const require = createRequire(import.meta.url)

for (const [specifier, names] of Object.entries(published)) {
  // Cases: T383, T384, T536, T537.
  test(`${specifier} exports exactly its names`, async () => {
    assert.deepEqual(Object.keys(await import(specifier)), names)
  })

  test(`${specifier} is the same for import and for require`, async () => {
    const required = require(specifier)
    assert.deepEqual(Object.keys(required).sort(), [...names].sort())
    const imported = await import(specifier)
    for (const name of names) assert.equal(imported[name], required[name], name)
  })
}

// Cases: T386.
test('the exports map holds these specifiers and package.json alone', () => {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const subpaths = new Set(
    Object.keys(published).map((name) =>
      name.replace(/^warpline/, '.').replace(/schemas\/.*/, 'schemas/*'),
    ),
  )
  assert.deepEqual(new Set(Object.keys(exports)), new Set([...subpaths, './package.json']))
  for (const target of Object.values(exports)) {
    if (typeof target === 'string') continue
    const files = Object.values(target).flatMap((kind) => Object.values(kind))
    for (const file of files.filter((name) => !name.includes('*'))) {
      assert.ok(existsSync(new URL(`../${file}`, import.meta.url)), file)
    }
  }
})

test('every published module has its types beside it', () => {
  for (const specifier of Object.keys(published)) {
    const name = specifier === 'warpline' ? 'index' : specifier.replace(/^warpline\/(lib\/)?/, '')
    for (const types of ['d.ts', 'd.mts']) {
      assert.ok(existsSync(new URL(`../lib/${name}.${types}`, import.meta.url)), specifier)
    }
  }
})

test('anything else is closed', async () => {
  for (const specifier of [
    'warpline/lib/native',
    'warpline/lib/engine.js',
    'warpline/native/warpline.node',
  ]) {
    await assert.rejects(import(specifier), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' })
    assert.throws(() => require(specifier), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' })
  }
})
