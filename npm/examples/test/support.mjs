// What the tests of the examples share: a temporary home, its files, and the fixed readings.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const pluginsDir = fileURLToPath(new URL('../plugins', import.meta.url))

/** A directory in the layout of /proc with known numbers. */
export const proc = (name) => fileURLToPath(new URL(`fixtures/proc-${name}`, import.meta.url))

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
