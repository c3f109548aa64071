// The same fleet on the same readings leaves the same home, whichever Node.js ran it.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { homeLeft } from '../home-left.mjs'
import {
  account,
  bin,
  environment,
  fleet,
  installPlugins,
  nodes,
  npmDir,
  run,
} from '../support.mjs'

const examples = join(npmDir, 'examples')
const steps = [
  ['advance'],
  ['approve', 'incident-note'],
  ['advance'],
  ['approve', 'incident-note'],
  ['advance'],
]

let directory

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'warpline-nodes-'))
})

after(() => rm(directory, { recursive: true, force: true }))

/** Every file that the steps left. */
async function homeAfter(node) {
  const home = join(directory, 'home')
  await rm(home, { recursive: true, force: true })
  await installPlugins(join(examples, 'plugins'), home, fleet)
  await mkdir(join(home, 'config'))
  const source = join(examples, 'test', 'fixtures', 'proc-busy')
  await writeFile(join(home, 'config', 'host-metrics.json'), JSON.stringify({ source }))
  for (const args of steps) {
    const ended = run(node, [bin, ...args], { cwd: directory, env: environment(home) })
    assert.equal(ended.status, 0, `${args.join(' ')}: ${account(ended)}`)
  }
  return homeLeft(home)
}

test('a version that is not there is not passed over', () => {
  const [older, newer] = nodes()
  assert.throws(() => nodes([older]), /need Node.js 22/)
  assert.throws(() => nodes([newer]), /need Node.js 20/)
  assert.throws(() => nodes([older, join(directory, 'absent')]), /need Node.js 22/)
})

test('two versions of Node.js leave the same home', async () => {
  const [older, newer] = nodes()
  const [first, second] = [await homeAfter(older), await homeAfter(newer)]
  for (const name of [
    'state/engine-state.json',
    'state/events.jsonl',
    'state/anomaly-watch.json',
    'logs/runs/<day>.jsonl',
    '.session-approval',
  ]) {
    assert.ok(
      first.some((file) => file.startsWith(`${name}\n`)),
      `${name} was not written`,
    )
  }
  assert.deepEqual(second, first)
})
