// Plugins with a process for each attempt: what one does to its process happens to nobody else.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { runAdvance } from '../lib/index.js'
import { invokePlugin } from '../lib/unstable-runtime.js'
import { makeHome } from './support/home.js'
import { bin, command, intact, pluginOf, SIBLING, said } from './support/hostile.js'
import { isRunning, processesOf, soon } from './support/processes.js'

/** @typedef {import('../lib/unstable-capabilities.js').GrantWitness} GrantWitness */

const isolation = 'process'
/** @type {GrantWitness} */
const witness = { granted: false, reason: 'no-declared-side-effects' }

/**
 * @param {string} plugin
 * @param {import('../lib/unstable-runtime.js').InvokePluginOptions} [options]
 */
const invoke = (plugin, options) => invokePlugin(plugin, {}, { isolation, ...options }, witness)

/**
 * Waits until no process of a home is left: one that was killed may take a while to go.
 *
 * @param {string} home
 */
async function allEnd(home) {
  await soon(() => processesOf(home).length === 0)
  assert.deepEqual(processesOf(home), [])
}

const CHILDREN = "import { spawn } from 'node:child_process'"

/**
 * What each plugin does, what its failure says, and how long it may hold the advance.
 *
 * @type {(import('./support/hostile.js').Row & { says: RegExp })[]}
 */
const ROWS = [
  {
    name: 'spins',
    handler: 'for (;;);',
    manifest: { timeout_ms: 400 },
    says: /timeout/,
  },
  {
    name: 'ignores-its-signal',
    handler:
      "signal.addEventListener('abort', () => {}); setInterval(() => {}, 10); await new Promise(() => {})",
    manifest: { timeout_ms: 400 },
    says: /timeout/,
  },
  { name: 'exits', handler: 'process.exit(3)', says: /exit code 3\b/ },
  { name: 'exits-with-success', handler: 'process.exit(0)', says: /exit code 0\b/ },
  { name: 'exits-at-load', top: 'process.exit(4)', says: /exit code 4\b/ },
  { name: 'aborts', handler: 'process.abort()', says: /SIGABRT/ },
  {
    name: 'kills-itself',
    handler: "process.kill(process.pid, 'SIGKILL')\nfor (;;);",
    says: /SIGKILL/,
  },
  {
    name: 'allocates',
    handler: 'const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()))',
    says: /SIGABRT|SIGKILL|SIGTRAP|exit code/,
  },
  {
    name: 'kills-its-group',
    handler: "process.kill(0, 'SIGKILL')\nfor (;;);",
    says: /SIGKILL/,
  },
]

test('whatever ends a process fails one plugin, and its neighbours do not notice', async () => {
  const plugins = Object.fromEntries(ROWS.map((row) => [row.name, pluginOf(row)]))
  const { home } = makeHome({ ...plugins, sibling: SIBLING })
  const memory = process.env.NODE_OPTIONS
  process.env.NODE_OPTIONS = '--max-old-space-size=64'
  const began = Date.now()
  const ended = await command(home, ['advance', '--isolate', '--json'])
  process.env.NODE_OPTIONS = memory ?? ''
  assert.equal(ended.code, 1, said(ended))
  assert.ok(Date.now() - began < 120_000)
  const { logs, state } = intact(home)
  const entries = new Map(
    logs[0].plugin_entries.map((/** @type {any} */ entry) => [entry.plugin, entry]),
  )
  for (const { name, says } of ROWS) {
    assert.equal(entries.get(name).status, 'failed', name)
    assert.match(entries.get(name).result_summary, says, name)
  }
  assert.equal(entries.get('sibling').status, 'completed')
  assert.equal(state.plugin_runs.sibling.status, 'success')
  assert.match(ended.stderr, /from the sibling/)
  await allEnd(home)
})

test('each attempt finds a process that no other code has run in', async () => {
  const { home } = makeHome({
    counts: pluginOf({
      name: 'counts',
      top: 'let calls = 0',
      handler: `calls += 1
        globalThis.before = (globalThis.before ?? 0) + 1
        const seen = [process.pid, calls, globalThis.before, process.env.LEFT ?? 'clean', process.cwd()]
        process.env.LEFT = 'left'
        process.chdir('/')
        return skillFailure('rate_limit', JSON.stringify(seen))`,
      manifest: { max_retries: 2, retry_delay_ms: 0 },
    }),
  })
  /** @type {any[]} */
  const seen = []
  const { attempts } = await invoke('counts', {
    onAttemptFailed: (_attempt, message) => seen.push(JSON.parse(message)),
  })
  assert.equal(attempts.length, 3)
  assert.equal(new Set([process.pid, ...seen.map(([pid]) => pid)]).size, 4)
  for (const [, ...rest] of seen) assert.deepEqual(rest, [1, 1, 'clean', process.cwd()])
  await allEnd(home)
})

test('what an attempt has started ends with it', async () => {
  const { home } = makeHome({
    parent: pluginOf({
      name: 'parent',
      top: CHILDREN,
      handler: `const child = spawn('sleep', ['300'], { stdio: 'inherit' })
        const shell = spawn('sh', ['-c', 'trap "" TERM INT HUP; sleep 300 & sleep 300'])
        await new Promise((resolve) => shell.once('spawn', resolve))
        return skillOk([child.pid, shell.pid].join(' '))`,
    }),
  })
  const { result } = await invoke('parent')
  const pids = result.summary.split(' ').map(Number)
  assert.equal(pids.length, 2)
  for (const pid of pids) assert.equal(await soon(() => !isRunning(pid)), true, String(pid))
  await allEnd(home)
})

const WRITES = "import { writeFileSync } from 'node:fs'"
const BEGUN = "writeFileSync(process.env.WARPLINE_HOME + '/begun', '')"
const HEEDS =
  "await new Promise((resolve) => signal.addEventListener('abort', resolve)); return skillOk('late')"

/**
 * Cancels an invocation once its handler is at work; gives what it came to, and how long that took from there.
 *
 * @param {string} home
 * @param {string} plugin
 */
async function cancelled(home, plugin) {
  const caller = new AbortController()
  const outcome = invoke(plugin, { signal: caller.signal })
  assert.equal(await soon(() => existsSync(join(home, 'begun'))), true, plugin)
  rmSync(join(home, 'begun'))
  const since = Date.now()
  caller.abort()
  assert.equal((await outcome).cancelled, true, plugin)
  return Date.now() - since
}

test('a caller who cancels waits for no plugin', { timeout: 120_000 }, async () => {
  const { home } = makeHome({
    spins: pluginOf({ name: 'spins', top: WRITES, handler: `${BEGUN}; for (;;);` }),
    listens: pluginOf({ name: 'listens', top: WRITES, handler: `${BEGUN}; ${HEEDS}` }),
  })
  for (const plugin of ['spins', 'listens']) await cancelled(home, plugin)
})

test('a handler that heeds its signal is not waited for longer than it takes', async () => {
  const { home } = makeHome({
    listens: pluginOf({ name: 'listens', top: WRITES, handler: `${BEGUN}; ${HEEDS}` }),
  })
  // Two seconds are what a handler is given. Waited for them, none of these would take less.
  let least = Number.POSITIVE_INFINITY
  for (const since = Date.now(); least >= 2_000 && Date.now() - since < 60_000; ) {
    least = Math.min(least, await cancelled(home, 'listens'))
  }
  assert.ok(least < 2_000, `${least} ms`)
})

test('five megabytes, and bytes past the streams of the language, get between no results', async () => {
  const { home } = makeHome({
    prints: pluginOf({
      name: 'prints',
      top: `import { execFileSync } from 'node:child_process'
        import { writeSync } from 'node:fs'`,
      // What goes past the streams comes first: a pipe that is full does not take it.
      handler: `writeSync(1, 'direct to 1\\n')
        writeSync(2, 'direct to 2\\n')
        execFileSync('sh', ['-c', 'echo by a child'], { stdio: 'inherit' })
        const line = 'x'.repeat(1023) + '\\n'
        for (let count = 0; count < 5 * 1024; count += 1) process.stdout.write(line)
        return skillOk('printed')`,
    }),
  })
  const ended = await command(home, ['advance', '--isolate', '--json'])
  assert.equal(ended.code, 0, said({ ...ended, stderr: '' }))
  assert.deepEqual(JSON.parse(ended.stdout).plugin_states, { prints: 'completed' })
  assert.ok(ended.stderr.length > 5 * 1024 * 1024, `${ended.stderr.length}`)
  for (const text of ['direct to 1', 'direct to 2', 'by a child']) {
    assert.ok(ended.stderr.includes(text), text)
  }
})

test('what is thrown and returned says the same as in the host’s process', async () => {
  const bodies = [
    "throw new TypeError('typed')",
    "throw 'text'",
    'throw null',
    'throw undefined',
    'throw { code: 7 }',
    "throw { get message() { throw new Error('gotcha') } }",
    'throw Object.create(null)',
    "throw new Error('x'.repeat(100_000))",
    "throw new Error('cut \\ud83d off')",
    "throw new Error('two\\nlines \\u001b[31m')",
    'return 7',
    'return undefined',
    'return 10n',
    "return { status: 'success' }",
    "return skillOk('lone \\ud800', { data_freshness: { at: '2026-01-01T00:00:00Z' } })",
    "return skillHandoff('go on', 'notes.md')",
    "return skillFailure('auth_failure', 'no key')",
  ]
  /** @type {[string, { handler: string }][]} */
  const plugins = bodies.map((handler, index) => [
    `p-${index}`,
    {
      handler: handler.replace(
        'skillHandoff',
        "(await import('warpline/unstable-result')).skillHandoff",
      ),
    },
  ])
  makeHome(Object.fromEntries(plugins))
  for (const [name] of plugins) {
    const here = await invokePlugin(name, {}, {}, witness)
    const there = await invoke(name)
    assert.deepEqual(there.result, here.result, name)
    assert.equal(there.final_error, here.final_error, name)
    assert.equal('cause' in there, 'cause' in here, name)
  }
})

test('a cause has the text and the place of what was thrown, and no secret', async () => {
  const { home } = makeHome({
    throws: {
      manifest: { secrets: ['ISOLATED_KEY'] },
      handler: "throw new Error('refused ' + process.env.ISOLATED_KEY)",
    },
  })
  process.env.ISOLATED_KEY = 'hunter2-hunter2'
  const outcome = await invoke('throws')
  const { message, stack = '' } = /** @type {Error} */ (outcome.cause)
  assert.equal(message, 'refused [redacted]')
  assert.match(stack, /^Error: refused \[redacted\]\n {4}at .*throws\/handler\.ts:4:/)
  assert.equal(outcome.final_error, 'refused [redacted]')
  /** @type {unknown[]} */
  const causes = []
  await runAdvance({ isolation, onPluginEnd: (...told) => causes.push(told.at(-1)) })
  delete process.env.ISOLATED_KEY
  assert.equal(/** @type {Error} */ (causes[0]).message, 'refused [redacted]')
  await allEnd(home)
})

test('where descriptors are scarce, fewer processes run at once and every plugin runs', async () => {
  const names = Array.from({ length: 12 }, (_, number) => `p${number}`)
  const plugin = {
    handler: "await new Promise((done) => setTimeout(done, 50)); return skillOk('ran')",
  }
  const { home } = makeHome(Object.fromEntries(names.map((name) => [name, plugin])))
  const script = `ulimit -n 64; exec "$0" "$@"`
  const child = spawn('sh', ['-c', script, process.execPath, bin, 'advance', '--isolate'], {
    env: { ...process.env, WARPLINE_HOME: home },
    stdio: 'ignore',
  })
  assert.deepEqual(await once(child, 'exit'), [0, null])
  const { logs } = intact(home)
  assert.equal(logs[0].plugin_entries.length, names.length)
  for (const { result_summary } of logs[0].plugin_entries) assert.equal(result_summary, 'ran')
})

test('a secret reaches neither the reader nor a file', async () => {
  const secret = 'hunter2-hunter2'
  const { home } = makeHome({
    tells: {
      manifest: { secrets: ['ISOLATED_KEY'] },
      handler: `const key = process.env.ISOLATED_KEY
        console.log('printed', key)
        for (const letter of key) process.stdout.write(letter)
        console.error('\\nand', key)
        setTimeout(() => { throw new Error('stray ' + key) })
        await new Promise((resolve) => setTimeout(resolve, 100))
        throw new Error('thrown ' + key)`,
    },
  })
  process.env.ISOLATED_KEY = secret
  const ended = await command(home, ['run', 'tells', 'now', '--isolate'])
  delete process.env.ISOLATED_KEY
  assert.equal(ended.code, 1, said(ended))
  assert.ok(!said(ended).includes(secret), said(ended))
  assert.match(ended.stderr, /printed \[redacted\]\n\[redacted\]\nand \[redacted\]\n/)
  assert.match(ended.stderr, /plugin `tells` threw: stray \[redacted\]/)
  assert.match(ended.stderr, /plugin `tells` threw: thrown \[redacted\]\n {4}at .*handler\.ts:/)
  const { artifacts } = intact(home)
  assert.ok(!JSON.stringify(artifacts).includes(secret))
  assert.equal(artifacts.length, 1)
})

test('manifests that have to be run are run apart as well', async () => {
  const { home } = makeHome({
    computed: {
      files: {
        'manifest.ts': `const [name] = ['computed']
export const manifest = { name, version: '1.0.0', description: 'pid ' + process.pid, autonomy_level: 'autonomous', ttl_hours: 1 }
`,
      },
    },
    exits: { files: { 'manifest.ts': 'process.exit(7)\nexport const manifest = {}\n' } },
    sibling: SIBLING,
  })
  const { plugin_states, plugin_entries } = await runAdvance({ isolation })
  assert.deepEqual(Object.fromEntries(plugin_states), {
    computed: 'completed',
    exits: 'failed',
    sibling: 'completed',
  })
  const exits = plugin_entries.find(({ plugin }) => plugin === 'exits')
  assert.match(exits?.result_summary ?? '', /exit code 7\b/)
  await allEnd(home)
})

test('an option that is none of the two is refused', async () => {
  makeHome({ sibling: SIBLING })
  const wrong = /** @type {any} */ ({ isolation: 'thread' })
  await assert.rejects(runAdvance(wrong), /option `isolation`.*`none` or `process`/)
  await assert.rejects(invokePlugin('sibling', {}, wrong, witness), /option `isolation`/)
})

test('a host that is killed leaves no process behind', async () => {
  const { home } = makeHome({
    spins: pluginOf({ name: 'spins', handler: "console.error('ready'); for (;;);" }),
  })
  const ended = await command(home, ['advance', '--isolate'], 'SIGKILL')
  assert.equal(ended.by, 'SIGKILL')
  await allEnd(home)
})

test('a host that ends in the middle of an advance leaves no process behind', async () => {
  const { home } = makeHome({
    spins: pluginOf({ name: 'spins', handler: "console.error('ready'); for (;;);" }),
  })
  const index = new URL('../lib/index.js', import.meta.url).href
  const source = `import { runAdvance } from ${JSON.stringify(index)}
    process.stdin.once('data', () => process.exit(5))
    runAdvance({ isolation: 'process' })`
  const host = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let shown = ''
  host.stderr.setEncoding('utf8').on('data', (text) => {
    shown += text
    if (shown.includes('ready\n')) host.stdin.end('end')
  })
  assert.deepEqual(await once(host, 'exit'), [5, null])
  await allEnd(home)
})
