// Processes of their own for plugins, on every runtime: the process is one of the same runtime, what comes of it the same,
// and what one plugin does to its process happens to no other.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { processesOf, soon } from '../../npm/test/support/processes.js'
import { settle } from '../home-left.mjs'
import { account, bin, environment, run } from '../support.mjs'
import { makeProject } from './support/home.mjs'
import { runtimes } from './support/runtimes.mjs'

/** Bodies of handlers, and what is said of each. Those that never end have a short time. */
const hostile = {
  exits: ['process.exit(3)', /exit code 3\b/],
  spins: ['for (;;);', /timeout/],
  kills: ["process.kill(process.pid, 'SIGKILL'); for (;;);", /SIGKILL/],
  ignores: ['setInterval(() => {}, 10); await new Promise(() => {})', /timeout/],
  which: ["return { ...fine, summary: String(process.versions[args.runtime] ?? 'none') }", /./],
}

/** After so long a command hangs. */
const HANGS_MS = 300_000

let directory

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'warpline-isolation-'))
})

after(() => rm(directory, { recursive: true, force: true }))

async function entriesOf(home) {
  const files = (await readdir(join(home, 'runs'))).filter((file) => file.endsWith('.json'))
  const text = await readFile(join(home, 'runs', files[0]), 'utf8')
  return JSON.parse(text).plugin_entries
}

/** Waits until no process of a home is left: one that was killed may take a while to go. */
async function allEnd(home) {
  await soon(() => processesOf(home).length === 0)
  assert.deepEqual(processesOf(home), [])
}

for (const { name, command, args } of runtimes()) {
  const advance = async (project, home, ...flags) => {
    const env = environment(home, { NO_COLOR: '1' })
    const given = [...args, bin, 'advance', '--json', ...flags]
    const ended = run(command, given, { cwd: project, env, timeout: HANGS_MS })
    assert.equal(ended.signal, null, account(ended))
    return ended
  }

  test(`${name}: the same comes of it`, async () => {
    const outcomes = []
    for (const flags of [[], ['--isolate']]) {
      const project = join(directory, `same-${name}`)
      await mkdir(project)
      const { home, plugins } = await makeProject(project)
      // It shows frames of whoever calls it.
      await rm(join(plugins, 'stack'), { recursive: true })
      const ended = await advance(project, home, ...flags)
      // Other processes print in between.
      assert.match(ended.stderr, /printed by the plugin\n(?:.*\n)*written by the plugin\n/)
      const entries = (await entriesOf(home)).map((entry) => settle(JSON.stringify(entry)))
      outcomes.push([
        ended.status,
        ...entries.map((text) => text.replaceAll(/"started_at".*?,/g, '')),
      ])
      await allEnd(home)
      await rm(project, { recursive: true })
    }
    assert.deepEqual(outcomes[1], outcomes[0])
  })

  test(`${name}: whatever ends a process fails one plugin`, async () => {
    const project = await mkdtemp(join(directory, 'hostile-'))
    const { home, plugins } = await makeProject(project)
    await rm(plugins, { recursive: true })
    const runtime = name.startsWith('Node.js') ? 'node' : name.toLowerCase()
    for (const [plugin, [body, told]] of Object.entries(hostile)) {
      const manifest = {
        ...{ name: plugin, version: '1.0.0', description: 'd', autonomy_level: 'autonomous' },
        ...{ ttl_hours: 1, timeout_ms: told.source === 'timeout' ? 1000 : 120_000 },
      }
      await mkdir(join(plugins, plugin), { recursive: true })
      await writeFile(
        join(plugins, plugin, 'manifest.ts'),
        `export const manifest = ${JSON.stringify(manifest)}\n`,
      )
      await writeFile(
        join(plugins, plugin, 'handler.ts'),
        `const args = { runtime: '${runtime}' }
const fine = { status: 'success', phases_completed: [], phases_failed: [], data_freshness: {} }
export const handler = async () => { ${body} }
`,
      )
    }
    const ended = await advance(project, home, '--isolate')
    assert.equal(ended.status, 1, account(ended))
    const entries = await entriesOf(home)
    assert.equal(entries.length, Object.keys(hostile).length)
    for (const { plugin, status, result_summary } of entries) {
      assert.equal(status, plugin === 'which' ? 'completed' : 'failed', account(ended))
      assert.match(result_summary, hostile[plugin][1], plugin)
    }
    const which = entries.find(({ plugin }) => plugin === 'which')
    assert.match(which.result_summary, /^v?\d+\./, 'a process of the same runtime')
    await allEnd(home)
  })
}
