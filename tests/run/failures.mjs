// Whatever runner a suite has, and however it ends, the summary names what failed.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { failures, lastLines } from '../failures.mjs'
import { runSuite } from '../suite.mjs'
import { nodes, python } from '../support.mjs'

const PATIENT = { limit: 600_000, grace: 60_000 }
const NODE_TESTS = `import { describe, test } from 'node:test'
test('fine', () => {})
describe('a group', () => {
  test('inner # 1', () => { throw new Error('because of this') })
})
`
const PYTHON_TESTS = `import pytest
def test_fine(): pass
@pytest.mark.parametrize("given", ["a b"])
def test_bad(given): assert given == "because of this"
class TestGroup:
    def test_inner(self): raise ValueError("because of that")
def test_upset(no_such_fixture): pass
`

function folder(t, files) {
  const directory = mkdtempSync(join(tmpdir(), 'warpline-run-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return directory
}

const named = ({ said }) => failures(said).map(([name]) => name)
const reasonsOf = (ended, name) => Object.fromEntries(failures(ended.said))[name].join('\n')

for (const [node, reporter] of nodes().flatMap((each) =>
  ['tap', 'spec'].map((form) => [each, form]),
)) {
  test(`tests of ${node}, told as ${reporter}, that fail, crash and hang`, async (t) => {
    const cwd = folder(t, {
      'fails.mjs': NODE_TESTS,
      'crashes.mjs': "process.kill(process.pid, 'SIGSEGV')\n",
      'hangs.mjs': 'setInterval(() => {}, 1000)\n',
    })
    const test = ['--test', `--test-reporter=${reporter}`]
    const run = (args, limits = PATIENT) =>
      runSuite({ name: 'x', command: node, cwd, args: [...test, ...args] }, limits)
    const fails = await run(['fails.mjs'])
    assert.deepEqual([fails.ok, fails.passed, fails.failed], [false, 1, 1])
    const [inner] = named(fails)
    assert.match(inner, /^inner \\?# 1$/)
    assert.match(reasonsOf(fails, inner), /because of this/)
    const crashes = await run(['crashes.mjs'])
    assert.match(named(crashes).join(), /crashes\.mjs/)
    const late = await run(['--test-timeout=3000', 'hangs.mjs'])
    assert.match(named(late).join(), /hangs\.mjs/)
    // A runner that has not started the file by then cannot name it.
    let stuck
    for (const limit of [3000, 30_000, 120_000]) {
      stuck = await run(['hangs.mjs'], { limit, grace: 60_000 })
      if (named(stuck).length > 0) break
    }
    assert.match(named(stuck).join(), /hangs\.mjs/)
    assert.match(stuck.said, /had not ended/)
  })
}

test('tests of pytest that fail, and cannot be read', async (t) => {
  const cwd = folder(t, {
    'test_fails.py': PYTHON_TESTS,
    'broken.py': 'import nothing_of_that_name\n',
  })
  const pytest = (...args) => {
    const words = ['-m', 'pytest', '--quiet', '-p', 'no:cacheprovider', ...args]
    return runSuite({ name: 'x', command: python, args: words, cwd }, PATIENT)
  }
  const fails = await pytest('test_fails.py')
  assert.deepEqual(named(fails).sort(), [
    'test_fails.py::TestGroup::test_inner',
    'test_fails.py::test_bad[a b]',
    'test_fails.py::test_upset',
  ])
  assert.match(reasonsOf(fails, 'test_fails.py::test_bad[a b]'), /because of this/)
  assert.match(reasonsOf(fails, 'test_fails.py::TestGroup::test_inner'), /because of that/)
  const broken = await pytest('broken.py')
  assert.deepEqual(named(broken), ['broken.py'])
  assert.match(reasonsOf(broken, 'broken.py'), /nothing_of_that_name|ImportError/)
})

test('tests of Rust that fail, hang, crash, and do not build', () => {
  const said = `running 4 tests
test a::fine ... ok
test slow has been running for over 60 seconds
test hangs has been running for over 60 seconds
test slow ... ok
test a::bad ... FAILED
test src/lib.rs - shown (line 12) ... FAILED
test dares - should panic ... FAILED

failures:

---- a::bad stdout ----
because of this

test result: FAILED. 2 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass \`-p one --lib\`

Caused by:
  process didn't exit successfully: \`x\` (signal: 11, SIGSEGV: invalid memory reference)
error[E0308]: mismatched types
 --> src/lib.rs:1:1
error: could not compile \`two\` (lib) due to 1 previous error
error: 1 target failed:
    \`-p one --lib\`
`
  const found = failures(said)
  assert.deepEqual(
    found.map(([name]) => name),
    [
      'a::bad',
      'src/lib.rs - shown (line 12)',
      'dares',
      'hangs',
      'error: test failed, to rerun pass `-p one --lib`',
      'error[E0308]: mismatched types',
      'error: could not compile `two` (lib) due to 1 previous error',
      'error: 1 target failed:',
    ],
  )
  const reasons = Object.fromEntries(found)
  assert.equal(reasons['a::bad'][0], 'because of this')
  assert.deepEqual(reasons['src/lib.rs - shown (line 12)'], [])
  assert.match(reasons['error: test failed, to rerun pass `-p one --lib`'].join(), /SIGSEGV/)
})

test('the stack of a crashed Python names the test', () => {
  const said = `....Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "/a b/tests/python/consumer.py", line 3 in call
  File "/a b/tests/python/test_stress.py", line 12 in test_much
  File "/usr/lib/python3/pluggy.py", line 1 in _hookexec
`
  assert.deepEqual(
    failures(said).map(([name]) => name),
    ['python/test_stress.py::test_much'].map((name) => `tests/${name}`),
  )
})

test('a suite that leaves a process behind, hangs, or does not start still ends, and fails', async () => {
  const run = (command, args, limits) => runSuite({ name: 'x', command, args, cwd: '/' }, limits)
  const holds = 'echo "1 passed in 1.0s"; sleep 600 & echo $! '
  const left = await run('sh', ['-c', holds], { limit: 600_000, grace: 3000 })
  process.kill(Number(left.said.split('\n')[1]))
  assert.equal(left.ok, false)
  assert.match(lastLines(left.said, 1)[0], /left a process/)
  const deaf = "trap '' TERM INT; while :; do sleep 1; done"
  const hung = await run('sh', ['-c', deaf], { limit: 500, grace: 2000 })
  assert.deepEqual([hung.ok, hung.failed], [false, 1])
  assert.match(hung.said, /had not ended/)
  const absent = await run('/no/such/program', [], PATIENT)
  assert.deepEqual([absent.ok, absent.failed], [false, 1])
  assert.match(absent.said, /no\/such\/program/)
  const silent = await run('true', [], PATIENT)
  assert.deepEqual([silent.ok, silent.failed], [false, 1])
})
