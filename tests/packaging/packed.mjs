// The packed npm package, installed into a project of its own, without a network.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { published } from '../../npm/test/support/published.js'
import { account, environment, nodes, npmDir, run } from '../support.mjs'

const EXIT_WITHIN_MS = 20_000
const CONTENTS =
  /^(package\.json|README\.md|LICENSE|(bin|lib)\/.+|native\/warpline\.node|examples\/plugins\/.+\.ts)$/
const INTERNAL = [
  'warpline/lib/index.js',
  'warpline/lib',
  'warpline/bin/warpline.mjs',
  'warpline/native/warpline.node',
  'warpline/unstable-approval',
]
const VERBS = [
  'init',
  'plan',
  'advance',
  'run',
  'approve',
  'deny',
  'revoke',
  'board',
  'tasks',
  'ack',
  'defer',
  'done',
]

let project
let packed

before(async () => {
  project = await mkdtemp(join(tmpdir(), 'warpline-packed-'))
  const pack = run('npm', ['pack', '--json', '--pack-destination', project], {
    cwd: npmDir,
    timeout: 120_000,
  })
  assert.equal(pack.status, 0, account(pack))
  ;[packed] = JSON.parse(pack.stdout)
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module' }),
  )
  const args = ['install', '--offline', '--no-audit', '--no-fund', join(project, packed.filename)]
  const install = run('npm', args, { cwd: project, timeout: 120_000 })
  assert.equal(install.status, 0, account(install))
})

after(() => rm(project, { recursive: true, force: true }))

/** Runs a module of the consumer; what it writes on stdout is JSON. It must end by itself. */
async function consume(node, name, source) {
  const home = join(project, `home-${name}`)
  await rm(home, { recursive: true, force: true })
  await mkdir(join(home, 'plugins', 'hello'), { recursive: true })
  await writeFile(
    join(home, 'plugins', 'hello', 'manifest.ts'),
    `import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'
export const manifest = PluginManifestSchema.parse({ name: 'hello', version: '1.0.0', description: '', autonomy_level: 'autonomous', ttl_hours: 1 })
`,
  )
  await writeFile(
    join(home, 'plugins', 'hello', 'handler.ts'),
    `import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillOk } from 'warpline/unstable-result'
export const handler: CapabilityHandlerFn = async (manifest) => skillOk(\`hello from \${manifest.name}\`)
`,
  )
  const file = join(project, `${name}.mjs`)
  await writeFile(file, source)
  const ended = run(node, [file], { cwd: project, env: environment(home), timeout: EXIT_WITHIN_MS })
  assert.equal(ended.signal, null, `did not end within ${EXIT_WITHIN_MS} ms: ${account(ended)}`)
  assert.equal(ended.status, 0, account(ended))
  return JSON.parse(ended.stdout)
}

test('the tarball holds what is published and nothing else', () => {
  const paths = packed.files.map(({ path }) => path)
  assert.deepEqual(
    paths.filter((path) => !CONTENTS.test(path)),
    [],
  )
  for (const path of [
    'bin/warpline.mjs',
    'native/warpline.node',
    'lib/index.js',
    'lib/index.d.ts',
    'examples/plugins/host-metrics/manifest.ts',
  ]) {
    assert.ok(paths.includes(path), `${path} is missing`)
  }
})

for (const node of nodes()) {
  const version = run(node, ['--version']).stdout.trim()

  test(`${version}: runAdvance runs a plugin and the process ends`, async () => {
    const result = await consume(
      node,
      'advance',
      `import { runAdvance } from 'warpline'
const { status, plugin_states } = await runAdvance()
process.stdout.write(JSON.stringify({ status, states: Object.fromEntries(plugin_states) }))
`,
    )
    assert.deepEqual(result, { status: 'complete', states: { hello: 'completed' } })
  })

  test(`${version}: invokePlugin runs a plugin and the process ends`, async () => {
    const result = await consume(
      node,
      'invoke',
      `import { invokePlugin } from 'warpline/unstable-runtime'
const { result } = await invokePlugin('hello', {}, {}, { granted: false, reason: 'no-declared-side-effects' })
process.stdout.write(JSON.stringify({ status: result.status, summary: result.summary }))
`,
    )
    assert.deepEqual(result, { status: 'success', summary: 'hello from hello' })
  })

  test(`${version}: every published specifier exports exactly its names`, async () => {
    const names = await consume(
      node,
      'names',
      `const names = {}
for (const specifier of ${JSON.stringify(Object.keys(published))}) names[specifier] = Object.keys(await import(specifier))
process.stdout.write(JSON.stringify(names))
`,
    )
    assert.deepEqual(names, published)
  })

  test(`${version}: nothing else can be imported`, async () => {
    const codes = await consume(
      node,
      'internal',
      `const codes = {}
for (const specifier of ${JSON.stringify(INTERNAL)}) codes[specifier] = await import(specifier).then(() => 'resolved', (error) => error.code)
process.stdout.write(JSON.stringify(codes))
`,
    )
    assert.deepEqual(
      codes,
      Object.fromEntries(INTERNAL.map((specifier) => [specifier, 'ERR_PACKAGE_PATH_NOT_EXPORTED'])),
    )
  })

  test(`${version}: the command says what it can do, and refuses what it cannot`, () => {
    const command = join(project, 'node_modules', '.bin', 'warpline')
    const env = environment(join(project, 'no-home'), {
      PATH: `${dirname(node)}:${process.env.PATH}`,
    })
    const help = run(command, ['--help'], { cwd: project, env, timeout: EXIT_WITHIN_MS })
    assert.equal(help.status, 0, account(help))
    for (const verb of VERBS) assert.match(help.stdout, new RegExp(`^\\s+${verb}\\b`, 'm'))
    const bogus = run(command, ['bogus'], { cwd: project, env, timeout: EXIT_WITHIN_MS })
    assert.equal(bogus.status, 1, account(bogus))
    assert.equal(bogus.stdout, '')
    assert.match(bogus.stderr, /bogus/)
  })
}
