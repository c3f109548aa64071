// An advance that is killed while an effect is under way: the next one says so, and fires no second effect.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { account, bin, environment, nodes, run } from '../support.mjs'

const manifest = `import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'
export const manifest = PluginManifestSchema.parse({ name: 'sender', version: '1.0.0', description: '', autonomy_level: 'autonomous', ttl_hours: 1, timeout_ms: 300_000, side_effects: ['sends_email'] })
`
const handler = `import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
export const handler: CapabilityHandlerFn = async () => {
  appendFileSync(join(process.env.WARPLINE_HOME!, 'outbox'), 'a letter\\n')
  console.log('the letter is out')
  return new Promise(() => {})
}
`

/** Starts an advance and kills it once the effect has happened. */
function killed(node, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [bin, 'advance'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const timer = setTimeout(() => child.kill('SIGTERM'), 300_000)
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
      if (stderr.includes('the letter is out')) child.kill('SIGKILL')
    })
    child.on('error', reject)
    child.on('close', (status, signal) => {
      clearTimeout(timer)
      resolve({ status, signal, stdout: '', stderr })
    })
  })
}

for (const node of nodes()) {
  const version = run(node, ['--version']).stdout.trim()

  test(`${version}: a killed advance is told of, and its effect does not happen again`, async (t) => {
    const home = await mkdtemp(join(tmpdir(), 'warpline-crash-'))
    t.after(() => rm(home, { recursive: true, force: true }))
    const text = (path) => readFile(join(home, path), 'utf8')
    const json = async (path) => JSON.parse(await text(path))
    const env = environment(home)
    await mkdir(join(home, 'plugins', 'sender'), { recursive: true })
    await writeFile(join(home, 'plugins', 'sender', 'manifest.ts'), manifest)
    await writeFile(join(home, 'plugins', 'sender', 'handler.ts'), handler)
    const approved = run(node, [bin, 'approve', 'sender'], { env })
    assert.equal(approved.status, 0, account(approved))

    const ended = await killed(node, env)
    assert.equal(ended.signal, 'SIGKILL', account(ended))
    assert.equal(await text('outbox'), 'a letter\n')
    const [line, ...more] = (await text('state/in-flight.jsonl')).trimEnd().split('\n')
    assert.deepEqual(more, [])
    const { run_id, plugin } = JSON.parse(line)
    assert.equal(plugin, 'sender')

    for (const flags of [[], ['--profile', 'daily']]) {
      const next = run(node, [bin, 'advance', '--json', ...flags], { env })
      assert.equal(next.status, 0, account(next))
      assert.deepEqual(JSON.parse(next.stdout).plugin_states, { sender: 'skipped' })
      assert.equal(await text('outbox'), 'a letter\n', 'the effect happened again')
    }
    const state = await json('state/engine-state.json')
    assert.equal(state.plugin_runs.sender.status, 'failed')
    assert.equal((await json(`runs/${run_id}.json`)).status, 'interrupted')
    const events = (await text('state/events.jsonl')).trimEnd().split('\n').map(JSON.parse)
    const told = events.map(({ metadata_json }) => JSON.parse(metadata_json))
    const unfinished = told.filter((metadata) => metadata?.event === 'run_unfinished')
    assert.deepEqual(unfinished, [{ event: 'run_unfinished', plugin: 'sender', run_id }])
    const left = (await readdir(join(home, 'state'))).filter((name) =>
      /lock|in-flight|tmp/.test(name),
    )
    assert.deepEqual(left, [])
  })
}
