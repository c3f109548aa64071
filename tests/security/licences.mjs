// What the packages depend on, held against deny.toml without a network: licences and sources.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { account, root, run } from '../support.mjs'

const deny = readFileSync(join(root, 'deny.toml'), 'utf8')
const allowed = new Set(/^allow = \[([^\]]*)\]/m.exec(deny)[1].match(/(?<=")[^"]+(?=")/g))
// Tools that check and test, and go into no package.
const FOR_TOOLS = ['0BSD', 'BSD-3-Clause', 'BlueOak-1.0.0']

/** Whether one of the choices that an expression offers is made of allowed licences. */
function fits(expression, also = []) {
  const isAllowed = (name) => allowed.has(name) || also.includes(name)
  const choices = expression.replace(/[()]/g, '').split(/ OR |\//)
  return choices.some((choice) => choice.split(' AND ').every((name) => isAllowed(name.trim())))
}

test('crates come from the registry, under licences that are allowed', () => {
  const told = run('cargo', [
    'metadata',
    '--format-version=1',
    '--locked',
    '--offline',
    '--all-features',
  ])
  assert.equal(told.status, 0, account(told))
  const { packages } = JSON.parse(told.stdout)
  assert.ok(packages.length > 100)
  for (const { name, license, source } of packages) {
    assert.ok(fits(license ?? ''), `${name}: ${license}`)
    assert.match(
      source ?? 'registry+https://github.com/rust-lang/crates.io-index',
      /^registry\+.*crates\.io-index$/,
      name,
    )
  }
})

test('the npm package depends on nothing, and its tools are under known licences', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'npm/package-lock.json'), 'utf8'))
  assert.equal(packages[''].dependencies, undefined)
  for (const [path, { license, integrity, dev }] of Object.entries(packages)) {
    if (path === '') continue
    assert.ok(dev, `${path} is a tool`)
    // The older Node.js to test under says nothing in the lock file; it is a tool as well.
    if (path !== 'node_modules/node-20.10')
      assert.ok(fits(license ?? '', FOR_TOOLS), `${path}: ${license}`)
    assert.match(integrity ?? '', /^sha512-/, path)
  }
})

test('an expression fits by one choice, whole', () => {
  assert.ok(fits('MIT') && fits('GPL-3.0 OR MIT') && fits('(MIT OR X) AND Y/Apache-2.0'))
  assert.ok(!fits('MIT AND GPL-3.0') && !fits('') && !fits('0BSD') && fits('0BSD', FOR_TOOLS))
})
