// The program of a worker: what it says to the engine that started it, whatever plugin code does.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'

import { temporaryDirectory, writeFiles } from './support/plugins.js'
import { isRunning, soon } from './support/processes.js'
import { WorkerTalk } from './support/worker-talk.js'

const root = temporaryDirectory()
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
let plugins = 0

/**
 * @param {string} body of the handler
 * @param {string} [top] code before it
 */
function plugin(body, top = '') {
  plugins += 1
  const name = `plugin-${plugins}`
  const code = `${top}
export const handler = async (manifest: any, args: any, signal: AbortSignal, capabilities: any) => {
  ${body}
}
`
  writeFiles(root, { [`${name}/handler.ts`]: code })
  return { name, directory: join(root, name), revision: '1' }
}

/** @param {string} name of a file in the root */
const at = (name) => join(root, name)

test('it names its version first, runs what it is told to, and asks before code runs', async () => {
  const worker = new WorkerTalk()
  const call = await worker.attempt(plugin('return { args, runs: "here" }'))
  assert.deepEqual(worker.said[0], { kind: 'hello', version })
  const answer = await worker.answer(call)
  assert.deepEqual(answer.value, { args: {}, runs: 'here' })
  assert.deepEqual(
    worker.asked.map(({ what, about }) => [what, about]),
    [
      ['begin', 1],
      ['begin', 2],
    ],
  )
})

test('code that must not begin does not, and the question holds it up', async () => {
  const module = plugin(
    'return 1',
    `import { writeFileSync } from 'node:fs'
writeFileSync(${JSON.stringify(at('ran'))}, '')`,
  )
  const worker = new WorkerTalk({ answer: () => undefined })
  worker.start({ kind: 'handler', operation: 1, plugin: module, invocation: 1, secrets: [] })
  const { ask } = await worker.until(() => worker.asked[0])
  await delay(100)
  assert.equal(existsSync(at('ran')), false)
  worker.say({ kind: 'answer', ask, value: false })
  const other = worker.start({ kind: 'other', operation: 1, plugin: module, invocation: 1 })
  await worker.until(() => worker.asked.find(({ about }) => about === other))
  assert.equal(existsSync(at('ran')), false)
})

test('what is printed reaches nobody before the engine has seen it', async () => {
  const answer = (/** @type {any} */ { what, text }) => {
    if (what === 'print' || what === 'redact') return text.replaceAll('hunter2', '[gone]')
    return what === 'release' ? 'the rest\n' : true
  }
  const worker = new WorkerTalk({ answer })
  const call = await worker.attempt(
    plugin(`console.log('out hunter2')
       process.stderr.write('err hunter2\\n')
       setTimeout(() => { throw new Error('stray hunter2') })
       await new Promise((resolve) => setTimeout(resolve, 100))
       return 1`),
    { prints: true },
  )
  await worker.answer(call)
  // Loading had a rest as well.
  await worker.until(() => /out \[gone\]\nerr \[gone\]\nthe rest\n/.test(worker.shown))
  assert.doesNotMatch(worker.shown, /hunter2/)
  const told = worker.said.find(({ kind }) => kind === 'stray')
  assert.match(told?.text, / threw: stray \[gone\]$/)
})

test('bytes past the streams of the language, and a reader of standard input, harm nothing', async () => {
  const worker = new WorkerTalk()
  const call = await worker.attempt(
    plugin(
      `writeSync(1, 'direct\\n')
       execFileSync('sh', ['-c', 'echo by a child; cat'], { stdio: 'inherit' })
       return { read: readFileSync(0, 'utf8') }`,
      `import { readFileSync, writeSync } from 'node:fs'
       import { execFileSync } from 'node:child_process'`,
    ),
  )
  assert.deepEqual((await worker.answer(call)).value, { read: '' })
  await worker.until(() => /direct\nby a child\n/.test(worker.shown))
  assert.deepEqual(worker.noise, [])
})

test('a signal fires before it is said so, and the end of the code is told after', async () => {
  const worker = new WorkerTalk()
  const call = await worker.attempt(
    plugin(`
      await new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          console.error('fired: ' + signal.reason.name)
          setTimeout(resolve, 100)
        })
        console.error('listening')
      })
      return 'late'`),
  )
  await worker.until(() => worker.shown.includes('listening'))
  worker.say({ kind: 'abort', call, reason: 'timeout' })
  const { value } = await worker.answer(call)
  assert.equal(value, null)
  await worker.until(() => /fired: TimeoutError/.test(worker.shown))
  assert.deepEqual(
    worker.said.slice(-2).map(({ kind }) => kind),
    ['aborted', 'complete'],
  )
})

test('one that is kept busy says nothing of an abort', async () => {
  const worker = new WorkerTalk()
  const call = await worker.attempt(plugin(`console.error('busy'); for (;;);`))
  await worker.until(() => worker.shown.includes('busy'))
  worker.say({ kind: 'abort', call, reason: 'timeout' })
  await delay(300)
  assert.equal(worker.said.at(-1)?.kind, 'complete', 'of the load')
  worker.process.stdin.end()
  assert.deepEqual(await worker.ended, [null, 'SIGKILL'])
})

test('what is thrown is told with where it was, and without secrets', async () => {
  const worker = new WorkerTalk({ env: { API_KEY: 'hunter2', OTHER: 'plain' } })
  const module = plugin(`throw new Error('refused hunter2 plain')`)
  const answer = await worker.answer(await worker.attempt(module, { secrets: ['API_KEY'] }))
  assert.deepEqual([answer.outcome, answer.value], ['threw', 'refused hunter2 plain'])
  const fault = worker.said.find(({ kind }) => kind === 'fault')
  assert.deepEqual([fault?.operation, fault?.plugin], [5, module.name])
  assert.match(fault?.text, /^refused \[redacted\] plain\n {4}at .*handler\.ts:3:/)
  assert.ok(!fault?.text.includes('worker.js'), fault?.text)
})

test('what nobody catches is told with its plugin, and ends no other', async () => {
  const worker = new WorkerTalk()
  const patient = await worker.attempt(
    plugin(`await new Promise((resolve) => setTimeout(resolve, 500)); return 'whole'`),
  )
  const stray = plugin(`
    process.removeAllListeners()
    setTimeout(() => { throw new Error('from a timer') })
    Promise.reject(new Error('left alone'))
    return 1`)
  await worker.answer(await worker.attempt(stray))
  assert.equal((await worker.answer(patient)).value, 'whole')
  const said = () => worker.said.filter(({ kind }) => kind === 'stray').map(({ text }) => text)
  const strays = await worker.until(() => said().length >= 2 && said())
  assert.deepEqual(strays.sort(), [
    `plugin \`${stray.name}\` left a rejection unhandled: left alone`,
    `plugin \`${stray.name}\` threw: from a timer`,
  ])
})

test('a plugin that ends the process is named, and its code stands', async () => {
  const worker = new WorkerTalk()
  const module = plugin('process.exit(3)')
  await worker.attempt(module)
  assert.deepEqual(await worker.ended, [3, null])
  await worker.until(() => worker.said.find(({ kind }) => kind === 'warning'))
  const told = worker.said.at(-1)
  assert.equal(told?.text, `plugin \`${module.name}\` ended the process that it ran in`)
  assert.equal(told?.operation, 5)
})

test('the end of the engine ends the worker, and what plugin code has started with it', async () => {
  const worker = new WorkerTalk()
  const call = await worker.attempt(
    plugin(
      `const child = spawn('sleep', ['300'], { stdio: 'ignore' })
       process.on('SIGTERM', () => {})
       return { pid: child.pid }`,
      `import { spawn } from 'node:child_process'`,
    ),
  )
  const { pid } = (await worker.answer(call)).value
  assert.equal(isRunning(pid), true)
  worker.process.stdin.end()
  assert.deepEqual(await worker.ended, [null, 'SIGKILL'])
  assert.equal(await soon(() => !isRunning(pid)), true)
})

test('one that leads no group ends alone', async () => {
  const worker = new WorkerTalk({ leads: false })
  await worker.until(() => worker.said[0])
  worker.process.stdin.end()
  assert.deepEqual(await worker.ended, [null, 'SIGKILL'])
})

test('it lives on while it has nothing to do, and ends at what is no message', async () => {
  const worker = new WorkerTalk()
  await worker.until(() => worker.said[0])
  await delay(300)
  assert.equal(worker.process.exitCode, null)
  worker.process.stdin.write('hello\n')
  assert.deepEqual(await worker.ended, [null, 'SIGKILL'])
})
