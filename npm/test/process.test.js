// A host's process ends by itself, whatever its plugins leave behind.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

import { makeHome } from './support/home.js'
import { temporaryDirectory, writeFiles } from './support/plugins.js'

const index = new URL('../lib/index.js', import.meta.url).href
const runtime = new URL('../lib/unstable-runtime.js', import.meta.url).href

/** @param {string} code of a host's main module */
function host(code) {
  const directory = temporaryDirectory()
  const imports = `import { runAdvance } from '${index}'\nimport { invokePlugin } from '${runtime}'\n`
  writeFiles(directory, { 'host.mjs': imports + code })
  const file = join(directory, 'host.mjs')
  const run = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: 120_000 })
  return { ...run, file }
}

test('after an advance the process ends; its own standard output is all there is', () => {
  makeHome({ prints: { handler: "console.log('from the plugin'); return skillOk('fine')" } })
  const { status, stdout, stderr } = host('console.log((await runAdvance()).status)\n')
  assert.equal(status, 0, stderr)
  assert.equal(stdout, 'complete\n')
  assert.match(stderr, /from the plugin/)
})

test('a handler that never settles ends with its timeout, and the process with it', () => {
  makeHome({ hangs: { manifest: { timeout_ms: 50 }, handler: 'return new Promise(() => {})' } })
  const { status, stdout } = host(
    "console.log((await invokePlugin('hangs', {}, {}, { granted: false, reason: 'manual-run' })).timed_out)\n",
  )
  assert.deepEqual([status, stdout], [0, 'true\n'])
})

test('an advance that nobody awaits is finished before the process ends', () => {
  const { list } = makeHome({
    slow: { handler: "await new Promise((r) => setTimeout(r, 50)); return skillOk('fine')" },
  })
  const { status } = host('void runAdvance()\n')
  assert.equal(status, 0)
  assert.equal(list('runs').length, 1)
})

test('a late rejection never becomes an unhandled one', () => {
  makeHome({
    late: {
      manifest: { timeout_ms: 50 },
      handler: `await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await new Promise((resolve) => { globalThis.reject = resolve })
        globalThis.rejected = true
        throw new Error('late')`,
    },
  })
  const { status, stdout, stderr } = host(`
    const turn = () => new Promise((resolve) => setTimeout(resolve, 1))
    const { plugin_entries } = await runAdvance()
    while (!globalThis.reject) await turn()
    globalThis.reject()
    while (!globalThis.rejected) await turn()
    await turn()
    console.log(plugin_entries[0].result_summary)
  `)
  assert.deepEqual([status, stdout, stderr], [0, 'late: timeout\n', ''])
})

test('the host’s own end in the middle of an advance is recorded', () => {
  const { list, json } = makeHome({ waits: { handler: 'return new Promise(() => {})' } })
  const { status } = host(
    'runAdvance({ onPluginStart: () => setTimeout(() => process.exit(3), 20) })\n',
  )
  assert.equal(status, 3)
  const [log] = list('runs')
  assert.equal(json(`runs/${log}`).status, 'interrupted')
})

test('workers that end in the middle of an advance take nothing down', async () => {
  makeHome({ waits: { handler: 'return new Promise(() => {})' } })
  const directory = temporaryDirectory()
  writeFiles(directory, {
    'worker.mjs': `
      import { parentPort, workerData } from 'node:worker_threads'
      import { invokePlugin } from '${runtime}'
      const going = invokePlugin('waits', {}, { onAttemptStart: () => parentPort.postMessage('running') }, { granted: false, reason: 'manual-run' })
      going.catch(() => {})
    `,
  })
  for (let round = 0; round < 5; round += 1) {
    const worker = new Worker(pathToFileURL(join(directory, 'worker.mjs')))
    await new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    await worker.terminate()
  }
})

test('an advance of a worker that is terminated is recorded, each time', () => {
  const { home } = makeHome({ waits: { handler: 'return new Promise(() => {})' } })
  const rounds = 20
  // The thread that ends is the only one that has the engine, and the process ends right after it.
  const { status, stderr } = host(`
    import { once } from 'node:events'
    import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
    if (isMainThread) {
      for (let round = 0; round < ${rounds}; round += 1) {
        const worker = new Worker(new URL(import.meta.url), { workerData: round })
        await once(worker, 'message')
        await worker.terminate()
      }
    } else {
      await runAdvance({
        stateDir: \`${home}/states/\${workerData}/engine-state.json\`,
        runsDir: \`${home}/states/\${workerData}/runs\`,
        onPluginStart: () => parentPort.postMessage('running'),
      })
    }
  `)
  assert.equal(status, 0, stderr)
  for (let round = 0; round < rounds; round += 1) {
    const [log] = readdirSync(join(home, 'states', String(round), 'runs'))
    const text = readFileSync(join(home, 'states', String(round), 'runs', String(log)), 'utf8')
    assert.equal(JSON.parse(text).status, 'interrupted')
  }
})
