// The workflows: no fault that actionlint knows, and what keeps a release from being taken over.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { npmDir, root } from '../../support.mjs'

const directory = join(root, '.github/workflows')
const workflows = readdirSync(directory).map((name) => [
  name,
  readFileSync(join(directory, name), 'utf8'),
])
const release = workflows.find(([name]) => name === 'release.yml')[1]

// Its compiled Go keeps the process alive.
after(() => setImmediate(() => process.exit()))

test('actionlint finds nothing, and would', async () => {
  const require = createRequire(join(npmDir, 'package.json'))
  const { createLinter } = await import(pathToFileURL(require.resolve('actionlint')))
  const lint = await createLinter()
  // It is older than the machines that it is asked about.
  const faults = (text, name) => lint(text, name).filter(({ kind }) => kind !== 'runner-label')
  for (const [name, text] of workflows) assert.deepEqual(faults(text, name), [])
  const spoiled = release.replace('needs: [package, cross]', 'needs: [package, nothing]')
  assert.notEqual(spoiled, release)
  assert.ok(faults(spoiled, 'release.yml').length > 0)
})

test('every action is named by the commit that was looked at', () => {
  for (const [name, text] of workflows) {
    const uses = [...text.matchAll(/^\s*(?:- )?uses: (.+)$/gm)].map(([, action]) => action)
    assert.ok(uses.length > 0)
    for (const action of uses) assert.match(action, /^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, name)
  }
})

test('nothing is allowed that is not said, and only what publishes has an identity', () => {
  for (const [name, text] of workflows) {
    assert.match(text, /^permissions: \{\}$/m, name)
    assert.doesNotMatch(text, /secrets\./, name)
    // What others write must not become part of a command.
    for (const [, command] of text.matchAll(/^\s*(?:- )?run: (.+)$/gm))
      assert.ok(!command.includes('${{'), command)
  }
  assert.deepEqual(
    jobs(release)
      .filter(([, text]) => text.includes('id-token: write'))
      .map(([job]) => job),
    ['npm', 'crate', 'python'],
  )
  assert.deepEqual(
    jobs(release)
      .filter(([, text]) => text.includes('contents: write'))
      .map(([job]) => job),
    ['announce'],
  )
})

test('nothing is published before the tag is checked and every package is tested', () => {
  const all = Object.fromEntries(jobs(release))
  assert.match(all.check, /release\.mjs tag "\$GITHUB_REF_NAME"/)
  assert.match(
    all.package,
    /needs: check\n.*make package ALL_TARGETS=1\n.*make test-packages\n.*upload-artifact/s,
  )
  assert.match(all.cross, /needs: check\n.*make cross.*make test-cross.*upload-artifact/s)
  assert.match(all.npm, /needs: \[package, cross\]\n/)
  for (const later of ['crate', 'python']) assert.match(all[later], /needs: npm\n/)
  assert.match(all.announce, /needs: \[npm, crate, python\]\n/)
})

test('the targets that are built are the ones that the package names', () => {
  const targets = JSON.parse(readFileSync(join(npmDir, 'lib/targets.json'), 'utf8')).map(
    ({ triple }) => triple,
  )
  const [, list] = /^ {8}triple:\n((?: {10}- .+\n)+)/m.exec(release)
  const crossed = [...list.matchAll(/- (.+)/g)].map(([, triple]) => triple)
  assert.deepEqual([...crossed, 'x86_64-unknown-linux-gnu'].sort(), targets.sort())
})

/** The jobs of a workflow: name and text. */
function jobs(text) {
  const body = text.split(/^jobs:\n/m)[1]
  return body
    .split(/^(?= {2}[a-z]+:$)/m)
    .filter((part) => part.trim())
    .map((part) => [/^ {2}([a-z]+):/.exec(part)[1], part])
}
