// Runs every suite, shows what each says, and closes with one line that counts all tests.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { nodes, npmDir, python, root } from './support.mjs'

const SUITE_LIMIT_MS = 20 * 60_000

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
    args: ['test', '--workspace', '--locked'],
    cwd: root,
  },
  { name: 'npm package', command: 'npm', args: ['test', '--silent'], cwd: npmDir },
  ...nodes().map((node) => ({
    name: `examples, ${node}`,
    command: node,
    args: ['--test', ...examples],
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
    name: 'packed package',
    command: process.execPath,
    args: ['--test', 'tests/packaging/packed.mjs'],
    cwd: root,
  },
  {
    name: 'documentation',
    command: process.execPath,
    args: ['--test', 'tests/docs/snippets.mjs'],
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

/** Ends with {ok, passed, failed}; output goes through as it comes. */
function runSuite({ command, args, cwd, single }) {
  return new Promise((resolve) => {
    const started = Date.now()
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), SUITE_LIMIT_MS)
    let text = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk)
      text += chunk
    })
    const end = (ok) => {
      clearTimeout(timer)
      const passed = single ? Number(ok) : count(PASSED, text)
      // A suite that fails without naming a test (it did not build, it hung) still counts as one failure.
      const failed = single ? Number(!ok) : Math.max(count(FAILED, text), Number(!ok))
      resolve({
        ok: ok && passed > 0,
        passed,
        failed,
        seconds: Math.round((Date.now() - started) / 1000),
      })
    }
    child.on('error', () => end(false))
    child.on('close', (code) => end(code === 0))
  })
}

const results = []
for (const suite of suites) {
  console.log(`\n=== ${suite.name}`)
  results.push({ name: suite.name, ...(await runSuite(suite)) })
}

console.log('\n=== summary')
for (const { name, ok, passed, failed, seconds } of results) {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}: ${passed} passed, ${failed} failed, ${seconds} s`)
}
const total = (key) => results.reduce((sum, result) => sum + result[key], 0)
const broken = results.filter(({ ok, failed }) => !ok && failed === 0).length
console.log(`${total('passed')} passed, ${total('failed') + broken} failed`)
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
