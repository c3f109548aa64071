// The fleet in TypeScript under Node.js and the fleet in Python under Python, on the same readings: the same home is left,
// and the command says the same.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { loadPluginManifests } from '../../npm/lib/unstable-runtime.js'
import { homeLeft, spoken } from '../home-left.mjs'
import { account, environment, fleet, hosts, installPlugins, npmDir, run } from '../support.mjs'

const readings = (name) => join(npmDir, 'examples', 'test', 'fixtures', `proc-${name}`)
const metrics = [
  { at: '2026-03-02', name: 'visits', value: 10.5 },
  { at: '2026-03-08T23:59:59.999Z', name: 'visits', value: 5 },
  { at: '2026-03-09T00:00:00Z', name: 'visits', value: 0.1 },
  { at: '2026-03-09T01:00:00Z', name: 'visits', value: 0.2 },
  { at: '2026-03-10T01:00:00Z', name: 'errors', value: 1e21 },
]
const steps = [
  ['plan'],
  ['plan', '--json'],
  ['plan', '--explain', 'incident-note'],
  ['advance', '--dry-run', '--json'],
  ['advance'],
  ['approve', 'incident-note', '--ttl', '2h'],
  ['plan'],
  ['advance', '--json'],
  ['approve', 'incident-note'],
  ['advance', '--profile', 'daily'],
  ['plan', '--profile', 'weekly', '--json'],
  // One file is not there: with several, the one that is named is the one whose reading ended first.
  ['run', 'host-metrics', 'now', '--input', `source=${readings('incomplete')}`],
  ['run', 'daily-digest', 'now', '--json'],
  ['run', 'metrics-rollup', 'now'],
  ['run', 'metrics-rollup', 'now', '--input', 'metrics_path=no/such/file'],
  ['run', 'metrics-rollup', 'now', '--input', 'metrics_path=config/metrics-rollup.json'],
  ['approve', 'nobody'],
  ['deny', 'incident-note', '--note', 'not now'],
  ['plan', '--json'],
  ['deny', '--list', '--json'],
  ['deny', '--remove', 'incident-note'],
  ['revoke'],
  ['advance', '--plugins', '/nowhere'],
  ['advance', '--bogus'],
  ['--help'],
  ['advance', '--help'],
]

let directory

// A manifest in Python is always run; one in TypeScript is read where it is one literal.
const unlessKnown = (text) => text.replaceAll(/"manifest": "(?:literal|run)"/g, '"manifest": <how>')

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'warpline-languages-'))
})

after(() => rm(directory, { recursive: true, force: true }))

/** What was said and what is left after the steps, by one host. Both must use one path: it is in the files. */
async function outcome({ plugins, command, args, extra }) {
  const home = join(directory, 'home')
  await rm(home, { recursive: true, force: true })
  await installPlugins(plugins, home, [...fleet, 'metrics-rollup'])
  await mkdir(join(home, 'config'))
  await writeFile(join(home, 'metrics.json'), JSON.stringify(metrics))
  const rollup = { metrics_path: 'metrics.json', retention_days: 3660 }
  await writeFile(join(home, 'config', 'metrics-rollup.json'), JSON.stringify(rollup))
  const source = readings('busy')
  await writeFile(join(home, 'config', 'host-metrics.json'), JSON.stringify({ source }))
  const said = []
  for (const step of steps) {
    const ended = run(command, [...args, ...step], {
      cwd: directory,
      env: environment(home, extra),
    })
    said.push(`$ warpline ${step.join(' ')}\n${unlessKnown(spoken(account(ended)))}`)
  }
  await rm(join(home, 'plugins'), { recursive: true })
  return { said, left: await homeLeft(home) }
}

test('two languages say the same and leave the same home', async () => {
  const [node, other] = [await outcome(hosts.node), await outcome(hosts.python)]
  for (const name of [
    'state/engine-state.json',
    'state/events.jsonl',
    'state/anomaly-watch.json',
    'state/metrics-rollup.json',
    'logs/runs/<day>.jsonl',
    'runs/<run>.json',
  ]) {
    assert.ok(
      node.left.some((file) => file.startsWith(`${name}\n`)),
      `${name} was not written`,
    )
  }
  assert.ok(
    node.said[4].startsWith('$ warpline advance\nexit 0\nRun <run>: complete'),
    node.said[4],
  )
  for (const [index, text] of node.said.entries()) assert.equal(other.said[index], text)
  assert.equal(other.left.length, node.left.length)
  for (const [index, text] of node.left.entries()) assert.equal(other.left[index], text)
})

test('a plugin has one manifest, whichever language it is written in', async () => {
  const { manifests } = await loadPluginManifests(hosts.node.plugins)
  const source = `import json, sys, warpline
print(json.dumps(warpline.load_plugin_manifests(sys.argv[1]).manifests))`
  const { command, extra, plugins } = hosts.python
  const env = environment(join(directory, 'none'), extra)
  const ended = run(command, ['-c', source, plugins], { cwd: directory, env })
  assert.equal(ended.status, 0, account(ended))
  const twins = Object.entries(JSON.parse(ended.stdout))
  assert.ok(twins.length >= 5)
  for (const [name, manifest] of twins) assert.deepEqual(manifest, manifests.get(name), name)
})

test('init prepares the same home, each with a plugin of its language', async () => {
  const made = []
  for (const { command, args, extra } of Object.values(hosts)) {
    const home = join(directory, 'made')
    await rm(home, { recursive: true, force: true })
    const env = environment(home, extra)
    const first = run(command, [...args, 'init'], { cwd: directory, env })
    await writeFile(join(home, 'metrics.json'), JSON.stringify(metrics))
    const rollup = { metrics_path: 'metrics.json' }
    await writeFile(join(home, 'config', 'metrics-rollup.json'), JSON.stringify(rollup))
    const advance = run(command, [...args, 'advance'], { cwd: directory, env })
    assert.equal(first.status, 0, account(first))
    assert.equal(advance.status, 0, account(advance))
    made.push(first.stdout.split('\n').filter((line) => !line.includes('node_modules')))
  }
  assert.deepEqual(made[1], made[0])
})
