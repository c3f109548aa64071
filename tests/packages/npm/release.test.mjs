// What only an optimised build can show: how much an install brings along.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { account, run } from '../../support.mjs'
import { artefacts } from './support.mjs'

const LARGEST_BYTES = 6_000_000

test('both packages together unpack to less than 6 MB', () => {
  let bytes = 0
  for (const file of Object.values(artefacts)) {
    const told = run('tar', ['-tvzf', file])
    assert.equal(told.status, 0, account(told))
    // Mode, owner, size, date and path.
    const sizes = told.stdout
      .trim()
      .split('\n')
      .map((line) => Number(line.split(/\s+/)[2]))
    bytes += sizes.reduce((sum, size) => sum + size, 0)
  }
  assert.ok(bytes > 1_000_000, `${bytes} bytes are no engine`)
  assert.ok(bytes < LARGEST_BYTES, `${bytes} bytes`)
})
