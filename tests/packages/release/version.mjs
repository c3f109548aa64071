// The version of the project: all places agree, one command changes them all, and a tag that disagrees is refused.
import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { agreed, stated } from '../../../scripts/release/places.mjs'
import { account, root, run } from '../../support.mjs'
import { copy, git, release } from './support.mjs'

const NEW = '7.8.9'

/** What may say the number of a version that is not ours, or of one that is past. */
const OTHERS =
  /^(?:Cargo\.lock|fuzz\/Cargo\.lock|npm\/package-lock\.json|tests\/|core\/tests\/|fuzz\/corpus\/|core\/templates\/|docs\/versions\.md|THIRD-PARTY\.md|npm\/test\/)/

const NAMED = [
  'npm install ./warpline-OLD.tgz ./warpline-linux-arm64-musl-OLD.tgz',
  'npm install warpline@OLD @warpline/linux-x64-gnu@OLD',
  'pip install warpline_runtime-OLD-cp39-abi3-manylinux_2_17_x86_64.whl warpline-runtime==OLD',
  'tar xf warpline_runtime-OLD.tar.gz warpline-core-OLD.crate',
  'warpline-core = "OLD"',
  'warpline-core = { version = "OLD" }',
]

let old
let checkout

before(() => {
  old = agreed(root)
  checkout = copy()
  // However a page may come to name it.
  appendFileSync(join(checkout, 'docs/faq.md'), NAMED.join('\n').replaceAll('OLD', old))
})

test('every place states the same version', () => {
  const files = new Set(stated(root).map(({ file }) => file))
  for (const file of ['Cargo.toml', 'Cargo.lock', 'npm/package.json', 'CHANGELOG.md']) {
    assert.ok(files.has(file), `${file} states the version`)
  }
  assert.match(old, /^\d+\.\d+\.\d+/)
})

test('one command states another version in every place, and the tools agree', () => {
  const done = release(checkout, 'version', NEW)
  assert.equal(done.status, 0, account(done))
  assert.equal(agreed(checkout), NEW)

  // The lock file has to fit the manifests: cargo says so where it does not.
  const metadata = run(
    'cargo',
    ['metadata', '--format-version=1', '--locked', '--offline', '--no-deps'],
    { cwd: checkout },
  )
  assert.equal(metadata.status, 0, account(metadata))
  const { packages } = JSON.parse(metadata.stdout)
  assert.ok(packages.length >= 3)
  for (const { name, version } of packages) assert.equal(version, NEW, name)
  const whole = ['metadata', '--format-version=1', '--locked', '--offline']
  const filter = ['--filter-platform', 'x86_64-unknown-linux-gnu']
  const locked = run('cargo', [...whole, ...filter], { cwd: checkout })
  assert.equal(locked.status, 0, account(locked))

  const lock = JSON.parse(readFileSync(join(checkout, 'npm/package-lock.json'), 'utf8'))
  assert.equal(lock.version, NEW)
  assert.equal(lock.packages[''].version, NEW)
})

test('nothing else of the copy still names the old version', () => {
  const left = []
  const known = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  for (const file of known.stdout.split('\0').filter(Boolean)) {
    if (OTHERS.test(file) || !existsSync(join(checkout, file))) continue
    const lines = readFileSync(join(checkout, file), 'utf8').split('\n')
    const named = lines.findIndex((line) => line.includes(old) && !isOther(file, lines, line))
    if (named !== -1) left.push(`${file}:${named + 1}: ${lines[named]}`)
  }
  assert.deepEqual(left, [])
})

/** The version of a program that a page shows as an example. */
function isOther(file, lines, line) {
  return file.startsWith('docs/') && lines[lines.indexOf(line) - 1]?.startsWith('name = "my-')
}

test('a version that is none is refused, and nothing is changed', () => {
  const text = readFileSync(join(checkout, 'Cargo.toml'), 'utf8')
  for (const wrong of ['1.2', 'v1.2.3', '1.2.3-rc', '01.2.3', '1.2.3.4', '']) {
    const refused = release(checkout, 'version', wrong)
    assert.equal(refused.status, 1, wrong)
    assert.match(refused.stderr, /is no version such as/)
  }
  assert.match(release(checkout, 'version', NEW, '2026-02-30').stderr, /no date such as/)
  assert.equal(readFileSync(join(checkout, 'Cargo.toml'), 'utf8'), text)
})

test('a place that disagrees is named, and no command goes on', () => {
  const path = join(checkout, 'npm/package.json')
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace(`"version": "${NEW}"`, '"version": "7.8.8"'))
  try {
    for (const words of [[], ['version', '8.0.0'], ['tag', `v${NEW}`]]) {
      const refused = release(checkout, ...words)
      assert.equal(refused.status, 1)
      assert.match(refused.stderr, /disagree.*npm\/package\.json:3: 7\.8\.8/s)
    }
  } finally {
    writeFileSync(path, text)
  }
})

test('a release candidate is stated as well, and left again', () => {
  assert.equal(release(checkout, 'version', `${NEW}-rc.1`).status, 0)
  assert.equal(agreed(checkout), `${NEW}-rc.1`)
  assert.equal(release(checkout, 'version', NEW).status, 0)
  assert.equal(agreed(checkout), NEW)
})

test('a tag is refused unless all places, the changes and the commit agree with it', () => {
  assert.equal(git(checkout, 'init', '--quiet').status, 0)
  const commit = () => {
    git(checkout, 'add', '--all')
    const done = git(checkout, 'commit', '--quiet', '--allow-empty', '--message', 'Change')
    assert.equal(done.status, 0, account(done))
  }
  const refused = (tag) => {
    const answer = release(checkout, 'tag', tag)
    assert.equal(answer.status, 1, account(answer))
    return answer.stderr
  }
  commit()
  git(checkout, 'tag', `v${NEW}`)
  assert.match(refused(`v${NEW}`), /7\.8\.9 is not released: it needs a date/)

  assert.equal(release(checkout, 'version', NEW, '2026-12-01').status, 0)
  commit()
  assert.match(refused(`v${NEW}`), /is another commit/)
  git(checkout, 'tag', '--force', '--annotate', '--message', 'x', `v${NEW}`)
  const accepted = release(checkout, 'tag', `v${NEW}`)
  assert.equal(accepted.status, 0, account(accepted))

  git(checkout, 'tag', 'v7.8.10')
  assert.match(refused('v7.8.10'), /the tag is `v7\.8\.10`, and everything else says 7\.8\.9/)
  assert.match(refused(NEW), /the tag is `7\.8\.9`/)
  assert.match(refused('v7.8.9-rc.1'), /everything else says/)
  git(checkout, 'tag', '--delete', `v${NEW}`)
  assert.match(refused(`v${NEW}`), /unknown revision|bad revision/)

  // What comes after it begins a section of its own, and leaves the dated one alone.
  assert.equal(release(checkout, 'version', '7.9.0').status, 0)
  const changes = readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8')
  assert.match(changes, /^## 7\.9\.0, not released\n\n## 7\.8\.9, 2026-12-01\n/m)
  commit()
  git(checkout, 'tag', 'v7.9.0')
  assert.match(refused('v7.9.0'), /needs a date/)
  assert.equal(release(checkout, 'version', '7.9.0', '2026-12-02').status, 0)
  commit()
  git(checkout, 'tag', '--force', 'v7.9.0')
  assert.match(refused('v7.9.0'), /says nothing about 7\.9\.0/)
})

test('every word of the command is explained where it is not known', () => {
  const refused = release(checkout, 'publish')
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /`publish` is none of show, version, tag, told/)
  assert.ok(readdirSync(join(root, 'scripts/release')).includes('release.mjs'))
})
