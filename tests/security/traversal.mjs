// Names that lead elsewhere, at every entry that takes one: nothing beside the home is read, written or unlinked.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { hosts, run } from '../support.mjs'
import { account, place, plugin, returns, snapshot, warpline } from './support/home.mjs'

const NAMES = [
  '../victim',
  '../runs/victim',
  '../plugins/victim',
  '/etc/passwd',
  'a/../../victim',
  '..',
  '.',
  '..\\victim',
  'x'.repeat(5000),
  '\u2025/victim',
  '\uff0e\uff0e/victim',
  'p\u0301',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
]

/** Commands that take a name of a plugin, run or notice; the name stands for `NAME`. */
const VERBS = [
  ['run', 'NAME', 'now'],
  ['approve', 'NAME'],
  ['approve', 'fine', '--run', 'NAME'],
  ['deny', 'NAME'],
  ['deny', '--remove', 'NAME'],
  ['forget', 'NAME'],
  ['configure', 'NAME', '--from', '{}'],
  ['scaffold', 'NAME'],
  ['scaffold', 'new-one', '--from', 'NAME'],
  ['show', 'NAME'],
  ['show', 'fine', 'NAME'],
  ['log', 'NAME'],
  ['check', 'NAME'],
  ['plan', '--explain', 'NAME'],
  ['ack', 'NAME'],
  ['defer', 'NAME', '1h'],
  ['done', 'NAME'],
]

describe('names that lead elsewhere', { concurrency: 2 }, () => {
  for (const verb of VERBS) {
    test(`warpline ${verb.join(' ')}`, async (t) => {
      const { around, home } = place(t)
      plugin('node', home, 'fine', returns('node'))
      await warpline('node', home, ['advance'])
      const before = snapshot(around, home)
      const inside = snapshot(home)
      for (const name of NAMES) {
        const words = verb.map((word) => (word === 'NAME' ? name : word))
        const ended = await warpline('node', home, words)
        const said = account(ended)
        assert.ok([0, 1].includes(ended.status), said)
        assert.doesNotMatch(said, /panick|executed|"victim":true|root:/, said)
        assert.deepEqual(snapshot(around, home), before, name)
        if (ended.status === 0) continue
        const left = snapshot(home)
        // A refused command may have left the schema of editors or its events, but nothing by that name.
        for (const path of Object.keys(left).filter((path) => !(path in inside))) {
          assert.doesNotMatch(path, /victim|passwd|x{50}|proto|constructor/, path)
        }
      }
    })
  }

  const programs = {
    node: {
      args: (code) => ['--input-type=module', '-e', code],
      code: `import { invokePlugin } from '${join(hosts.node.args[0], '../../lib/unstable-runtime.mjs')}'
        import { runAdvance } from '${join(hosts.node.args[0], '../../lib/index.mjs')}'
        const witness = { granted: false, reason: 'manual-run' }
        for (const name of [...NAMES, 'a\\0b', '\\ud800']) {
          const call = (...given) => invokePlugin(...given).then(({ result }) => result.status, (error) => error.code ?? error.name)
          const told = [await call(name, {}, {}, witness), await call('fine', {}, { persistArtifact: true, runId: name }, witness)]
          if (told[0] === 'success') throw new Error('ran ' + JSON.stringify(name))
          const isId = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(name)
          if ((told[1] === 'success') !== isId) throw new Error('run id ' + JSON.stringify(name) + told[1])
        }
        if ({}.polluted !== undefined) throw new Error('polluted')
        await runAdvance()`,
    },
    python: {
      args: (code) => ['-c', code],
      code: `import re
import warpline
for name in [*NAMES, 'a\\0b']:
    def call(*args, **options):
        try:
            witness = {'granted': False, 'reason': 'manual-run'}
            return warpline.invoke_plugin(*args, witness=witness, **options)
        except (warpline.WarplineError, ValueError, TypeError) as error:
            return error
    told = call(name, {})
    assert getattr(told, 'result', {'status': 'refused'})['status'] != 'success', name
    told = call('fine', {}, persist_artifact=True, run_id=name)
    is_id = re.fullmatch(r'[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}', name) is not None
    ran = not isinstance(told, Exception) and told.result['status'] == 'success'
    assert ran == is_id, (name, told)
warpline.run_advance()
`,
    },
  }
  for (const host of Object.keys(programs)) {
    test(`the ${host} library`, (t) => {
      const { around, home } = place(t)
      plugin(host, home, 'fine', returns(host))
      const before = snapshot(around, home)
      const { command, extra } = hosts[host]
      const code = programs[host].code.replaceAll('NAMES', JSON.stringify(NAMES))
      const env = { ...process.env, ...extra, WARPLINE_HOME: home }
      const ended = run(command, programs[host].args(code), { env, cwd: around })
      assert.equal(ended.status, 0, account(ended))
      assert.deepEqual(snapshot(around, home), before)
    })
  }

  test('run ids in documents unlink nothing elsewhere', async (t) => {
    const { around, home } = place(t)
    plugin('node', home, 'fine', returns('node'))
    mkdirSync(join(home, 'runs'))
    for (const [at, id] of ['../victim', '../runs/victim', join(around, 'victim')].entries()) {
      const document = {
        run_id: id,
        plugin: 'fine',
        started_at: `2020-01-0${at + 1}T00:00:00.000Z`,
      }
      writeFileSync(join(home, 'runs', `d${at}.json`), JSON.stringify(document))
    }
    const before = snapshot(around, home)
    for (let turn = 0; turn < 3; turn += 1) await warpline('node', home, ['run', 'fine', 'now'])
    await warpline('node', home, ['advance', '--force'])
    assert.deepEqual(snapshot(around, home), before)
  })
})
