// The same fleet on the same readings leaves the same home, whichever Node.js ran it.
import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, test } from 'node:test'
import { account, bin, environment, nodes, npmDir, run } from '../support.mjs'

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

/** What differs between two runs of anything: identifiers, instants, durations. */
function settle(text) {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT\d{9}Z-[0-9a-f]{8}/g, '<run>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<instant>')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/((?:elapsed|duration)_ms\\?":\s*)\d+/g, '$1<ms>')
}

/** Every file that the steps left, as [path, text], settled. Two runs must use one path: it is in the files. */
async function homeAfter(node) {
  const home = join(directory, 'home')
  await rm(home, { recursive: true, force: true })
  await cp(join(examples, 'plugins'), join(home, 'plugins'), { recursive: true })
  await mkdir(join(home, 'config'))
  const source = join(examples, 'test', 'fixtures', 'proc-busy')
  await writeFile(join(home, 'config', 'host-metrics.json'), JSON.stringify({ source }))
  for (const args of steps) {
    const ended = run(node, [bin, ...args], { cwd: directory, env: environment(home) })
    assert.equal(ended.status, 0, `${args.join(' ')}: ${account(ended)}`)
  }
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  const files = []
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath ?? entry.path, entry.name)
    const name = relative(home, path).replace(/\d{4}-\d\d-\d\d(?=\.jsonl$)/, '<day>')
    files.push([settle(name), settle(await readFile(path, 'utf8'))])
  }
  // Three run logs have one settled name; their text puts them in order.
  return files.map((file) => file.join('\n')).sort()
}

test('two versions of Node.js leave the same home', async () => {
  const [older, newer] = nodes()
  assert.ok(newer, 'the newer Node.js is not installed')
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
