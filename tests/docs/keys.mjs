// Holds the pages that list keys against the schemas of the documents: a key that nobody explains is a fault.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { npmDir, root } from '../support.mjs'

/** The schema object that a module of the package exports under this name. */
async function jsonSchema(module, name) {
  const file = join(npmDir, 'lib', 'schemas', `${module}.js`)
  return (await import(file))[name].toJSONSchema()
}

/** Every name of a property, at any depth. */
function keys(schema, found = new Set()) {
  for (const [name, value] of Object.entries(schema ?? {})) {
    if (name === 'properties') for (const key of Object.keys(value)) found.add(key)
    if (typeof value === 'object' && name !== 'default') keys(value, found)
  }
  return found
}

/** The words of a page that are set as code. */
async function words(page) {
  const text = await readFile(join(root, 'docs', page), 'utf8')
  const code = [...text.matchAll(/`([^`\n]+(?:\n[^`\n]+)?)`/g)].map(([, inner]) => inner)
  return new Set(code.flatMap((inner) => inner.match(/[\w-]+/g) ?? []))
}

for (const [page, module, name] of [
  ['file-formats.md', 'engine-state', 'EngineStateSchema'],
  ['file-formats.md', 'run-log', 'RunLogSchema'],
  ['file-formats.md', 'board-event', 'BoardEventSchema'],
  ['file-formats.md', 'board-event', 'AcknowledgementsSchema'],
  ['manifest.md', 'plugin-manifest', 'PluginManifestSchema'],
]) {
  test(`${page} has every key of ${name}`, async () => {
    const there = await words(page)
    // What a handler returns has a section of the reference to itself, wherever it is kept.
    for (const key of keys(await jsonSchema('skill-result', 'SkillResultSchema'))) there.add(key)
    const all = [...keys(await jsonSchema(module, name))]
    assert.ok(all.length > 1)
    assert.deepEqual(
      all.filter((key) => !there.has(key)),
      [],
    )
  })
}
