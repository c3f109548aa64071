// Homes that others can write, and the modes of everything that a command makes.
import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { hosts, run } from '../support.mjs'
import { account, place, plugin, returns, snapshot, warpline } from './support/home.mjs'

const ACTING = [
  ['advance'],
  ['advance', '--dry-run'],
  ['plan'],
  ['run', 'fine', 'now'],
  ['approve', '--all'],
  ['deny', 'fine'],
  ['configure', 'fine', '--from', '{}'],
  ['scaffold', 'another'],
  ['ack', '--all'],
  ['defer', 'x', '1h'],
  ['done', 'x'],
  ['forget', 'fine'],
  ['init'],
  ['status'],
  ['log'],
  ['show', 'fine'],
]
const READING = [['board'], ['tasks'], ['handoffs'], ['check'], ['revoke']]
const PATHS = ['.', 'plugins', 'config', 'state', 'runs', '.session-approval']

function prepare(t, host) {
  const { home, around } = place(t)
  const marker = join(around, 'ran')
  const body =
    host === 'node'
      ? `(await import('node:fs')).writeFileSync(${JSON.stringify(marker)}, '')`
      : `open(${JSON.stringify(marker)}, 'w')`
  plugin(host, home, 'fine', `${body}\n${returns(host)}`)
  for (const name of ['config', 'state', 'runs']) mkdirSync(join(home, name))
  for (const path of PATHS.slice(0, -1)) chmodSync(join(home, path), 0o755)
  writeFileSync(join(home, '.session-approval'), '{}', { mode: 0o600 })
  return { home, around }
}

for (const host of Object.keys(hosts)) {
  describe(`a home that others can write, under ${host}`, { concurrency: 2 }, () => {
    for (const path of PATHS) {
      test(`${path}: refused by what acts, told by what reads`, async (t) => {
        const { home, around } = prepare(t, host)
        const open = join(home, path)
        chmodSync(open, path === '.session-approval' ? 0o666 : 0o777)
        const before = snapshot(around)
        // Every command looks at the same list: one path is tried with all of them.
        for (const words of path === 'plugins' ? ACTING : ACTING.slice(0, 4)) {
          const ended = await warpline(host, home, words)
          assert.equal(ended.status, words[0] === 'advance' ? 75 : 1, account(ended))
          assert.match(
            ended.stderr,
            /^error: .* can be written by others \(mode 0[67]{3}\); run `chmod go-w /m,
          )
          assert.ok(ended.stderr.includes(open.replace(/\/\.$/, '')), account(ended))
          assert.match(ended.stderr, /^hint: .*WARPLINE_ALLOW_SHARED_HOME=1/m)
          assert.equal(ended.stdout, '')
          assert.deepEqual(snapshot(around), before, `${words}`)
        }
        for (const words of path === 'plugins' ? READING : READING.slice(0, 1)) {
          const ended = await warpline(host, home, words)
          assert.match(ended.stderr, /^⚠ .* can be written by others/m, account(ended))
          assert.equal(ended.status, 0, account(ended))
        }
        const allowed = await warpline(host, home, ['advance', '--dry-run'], {
          WARPLINE_ALLOW_SHARED_HOME: '1',
        })
        assert.equal(allowed.status, 0, account(allowed))
        const not = await warpline(host, home, ['advance', '--dry-run'], {
          WARPLINE_ALLOW_SHARED_HOME: 'yes',
        })
        assert.equal(not.status, 75, account(not))
      })
    }

    test('the library refuses as well', (t) => {
      const { home, around } = prepare(t, host)
      chmodSync(join(home, 'state'), 0o777)
      const before = snapshot(around)
      const lib = join(hosts.node.args[0], '../../lib')
      const code = {
        node: [
          '--input-type=module',
          '-e',
          `import { runAdvance } from '${lib}/index.mjs'
import { invokePlugin } from '${lib}/unstable-runtime.mjs'
const codes = []
for (const call of [() => runAdvance(), () => invokePlugin('fine', {}, {}, { granted: false, reason: 'manual-run' })])
  await call().catch((error) => codes.push(error.code))
console.log(codes.join())`,
        ],
        python: [
          '-c',
          `import warpline
codes = []
for call in (warpline.run_advance, lambda: warpline.invoke_plugin('fine', witness={'granted': False, 'reason': 'manual-run'})):
    try: call()
    except warpline.SharedHomeError as error: codes.append(error.code)
print(','.join(codes))`,
        ],
      }[host]
      const env = { ...process.env, ...hosts[host].extra, WARPLINE_HOME: home }
      const ended = run(hosts[host].command, code, { env })
      assert.equal(
        ended.stdout.trim(),
        'ERR_WARPLINE_SHARED_HOME,ERR_WARPLINE_SHARED_HOME',
        account(ended),
      )
      assert.deepEqual(snapshot(around), before)
    })

    test('a home of another user is refused, and a sticky directory above it is not', {
      skip: process.getuid() !== 0,
    }, async (t) => {
      const { home, around } = prepare(t, host)
      chmodSync(around, 0o1777)
      assert.equal((await warpline(host, home, ['plan'])).status, 0)
      chownSync(home, 12345, 12345)
      const ended = await warpline(host, home, ['plan'])
      assert.match(ended.stderr, /belongs to user 12345/, account(ended))
      chownSync(home, 0, 12345)
      chmodSync(home, 0o775)
      assert.match((await warpline(host, home, ['plan'])).stderr, /written by others \(mode 0775\)/)
    })
  })
}

describe('what commands make is its owner\u2019s alone', { concurrency: 2 }, () => {
  for (const umask of ['000', '002', '022', '077']) {
    test(`with umask ${umask}`, async (t) => {
      const { home } = place(t)
      rmSync(home, { recursive: true })
      const at = { umask }
      const steps = [
        ['init'],
        ['scaffold', 'mine'],
        ['configure', 'mine', '--from', '{}'],
        ['approve', '--all'],
        ['advance'],
        ['run', 'mine', 'now'],
        ['deny', 'mine'],
        ['ack', '--all'],
      ]
      for (const words of steps) {
        const ended = await warpline('node', home, words, {}, at)
        assert.ok(ended.status === 0 || words[0] === 'ack', account(ended))
      }
      const seen = []
      const walk = (path) => {
        const facts = lstatSync(path)
        if (facts.isSymbolicLink()) return
        seen.push(path.slice(home.length))
        const mode = (facts.mode & 0o7777).toString(8)
        assert.equal(mode, facts.isDirectory() ? '700' : '600', path)
        if (facts.isDirectory()) for (const name of readdirSync(path)) walk(join(path, name))
      }
      walk(home)
      for (const path of [
        '',
        '/state',
        '/runs',
        '/logs/runs',
        '/config',
        '/plugins/mine/handler.ts',
        '/.session-approval',
      ]) {
        assert.ok(seen.includes(path), `${path} of ${seen}`)
      }
      // What an operator opened stays open.
      for (const path of ['state/engine-state.json', 'state/events.jsonl'])
        chmodSync(join(home, path), 0o644)
      await warpline('node', home, ['advance', '--force'], {}, at)
      assert.equal(lstatSync(join(home, 'state/engine-state.json')).mode & 0o777, 0o644)
      assert.equal(lstatSync(join(home, 'state/events.jsonl')).mode & 0o777, 0o644)
      assert.equal(lstatSync(join(home, 'state/last-successful-advance')).mode & 0o777, 0o600)
    })
  }
})
