// Documents that are too large or too deep, in every place of a home: refused or handled, in memory that is bounded.
import assert from 'node:assert/strict'
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { bin, environment, run } from '../support.mjs'
import { account, place, plugin, returns, write } from './support/home.mjs'

const MIB = 1024 * 1024
// A document of 100 MB is read whole before it is refused, and parsed where it is JSON.
const MEMORY_KIB = 6 * 1024 * 1024

const DOCUMENTS = [
  'state/engine-state.json',
  'state/acknowledgements.json',
  'state/events.jsonl',
  'state/in-flight.jsonl',
  'preferences.json',
  '.session-approval',
  'config/fine.json',
  'runs/r1.json',
  `logs/runs/${new Date().toISOString().slice(0, 10)}.jsonl`,
]

function bounded(home, words) {
  const limited = [
    '-c',
    `ulimit -v ${MEMORY_KIB}; exec "$@"`,
    'sh',
    process.execPath,
    bin,
    ...words,
  ]
  const ended = run('sh', limited, { env: environment(home) })
  assert.equal(ended.signal, null, `${words}: ${account(ended).slice(0, 300)}`)
  assert.ok([0, 1, 75].includes(ended.status), `${words}: ${account(ended).slice(0, 600)}`)
  assert.doesNotMatch(ended.stderr, /panick|overflow|Aborted/, `${words}`)
  return ended
}

for (const document of DOCUMENTS) {
  test(`a huge ${document}`, (t) => {
    const { home } = place(t)
    plugin('node', home, 'fine', returns('node'))
    mkdirSync(dirname(join(home, document)), { recursive: true })
    write(home, { [document]: '['.repeat(1_000_000) })
    for (const words of [['advance'], ['status'], ['run', 'fine', 'now']]) bounded(home, words)
    const file = openSync(join(home, document), 'w', 0o600)
    const piece = Buffer.alloc(MIB, 'x')
    writeSync(file, '{"a":"')
    for (let at = 0; at < 100; at += 1) writeSync(file, piece)
    writeSync(file, '"}')
    closeSync(file)
    for (const words of [['advance'], ['status']]) bounded(home, words)
  })
}

test('a state of 50 MB works', (t) => {
  const { home } = place(t)
  plugin('node', home, 'fine', returns('node'))
  write(home, {
    'state/engine-state.json': JSON.stringify({ schema_version: 1, kept: 'x'.repeat(50 * MIB) }),
  })
  const ended = bounded(home, ['advance', '--json'])
  assert.equal(ended.status, 0, account(ended).slice(0, 500))
  assert.equal(JSON.parse(ended.stdout).status, 'complete')
  assert.equal(bounded(home, ['status']).status, 0)
})
