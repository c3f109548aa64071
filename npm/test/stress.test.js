// What only many rounds show: memory that grows, and ends and signals at unlucky moments.
//
// WARPLINE_STRESS_ROUNDS and WARPLINE_STRESS_INVOCATIONS say how many; `make soak` asks for 200 and 100,000.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { writePlugins } from './support/home.js'
import { temporaryDirectory } from './support/plugins.js'

const index = new URL('../lib/index.mjs', import.meta.url).href
const runtime = new URL('../lib/unstable-runtime.mjs', import.meta.url).href
const command = fileURLToPath(new URL('../bin/warpline.cjs', import.meta.url))

const ROUNDS = Number(process.env.WARPLINE_STRESS_ROUNDS ?? 4)
const INVOCATIONS = Number(process.env.WARPLINE_STRESS_INVOCATIONS ?? 10_000)

/** How much anonymous memory so many invocations as make one half may add, in MB. */
const GROWTH = 4

/** How many halves there are at most: what is lost is lost in each, what V8 takes for itself is not. */
const HALVES = 6

const BRIEF = `console.error(\`\${manifest.name} has started\`)
  await new Promise((resolve) => setTimeout(resolve, 40))
  return skillOk('done')`

/** Five plugins, one after the other: an advance of a few tenths of a second. */
const chain = Object.fromEntries(
  Array.from({ length: 5 }, (_, number) => {
    const dependencies = number > 0 ? [`p${number - 1}`] : []
    return [`p${number}`, { manifest: { dependencies }, handler: BRIEF }]
  }),
)

/**
 * Runs a program to its end; it is killed where it hangs.
 *
 * @param {string[]} args
 * @param {string} home
 * @param {(child: import('node:child_process').ChildProcess, said: string) => void} [heard] told of
 *   each piece of standard error
 * @returns {Promise<{ code: number | null, signal: string | null, out: string, said: string }>}
 */
function run(args, home, heard = () => {}) {
  return new Promise((resolve) => {
    const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...rest } = process.env
    const env = { ...rest, WARPLINE_HOME: home }
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), 120_000 + INVOCATIONS * 30)
    let [out, said] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text
      heard(child, said)
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ code, signal, out, said })
    })
  })
}

/**
 * Plays every round, three at a time; all that went wrong is shown.
 *
 * @param {(home: string, number: number) => Promise<unknown>} play gives what is wrong, or undefined
 */
async function rounds(play) {
  const directory = temporaryDirectory()
  const model = join(directory, 'model')
  writePlugins(model, chain)
  const waiting = Array.from({ length: ROUNDS }, (_, number) => number)
  /** @type {unknown[]} */
  const faults = []
  const player = async () => {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      const home = join(directory, `home-${number}`)
      mkdirSync(home)
      cpSync(join(model, 'plugins'), join(home, 'plugins'), { recursive: true })
      const fault = await play(home, number)
      if (fault !== undefined) faults.push(fault)
    }
  }
  await Promise.all([player(), player(), player()])
  assert.deepEqual(faults, [], `${faults.length} of ${ROUNDS}`)
}

/** @param {string} home */
const lastLog = (home) => {
  const json = (/** @type {string} */ path) => JSON.parse(readFileSync(join(home, path), 'utf8'))
  return json(`runs/${json('state/engine-state.json').last_run_id}.json`)
}

/**
 * What is wrong with a home whose advance was cut short: all of it is readable, the pass that began is
 * on record, nothing holds a lock, and the next pass completes.
 *
 * @param {string} home
 * @param {string} said
 */
async function faultOf(home, said) {
  if (/panicked|fatal|FATAL/.test(said)) return said
  if (said.includes('has started')) {
    const { status, completed_at } = lastLog(home)
    if (!['interrupted', 'complete'].includes(status)) return status
    if (status === 'interrupted' && completed_at !== null) return completed_at
  }
  const next = await run([command, 'advance', '--force', '--json'], home)
  if (next.code !== 0 || JSON.parse(next.out).status !== 'complete') return next
  return undefined
}

test('memory stays where it is over many invocations', async (t) => {
  const home = join(temporaryDirectory(), '.warpline')
  writePlugins(home, { p: { handler: "return skillOk('fine')" } })
  const file = join(home, 'host.mjs')
  writeFileSync(
    file,
    `import { readFileSync } from 'node:fs'
import { invokePlugin } from '${runtime}'

const anonymous = () => {
  globalThis.gc()
  return Number(/^Pss_Anon: +(\\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))[1]) / 1024
}
const witness = { granted: false, reason: 'no-declared-side-effects' }
const half = Math.floor(${INVOCATIONS} / 2)
const at = []
const isSteady = () => at.length > 1 && at.at(-1) - at.at(-2) < ${GROWTH}
while (!isSteady() && at.length < ${HALVES}) {
  for (let number = 0; number < half; number += 1) {
    const { result } = await invokePlugin('p', {}, {}, witness)
    if (result.status !== 'success') throw new Error(JSON.stringify(result))
  }
  at.push(anonymous())
}
console.log(JSON.stringify(at))
`,
  )
  // V8's space for young objects grows for a while and would hide the rest.
  const options = ['--expose-gc', '--max-semi-space-size=1']
  const { code, out, said } = await run([...options, file], home)
  assert.equal(code, 0, said)
  const at = JSON.parse(out)
  t.diagnostic(`MB after each half of ${INVOCATIONS} invocations: ${at.join(', ')}`)
  assert.ok(at.at(-1) - at.at(-2) < GROWTH, out)
})

/** Ends of a process beside an advance: the exit code and the code of the host. @type {Record<string, [number, string]>} */
const ENDS = {
  'process.exit': [3, 'runAdvance(); setTimeout(() => process.exit(3), PAUSE)'],
  'process.exit in a hook': [
    4,
    'runAdvance({ onPluginEnd: () => Math.random() < 0.3 && process.exit(4) }).then(() => process.exit(4))',
  ],
  'an error that nobody catches': [
    1,
    "runAdvance(); setTimeout(() => { throw new Error('of the host') }, PAUSE)",
  ],
  'process.exit beside an advance and invocations': [
    5,
    `runAdvance()
     const witness = { granted: false, reason: 'manual-run' }
     const again = () => invokePlugin('p0', {}, {}, witness).then(again)
     again()
     setTimeout(() => process.exit(5), PAUSE)`,
  ],
  'the end of a worker thread, and then of the process': [
    0,
    `import { Worker, isMainThread } from 'node:worker_threads'
     if (isMainThread) {
       const worker = new Worker(new URL(import.meta.url))
       setTimeout(() => worker.terminate(), PAUSE)
     } else {
       await runAdvance()
     }`,
  ],
}

for (const [name, [expected, source]] of Object.entries(ENDS)) {
  test(`an advance under ${name} leaves its record, at any moment`, async () => {
    await rounds(async (home) => {
      const file = join(home, 'host.mjs')
      const imports = `import { runAdvance } from '${index}'\nimport { invokePlugin } from '${runtime}'\n`
      writeFileSync(file, imports + source.replace('PAUSE', String(Math.random() * 500)))
      const ended = await run([file], home)
      if (ended.code !== expected) return ended
      return faultOf(home, ended.said)
    })
  })
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  test(`a command that ${signal} stops at any moment ends with 130`, async () => {
    await rounds(async (home) => {
      let sent = false
      const ended = await run([command, 'advance', '--json'], home, async (child) => {
        if (sent) return
        sent = true
        await sleep(Math.random() * 300)
        child.kill(signal)
      })
      const { status } = lastLog(home)
      // One that came when all was on record already may be heard, or come too late for that.
      const codes = status === 'interrupted' ? [130] : [0, 130]
      if (ended.code === null || !codes.includes(ended.code)) return { status, ...ended }
      if (JSON.parse(ended.out).status !== status) return { status, ...ended }
      return faultOf(home, ended.said)
    })
  })
}
