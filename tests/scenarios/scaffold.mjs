// What `scaffold` writes is a plugin: it type-checks strictly, loads, runs, and its own test passes, in both languages.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runtimes } from '../runtimes/support/runtimes.mjs'
import { account, bin, environment, hosts, npmDir, python, run } from '../support.mjs'

const tsc = join(npmDir, 'node_modules', '.bin', 'tsc')

/** A home to come, and a command that works on it. */
function fresh(t, { command, args, extra }) {
  const directory = mkdtempSync(join(tmpdir(), 'warpline-scaffold-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const home = join(directory, 'home')
  const env = environment(home, extra)
  const warpline = (...words) => {
    const ended = run(command, [...args, ...words], { env })
    assert.equal(ended.status, 0, `${words}: ${account(ended)}`)
    assert.equal(ended.stderr, '', `${words}: ${account(ended)}`)
    return ended.stdout
  }
  return { home, env, plugin: join(home, 'plugins', 'my-demo'), warpline }
}

function passes(command, args, options) {
  const ended = run(command, args, options)
  assert.equal(ended.status, 0, account(ended))
}

/** The home's own tsconfig.json, with the types of Node.js where an author would install them. */
function typeChecks(home, env) {
  mkdirSync(join(home, 'node_modules', '@types'), { recursive: true })
  for (const types of ['@types/node', 'undici-types']) {
    symlinkSync(join(npmDir, 'node_modules', types), join(home, 'node_modules', types))
  }
  const strict = [
    'noUncheckedIndexedAccess',
    'noUnusedLocals',
    'noUnusedParameters',
    'verbatimModuleSyntax',
    'exactOptionalPropertyTypes',
  ]
  passes(tsc, ['-p', home, ...strict.map((option) => `--${option}`)], { env })
}

for (const { name, isNode, command, args } of runtimes()) {
  test(`a TypeScript plugin and every example, ${name}`, (t) => {
    const host = { command, args: [...args, bin], extra: {} }
    const { env, plugin, warpline } = fresh(t, host)
    warpline('scaffold', 'my-demo')
    assert.match(warpline('check'), /^nothing found in 1 plugin of /)
    assert.match(warpline('plan'), /Due \(1\):\n {2}my-demo/)
    assert.match(warpline('run', 'my-demo', 'try'), /days left/)
    const { plugin_states } = JSON.parse(warpline('advance', '--json'))
    assert.deepEqual(plugin_states, { 'my-demo': 'completed' })
    if (isNode) passes(command, ['--test', join(plugin, 'handler.test.mjs')], { env })
    const { failures, due, not_due } = JSON.parse(
      warpline('plan', '--plugins', hosts.node.plugins, '--json'),
    )
    assert.deepEqual(failures, [])
    assert.equal(due.length + not_due.length, readdirSync(hosts.node.plugins).length)
  })
}

test('a Python plugin', (t) => {
  const { env, plugin, warpline } = fresh(t, hosts.python)
  warpline('scaffold', 'my-demo')
  assert.match(warpline('check'), /^nothing found in 1 plugin of /)
  assert.match(warpline('plan'), /Due \(1\):\n {2}my-demo/)
  assert.match(warpline('run', 'my-demo', 'try'), /days left/)
  const checked = { cwd: plugin, env: { ...env, MYPYPATH: env.PYTHONPATH } }
  passes(python, ['-m', 'mypy', '--strict', '--cache-dir=/dev/null', '.'], checked)
  passes(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '.'], { cwd: plugin, env })
})

for (const [name, host] of Object.entries(hosts)) {
  test(`every example under another name, ${name}`, (t) => {
    const { home, env, warpline } = fresh(t, host)
    const examples = readdirSync(host.plugins)
    for (const example of examples) warpline('scaffold', `my-${example}`, '--from', example)
    const { failures, due, not_due } = JSON.parse(warpline('plan', '--json'))
    assert.deepEqual(failures, [])
    const loaded = [...due, ...not_due].map(({ plugin }) => plugin).sort()
    assert.deepEqual(loaded, examples.map((example) => `my-${example}`).sort())
    const words = [...host.args, 'check', '--plugins', host.plugins, '--json']
    const { plugins } = JSON.parse(run(host.command, words, { env }).stdout)
    assert.equal(plugins.length, examples.length)
    // What some of them have to be told is the operator's to say.
    const found = plugins.flatMap(({ findings }) => findings)
    assert.deepEqual(
      found.filter(({ rule, message }) => rule !== 'config' || !/has no value/.test(message)),
      [],
    )
    warpline('scaffold', 'my-demo')
    if (name === 'node') typeChecks(home, env)
  })
}
