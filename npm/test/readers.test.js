// Readers of the command that are slow, or gone: every byte arrives, or the command ends quietly.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { makeHome } from './support/home.js'

const bin = fileURLToPath(new URL('../bin/warpline.cjs', import.meta.url))

/**
 * Runs a line of bash in which `"$@"` is the command.
 *
 * @param {string} line
 * @param {string} home
 * @param {string[]} args
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
function bash(line, home, args) {
  const env = { ...process.env, WARPLINE_HOME: home, OUT: join(home, 'out') }
  return new Promise((resolve) => {
    // A bash whose input is a socket takes itself for a remote one, and runs the tester's own `.bashrc`.
    const words = ['--norc', '-c', line, 'bash', process.execPath, bin, ...args]
    const child = execFile('bash', words, { env, timeout: 120_000 }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr })
    })
  })
}

// Descriptor 4 is a pipe whose reader has ended before the command begins.
const OUT_GONE = 'exec 4> >(:); wait $!; "$@" >&4'
const ERR_GONE = 'exec 4> >(:); wait $!; "$@" 2>&4 >"$OUT"'

/** Every verb, with the exit code that is its own. */
const verbs = /** @type {[number, ...string[]][]} */ ([
  [0, '--help'],
  [0, 'init'],
  [0, 'plan'],
  [0, 'plan', '--json'],
  [0, 'advance'],
  [0, 'advance', '--json'],
  [0, 'run', 'fine', 'go', '--json'],
  [0, 'approve', 'fine'],
  [0, 'deny', 'fine'],
  [0, 'deny', '--list', '--json'],
  [1, 'deny', '--remove', 'fine'],
  [0, 'revoke'],
  [0, 'board', '--json'],
  [0, 'tasks', '--json'],
  [0, 'ack', '--all'],
  [1, 'ack', 'unknown'],
  [1, 'defer', 'unknown', '1h'],
  [1, 'done', 'unknown'],
  [1, 'run', 'fails', 'go'],
  [1, 'bogus'],
])

describe('a reader that is gone', { concurrency: 4 }, () => {
  for (const [expected, ...args] of verbs) {
    test(`warpline ${args.join(' ')}`, async () => {
      const plugins = { fine: {}, fails: { handler: "return skillFailure('data_missing', 'no')" } }
      const made = () => makeHome(args[0] === 'run' ? plugins : { fine: {} }).home
      const told = await bash('"$@" > "$OUT"', made(), args)
      assert.equal(told.code, expected, told.stderr)
      const gone = await bash(OUT_GONE, made(), args)
      const lines = (/** @type {string} */ text) => text.replace(/[0-9a-f-]{36}|\/\S+/g, '').trim()
      assert.deepEqual([gone.code, lines(gone.stderr)], [expected, lines(told.stderr)])
    })
  }

  for (const args of [['bogus'], ['run', 'unknown', 'go'], ['advance', '--plugins', 'absent']]) {
    test(`of standard error: warpline ${args.join(' ')}`, async () => {
      const { home } = makeHome({ fine: {} })
      const told = await bash('"$@"', home, args)
      assert.notEqual(told.code, 0)
      assert.notEqual(told.stderr, '')
      assert.equal((await bash(ERR_GONE, home, args)).code, told.code)
    })
  }
})

test('a reader that is slow gets a megabyte whole', async () => {
  const { home } = makeHome({})
  mkdirSync(join(home, 'state'), { recursive: true })
  const events = Array.from({ length: 3000 }, (_, at) => ({
    event_id: `event-${at}`,
    type: 'notice',
    timestamp: '2026-01-01T00:00:00.000Z',
    source: 'engine',
    summary: `${at} ${'x'.repeat(180)}`,
    severity: 'info',
    task_id: null,
    run_id: null,
    metadata_json: null,
  }))
  const text = events.map((event) => `${JSON.stringify(event)}\n`).join('')
  writeFileSync(join(home, 'state/events.jsonl'), text)
  const line = '"$@" | { sleep 1; cat > "$OUT"; }; exit $PIPESTATUS'
  const { code, stderr } = await bash(line, home, ['board', '--all', '--json'])
  assert.deepEqual([code, stderr], [0, ''])
  const out = readFileSync(join(home, 'out'), 'utf8')
  assert.ok(out.length > 1_000_000, `${out.length} bytes`)
  assert.equal(JSON.parse(out).length, events.length)
})
