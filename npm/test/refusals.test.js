// The catalogue of refused calls: every code, met through the package, with its name, message and hint.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { runAdvance } from 'warpline'

import { makeHome } from './support/home.js'

const mend = 'mend the file by hand; nothing was written'

/** A home with one plugin, and a state file that holds this. */
function withState(/** @type {string} */ text) {
  const { home } = makeHome({ unused: {} })
  mkdirSync(join(home, 'state'))
  writeFileSync(join(home, 'state', 'engine-state.json'), text)
  return home
}

/** A home whose one plugin does this. */
const during = (/** @type {string} */ handler) => makeHome({ slow: { handler } }).home

/** How each code is met: a home is made, and the call on it is refused. */
const rows = /** @type {Record<string, [() => unknown, RegExp, string | undefined]>} */ ({
  ERR_WARPLINE_PLUGIN_ROOT: [
    () => {
      makeHome({})
      return runAdvance({ pluginsDir: '/nowhere' })
    },
    /^cannot read plugin root \/nowhere: ENOENT$/,
    'create the directory, or name another one with --plugins',
  ],
  ERR_WARPLINE_NOT_JSON: [
    () => withState('{') && runAdvance(),
    /engine-state\.json is not valid JSON at line 1, column 2$/,
    mend,
  ],
  ERR_WARPLINE_INVALID: [
    () => withState('{"plugin_runs":7}') && runAdvance(),
    /engine-state\.json is not valid: `plugin_runs`: expected an object$/,
    mend,
  ],
  ERR_WARPLINE_NEWER_STATE: [
    () => withState('{"schema_version":2}') && runAdvance(),
    /engine-state\.json has schema_version 2, and this build predates it: the newest it reads is 1$/,
    'upgrade warpline; nothing was written',
  ],
  ERR_WARPLINE_FILE: [
    () => {
      const { home } = makeHome({ unused: {} })
      mkdirSync(join(home, 'state', 'engine-state.json'), { recursive: true })
      return runAdvance()
    },
    /^cannot read .*engine-state\.json: /,
    'something else lies in its place; move it away',
  ],
  ERR_WARPLINE_LOCKED: [
    async () => {
      const { home } = makeHome({
        slow: {
          handler:
            "await new Promise((resolve) => signal.addEventListener('abort', resolve)); return skillOk('late')",
        },
      })
      const stop = new AbortController()
      const first = runAdvance({ signal: stop.signal })
      const lock = join(home, 'state', '.lock')
      // There, and with the name of its holder in it.
      while (!existsSync(lock) || readFileSync(lock, 'utf8') === '') await setTimeout(10)
      try {
        return await runAdvance()
      } finally {
        stop.abort()
        await first
      }
    },
    new RegExp(
      `^another advance is running on this home: run \\S+, process ${process.pid}, since \\S+ \\(.*\\.lock\\)$`,
    ),
    'wait for it to end, or stop that process',
  ],
  ERR_WARPLINE_STATE_LOCK: [
    async () => {
      const { home } = makeHome({ quick: {} })
      mkdirSync(join(home, 'state'))
      const lock = join(home, 'state', '.state.lock')
      // One process, which the kill below ends whole.
      const held = ['sh', '-c', 'echo held; exec sleep 600']
      const holder = spawn('flock', ['--no-fork', lock, ...held])
      try {
        await new Promise((resolve) => holder.stdout.once('data', resolve))
        return await runAdvance()
      } finally {
        holder.kill('SIGKILL')
      }
    },
    /^\S+\.state\.lock was held by another process for 10 seconds$/,
    'try again; nothing was written',
  ],
  ERR_WARPLINE_SHARED_HOME: [
    () => {
      const { home } = makeHome({ unused: {} })
      chmodSync(home, 0o777)
      return runAdvance()
    },
    /^\S+ can be written by others \(mode 0777\); run `chmod go-w \S+`$/,
    'or set WARPLINE_ALLOW_SHARED_HOME=1, if all who can write there may decide what runs; nothing was written',
  ],
  ERR_WARPLINE_OPTION: [
    () => {
      makeHome({ unused: {} })
      return runAdvance(/** @type {any} */ ({ dryrun: true }))
    },
    /^there is no option `dryrun`$/,
    undefined,
  ],
  ERR_WARPLINE_HOST: [
    () => during("process.emit('exit', 0); return skillOk('late')") && runAdvance(),
    /^the plugin host failed: the process ended while the advance was running$/,
    undefined,
  ],
})

describe('every code of a refused call', () => {
  test('has a row, and a row has a code', () => {
    const types = fileURLToPath(new URL('../lib/index.d.ts', import.meta.url))
    const [, union = ''] = /WarplineErrorCode =([^/]*)/.exec(readFileSync(types, 'utf8')) ?? []
    assert.deepEqual(Object.keys(rows), union.match(/ERR_\w+/g))
  })
  for (const [code, [provoke, message, hint]] of Object.entries(rows)) {
    test(code, { timeout: 120_000 }, async () => {
      await assert.rejects(async () => provoke(), { name: 'WarplineError', code, message, hint })
    })
  }
})
