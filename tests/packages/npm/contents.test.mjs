// What lies in the tarballs: everything that is published, and nothing else.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { published } from '../../../npm/test/support/published.js'
import { account, npmDir, root, run } from '../../support.mjs'
import { artefacts, filesOf, name, readFrom, target, targets, version } from './support.mjs'

const TOOLS = createRequire(join(npmDir, 'package.json'))

/** Paths of the main package, by pattern: any file that fits none is one too many. */
const CONTENTS = [
  /^(?:package\.json|README\.md|LICENSE)$/,
  /^bin\/warpline\.[cm]?js$/,
  /^lib\/package\.json$/,
  /^lib\/targets\.json$/,
  /^lib\/(?:(?:host|loader|schemas|testing)\/)?[a-z-]+(?:\.js|\.mjs|\.d\.ts|\.d\.mts)$/,
  /^examples\/plugins\/[a-z-]+\/(?:[a-z-]+\/)?[a-z-]+\.ts$/,
]

const manifests = Object.fromEntries(
  Object.entries(artefacts).map(([key, file]) => [key, JSON.parse(readFrom(file, 'package.json'))]),
)

// Cases: T533.
test('the main tarball holds what is published, nothing else and no binary', async () => {
  const files = filesOf(artefacts.main)
  assert.deepEqual(
    files.filter((path) => !CONTENTS.some((pattern) => pattern.test(path))),
    [],
  )
  const wanted = Object.keys(published).flatMap((specifier) => {
    const module = specifier === name ? 'index' : specifier.replace(/^warpline\/(?:lib\/)?/, '')
    return ['js', 'mjs', 'd.ts', 'd.mts'].map((extension) => `lib/${module}.${extension}`)
  })
  wanted.push(...Object.values(manifests.main.bin).map((path) => path.replace(/^\.\//, '')))
  wanted.push('README.md', 'LICENSE', 'lib/package.json', 'lib/targets.json', 'lib/worker.js')
  wanted.push('examples/plugins/metrics-rollup/manifest.ts')
  assert.deepEqual(
    wanted.filter((path) => !files.includes(path)),
    [],
  )
  assert.equal(new Set(files).size, files.length)
})

// Cases: T386.
test('the allowlist of subpaths is what is published, and package.json', () => {
  const subpaths = Object.keys(published).map((specifier) =>
    specifier.replace(name, '.').replace(/schemas\/.*/, 'schemas/*'),
  )
  assert.deepEqual(
    Object.keys(manifests.main.exports).sort(),
    [...new Set([...subpaths, './package.json'])].sort(),
  )
})

test('the tarball of a platform holds the engine and what tells about it', () => {
  assert.deepEqual(filesOf(artefacts.platform).sort(), [
    'LICENSE',
    'README.md',
    'THIRD-PARTY.md',
    'package.json',
    'warpline.node',
  ])
})

test('both carry the licence, and the engine those of what is compiled into it', async () => {
  const others = await readFile(join(root, 'THIRD-PARTY.md'), 'utf8')
  assert.equal(readFrom(artefacts.platform, 'THIRD-PARTY.md'), others)

  const licence = await readFile(join(root, 'LICENSE'), 'utf8')
  for (const [key, file] of Object.entries(artefacts)) {
    assert.equal(readFrom(file, 'LICENSE'), licence)
    assert.equal(manifests[key].license, 'Apache-2.0')
    assert.match(readFrom(file, 'README.md'), new RegExp(`^# ${manifests[key].name}\n`))
  }
})

test('the main package asks for the engine of this platform, or of every one, in its own version, and for nothing else', () => {
  const { optionalDependencies, dependencies, peerDependencies, devDependencies } = manifests.main
  const all = Object.keys(optionalDependencies).length > 1
  const named = targets.filter((each) => all || each.package === target.package)
  assert.deepEqual(
    optionalDependencies,
    Object.fromEntries(named.map((each) => [each.package, version])),
  )
  assert.deepEqual(
    [dependencies, peerDependencies, devDependencies],
    [undefined, undefined, undefined],
  )
})

test('the package of a platform is for that platform alone', () => {
  const { os, cpu, libc, main, version: found, name: named } = manifests.platform
  assert.deepEqual([named, found, main], [target.package, version, 'warpline.node'])
  assert.deepEqual([os, cpu], [[target.platform], [target.arch]])
  assert.deepEqual(libc, target.libc === null ? undefined : [target.libc])
})

test('nothing runs when they are installed, and both need the same Node.js', () => {
  for (const { scripts, gypfile, engines } of Object.values(manifests)) {
    assert.deepEqual([scripts, gypfile], [undefined, undefined])
    assert.deepEqual(engines, { node: '>=20.10' })
  }
})

for (const [key, file] of Object.entries(artefacts)) {
  test(`publint has nothing to say of the ${key} tarball`, async () => {
    const { publint } = await import(pathToFileURL(TOOLS.resolve('publint')).href)
    const bytes = await readFile(file)
    const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
    const { messages } = await publint({ pack: { tarball }, level: 'suggestion', strict: true })
    assert.deepEqual(messages, [])
  })
}

test('every kind of resolution finds the types of each specifier, and they are those of its module', () => {
  const attw = join(npmDir, 'node_modules', '.bin', 'attw')
  const entrypoints = Object.keys(published).map((specifier) => specifier.replace(name, '.'))
  const ended = run(attw, [
    artefacts.main,
    ...['--profile', 'strict', '--no-definitely-typed', '--format', 'json'],
    ...['--entrypoints', ...entrypoints],
  ])
  const { analysis } = JSON.parse(ended.stdout)
  assert.deepEqual(analysis.problems, [])
  assert.equal(ended.status, 0, account(ended))
  assert.deepEqual(Object.keys(analysis.entrypoints).sort(), entrypoints.sort())
  for (const [entrypoint, { resolutions }] of Object.entries(analysis.entrypoints)) {
    for (const kind of ['node10', 'node16-cjs', 'node16-esm', 'bundler']) {
      assert.ok(resolutions[kind].resolution?.isTypeScript, `${entrypoint} under ${kind}`)
    }
  }
})
