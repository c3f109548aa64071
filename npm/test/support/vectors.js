// The golden vectors that every language is tested with.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

/**
 * Runs every case of a family that `select` admits, and fails where none is.
 *
 * @param {string} family
 * @param {(input: any, expect: any, vector: { id: string, name: string }) => void | Promise<void>} check
 * @param {(input: any) => boolean} [select]
 */
export function eachVector(family, check, select = () => true) {
  const file = new URL(`../../../tests/vectors/${family}.json`, import.meta.url)
  const { cases } = JSON.parse(readFileSync(file, 'utf8'))
  const selected = cases.filter((/** @type {any} */ vector) => select(vector.input))
  test(`vectors ${family}: there are cases`, () => assert.ok(selected.length > 0))
  for (const vector of selected) {
    test(`${vector.id} ${vector.name}`, () => check(vector.input, vector.expect, vector))
  }
}
