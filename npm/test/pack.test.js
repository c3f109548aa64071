// Packing refuses what would not work for whoever installs it.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { nativePath } from '../lib/native.js'
import { libc, targetFor, targets } from '../lib/platform.js'
import { temporaryDirectory, writeFiles } from './support/plugins.js'

const npmDir = fileURLToPath(new URL('..', import.meta.url))
const directory = temporaryDirectory()
const out = join(directory, 'out')

/** @param {string[]} args @param {string} script */
function refusal(args, script = join(npmDir, 'scripts/pack.js')) {
  const given = [script, ...args, '--out', out]
  const { status, stdout, stderr } = spawnSync(process.execPath, given, { encoding: 'utf8' })
  assert.notEqual(status, 0)
  assert.equal(stdout, '')
  assert.ok(!existsSync(out) || readdirSync(out).length === 0)
  return stderr
}

test('a target that is not in the table', () => {
  const args = ['--library', nativePath(), '--target', 'sparc-unknown-none']
  assert.match(refusal(args), /sparc-unknown-none is no target of npm\/lib\/targets\.json/)
})

test('no library, one that is not there, and one that does not open', () => {
  assert.match(refusal([]), /--library names the library/)
  assert.match(refusal(['--library', join(directory, 'none.so')]), /none\.so/)
  writeFiles(directory, { 'text.so': 'not a library' })
  assert.match(refusal(['--library', join(directory, 'text.so')]), /ELF|file too short|dlopen/)
})

test('a library of another version', () => {
  const copy = join(directory, 'npm')
  for (const name of [
    'lib',
    'scripts',
    'package.json',
    'bin',
    'examples',
    'README.md',
    'LICENSE',
  ]) {
    cpSync(join(npmDir, name), join(copy, name), { recursive: true })
  }
  cpSync(join(npmDir, '../THIRD-PARTY.md'), join(directory, 'THIRD-PARTY.md'))
  const manifest = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'))
  const { version } = manifest
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...manifest, version: '99.1.2' }))
  const told = refusal(['--library', nativePath()], join(copy, 'scripts/pack.js'))
  assert.ok(told.includes(`the engine is version ${version}, and warpline is 99.1.2`), told)
})

test('one engine is named where one is packed, and every one for a release', () => {
  const named = (/** @type {string[]} */ ...options) => {
    const to = join(directory, `named${options.length}`)
    const given = [join(npmDir, 'scripts/pack.js'), '--library', nativePath(), '--out', to]
    const packed = spawnSync(process.execPath, [...given, ...options], { encoding: 'utf8' })
    assert.equal(packed.status, 0, packed.stderr)
    const [main = ''] = packed.stdout.split('\n')
    const read = spawnSync('tar', ['-xOzf', main, 'package/package.json'], { encoding: 'utf8' })
    return Object.keys(JSON.parse(read.stdout).optionalDependencies)
  }
  assert.deepEqual(named(), [targetFor(libc())?.package])
  assert.deepEqual(
    named('--all-targets'),
    targets.map((each) => each.package),
  )
})
