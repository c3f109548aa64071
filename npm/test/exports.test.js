// The published specifiers, each with exactly its names, and nothing else.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** @type {Record<string, string[]>} */
const published = {
  warpline: ['runAdvance'],
  'warpline/lib/paths': ['warplineHome'],
  'warpline/unstable-runtime': [
    'RUN_PROFILES',
    'computeTier',
    'emitAttemptFailed',
    'emitBoardEvent',
    'emitPluginCompleted',
    'formatIdleDuration',
    'invokePlugin',
    'isEligibleForTier',
    'loadPluginManifests',
    'makeEvent',
  ],
  'warpline/unstable-fs': ['atomicWriteJson', 'atomicWriteText', 'readJsonOrNull'],
  'warpline/unstable-result': ['skillFailure', 'skillHandoff', 'skillOk'],
  'warpline/unstable-capabilities': [],
  'warpline/schemas/plugin-manifest': ['PluginManifestSchema'],
  'warpline/schemas/plugin-config': ['PLUGIN_CONFIG_PRECEDENCE', 'PluginConfigSchema'],
  'warpline/schemas/skill-result': [
    'NeedsLlmSchema',
    'OUTPUT_BODY_CAP_BYTES',
    'OutputRecordSchema',
    'SkillErrorSchema',
    'SkillResultSchema',
    'makeSkillError',
  ],
  'warpline/schemas/engine-state': ['ENGINE_STATE_MAX_SCHEMA_VERSION', 'EngineStateSchema'],
  'warpline/schemas/run-log': ['PluginLogEntrySchema', 'RunLogSchema'],
  'warpline/schemas/board-event': ['AcknowledgementsSchema', 'BoardEventSchema'],
}

for (const [specifier, names] of Object.entries(published)) {
  test(`${specifier} exports exactly its names`, async () => {
    assert.deepEqual(Object.keys(await import(specifier)), names)
  })
}

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
    for (const file of [target.types, target.default]) {
      if (!file.includes('*')) assert.ok(existsSync(new URL(`../${file}`, import.meta.url)), file)
    }
  }
})

test('every published module has its types beside it', () => {
  for (const specifier of Object.keys(published)) {
    const name = specifier === 'warpline' ? 'index' : specifier.replace(/^warpline\/(lib\/)?/, '')
    assert.ok(existsSync(new URL(`../lib/${name}.d.ts`, import.meta.url)), specifier)
  }
})

test('anything else is closed', async () => {
  for (const specifier of [
    'warpline/lib/native',
    'warpline/lib/engine.js',
    'warpline/native/warpline.node',
  ]) {
    await assert.rejects(import(specifier), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' })
  }
})
