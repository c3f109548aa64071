// Times a fleet of small plugins against plain Node.js importing and calling the same code.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { account, bin, environment, npmDir, run } from '../support.mjs'

const PLUGINS = Number(process.argv[2] ?? 300)
const REPEATS = 5

const directory = await mkdtemp(join(tmpdir(), 'warpline-bench-'))
const home = join(directory, 'home')
const env = environment(home)

const manifest = (name) =>
  `{ name: '${name}', version: '1.0.0', description: '', autonomy_level: 'autonomous', ttl_hours: 1 }`
const handler = `export const handler = async () => ({ status: 'success', phases_completed: [], phases_failed: [], data_freshness: {}, summary: '' })\n`

async function makePlugins() {
  for (let index = 0; index < PLUGINS; index += 1) {
    const name = `plugin-${index}`
    const [typed, plain] = [join(home, 'plugins', name), join(directory, 'plain', name)]
    await mkdir(typed, { recursive: true })
    await mkdir(plain, { recursive: true })
    await writeFile(
      join(typed, 'manifest.ts'),
      `import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'\nexport const manifest = PluginManifestSchema.parse(${manifest(name)})\n`,
    )
    await writeFile(join(typed, 'handler.ts'), handler)
    await writeFile(join(plain, 'manifest.mjs'), `export const manifest = ${manifest(name)}\n`)
    await writeFile(join(plain, 'handler.mjs'), handler)
  }
}

/** What a person would write without warpline: import everything, call everything, keep nothing. */
const plain = `import { readdirSync } from 'node:fs'
const root = ${JSON.stringify(pathToFileURL(`${join(directory, 'plain')}/`).href)}
await Promise.all(readdirSync(new URL(root)).map(async (name) => {
  const { manifest } = await import(root + name + '/manifest.mjs')
  const { handler } = await import(root + name + '/handler.mjs')
  await handler(manifest, {}, new AbortController().signal)
}))
`
const advance = `import { runAdvance } from ${JSON.stringify(pathToFileURL(join(npmDir, 'lib', 'index.js')).href)}
const { plugin_states } = await runAdvance()
if (plugin_states.size !== ${PLUGINS}) throw new Error('only ' + plugin_states.size + ' plugins')
`

const cases = [
  { name: 'plain Node.js', args: ['plain.mjs'] },
  { name: 'first advance', args: ['advance.mjs'], fresh: true },
  { name: 'advance, nothing due', args: ['advance.mjs'] },
  { name: 'plan, nothing due', args: [bin, 'plan', '--json'] },
]

async function measure({ name, args, fresh }) {
  const times = []
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    if (fresh) await rm(join(home, 'state'), { recursive: true, force: true })
    const start = performance.now()
    const ended = run(process.execPath, args, { cwd: directory, env })
    times.push(performance.now() - start)
    if (ended.status !== 0) throw new Error(`${name}: ${account(ended)}`)
  }
  return times.sort((a, b) => a - b)[Math.floor(REPEATS / 2)]
}

try {
  await makePlugins()
  await writeFile(join(directory, 'plain.mjs'), plain)
  await writeFile(join(directory, 'advance.mjs'), advance)
  console.log(
    `${PLUGINS} plugins, Node.js ${process.version}, median of ${REPEATS} whole processes`,
  )
  let baseline
  for (const each of cases) {
    const time = await measure(each)
    baseline ??= time
    console.log(
      `${each.name.padEnd(22)}${time.toFixed(0).padStart(7)} ms  ${(time / baseline).toFixed(1).padStart(5)} x`,
    )
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
