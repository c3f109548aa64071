// Runs every suite, shows what each says, and closes with one line that counts all tests.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { failures } from './failures.mjs'
import { nodes, npmDir, python, root } from './support.mjs'

const SUITE_LIMIT_MS = 40 * 60_000

const examples = readdirSync(join(npmDir, 'examples', 'test'))
  .filter((file) => file.endsWith('.test.mjs'))
  .map((file) => join('examples', 'test', file))

/** The scripts of a folder beside this file. */
function scripts(folder) {
  const names = readdirSync(join(root, 'tests', folder)).sort()
  return names.filter((name) => name.endsWith('.mjs')).map((name) => join('tests', folder, name))
}

const suites = [
  {
    name: 'core and bindings',
    command: 'cargo',
    args: ['test', '--workspace', '--locked', '--no-fail-fast'],
    cwd: root,
  },
  {
    name: 'faults',
    command: 'cargo',
    // Another feature of one crate: with the whole workspace named, everything else is built already.
    args: [
      'test',
      '--workspace',
      '--locked',
      '--features',
      'warpline-core/fault-injection',
      '--test',
      'faults',
    ],
    cwd: root,
  },
  { name: 'npm package', command: 'npm', args: ['test', '--silent'], cwd: npmDir },
  ...nodes().map((node) => ({
    name: `examples, ${node}`,
    command: node,
    args: ['--test', '--test-concurrency=2', ...examples],
    cwd: npmDir,
  })),
  { name: 'python package', command: python, args: ['-m', 'pytest', '--quiet'], cwd: root },
  ...nodes().map((node) => ({
    name: `TypeScript, ${node}`,
    command: node,
    args: ['--test', ...scripts('typescript')],
    cwd: root,
  })),
  {
    name: 'scenarios',
    command: process.execPath,
    args: ['--test', ...scripts('scenarios')],
    cwd: root,
  },
  {
    name: 'races',
    command: process.execPath,
    args: ['--test', ...scripts('races')],
    cwd: root,
  },
  {
    name: 'runtimes',
    command: process.execPath,
    args: ['--test', ...scripts('runtimes')],
    cwd: root,
  },
  {
    name: 'security',
    command: process.execPath,
    args: ['--test', '--test-concurrency=2', ...scripts('security')],
    cwd: root,
  },
  {
    name: 'packed npm packages',
    command: process.execPath,
    args: ['tests/packages/npm/debug.mjs'],
    cwd: root,
  },
  {
    name: 'crate',
    command: process.execPath,
    args: ['--test', 'tests/packages/crate/listed.mjs'],
    cwd: root,
  },
  {
    name: 'releasing',
    command: process.execPath,
    args: [
      '--test',
      '--test-concurrency=2',
      ...scripts('packages/release').filter((file) => !file.endsWith('support.mjs')),
    ],
    cwd: root,
  },
  {
    name: 'documentation',
    command: process.execPath,
    args: ['--test', ...scripts('docs')],
    cwd: root,
  },
  {
    name: 'demo',
    command: process.execPath,
    args: ['tests/demo/demo.mjs'],
    cwd: root,
    single: true,
  },
  {
    name: 'demo under Python',
    command: process.execPath,
    args: ['tests/demo/demo.mjs', 'python'],
    cwd: root,
    single: true,
  },
]

// The closing lines of cargo test, of node's test runner in both of its forms, and of pytest.
const PASSED = [
  /^test result: \w+\. (\d+) passed/gm,
  /^(?:#|ℹ) pass (\d+)$/gm,
  /^(?:\d+ failed, )?(\d+) passed.* in [\d.]+s/gm,
]
const FAILED = [
  /^test result: \w+\. \d+ passed; (\d+) failed/gm,
  /^(?:#|ℹ) fail (\d+)$/gm,
  /^(\d+) failed.* in [\d.]+s/gm,
]

function count(patterns, text) {
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .reduce((sum, [, number]) => sum + Number(number), 0)
}

/** Ends with {name, ok, passed, failed, seconds, said}, the last being all it printed. */
function runSuite({ name, command, args, cwd, single }) {
  return new Promise((resolve) => {
    const started = Date.now()
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), SUITE_LIMIT_MS)
    let text = ''
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (chunk) => {
        said += chunk
        if (stream === child.stdout) text += chunk
      })
    }
    const end = (ok) => {
      clearTimeout(timer)
      const passed = single ? Number(ok) : count(PASSED, text)
      // A suite that fails without naming a test (it did not build, it hung) still counts as one failure.
      const failed = single ? Number(!ok) : Math.max(count(FAILED, text), Number(!ok))
      const seconds = Math.round((Date.now() - started) / 1000)
      resolve({ name, ok: ok && passed > 0, passed, failed, seconds, said })
    }
    child.on('error', () => end(false))
    child.on('close', (code) => end(code === 0))
  })
}

/** Runs suites one after the other, as long as there are any; each is shown whole when it has ended. */
async function runAll(waiting) {
  for (let suite = waiting.shift(); suite; suite = waiting.shift()) {
    console.log(`=== ${suite.name} begins`)
    const result = await runSuite(suite)
    console.log(`\n=== ${suite.name}\n${result.said}`)
    results.push(result)
  }
}

// The homes of the tests are made as most machines make them; others than their owner may not write those.
process.umask(0o022)
const results = []
const [first, ...others] = suites
// The first one compiles what the others use. Those wait for processes most of the time, so two run at once.
await runAll([first])
await Promise.all([runAll(others), runAll(others)])

for (const { name, said } of results.filter(({ ok }) => !ok)) {
  console.log(`\n=== ${name}: what failed`)
  for (const [test, lines] of failures(said)) console.log([test, ...lines].join('\n    '))
}
console.log('\n=== summary')
for (const { name, ok, passed, failed, seconds, said } of results) {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}: ${passed} passed, ${failed} failed, ${seconds} s`)
  if (!ok) for (const [test] of failures(said)) console.log(`     ${test}`)
}
const total = (key) => results.reduce((sum, result) => sum + result[key], 0)
const broken = results.filter(({ ok, failed }) => !ok && failed === 0).length
console.log(`${total('passed')} passed, ${total('failed') + broken} failed`)
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
