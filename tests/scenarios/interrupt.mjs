// An advance that is interrupted says so, keeps what had finished, and leaves nothing in the way of the next one.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { account, bin, environment, nodes, run } from '../support.mjs'

const manifest = (
  name,
  dependencies,
) => `import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'
export const manifest = PluginManifestSchema.parse({ name: '${name}', version: '1.0.0', description: '', autonomy_level: 'autonomous', ttl_hours: 1, dependencies: ${JSON.stringify(dependencies)} })
`
const quick = `import { skillOk } from 'warpline/unstable-result'
export const handler = async () => skillOk('done')
`
const slow = `import { setTimeout } from 'node:timers/promises'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillOk } from 'warpline/unstable-result'
export const handler: CapabilityHandlerFn = async (_manifest, _args, signal) => {
  console.log('slow has started')
  await setTimeout(50_000, undefined, { signal })
  return skillOk('too late')
}
`

async function writePlugin(home, name, dependencies, handler) {
  const directory = join(home, 'plugins', name)
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'manifest.ts'), manifest(name, dependencies))
  await writeFile(join(directory, 'handler.ts'), handler)
}

/** Starts an advance, sends the signal once the slow plugin says that it runs, and waits for the end. */
function interrupt(node, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [bin, 'advance'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), 300_000)
    let [stdout, stderr, sent] = ['', '', false]
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
      if (!sent && stderr.includes('slow has started')) {
        sent = true
        child.kill('SIGINT')
      }
    })
    child.on('error', reject)
    child.on('close', (status, signal) => {
      clearTimeout(timer)
      resolve({ status, signal, stdout, stderr })
    })
  })
}

for (const node of nodes()) {
  const version = run(node, ['--version']).stdout.trim()

  test(`${version}: an interrupted advance is on record, and the next one resumes it`, async (t) => {
    const home = await mkdtemp(join(tmpdir(), 'warpline-interrupt-'))
    t.after(() => rm(home, { recursive: true, force: true }))
    const json = async (path) => JSON.parse(await readFile(join(home, path), 'utf8'))
    await writePlugin(home, 'quick', [], quick)
    await writePlugin(home, 'slow', ['quick'], slow)

    const ended = await interrupt(node, environment(home))
    assert.equal(ended.status, 130, account(ended))
    const state = await json('state/engine-state.json')
    assert.equal(state.plugin_runs.quick.status, 'success')
    assert.notEqual(state.plugin_runs.slow?.status, 'success')
    const log = await json(`runs/${state.last_run_id}.json`)
    assert.equal(log.status, 'interrupted')
    assert.equal(log.completed_at, null)
    const left = await readdir(join(home, 'state'))
    assert.deepEqual(
      left.filter((name) => /lock|in-flight|tmp/.test(name)),
      [],
    )

    await writePlugin(home, 'slow', ['quick'], quick)
    const next = run(node, [bin, 'advance', '--force'], { env: environment(home) })
    assert.equal(next.status, 0, account(next))
    const after = await json('state/engine-state.json')
    assert.equal(after.plugin_runs.slow.status, 'success')
    const resumed = await json(`runs/${after.last_run_id}.json`)
    assert.equal(resumed.status, 'complete')
    assert.equal(resumed.resumed_from, state.last_run_id)
  })
}
