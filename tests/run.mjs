// Runs every suite, shows what each says, and closes with one line that counts all tests.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { failures, lastLines } from './failures.mjs'
import { runSuite } from './suite.mjs'
import { nodes, npmDir, python, root } from './support.mjs'

const MINUTE = 60_000
const LIMITS = { limit: 40 * MINUTE, grace: MINUTE }
// Sooner than the whole suite is killed, the runners say which of its tests has not ended.
const TEST_LIMIT = 30 * MINUTE
const nodeTest = ['--test', `--test-timeout=${TEST_LIMIT}`]

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
    args: [...nodeTest, '--test-concurrency=2', ...examples],
    cwd: npmDir,
  })),
  {
    name: 'python package',
    command: python,
    args: ['-m', 'pytest', '--quiet', '-o', `faulthandler_timeout=${TEST_LIMIT / 1000}`],
    cwd: root,
  },
  ...nodes().map((node) => ({
    name: `TypeScript, ${node}`,
    command: node,
    args: [...nodeTest, ...scripts('typescript')],
    cwd: root,
  })),
  {
    name: 'scenarios',
    command: process.execPath,
    args: [...nodeTest, ...scripts('scenarios')],
    cwd: root,
  },
  {
    name: 'races',
    command: process.execPath,
    args: [...nodeTest, ...scripts('races')],
    cwd: root,
  },
  {
    name: 'runtimes',
    command: process.execPath,
    args: [...nodeTest, ...scripts('runtimes')],
    cwd: root,
  },
  {
    name: 'security',
    command: process.execPath,
    args: [...nodeTest, '--test-concurrency=2', ...scripts('security')],
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
    args: [...nodeTest, 'tests/packages/crate/listed.mjs'],
    cwd: root,
  },
  {
    name: 'releasing',
    command: process.execPath,
    args: [
      ...nodeTest,
      '--test-concurrency=2',
      ...scripts('packages/release').filter((file) => !file.endsWith('support.mjs')),
    ],
    cwd: root,
  },
  {
    name: 'documentation',
    command: process.execPath,
    args: [...nodeTest, ...scripts('docs')],
    cwd: root,
  },
  {
    name: 'this runner',
    command: process.execPath,
    args: [...nodeTest, ...scripts('run')],
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

/** Runs suites one after the other, as long as there are any; each is shown whole when it has ended. */
async function runAll(waiting) {
  for (let suite = waiting.shift(); suite; suite = waiting.shift()) {
    console.log(`=== ${suite.name} begins`)
    const result = await runSuite(suite, LIMITS)
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

// Of a long log people see the end: what failed stands last, in as many lines as are shown there.
const SHOWN_LINES = 36
const inOrder = [...results.filter(({ ok }) => ok), ...results.filter(({ ok }) => !ok)]
console.log('\n=== summary')
for (const { name, ok, passed, failed, seconds } of inOrder) {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}: ${passed} passed, ${failed} failed, ${seconds} s`)
}
const broken = inOrder.filter(({ ok }) => !ok)
for (const { name, said } of broken) {
  console.log(`\n=== ${name}: what failed`)
  const found = failures(said)
  for (const [test, lines] of found) console.log([test, ...lines].join('\n    '))
  if (found.length === 0) console.log(lastLines(said, 40).join('\n'))
}
const room = Math.max(1, Math.floor(SHOWN_LINES / broken.length) - 2)
for (const { name, said } of broken) {
  const names = failures(said).map(([test]) => test)
  // One that names no test did not come to run any, or was killed: its last words say more than its name.
  const shown = names.length > 0 ? names.slice(0, room) : lastLines(said, Math.min(room, 5))
  console.log(`FAIL ${name}`)
  for (const line of shown) console.log(`     ${line}`)
  if (names.length > shown.length) console.log(`     and ${names.length - shown.length} more`)
}
const total = (key) => results.reduce((sum, result) => sum + result[key], 0)
console.log(`${total('passed')} passed, ${total('failed')} failed`)
process.exitCode = broken.length === 0 ? 0 : 1
