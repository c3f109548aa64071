// The builders: exact JSON, and what validation makes of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { makeSkillError, SkillResultSchema } from '../lib/schemas/skill-result.js'
import { skillFailure, skillHandoff, skillOk } from '../lib/unstable-result.js'
import { eachVector } from './support/vectors.js'

eachVector('result-builders', (input, expect) => {
  process.env.WARPLINE_HOME = input.home
  const { builder, summary, code, message, task, context_path, overrides } = input
  const result =
    builder === 'skillOk'
      ? skillOk(summary, overrides)
      : builder === 'skillFailure'
        ? skillFailure(code, message, overrides)
        : skillHandoff(task, context_path, overrides)
  assert.equal(JSON.stringify(result), expect.json)
  const parsed = SkillResultSchema.safeParse(result)
  assert.equal(parsed.success, expect.parsed.ok)
  if (parsed.success) assert.equal(JSON.stringify(parsed.data), expect.parsed.json)
  else
    assert.deepEqual(
      new Set(parsed.error.issues.map(({ path }) => JSON.stringify(path))),
      paths(expect.parsed),
    )
})

/** @param {{ paths: unknown[] }} expected */
function paths(expected) {
  return new Set(expected.paths.map((path) => JSON.stringify(path)))
}

test('an override that is undefined is no override', () => {
  assert.deepEqual(skillOk('s', { errors: undefined, phases_completed: undefined }), skillOk('s'))
  const failure = skillFailure('timeout', 'm', { source: undefined, retryable: undefined })
  assert.deepEqual(failure, skillFailure('timeout', 'm'))
})

test('codes that time mends are retryable, unless overridden', () => {
  const codes = /** @type {const} */ (['rate_limit', 'timeout', 'auth_failure', 'parse_error'])
  const retryable = codes.map((code) => makeSkillError(code, 'm').retryable)
  assert.deepEqual(retryable, [true, true, false, false])
  assert.deepEqual(
    makeSkillError('timeout', 'm', { impact: 'HIGH', source: 's', retryable: false }),
    {
      code: 'timeout',
      message: 'm',
      impact: 'HIGH',
      source: 's',
      retryable: false,
    },
  )
})

test('an absolute context path stays below the home in the summary', () => {
  process.env.WARPLINE_HOME = '/home/op/.warpline'
  assert.equal(
    skillHandoff('t', '/etc/passwd').summary,
    '[needs-llm] t. Context: /home/op/.warpline/etc/passwd',
  )
})
