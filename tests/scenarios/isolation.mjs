// Every example, with a process for each attempt and without: the command says the same, and the same home is left.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { processesOf } from '../../npm/test/support/processes.js'
import { homeLeft, spoken } from '../home-left.mjs'
import { account, environment, hosts, installPlugins, npmDir, run } from '../support.mjs'

const source = join(npmDir, 'examples', 'test', 'fixtures', 'proc-busy')
const metrics = [
  { at: '2026-03-02', name: 'visits', value: 10.5 },
  { at: '2026-03-08T23:59:59.999Z', name: 'visits', value: 5 },
]
const steps = [
  ['advance'],
  ['approve', '--all', '--ttl', '2h'],
  ['advance', '--force', '--json'],
  ['run', 'host-metrics', 'now', '--json'],
  ['run', 'metrics-rollup', 'now', '--input', 'metrics_path=no/such/file'],
  ['status', '--json'],
]
/** The verbs that run plugins. */
const RUNNING = ['advance', 'run']

let directory

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'warpline-isolation-'))
})

after(() => rm(directory, { recursive: true, force: true }))

/** What was said and what is left after the steps. Both go over one path: it is in the files. */
async function outcome({ command, args, plugins }, ...flags) {
  const home = join(directory, 'home')
  await rm(home, { recursive: true, force: true })
  const names = await readdir(plugins)
  await installPlugins(plugins, home, names)
  await mkdir(join(home, 'config'))
  await writeFile(join(home, 'metrics.json'), JSON.stringify(metrics))
  const rollup = { metrics_path: 'metrics.json', retention_days: 3660 }
  await writeFile(join(home, 'config', 'metrics-rollup.json'), JSON.stringify(rollup))
  await writeFile(join(home, 'config', 'host-metrics.json'), JSON.stringify({ source }))
  const said = []
  for (const [verb, ...rest] of steps) {
    const more = RUNNING.includes(verb) ? flags : []
    const env = environment(home)
    const ended = run(command, [...args, verb, ...rest, ...more], { cwd: directory, env })
    said.push(`$ warpline ${verb} ${rest.join(' ')}\n${spoken(account(ended))}`)
    assert.deepEqual(processesOf(home), [])
  }
  await rm(join(home, 'plugins'), { recursive: true })
  return { names, said, left: await homeLeft(home) }
}

test('fourteen examples come to the same in processes of their own', async () => {
  const { names, said, left } = await outcome(hosts.node)
  assert.equal(names.length, 14)
  const apart = await outcome(hosts.node, '--isolate')
  for (const [index, text] of said.entries()) assert.equal(apart.said[index], text)
  assert.deepEqual(apart.left, left)
})
