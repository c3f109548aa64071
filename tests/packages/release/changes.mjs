// CHANGELOG.md: what keeps a version from being released, and which change to code has to be told.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { obstacle, opened, sections } from '../../../scripts/release/changes.mjs'
import { account, root } from '../../support.mjs'
import { beginCopy, git, release } from './support.mjs'

const log = (...parts) => `# Changes\n\n${parts.join('\n\n')}\n`
const DATED = '## 1.0.0, 2026-01-02\n\n- A.'

test('the changes of this project can be read', () => {
  const [first] = sections(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))
  assert.ok(first.lines.length > 0)
})

test('a version is released with a dated section of its own at the top, and an entry', () => {
  assert.equal(obstacle(log(DATED), '1.0.0'), undefined)
  assert.match(obstacle(log(DATED), '1.0.1'), /no section `## 1\.0\.1, YYYY-MM-DD`/)
  assert.match(obstacle(log('## 1.1.0, not released\n\n- B.', DATED), '1.1.0'), /needs a date/)
  assert.match(obstacle(log('## 1.1.0, not released', DATED), '1.0.0'), /a newer section/)
  assert.match(obstacle(log('## 1.1.0, 2026-02-03\n\n### People', DATED), '1.1.0'), /says nothing/)
})

test('a heading that is neither dated nor open is refused', () => {
  for (const heading of ['1.0.0', '1.0.0, soon', '1.0.0, 2026-13-01', '1.0.0, 2026-02-30']) {
    assert.throws(() => sections(log(`## ${heading}`)), /is not `## VERSION, YYYY-MM-DD`/, heading)
  }
})

test('the section in work is renamed, and a released one is never', () => {
  const work = log('## 1.1.0, not released\n\n- B.', DATED)
  assert.equal(opened(work, '2.0.0'), work.replace('1.1.0', '2.0.0'))
  assert.match(opened(work, '2.0.0', '2026-05-06'), /^## 2\.0\.0, 2026-05-06\n\n- B\./m)
  assert.match(opened(log(DATED), '1.0.1'), /^## 1\.0\.1, not released\n\n## 1\.0\.0, 2026-01-02$/m)
})

let checkout

/** Changes files in one commit. */
function commit(message, ...files) {
  for (const file of files) {
    const path = join(checkout, file)
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n`)
  }
  git(checkout, 'add', '--all')
  const done = git(checkout, 'commit', '--quiet', '--message', message)
  assert.equal(done.status, 0, account(done))
}

/** Adds a line below the first heading of people. */
function tell(line) {
  const path = join(checkout, 'CHANGELOG.md')
  const text = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    text.replace(/^### .*$/m, (heading) => `${heading}\n- ${line}`),
  )
}

before(() => {
  checkout = beginCopy()
})

test('code that people install does not change without a new line, whatever else does', () => {
  const branch = (name) =>
    assert.equal(git(checkout, 'checkout', '--quiet', '-b', name, 'main').status, 0)
  const told = () => release(checkout, 'told', 'main')

  branch('pages')
  commit('Explain', 'docs/faq.md', 'tests/run.mjs', 'core/tests/model/step.rs')
  assert.equal(told().status, 0, account(told()))

  for (const file of [
    'core/src/lib.rs',
    'npm/lib/engine.js',
    'python/warpline/__init__.py',
    'Cargo.toml',
  ]) {
    branch(file.replaceAll('/', '-'))
    commit('Change what is installed', file)
    assert.equal(told().status, 1, file)
    assert.match(told().stderr, /no new line.*Change what is installed/s)
    // A line that was there before, moved or not, tells nothing new.
    commit('Touch the changes', 'CHANGELOG.md')
    assert.equal(told().status, 1, file)
    tell('Something is better.')
    commit('Tell it')
    assert.equal(told().status, 0, account(told()))
  }
})

test('a commit that nobody can notice says so, for itself alone', () => {
  git(checkout, 'checkout', '--quiet', '-b', 'inside', 'main')
  commit('Rename a local name\n\n[no effect]', 'core/src/lib.rs')
  assert.equal(release(checkout, 'told', 'main').status, 0)
  commit('Change the engine', 'core/src/lib.rs')
  const refused = release(checkout, 'told', 'main')
  assert.equal(refused.status, 1)
  assert.ok(!refused.stderr.includes('Rename a local name'), refused.stderr)
})

test('what is compared with has to be there', () => {
  assert.match(release(checkout, 'told').stderr, /a commit to compare with/)
  assert.match(release(checkout, 'told', 'nowhere').stderr, /nowhere/)
})
