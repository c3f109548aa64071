// What the tests of the examples share: a temporary home, its files, and the fixed readings.
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openTestHome } from 'warpline/unstable-testing'
import { native } from '../../lib/native.js'

export const pluginsDir = fileURLToPath(new URL('../plugins', import.meta.url))

/** A directory in the layout of /proc with known numbers. */
export const proc = (name) => fileURLToPath(new URL(`fixtures/proc-${name}`, import.meta.url))

/** A home in which the examples run one by one; it is gone after the test. */
export async function testHome(t) {
  const home = await openTestHome({ pluginsDir })
  t.after(() => home.remove())
  return home
}

/** Imports a file of an example that imports none itself. Node.js 20 reads no TypeScript. */
export async function importRules(path) {
  const { source } = native().eraseFile(join(pluginsDir, path))
  return import(`data:text/javascript,${encodeURIComponent(source)}`)
}

/** The JSON body of a result's last Output. */
export const bodyOf = ({ artifacts_produced }) => JSON.parse(artifacts_produced.at(-1).body)

/** The first error of a run that failed. */
export function errorOf({ result }) {
  if (result.status !== 'failed') throw new Error(`the run did not fail: ${result.summary}`)
  return result.errors[0]
}

/**
 * A server on this machine: `answer(request, outgoing)` gives `[status, body, headers]`, where `request` is
 * `{method, path, headers, body}`, or writes to `outgoing` itself. What was asked is kept in `asked`.
 */
export async function serve(t, answer) {
  const asked = []
  const server = createServer(async (incoming, outgoing) => {
    let body = ''
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk
    const { method, url: path, headers } = incoming
    const request = { method, path, headers, body }
    asked.push(request)
    const answered = await answer(request, outgoing)
    // Without an answer, whoever asked waits.
    if (answered === undefined) return
    const [status, text, more = {}] = answered
    outgoing.writeHead(status, more)
    outgoing.end(typeof text === 'string' ? text : JSON.stringify(text))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${server.address().port}`, asked }
}

/** An address at which nobody listens. */
export async function deadUrl() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

/** Puts some of the examples into the plugin folder of a home, for an advance. */
export async function install(home, ...plugins) {
  await mkdir(join(home, 'plugins'), { recursive: true })
  for (const plugin of plugins) {
    await symlink(join(pluginsDir, plugin), join(home, 'plugins', plugin))
  }
  return join(home, 'plugins')
}

/** Makes an empty home the one of this process; it is gone after the test. */
export async function temporaryHome(t) {
  const home = await mkdtemp(join(tmpdir(), 'warpline-examples-'))
  const before = process.env.WARPLINE_HOME
  process.env.WARPLINE_HOME = home
  t.after(async () => {
    if (before === undefined) delete process.env.WARPLINE_HOME
    else process.env.WARPLINE_HOME = before
    await rm(home, { recursive: true, force: true })
  })
  return home
}

export async function write(home, path, value) {
  const file = join(home, path)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value))
}

export const configure = (home, plugin, values) => write(home, `config/${plugin}.json`, values)

export async function readJson(home, path) {
  return JSON.parse(await readFile(join(home, path), 'utf8'))
}

/** The JSON body of the last Output on record. */
export async function lastBody(home, plugin) {
  const state = await readJson(home, 'state/engine-state.json')
  return state.plugin_runs[plugin].last_output.body
}

/** A grant as the command writes it; the library has no way to make one. */
export async function grant(home, ...scopes) {
  const now = Date.now()
  await write(home, '.session-approval', {
    granted_at: new Date(now).toISOString(),
    first_granted_at: new Date(now).toISOString(),
    expires_at: new Date(now + 3_600_000).toISOString(),
    scopes,
  })
}
