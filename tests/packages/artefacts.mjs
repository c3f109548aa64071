// What `make package` leaves in dist: every kind of artefact, all of one version, as SHA256SUMS lists them, and no registry answers.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { agreed } from '../../scripts/release/places.mjs'
import { account, python, root, run } from '../support.mjs'

const dist = resolve(root, process.env.WARPLINE_DIST || 'dist')
const version = agreed(root)
const sums = readFileSync(join(dist, 'SHA256SUMS'), 'utf8')
const listed = new Map(
  sums
    .trimEnd()
    .split('\n')
    .map((line) => line.split('  ').reverse()),
)

test('every artefact is there, of this version', () => {
  // Python writes `0.2.0-rc.1` as `0.2.0rc1`.
  const pythons = version.replace(/-(a|b|rc)[a-z]*\./, '$1')
  const names = [...listed.keys()]
  for (const name of [
    `npm/warpline-${version}.tgz`,
    `npm/warpline-linux-x64-gnu-${version}.tgz`,
    `python/warpline_runtime-${pythons}.tar.gz`,
    `crate/warpline-core-${version}.crate`,
  ]) {
    assert.ok(listed.has(name), `${name} among ${names}`)
  }
  assert.ok(
    names.some((name) => name.startsWith(`python/warpline_runtime-${pythons}-cp39-abi3-manylinux`)),
  )
  for (const name of names) assert.ok(name.includes(version) || name.includes(pythons), name)
})

test('the digests are those of the files, and no file is left out', () => {
  for (const [name, digest] of listed) {
    const found = createHash('sha256')
      .update(readFileSync(join(dist, name)))
      .digest('hex')
    assert.equal(found, digest, name)
  }
  const files = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:tgz|whl|tar\.gz|crate)$/.test(entry.name))
    .map((entry) => relative(dist, join(entry.parentPath ?? entry.path, entry.name)))
  assert.deepEqual([...listed.keys()].sort(), files.sort())
})

test('what holds compiled code holds the licences of others as well', () => {
  const page = readFileSync(join(root, 'THIRD-PARTY.md'), 'utf8')
  for (const name of listed.keys()) {
    const path = join(dist, name)
    let shown
    if (/^npm\/.*warpline-(?:darwin|linux|win32)-/.test(name)) {
      shown = run('tar', ['-xOzf', path, 'package/THIRD-PARTY.md'])
    } else if (name.endsWith('.whl')) {
      const read = `import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); n, = [n for n in z.namelist() if n.endswith("/licenses/THIRD-PARTY.md")]; sys.stdout.write(z.read(n).decode())`
      shown = run(python, ['-X', 'utf8', '-c', read, path])
    } else continue
    assert.equal(shown.status, 0, account(shown))
    assert.ok(shown.stdout === page, name)
  }
})

test('nobody answers who is asked for a package', () => {
  assert.equal(
    process.env.npm_config_registry,
    'http://127.0.0.1:9/',
    '`make test-packages` runs these tests',
  )
  for (const [command, ...args] of [
    ['npm', 'view', 'tslib', 'version', '--prefer-online'],
    [
      python,
      '-m',
      'pip',
      'download',
      '--no-deps',
      '--dest',
      '/nonexistent',
      '--index-url',
      process.env.PIP_INDEX_URL,
      'six',
    ],
    ['cargo', 'info', '--registry', 'crates-io', 'itoa@1.0.0'],
  ]) {
    const asked = run(command, args, { cwd: '/' })
    assert.notEqual(asked.status, 0, account(asked))
  }
})
