// Plugins that reach for the process around them: they end it, take its signals, change what all share.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeHome, writePlugins } from './support/home.js'
import {
  checkRun,
  command,
  intact,
  pluginOf,
  QUIET,
  said,
  survives,
  works,
} from './support/hostile.js'

/** @typedef {import('./support/hostile.js').Row} Row */

const WAIT = 'await new Promise((resolve) => setTimeout(resolve, 80))'
const RESULT =
  "{ status: 'success', phases_completed: [], phases_failed: [], data_freshness: {}, summary: 'patched' }"
const FINE = "return skillOk('fine')"

/** Patches that hold until the plugin's process ends, each by the code that makes it; those of one half may come in any order. */
const PATCHES = {
  'JSON.stringify': "JSON.stringify = () => { throw new Error('patched') }",
  'JSON.stringify lies': "JSON.stringify = () => '1'",
  'JSON.parse': "JSON.parse = () => { throw new Error('patched') }",
  'Promise.then': "Promise.prototype.then = () => { throw new Error('patched') }",
  'Promise.then never calls': 'Promise.prototype.then = () => new Promise(() => {})',
  'Promise.statics':
    "for (const name of ['all', 'allSettled', 'resolve', 'race', 'reject']) Promise[name] = () => { throw new Error('patched') }",
  'stdout.write': "process.stdout.write = () => { throw new Error('patched') }",
  'stderr.write':
    "process.stderr.write = () => { throw new Error('patched') }; process.env.HOSTILE_LEFT = 'left'",
  'console.log': "console.log = console.error = () => { throw new Error('patched') }",
  'Array.prototype':
    "for (const name of ['push', 'map', 'filter', 'join', 'includes', 'some', 'flatMap']) Array.prototype[name] = () => { throw new Error('patched') }",
  'Object.prototype':
    "Object.prototype['polluted'] = 'yes'; Object.prototype['reason'] = 'polluted'",
  'Object statics':
    "for (const name of ['keys', 'entries', 'assign', 'hasOwn', 'freeze', 'getPrototypeOf', 'defineProperty']) Object[name] = () => { throw new Error('patched') }",
  'Reflect statics':
    "for (const name of ['get', 'set', 'ownKeys', 'deleteProperty', 'apply']) Reflect[name] = () => { throw new Error('patched') }",
  'Map.prototype':
    "for (const of_ of [Map, WeakMap, Set]) for (const name of ['get', 'set', 'has', 'delete', 'add', 'clear']) if (name in of_.prototype) of_.prototype[name] = () => { throw new Error('patched') }",
  'String.prototype':
    "for (const name of ['slice', 'replace', 'startsWith', 'includes', 'split', 'match']) String.prototype[name] = () => { throw new Error('patched') }",
  AsyncLocalStorage:
    "for (const name of ['run', 'exit', 'getStore']) AsyncLocalStorage.prototype[name] = () => { throw new Error('patched') }",
  AbortController:
    "globalThis.AbortController = class { constructor() { throw new Error('patched') } }",
  Error:
    "Error.prepareStackTrace = () => { throw new Error('patched') }; Error.stackTraceLimit = 0",
  timers:
    "globalThis.setInterval = globalThis.clearInterval = globalThis.queueMicrotask = () => { throw new Error('patched') }",
  'process.exit': 'process.exit = () => {}; process.reallyExit = () => {}',
  'process.emit': 'process.emit = () => false',
  'process.on': 'process.on = process.off = process.once = process.removeListener = () => process',
  'process.cwd': "process.cwd = () => { throw new Error('patched') }; process.chdir = () => {}",
  // In the other half than what needs standard error to patch it, and by what no other takes away.
  'stderr gone':
    "Reflect.defineProperty(process, 'stderr', { get() { throw new Error('patched') } }); process.env.HOSTILE_LEFT = 'left'",
}

/** @type {Row[]} */
const rows = [
  {
    name: 'exits-0',
    handler: 'process.exit(0)',
    ends: 'interrupted',
    stderr: /plugin `exits-0` ended the process/,
  },
  {
    name: 'exits-7',
    handler: 'process.exit(7)',
    ends: 'interrupted',
    stderr: /plugin `exits-7` ended the process/,
  },
  {
    name: 'exits-later',
    handler: 'setTimeout(() => process.exit(0), 5); await new Promise(() => {})',
    ends: 'interrupted',
    stderr: /plugin `exits-later` ended the process/,
  },
  {
    name: 'exits-past-hooks',
    handler: "process.removeAllListeners('exit'); process.exit(0)",
    ends: 'interrupted',
    stderr: /exits-past-hooks/,
  },
  {
    name: 'exits-really',
    handler: '(process as any).reallyExit(0)',
    ends: 'interrupted',
    stderr: /exits-really/,
  },
  {
    name: 'exits-over-ours',
    handler: "process.on('exit', () => { process.exitCode = 0; process.exit(0) }); process.exit(0)",
    ends: 'interrupted',
    stderr: /exits-over-ours/,
  },
  {
    name: 'exit-code',
    handler: `process.exitCode = 7; process.on('exit', () => { process.exitCode = 9; process.exit(9) }); ${FINE}`,
    ends: 'completed',
  },
  {
    name: 'strays',
    handler: `Promise.reject(new Error('astray')); ${WAIT}; ${FINE}`,
    ends: 'completed',
    exit: 1,
    stderr: /`strays` left a rejection unhandled: astray/,
  },
  {
    name: 'strays-nothing',
    handler: `Promise.reject(undefined); ${WAIT}; ${FINE}`,
    ends: 'completed',
    exit: 1,
    stderr: /`strays-nothing` left a rejection unhandled/,
  },
  {
    name: 'timer-throws',
    handler: `setTimeout(() => { throw new Error('from a timer') }, 1); ${WAIT}; ${FINE}`,
    ends: 'completed',
    exit: 1,
    stderr: /`timer-throws` threw: from a timer/,
  },
  {
    name: 'emitter-throws',
    top: "import { EventEmitter } from 'node:events'",
    handler: `setImmediate(() => new EventEmitter().emit('error', new Error('unheard'))); ${WAIT}; ${FINE}`,
    ends: 'completed',
    exit: 1,
    stderr: /`emitter-throws` threw: unheard/,
  },
  {
    name: 'takes-errors',
    handler: `process.removeAllListeners('uncaughtException'); setTimeout(() => { throw new Error('unseen') }, 1); ${WAIT}; ${FINE}`,
    ends: 'completed',
    exit: 1,
    stderr: /`takes-errors` threw: unseen/,
  },
  {
    name: 'changes-process',
    handler: `process.chdir('/'); process.env.HOSTILE_NEW = 'x'; delete process.env.PATH; process.env.WARPLINE_HOME = '/nowhere'
      process.title = 'innocent'; process.umask(0o777); throw new Error('and leaves')`,
    says: /and leaves/,
    stderr:
      /changed the working directory.*changed the environment variable `WARPLINE_HOME`.*changed the mask of file modes/s,
  },
  {
    name: 'closes-stdin',
    top: "import { closeSync } from 'node:fs'",
    handler: `process.stdin.destroy(); try { closeSync(0) } catch {} ; ${FINE}`,
    ends: 'completed',
  },
  {
    name: 'closes-stdout',
    top: "import { closeSync } from 'node:fs'",
    handler: `closeSync(1); ${FINE}`,
    ends: 'completed',
  },
  {
    name: 'closes-stderr',
    top: "import { closeSync } from 'node:fs'",
    handler: `closeSync(2); console.log('to nowhere'); ${FINE}`,
    ends: 'completed',
  },
  {
    name: 'writes-descriptor',
    top: "import { writeSync } from 'node:fs'\nimport { spawnSync } from 'node:child_process'",
    handler: `writeSync(1, 'past the stream'); spawnSync('echo', ['from a program'], { stdio: 'inherit' }); ${FINE}`,
    ends: 'completed',
    stderr: /past the stream.*from a program/s,
  },
  {
    name: 'outlives',
    top: "import { spawn } from 'node:child_process'",
    handler: `spawn('sleep', ['20'], { detached: true, stdio: 'inherit' }); ${FINE}`,
    ends: 'completed',
  },
  {
    name: 'allocates',
    handler: `const kept = []; for (let at = 0; at < 40; at += 1) kept.push(new Array(1_000_000).fill(at)); return skillOk(String(kept.length))`,
    ends: 'completed',
    says: /^40$/,
  },
  {
    name: 'spins',
    handler: 'await null; for (;;);',
    manifest: { timeout_ms: 300 },
    says: /timeout/,
    alone: true,
  },
  .../** @type {const} */ (['SIGINT', 'SIGTERM']).flatMap((signal) => [
    {
      name: `hears-${signal.toLowerCase()}`,
      handler: `process.on('${signal}', () => {}); console.log('ready'); await new Promise(() => {})`,
      ends: /** @type {const} */ ('interrupted'),
      signal,
    },
    {
      name: `takes-${signal.toLowerCase()}`,
      handler: `process.removeAllListeners('${signal}'); console.log('ready'); await new Promise(() => {})`,
      ends: /** @type {const} */ ('interrupted'),
      signal,
    },
  ]),
  {
    name: 'takes-all',
    handler: "process.removeAllListeners(); console.log('ready'); await new Promise(() => {})",
    ends: 'interrupted',
    signal: 'SIGINT',
  },
  {
    name: 'takes-and-spins',
    handler: "process.removeAllListeners('SIGTERM'); console.log('ready'); await null; for (;;);",
    ends: 'interrupted',
    signal: 'SIGTERM',
  },
  {
    name: 'signals-itself',
    handler: "process.kill(process.pid, 'SIGTERM'); await new Promise(() => {})",
    ends: 'interrupted',
    exit: 130,
  },
]

describe('what plugins put in the place of what all share', { concurrency: 2 }, () => {
  const top = "import { AsyncLocalStorage } from 'node:async_hooks'"
  const all = Object.entries(PATCHES)
  const half = Math.floor(all.length / 2)

  for (const patches of [all.slice(0, half), all.slice(half)]) {
    test(`at once, in one advance: ${patches.map(([what]) => what).join(', ')}`, async () => {
      // Node's own loader does not stand it: the patches are made when all modules are loaded.
      const loaded = `globalThis['loaded'] = (globalThis['loaded'] ?? 0) + 1
        while (globalThis['loaded'] <= ${patches.length}) await new Promise((resolve) => setTimeout(resolve, 5))`
      const plugins = patches.map(([what, code]) => [
        what.replace(/\W+/g, '-').toLowerCase(),
        pluginOf({ name: what, top, handler: `${loaded}\n${code}\n${WAIT}; return ${RESULT}` }),
      ])
      const sibling = { handler: `${loaded}\n${QUIET.handler}` }
      const { home } = makeHome({ ...Object.fromEntries(plugins), sibling })
      const advance = await command(home, ['advance', '--json'])
      assert.equal(advance.code, 0, said(advance))
      const states = Object.entries(JSON.parse(advance.stdout).plugin_states)
      assert.equal(states.length, plugins.length + 1)
      assert.ok(states.every(([, state]) => state === 'completed'))
      assert.equal(intact(home).logs[0].status, 'complete')
      for (const [name] of plugins) rmSync(join(home, 'plugins', String(name)), { recursive: true })
      writePlugins(home, { sibling: QUIET })
      await works(home)
    })
  }

  for (const [end, ends] of /** @type {const} */ ([
    [`return ${RESULT}`, 'completed'],
    ["throw 'patched'", 'failed'],
  ])) {
    test(`all of it, in one run that ${ends}`, async () => {
      const handler = `${Object.values(PATCHES).join('\n')}\n${WAIT}; ${end}`
      const row = { name: 'patches', top, handler, ends, says: /patched/ }
      const { home } = makeHome({ patches: pluginOf(row) })
      checkRun(home, row, await command(home, ['run', 'patches', 'go', '--json']))
    })
  }
})

describe('a hostile plugin and the process', { concurrency: 4 }, () => {
  for (const row of rows) test(row.name, () => survives(row))
})

test('every row has a name of its own', () => {
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length)
})
