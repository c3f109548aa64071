// What the crate would hold if it were packed now, and what its index would be told of it; nothing is compiled.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { account, root, run } from '../../support.mjs'
import { expectedFiles } from './support.mjs'

function cargo(...args) {
  const ended = run('cargo', [...args, '--offline', '--locked'])
  assert.equal(ended.status, 0, account(ended))
  return ended.stdout
}

const metadata = JSON.parse(cargo('metadata', '--format-version', '1'))
const members = metadata.packages.filter(({ id }) => metadata.workspace_members.includes(id))
const core = members.find(({ name }) => name === 'warpline-core')

/** A version of Rust as a number that compares. */
function rust(version) {
  const [major, minor, patch] = (version ?? '0').split('.').map(Number)
  return major * 1e6 + (minor ?? 0) * 1e3 + (patch ?? 0)
}

test('the crate holds the engine and nothing else', () => {
  const listed = cargo('package', '--package', 'warpline-core', '--list', '--allow-dirty')
  assert.deepEqual(listed.trim().split('\n').sort(), expectedFiles())
})

test('of the workspace only the engine can be published', () => {
  for (const { name, publish } of members) {
    assert.deepEqual(publish, name === 'warpline-core' ? null : [], name)
  }
})

test('the index is told what it shows and what it searches', () => {
  assert.ok(core.description.length > 20 && core.description.length < 120)
  assert.equal(core.license, 'Apache-2.0')
  assert.equal(core.readme, 'README.md')
  assert.ok(core.keywords.length > 0 && core.keywords.length <= 5)
  for (const word of core.keywords) assert.match(word, /^[a-z][a-z0-9-]{0,19}$/)
  assert.deepEqual(core.categories, ['development-tools', 'asynchronous'])
})

test('the page of the crate has a row for every feature, and no other', async () => {
  const page = await readFile(join(root, 'core', 'README.md'), 'utf8')
  const features = page.split('## Features')[1].split('\n## ')[0]
  const rows = [...features.matchAll(/^\| `([a-z-]+)` \| (on|off) \|/gm)]
  const found = Object.fromEntries(rows.map(([, name, state]) => [name, state === 'on']))
  const { default: standard, ...others } = core.features
  const expected = Object.keys(others).map((name) => [name, standard.includes(name)])
  assert.deepEqual(found, Object.fromEntries(expected))
})

test('the crate asks for no older Rust than what it is made of, and says so', async () => {
  const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]))
  const needed = new Set()
  const open = [core.id]
  for (let id = open.pop(); id; id = open.pop()) {
    if (needed.has(id)) continue
    needed.add(id)
    const used = nodes
      .get(id)
      .deps.filter(({ dep_kinds }) => dep_kinds.some(({ kind }) => kind !== 'dev'))
    open.push(...used.map(({ pkg }) => pkg))
  }
  const made = metadata.packages.filter(({ id }) => needed.has(id))
  assert.ok(made.length > 20)
  for (const { name, rust_version } of made) {
    assert.ok(rust(rust_version) <= rust(core.rust_version), `${name} needs Rust ${rust_version}`)
  }
  const page = await readFile(join(root, 'core', 'README.md'), 'utf8')
  assert.ok(page.includes(`Rust ${core.rust_version},`))
})

test('who uses the crate gets no feature that only tests need', () => {
  const tokio = core.dependencies.find(({ name, kind }) => name === 'tokio' && kind === null)
  assert.ok(!tokio.features.includes('test-util'))
  for (const { name, kind, path } of core.dependencies) {
    assert.equal(path, undefined, `${name} (${kind ?? 'normal'}) lies in this workspace`)
  }
})
