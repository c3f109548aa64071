// Schema objects: every face of them runs the engine's validators.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'

import { SchemaError } from '../lib/schema.js'
import * as boardEvent from '../lib/schemas/board-event.js'
import * as engineState from '../lib/schemas/engine-state.js'
import * as pluginConfig from '../lib/schemas/plugin-config.js'
import * as pluginManifest from '../lib/schemas/plugin-manifest.js'
import * as runLog from '../lib/schemas/run-log.js'
import * as skillResult from '../lib/schemas/skill-result.js'
import { eachVector } from './support/vectors.js'

const { PluginManifestSchema } = pluginManifest
const { SkillResultSchema } = skillResult

/** @type {[import('../lib/schema.js').Schema<any, any>, string, any][]} */
const families = [
  [PluginManifestSchema, 'manifest-parse', 'manifest'],
  [SkillResultSchema, 'skill-result-parse', 'result'],
]
for (const [schema, family, key] of families) {
  eachVector(family, (input, expect) => {
    const outcome = schema.safeParse(input[key])
    assert.equal(outcome.success, expect.ok)
    if (outcome.success) {
      assert.equal(JSON.stringify(outcome.data), expect.json)
      return
    }
    const found = new Set(outcome.error.issues.map(({ path }) => JSON.stringify(path)))
    assert.deepEqual(
      found,
      new Set(expect.paths.map((/** @type {any} */ path) => JSON.stringify(path))),
    )
  })
}

/** Validators that a consumer makes of the JSON Schema documents. */
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false })
const documents = families.map(([schema, family, key]) => {
  const file = new URL(`../../tests/vectors/${family}.json`, import.meta.url)
  return { schema, key, family, cases: JSON.parse(readFileSync(file, 'utf8')).cases }
})
for (const { schema, key, family, cases } of documents) {
  test(`${family}: the JSON Schema document accepts what parse accepts, and what parse returns`, () => {
    const accepts = ajv.compile(schema.toJSONSchema())
    const unlike = []
    let refused = 0
    for (const { id, input } of cases) {
      const outcome = schema.safeParse(input[key])
      if (!outcome.success) refused += Number(!accepts(input[key]))
      else if (!accepts(input[key]) || !accepts(outcome.data)) unlike.push([id, accepts.errors])
    }
    assert.deepEqual(unlike, [])
    assert.ok(refused > 0, 'it refuses something as well')
  })
}

const modules = { boardEvent, engineState, pluginConfig, pluginManifest, runLog, skillResult }
const schemas = Object.values(modules)
  .flatMap((module) => Object.entries(module))
  .filter(([name]) => name.endsWith('Schema'))
  .map(
    ([name, schema]) =>
      /** @type {const} */ ([
        name,
        /** @type {import('../lib/schema.js').Schema<any, any>} */ (schema),
      ]),
  )

for (const [name, schema] of schemas) {
  test(`${name} has a JSON Schema, the Standard Schema face, and refuses what is no object`, () => {
    const document = schema.toJSONSchema()
    assert.ok(document.type ?? document.anyOf ?? document.oneOf, JSON.stringify(document))
    assert.equal(schema['~standard'].version, 1)
    assert.equal(schema['~standard'].vendor, 'warpline')
    for (const value of [undefined, null, 7]) {
      assert.equal(schema.safeParse(value).success, false)
      const standard = schema['~standard'].validate(value)
      assert.ok(standard.issues && standard.issues.length > 0)
      assert.throws(() => schema.parse(value), SchemaError)
    }
  })
}

// Cases: T537.
test('a run log counts what was loaded and has no key of older builds', () => {
  const { properties } = /** @type {any} */ (runLog.RunLogSchema.toJSONSchema())
  assert.deepEqual(Object.keys(properties).sort(), [
    'completed_at',
    'manifests_loaded',
    'plugin_entries',
    'resumed_from',
    'run_id',
    'started_at',
    'status',
    'summary',
  ])
})

test('the error names paths and shapes, never a value', () => {
  const secret = 'hunter2'
  const outcome = PluginManifestSchema.safeParse({
    name: 'p',
    version: secret,
    description: 'd',
    autonomy_level: secret,
    ttl_hours: secret,
    inputs: { repo: { type: secret } },
    side_effects: ['external_api', secret],
  })
  assert.ok(!outcome.success)
  const { error } = outcome
  assert.equal(error.name, 'SchemaError')
  assert.equal(error.code, 'ERR_WARPLINE_SCHEMA')
  assert.ok(error instanceof SchemaError)
  assert.match(error.message, /`ttl_hours`: /)
  assert.match(error.message, /`inputs\.repo\.type`: /)
  assert.match(error.message, /`side_effects\[1\]`: /)
  assert.ok(!JSON.stringify([error.message, error.issues, error.stack]).includes(secret))
})

test('what JSON cannot hold is an issue, not a crash', () => {
  const cyclic = /** @type {any} */ ({})
  cyclic.self = cyclic
  for (const value of [
    cyclic,
    { name: 10n },
    {
      toJSON: () => {
        throw new Error('no')
      },
    },
  ]) {
    const outcome = PluginManifestSchema.safeParse(value)
    assert.ok(!outcome.success)
    assert.deepEqual(outcome.error.issues[0]?.path, [])
  }
})

test('keys such as __proto__ reach no prototype', () => {
  const parsed = pluginConfig.PluginConfigSchema.safeParse(
    JSON.parse('{ "__proto__": { "x": 1 } }'),
  )
  assert.equal(parsed.success, false)
  const manifest = PluginManifestSchema.parse({
    name: 'p',
    version: '1',
    description: '',
    autonomy_level: 'manual',
    ttl_hours: 1,
    actions: JSON.parse('{ "__proto__": { "description": "d" } }'),
  })
  assert.deepEqual(Object.keys(manifest.actions ?? {}), ['__proto__'])
  assert.equal(/** @type {any} */ (manifest.actions).description, undefined)
})

test('constants say what the validators enforce', () => {
  const body = 'x'.repeat(skillResult.OUTPUT_BODY_CAP_BYTES)
  assert.equal(skillResult.OutputRecordSchema.safeParse({ type: 't', body }).success, true)
  assert.equal(
    skillResult.OutputRecordSchema.safeParse({ type: 't', body: `${body}x` }).success,
    false,
  )
  const newest = engineState.ENGINE_STATE_MAX_SCHEMA_VERSION
  assert.equal(engineState.EngineStateSchema.parse({}).schema_version, newest)
  assert.deepEqual(pluginConfig.PLUGIN_CONFIG_PRECEDENCE, [
    'manifest_default',
    'config_file',
    'invocation_args',
  ])
})
