// The project that each runtime is given: a home of plugins, one for each thing that is looked at.
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { npmDir } from '../../support.mjs'

const RESULT = "import { skillOk } from 'warpline/unstable-result'\n"

const manifest = (name, more = '') =>
  `import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'
const kept: string = '1'
export const manifest = PluginManifestSchema.parse({ name: '${name}', version: kept, description: 'd', autonomy_level: 'autonomous', ttl_hours: 1, ${more} })
`

/** Plugins by name: files by name. A handler alone has the usual manifest. */
const plugins = {
  context: {
    'handler.ts': `${RESULT}export const handler = async () => {
  await null
  return skillOk((globalThis as any).storageOfHost?.getStore() ?? 'none')
}
`,
  },
  edited: {
    'handler.ts': `${RESULT}import { inner } from './lib/inner.ts'
export const handler = async () => skillOk(inner)
`,
    'lib/inner.ts': "export { deep as inner } from './deep.ts'\n",
    'lib/deep.ts': "export const deep: string = 'first'\n",
  },
  throws: {
    'handler.ts': `interface Erased { a: string }
export const handler = async () => {
  throw new Error('boom')
}
`,
  },
  stack: {
    'handler.ts': `${RESULT}interface Erased { a: string }
export const handler = async () => skillOk((new Error('here') as Error).stack ?? '')
`,
  },
  patient: {
    'manifest.ts': manifest('patient', "schedule: 'manual', timeout_ms: 1500"),
    'handler.ts': 'export const handler = () => new Promise(() => {})\n',
  },
  waits: {
    'manifest.ts': manifest('waits', "schedule: 'manual'"),
    'handler.ts': `export const handler = (manifest: unknown, args: unknown, signal: AbortSignal) =>
  new Promise((resolve) => signal.addEventListener('abort', resolve))
`,
  },
  changes: {
    'handler.ts': `${RESULT}export const handler = async () => {
  process.chdir('/')
  process.env.WARPLINE_TEST_LEFT = 'left'
  console.log('printed by the plugin')
  process.stdout.write('written by the plugin\\n')
  return skillOk('changed')
}
`,
  },
  huge: { 'handler.ts': 'export const handler = async () => ({ status: 10n })\n' },
  early: { 'manifest.ts': 'export const manifest = {}\nlet a; let a\n' },
  broken: {
    'manifest.ts': "import './open.ts'\n",
    'open.ts': "\nexport const a = { name: 'open\n",
  },
  enum: { 'manifest.ts': "export enum Level { Low }\nexport const manifest = { name: 'enum' }\n" },
  missing: { 'manifest.ts': "import './gone.ts'\nexport const manifest = {}\n" },
  loads: { 'manifest.ts': "throw new Error('at load')\n" },
}

async function writeFiles(directory, files) {
  for (const [name, text] of Object.entries(files)) {
    const file = join(directory, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/**
 * Makes a project with the package in it, and a home whose plugins lie about in every permitted way:
 * in a CommonJS package, behind a link, and below a `node_modules`.
 *
 * @returns {Promise<{home: string, plugins: string, installed: string}>} `installed` is the plugin
 *   root below a `node_modules`
 */
export async function makeProject(directory) {
  const home = join(directory, '.warpline')
  const root = join(home, 'plugins')
  for (const [name, files] of Object.entries(plugins)) {
    await writeFiles(join(root, name), { 'manifest.ts': manifest(name), ...files })
  }
  const linked = { 'manifest.ts': manifest('linked'), 'handler.ts': plugins.context['handler.ts'] }
  await writeFiles(join(directory, 'elsewhere', 'linked'), linked)
  await symlink(join(directory, 'elsewhere', 'linked'), join(root, 'linked'))
  const fleet = join(directory, 'node_modules', 'fleet')
  await writeFiles(join(fleet, 'plugins', 'linked'), linked)
  await writeFiles(directory, {
    'package.json': '{ "type": "module", "dependencies": { "warpline": "*", "fleet": "*" } }',
    'node_modules/fleet/package.json': '{ "name": "fleet", "version": "1.0.0" }',
    '.warpline/package.json': '{ "type": "commonjs" }',
  })
  for (const place of [directory, home]) {
    await mkdir(join(place, 'node_modules'), { recursive: true })
    await symlink(npmDir, join(place, 'node_modules', 'warpline'))
  }
  return { home, plugins: root, installed: join(fleet, 'plugins') }
}
