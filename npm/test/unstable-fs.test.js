// Atomic files as plugins use them.

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { atomicWriteJson, atomicWriteText, readJsonOrNull } from '../lib/unstable-fs.js'
import { temporaryDirectory } from './support/plugins.js'

const directory = temporaryDirectory()

test('a file is replaced whole, its directories made, nothing left beside it', async () => {
  const file = join(directory, 'a/b/c.txt')
  await atomicWriteText(file, 'first')
  await atomicWriteText(file, 'second é😀')
  assert.equal(readFileSync(file, 'utf8'), 'second é😀')
  assert.deepEqual(readdirSync(join(directory, 'a/b')), ['c.txt'])
})

// Cases: T405, T409.
test('what was written as JSON is read back; what is not there is null', async () => {
  const file = join(directory, 'deep/er/value.json')
  assert.equal(await readJsonOrNull(file), null)
  await atomicWriteJson(file, { b: 1, a: ['x', null] })
  assert.deepEqual(await readJsonOrNull(file), { b: 1, a: ['x', null] })
  await atomicWriteJson(file, null)
  assert.equal(await readJsonOrNull(file), null)
})

// Cases: T409.
test('a file that is not JSON, or no file, is an error that shows nothing of it', async () => {
  const file = join(directory, 'broken.json')
  writeFileSync(file, '{ "token": "hunter2" ')
  const broken = await readJsonOrNull(file).catch((reason) => reason)
  assert.ok(broken instanceof SyntaxError)
  assert.ok(broken.message.includes(file) && !String(broken.stack).includes('hunter2'))

  mkdirSync(join(directory, 'folder'))
  const unreadable = readJsonOrNull(join(directory, 'folder'))
  await assert.rejects(unreadable, { code: 'ERR_WARPLINE_FILE', message: /folder/ })
})

test('what has no JSON form is refused before anything is written', async () => {
  const file = join(directory, 'none.json')
  for (const value of [undefined, () => 1, 1n]) {
    await assert.rejects(atomicWriteJson(file, value), TypeError)
  }
  assert.equal(await readJsonOrNull(file), null)
})

test('a relative path lies in the working directory', async () => {
  const before = process.cwd()
  process.chdir(directory)
  await atomicWriteText('here.txt', 'x')
  process.chdir(before)
  assert.equal(readFileSync(join(directory, 'here.txt'), 'utf8'), 'x')
})

test('what a plugin puts in the place of JSON changes no file, and nothing that is read', async (t) => {
  const file = join(directory, 'shared.json')
  const patched = () => {
    throw new Error('patched')
  }
  t.mock.method(JSON, 'stringify', patched)
  t.mock.method(JSON, 'parse', patched)
  await atomicWriteJson(file, { a: 1 })
  assert.deepEqual(await readJsonOrNull(file), { a: 1 })
})
