// The command as a process: exit codes, streams, signals, and plugins that misbehave.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { makeHome } from './support/home.js'
import { temporaryDirectory, writeFiles } from './support/plugins.js'

const bin = fileURLToPath(new URL('../bin/warpline.mjs', import.meta.url))

/** @param {string[]} args */
function warpline(...args) {
  return spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8', timeout: 30_000 })
}

test('--help and a verb that is none', () => {
  const help = warpline('--help')
  assert.deepEqual([help.status, help.stderr], [0, ''])
  const answers = ['approve', 'deny', 'revoke', 'ack', 'defer', 'done']
  for (const verb of ['init', 'plan', 'advance', 'run', 'board', 'tasks', ...answers]) {
    assert.match(help.stdout, new RegExp(`^ +${verb} `, 'm'))
  }
  const bogus = warpline('bogus')
  assert.deepEqual([bogus.status, bogus.stdout], [1, ''])
  assert.match(bogus.stderr, /^Unknown command/)
})

test('a Node below the floor is told so, without a trace', () => {
  const directory = temporaryDirectory()
  writeFiles(directory, {
    'old.cjs':
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })\n",
  })
  const old = spawnSync(process.execPath, ['-r', join(directory, 'old.cjs'), bin, '--help'], {
    encoding: 'utf8',
  })
  assert.deepEqual([old.status, old.stdout], [1, ''])
  assert.equal(old.stderr, 'error: warpline needs Node.js 20.10 or newer, and this is 18.20.4\n')
})

test('results go to standard output alone, what plugins print to standard error', () => {
  makeHome({ prints: { handler: "console.log('from the plugin'); return skillOk('fine')" } })
  const advance = warpline('advance', '--json')
  assert.equal(advance.status, 0, advance.stderr)
  const result = JSON.parse(advance.stdout)
  assert.deepEqual(
    [result.status, result.plugin_states, result.exit_code],
    ['complete', { prints: 'completed' }, 0],
  )
  assert.match(advance.stderr, /from the plugin/)
})

test('--home reaches plugin code', () => {
  const { home } = makeHome({
    asks: { handler: 'return skillOk(String(process.env.WARPLINE_HOME))' },
  })
  delete process.env.WARPLINE_HOME
  const run = warpline('--home', home, 'run', 'asks', 'go')
  assert.equal(run.status, 0, run.stderr)
  assert.ok(run.stdout.includes(home), run.stdout)
})

test('a failing plugin is exit 1, a home that cannot be used 75', () => {
  makeHome({ fails: { handler: "return skillFailure('data_missing', 'nothing there')" } })
  assert.equal(warpline('advance').status, 1)
  const refused = warpline('--plugins', join(temporaryDirectory(), 'absent'), 'advance')
  assert.deepEqual([refused.status, refused.stdout], [75, ''])
  assert.match(refused.stderr, /^error: cannot read plugin root .*ENOENT\n/)
})

test('what a plugin leaves open does not hold the command', () => {
  makeHome({ lingers: { handler: "setInterval(() => {}, 1000); return skillOk('fine')" } })
  assert.equal(warpline('advance').status, 0)
})

test('a stray rejection, and a throw from a timer, are reported by plugin and exit 1', () => {
  makeHome({
    strays: { handler: "Promise.reject(new Error('astray')); await null; return skillOk('fine')" },
    timer: {
      handler:
        "setTimeout(() => { throw new Error('from a timer') }, 1); await new Promise((r) => setTimeout(r, 20)); return skillOk('fine')",
    },
  })
  const advance = warpline('advance')
  assert.equal(advance.status, 1)
  assert.match(advance.stderr, /`strays` left a rejection unhandled: astray/)
  assert.match(advance.stderr, /`timer` threw: from a timer/)
  assert.match(advance.stdout, /complete/)
})

test('a plugin that ends the process is named; the run is recorded as interrupted', () => {
  const { home, list, json } = makeHome({ ends: { handler: 'process.exit(0)' }, other: {} })
  const advance = warpline('advance')
  assert.equal(advance.status, 1)
  assert.match(advance.stderr, /plugin `ends` ended the process/)
  const [log] = list('runs')
  const { status, completed_at, run_id } = json(`runs/${log}`)
  assert.deepEqual([status, completed_at], ['interrupted', null])
  assert.ok(!list('state').includes('in-flight.jsonl'), 'the crash journal is settled')
  assert.equal(warpline('plan').status, 0)

  const handler = join(home, 'plugins/ends/handler.ts')
  writeFileSync(
    handler,
    readFileSync(handler, 'utf8').replace('process.exit(0)', "return skillOk('')"),
  )
  const next = warpline('advance', '--json')
  assert.equal(next.status, 0, next.stderr)
  const result = JSON.parse(next.stdout)
  assert.equal(result.plugin_states.ends, 'completed')
  assert.equal(json(`runs/${result.run_id}.json`).resumed_from, run_id)
  assert.deepEqual(list('state'), ['engine-state.json', 'events.jsonl'], 'and nothing is left')
})

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  test(`${signal} cancels what runs, records it, and exits 130`, async () => {
    const { list, json } = makeHome({
      waits: {
        handler: `
          console.log('running')
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          throw signal.reason
        `,
      },
    })
    const child = spawn(process.execPath, [bin, 'advance'], { stdio: ['ignore', 'pipe', 'pipe'] })
    const exited = once(child, 'exit')
    let errors = ''
    for await (const chunk of child.stderr) {
      errors += chunk
      if (errors.includes('running')) break
    }
    child.kill(signal)
    assert.deepEqual(await exited, [130, null])
    const [log] = list('runs')
    assert.deepEqual(
      [json(`runs/${log}`).status, json(`runs/${log}`).completed_at],
      ['interrupted', null],
    )
  })
}

test('a slow reader gets every line whole, while the plugin goes on printing', async () => {
  makeHome({
    talks: {
      handler: `
        for (let i = 0; i < 400; i += 1) console.log('x'.repeat(499))
        setInterval(() => console.log('y'.repeat(499)), 0)
        await new Promise((resolve) => setTimeout(resolve, 10))
        return skillOk('fine')
      `,
    },
  })
  const child = spawn(process.execPath, [bin, 'run', 'talks', 'go'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  await delay(500)
  let errors = ''
  for await (const chunk of child.stderr) errors += chunk
  const [code] = await exited
  assert.equal(code, 0)
  assert.equal(errors.match(/^x{499}$/gm)?.length, 400)
  assert.match(errors, /^(?:[^\n]*\n)*y{499}\n$/)
})

test('a reader that goes away ends nothing badly', async () => {
  makeHome({
    talks: {
      handler:
        "for (let i = 0; i < 400; i += 1) console.log('x'.repeat(499)); return skillOk('fine')",
    },
  })
  const child = spawn(process.execPath, [bin, 'run', 'talks', 'go'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stderr.destroy()
  child.stdout.destroy()
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
})

test('a plugin that never gives the thread back ends with the command it is in', async () => {
  // Both at once: each takes five seconds to give the plugin up.
  const started = (/** @type {object} */ manifest) => {
    const handler = "console.log('running'); await null; for (;;);"
    const { list, json } = makeHome({ spins: { manifest, handler } })
    const child = spawn(process.execPath, [bin, 'advance'], { stdio: ['ignore', 'ignore', 'pipe'] })
    return { child, exited: once(child, 'exit'), log: () => json(`runs/${list('runs')[0]}`) }
  }
  const timedOut = started({ timeout_ms: 300 })
  const signalled = started({})
  await once(signalled.child.stderr, 'data')
  signalled.child.kill('SIGTERM')
  assert.deepEqual(await timedOut.exited, [1, null])
  assert.deepEqual(
    [timedOut.log().status, timedOut.log().plugin_entries[0].status],
    ['partial', 'failed'],
  )
  assert.deepEqual(await signalled.exited, [130, null])
  assert.equal(signalled.log().status, 'interrupted')
})
