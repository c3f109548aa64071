// Plays what `behaviour.json` beside a plugin's modules says, for plugins in TypeScript.
import { existsSync, writeFileSync } from 'node:fs'
import { appendFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The handler of the plugin whose module lies at this URL. */
export function play(url) {
  const directory = dirname(fileURLToPath(url))
  return async (_manifest, args, signal, capabilities) => {
    const { calls, name, does } = JSON.parse(await readFile(join(directory, 'behaviour.json')))
    const called = join(calls, name)
    await mkdir(calls, { recursive: true })
    await appendFile(called, '.')
    const { size } = await stat(called)
    const now = does[Math.min(size, does.length) - 1]
    for (const line of now.prints ?? []) console.log(line)
    for (const [path, text] of Object.entries(now.writes ?? {})) {
      await writeFile(join(process.env.WARPLINE_HOME, path), text)
    }
    if (now.sleeps) await wait(now.sleeps)
    const marks = [now.holds ?? []].flat().map((mark) => join(calls, mark))
    while (!marks.every((mark) => existsSync(mark))) await wait(10)
    if (now.waits) {
      if (!signal.aborted) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      }
      if (now.tells) writeFileSync(`${called}.aborted`, '')
    }
    const fill = (text) =>
      text.replaceAll(/\$\{(\w+)(?:\.([^}]*))?\}/g, (_, kind, key) =>
        FILLERS[kind](key, args, capabilities),
      )
    if ('throws' in now) throw new Error(fill(now.throws))
    return now.nothing ? undefined : filled(now.returns, fill)
  }
}

const shown = (value) => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

/** What `${kind.key}` in a text of a result stands for. */
const FILLERS = {
  arg: (key, args) => shown(args[key]),
  args: (_, args) => JSON.stringify(args),
  bytes: (key) => 'x'.repeat(Number(key)),
  output(key, _, { caller, dependencies }) {
    const output = dependencies.lastOutput(caller, key)
    return output === null ? 'null' : (output.body ?? output.path)
  },
  plugin: (_, __, { caller }) => caller.plugin,
  run: (key, _, { caller, dependencies }) => shown(dependencies.lastRun(caller, key)),
  secret: (key) => process.env[key],
  secrets: (_, __, { caller, secrets }) => secrets.resolvedNames(caller).join(' '),
}

function filled(value, fill) {
  if (typeof value === 'string') return fill(value)
  if (Array.isArray(value)) return value.map((item) => filled(item, fill))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, fill)]))
}
