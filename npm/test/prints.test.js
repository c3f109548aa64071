// What plugins print goes to standard error; what the host prints is its own.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { temporaryDirectory, writeFiles } from './support/plugins.js'

const host = fileURLToPath(new URL('./support/printing-host.js', import.meta.url))

/** @param {string} handler */
function run(handler) {
  const root = temporaryDirectory()
  writeFiles(root, {
    'printer/manifest.ts': "console.log('manifest evaluated')\nexport const manifest = {}\n",
    'printer/handler.ts': handler,
  })
  const { status, stdout, stderr } = spawnSync(process.execPath, [host, root], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const lines = stdout.trimEnd().split('\n')
  const captured = JSON.parse((lines.pop() ?? '').replace(/^captured /, ''))
  return { status, lines, stderr, captured }
}

test('every way to print is diverted, at load, in the handler and after it', () => {
  const { status, lines, stderr, captured } = run(`
    console.log('handler evaluated')
    export async function handler() {
      console.log('log %d', 1)
      console.info('info'); console.debug('debug'); console.table([1]); console.dir({ dir: 1 })
      process.stdout.write('direct ')
      process.stdout.write(new Uint8Array([0xc3]))
      process.stdout.write(new Uint8Array([0xa9, 0x0a]))
      process.stdout.write('5a0a', 'hex')
      console.error('to stderr')
      await new Promise((resolve) => setTimeout(resolve, 5))
      console.log('after a wait')
      queueMicrotask(() => console.log('in a microtask'))
      setTimeout(() => console.log('after the end'), 10)
    }
  `)
  assert.equal(status, 0, stderr)
  assert.deepEqual(lines, ['host before', 'host meanwhile', 'host after'])
  for (const text of [
    'manifest evaluated',
    'handler evaluated',
    'log 1',
    'info',
    'debug',
    'direct é',
    'Z',
    'after a wait',
    'after the end',
  ]) {
    assert.ok(stderr.includes(text), `${text} in ${stderr}`)
  }
  const transcript = captured.map((/** @type {{ text: string }} */ print) => print.text).join('')
  for (const text of [
    'log 1\n',
    'info\n',
    'debug\n',
    'direct é\nZ\n',
    'to stderr\n',
    'after a wait\n',
    'in a microtask\n',
  ]) {
    assert.ok(transcript.includes(text), `${text} in ${transcript}`)
  }
  assert.ok(!transcript.includes('evaluated') && !transcript.includes('host'))
  assert.ok(captured.every((/** @type {{ invocation: number }} */ print) => print.invocation === 5))
  assert.equal(stderr.split('to stderr').length, 2, 'nothing is written twice')
})

test('the callback of a write is called, and megabytes arrive whole', () => {
  const { lines, stderr, captured } = run(`
    export async function handler() {
      await new Promise((resolve) => process.stdout.write('first\\n', resolve))
      for (let i = 0; i < 400; i += 1) console.log('x'.repeat(9_999))
    }
  `)
  assert.deepEqual(lines, ['host before', 'host meanwhile', 'host after'])
  assert.equal(stderr.match(/x{9999}\n/g)?.length, 400)
  assert.equal(captured.length, 401)
})

test('a plugin that ends, closes or corks a stream prints its last text, and takes the stream from nobody', () => {
  const { status, lines, stderr, captured } = run(`
    import { Readable } from 'node:stream'
    import { pipeline } from 'node:stream/promises'
    export async function handler() {
      process.stdout.cork()
      process.stderr.cork()
      console.log('not held back')
      await pipeline(Readable.from(['in a pipeline\\n']), process.stdout)
      await new Promise((resolve) => process.stdout.end('last of stdout\\n', resolve))
      await new Promise((resolve) => process.stderr.end('last of stderr\\n', 'utf8', resolve))
      await new Promise((resolve) => process.stderr.end(resolve))
      process.stdout.destroy(new Error('closed'))
      console.log('behind the end')
    }
  `)
  assert.equal(status, 0, stderr)
  assert.deepEqual(lines, ['host before', 'host meanwhile', 'host after'])
  const printed = [
    'not held back',
    'in a pipeline',
    'last of stdout',
    'last of stderr',
    'behind the end',
  ]
  const transcript = captured.map((/** @type {{ text: string }} */ print) => print.text).join('')
  assert.equal(transcript, `${printed.join('\n')}\n`)
  for (const text of printed) assert.ok(stderr.includes(`${text}\n`), `${text} in ${stderr}`)
})
