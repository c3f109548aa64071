// Links in a home: one that leads out of it is written through by no command, and each refusal names the file.
import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { hosts } from '../support.mjs'
import { account, place, plugin, returns, snapshot, warpline } from './support/home.mjs'

const GATED = { autonomy_level: 'supervised', side_effects: ['sends_email'] }

/** The commands that write, in an order in which each has something to do. */
const COMMANDS = [
  ['approve', 'acts'],
  ['advance', '--force'],
  ['deny', 'fine', '--note', 'n'],
  ['deny', '--remove', 'fine'],
  ['run', 'fine', 'now'],
  ['configure', 'fine', '--from', '{"a":"b"}'],
  ['ack', '--all'],
  ['approve', 'acts'],
  ['forget', 'fine'],
  ['scaffold', 'another'],
  ['init'],
  ['revoke'],
]

/** What a link takes the place of; a directory ends in a slash. */
const LINKED = [
  'state/',
  'runs/',
  'logs/',
  'logs/runs/',
  'config/',
  'config/schemas/',
  'node_modules/',
  'state/engine-state.json',
  'state/events.jsonl',
  'state/acknowledgements.json',
  'state/last-successful-advance',
  'state/in-flight.jsonl',
  'state/.lock',
  'state/.state.lock',
  'config/fine.json',
  '.session-approval',
  'preferences.json',
  'package.json',
  'tsconfig.json',
]

function prepare(t, host) {
  const given = place(t)
  plugin(host, given.home, 'fine', returns(host), {
    inputs: { a: { type: 'string', required: false, default: 'x', description: 'd' } },
  })
  plugin(host, given.home, 'acts', returns(host), GATED)
  return given
}

for (const host of Object.keys(hosts)) {
  describe(`links under ${host}`, { concurrency: 2 }, () => {
    for (const linked of LINKED) {
      // The engine is one: what a document's place decides is asked of one host for each kind.
      if (host === 'python' && !['state/', '.session-approval', 'state/.lock'].includes(linked))
        continue
      test(`${linked} leads out`, async (t) => {
        const { around, home } = prepare(t, host)
        await warpline(host, home, ['advance'])
        const path = join(home, linked.replace(/\/$/, ''))
        const outside = join(around, 'target')
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        if (existsSync(path)) renameSync(path, outside)
        else if (linked.endsWith('/')) mkdirSync(outside)
        else writeFileSync(outside, linked.endsWith('.jsonl') ? '' : '{}')
        symlinkSync(outside, path)
        const before = snapshot(around, home)
        let refused = 0
        for (const words of COMMANDS) {
          const ended = await warpline(host, home, words)
          assert.deepEqual(snapshot(around, home), before, `${words}\n${account(ended)}`)
          if (ended.stderr.includes(path)) refused += 1
          // Taking the grant away removes the link itself.
          if (words[0] !== 'revoke' && !linked.includes('in-flight'))
            assert.ok(lstatSync(path).isSymbolicLink(), `${words}`)
        }
        // What people write themselves is only read, and a link for a journal goes once it is read.
        const isRead = [
          'preferences.json',
          'package.json',
          'tsconfig.json',
          'state/in-flight.jsonl',
        ].includes(linked)
        if (!isRead) assert.ok(refused > 0, 'a refusal names the path')
      })
    }

    test('links that dangle are refused, and make nothing', async (t) => {
      for (const linked of [
        'state',
        'runs',
        'state/engine-state.json',
        '.session-approval',
        'state/events.jsonl',
      ]) {
        const { around, home } = prepare(t, host)
        mkdirSync(join(home, 'state'), { mode: 0o700 })
        if (linked === 'state') rmSync(join(home, 'state'), { recursive: true })
        symlinkSync(join(around, 'nothing'), join(home, linked))
        const before = snapshot(around, home)
        for (const words of COMMANDS.slice(0, 3)) await warpline(host, home, words)
        assert.deepEqual(snapshot(around, home), before, linked)
      }
    })

    test('links inside the home, and a home that is a link, work', async (t) => {
      const { around, home } = prepare(t, host)
      const [real, link] = [join(home, 'elsewhere'), join(around, 'link')]
      for (const name of ['state', 'runs', 'logs', 'config']) {
        mkdirSync(join(real, name), { recursive: true, mode: 0o700 })
        symlinkSync(name === 'state' ? `elsewhere/${name}` : join(real, name), join(home, name))
      }
      symlinkSync(home, link)
      for (const words of COMMANDS) {
        const ended = await warpline(host, link, words)
        assert.ok([0, 1].includes(ended.status), account(ended))
        assert.doesNotMatch(ended.stderr, /link/, account(ended))
      }
      assert.ok(existsSync(join(real, 'state', 'engine-state.json')))
      assert.ok(existsSync(join(real, 'config', 'fine.json')))
    })
  })
}
