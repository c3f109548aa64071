// What every example keeps to.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runAdvance } from 'warpline'
import { loadPluginManifests } from 'warpline/unstable-runtime'
import { configure, pluginsDir, proc, temporaryHome } from './support.mjs'

const { manifests, failures } = await loadPluginManifests(pluginsDir)

test('all of them load', async () => {
  assert.deepEqual(failures, [])
  assert.deepEqual([...manifests.keys()].sort(), (await readdir(pluginsDir)).sort())
  assert.ok(manifests.size >= 14)
})

for (const [name, manifest] of manifests) {
  test(`${name} is whole, alone and honest`, async () => {
    const files = await readdir(join(pluginsDir, name))
    const read = (file) => readFile(join(pluginsDir, name, file), 'utf8')
    const texts = await Promise.all(files.map(read))
    assert.equal(manifest.name, name)
    assert.match(await read('handler.ts'), /^\/\/ Shows: /)
    for (const text of texts) {
      for (const [, specifier] of text.matchAll(/ from '([^']+)'/g)) {
        assert.match(specifier, /^(node:|warpline\/|\.\/[a-z-]+\.ts$)/)
      }
    }
    // What is not declared is never asked about.
    const asks = texts.some((text) => text.includes('fetch('))
    assert.equal(manifest.side_effects.includes('external_api'), asks)
    const secrets = texts.flatMap((text) => [...text.matchAll(/process\.env\.(\w+)/g)])
    assert.deepEqual([...new Set(secrets.map(([, key]) => key))], manifest.secrets)
    // Each has a test that names it.
    const tests = new URL('.', import.meta.url)
    const named = (await readdir(tests)).filter((file) => file.endsWith('.test.mjs'))
    const others = named.filter((file) => file !== 'all.test.mjs')
    const sources = await Promise.all(others.map((file) => readFile(new URL(file, tests), 'utf8')))
    assert.ok(sources.some((source) => source.includes(`'${name}'`)))
  })
}

test('an advance over all of them without a grant runs none that declares an effect', async (t) => {
  const home = await temporaryHome(t)
  await configure(home, 'host-metrics', { source: proc('busy') })
  const { plugin_states } = await runAdvance({ pluginsDir })
  for (const [name, { side_effects }] of manifests) {
    if (side_effects.length > 0) assert.equal(plugin_states.get(name), 'skipped', name)
  }
  // What is left is the runtime's own, and the memory of those that declare none.
  const left = (await readdir(home)).filter((name) => name !== 'config')
  assert.deepEqual(left.sort(), ['logs', 'runs', 'state'])
  const memory = (await readdir(join(home, 'state'))).filter((name) =>
    manifests.has(name.slice(0, -5)),
  )
  assert.deepEqual(memory, ['anomaly-watch.json'])
})
