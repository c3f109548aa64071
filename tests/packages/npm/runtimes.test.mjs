// The artefacts on every runtime: installed by its own installer, imported, required, in threads, and as a command.
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { published } from '../../../npm/test/support/published.js'
import { runtimes } from '../../runtimes/support/runtimes.mjs'
import { account, run } from '../../support.mjs'
import {
  artefacts,
  cleanDirectory,
  copyInto,
  install,
  offline,
  runProgram,
  version,
} from './support.mjs'

const INTERNAL = [
  'warpline/lib/index.js',
  'warpline/lib/native.js',
  'warpline/lib/platform.js',
  'warpline/lib/targets.json',
  'warpline/lib',
  'warpline/bin/warpline.cjs',
  'warpline/bin/warpline.cjs',
  'warpline/native/warpline.node',
  'warpline/unstable-approval',
  'warpline/schemas',
]
const VERBS = [
  'init',
  'scaffold',
  'configure',
  'check',
  'completions',
  'plan',
  'advance',
  'run',
  'status',
  'log',
  'show',
  'handoffs',
  'approve',
  'deny',
  'revoke',
  'forget',
  'board',
  'ack',
  'tasks',
  'defer',
  'done',
]

const MANIFEST = `import { PluginManifestSchema } from 'warpline/schemas/plugin-manifest'
export const manifest = PluginManifestSchema.parse({ name: 'hello', version: '1.0.0', description: '', autonomy_level: 'autonomous', ttl_hours: 1 })
`
const HANDLER = `import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillOk } from 'warpline/unstable-result'
export const handler: CapabilityHandlerFn = async (manifest) => skillOk(\`hello from \${manifest.name}\`)
`

/** Installs as one does under a runtime, and says how the installed command is started there. */
async function installUnder({ name, isNode, command, args }) {
  // Deno installs no tarballs: it runs what npm installed.
  if (name === 'Deno')
    return { project: await install(), start: [command, ...args, 'npm:warpline'] }
  if (isNode) return { project: await install({ command }), start: ['npx', 'warpline'] }
  const project = await cleanDirectory()
  const given = await copyInto(project, Object.values(artefacts))
  const env = offline(join(project, '.cache'), command)
  const ended = run(command, ['add', ...given], { cwd: project, env })
  assert.equal(ended.status, 0, account(ended))
  return { project, start: [command, 'x', '--bun', '--no-install', 'warpline'] }
}

/** Runs a program of the project on a home with one plugin; what it writes is JSON. It must end by itself. */
async function consume(runtime, project, file, source) {
  const home = join(project, `home-${file}`)
  await mkdir(join(home, 'plugins', 'hello'), { recursive: true })
  await writeFile(join(home, 'plugins', 'hello', 'manifest.ts'), MANIFEST)
  await writeFile(join(home, 'plugins', 'hello', 'handler.ts'), HANDLER)
  const ended = await runProgram(project, file, source, runtime, { WARPLINE_HOME: home })
  assert.equal(ended.signal, null, `did not end: ${account(ended)}`)
  assert.equal(ended.status, 0, account(ended))
  return JSON.parse(ended.stdout)
}

const current = { name: `Node.js ${process.version}`, isNode: true, command: process.execPath }

for (const runtime of [current, ...runtimes()]) {
  const { name, isNode, command, args = [] } = runtime
  const { project, start } = await installUnder(runtime)

  // Cases: T534.
  test(`${name}: the command makes a home, plans and advances`, async () => {
    const env = offline(join(project, '.cache'), command)
    const cli = (...given) => {
      const [program, ...rest] = [...start, ...given]
      return run(program, rest, { cwd: project, env })
    }
    const home = join(project, '.warpline')
    const made = cli('init')
    assert.equal(made.status, 0, account(made))
    const plan = cli('plan', '--json')
    assert.equal(plan.status, 0, account(plan))
    const told = JSON.parse(plan.stdout)
    assert.deepEqual([told.home, told.due.map(({ plugin }) => plugin)], [home, ['metrics-rollup']])
    const advanced = cli('advance', '--json')
    assert.equal(advanced.status, 0, account(advanced))
    const { status, plugin_states } = JSON.parse(advanced.stdout)
    assert.deepEqual([status, plugin_states], ['complete', { 'metrics-rollup': 'completed' }])

    const bin = join('node_modules', '.bin', 'warpline')
    const direct = (...given) => run(command, [...args, bin, ...given], { cwd: project, env })
    const help = direct('--help')
    assert.equal(help.status, 0, account(help))
    for (const verb of VERBS) assert.match(help.stdout, new RegExp(`^\\s+${verb}\\b`, 'm'))
    assert.equal(direct('--version').stdout, `warpline ${version}\n`)
    const bogus = direct('bogus')
    assert.deepEqual([bogus.status, bogus.stdout], [1, ''], account(bogus))
    assert.match(bogus.stderr, /^Unknown command: bogus$/m)
  })

  test(`${name}: runAdvance and invokePlugin run a plugin and the process ends`, async () => {
    const result = await consume(
      runtime,
      project,
      'runs.mjs',
      `import { runAdvance } from 'warpline'
import { invokePlugin } from 'warpline/unstable-runtime'
const { status, plugin_states } = await runAdvance()
const { result } = await invokePlugin('hello', {}, {}, { granted: false, reason: 'no-declared-side-effects' })
const states = Object.fromEntries(plugin_states)
process.stdout.write(JSON.stringify({ status, states, result: result.status, summary: result.summary }))
`,
    )
    assert.deepEqual(result, {
      status: 'complete',
      states: { hello: 'completed' },
      result: 'success',
      summary: 'hello from hello',
    })
  })

  test(`${name}: a CommonJS program runs a plugin`, async () => {
    const result = await consume(
      runtime,
      project,
      'runs.cjs',
      `const { runAdvance } = require('warpline')
runAdvance().then(({ status }) => process.stdout.write(JSON.stringify({ status })))
`,
    )
    assert.deepEqual(result, { status: 'complete' })
  })

  // Cases: T386, T536.
  test(`${name}: every published specifier exports exactly its names, the same both ways`, async () => {
    const { names, required, same, codes } = await consume(
      runtime,
      project,
      'names.mjs',
      `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const [names, required, same, codes] = [{}, {}, {}, {}]
for (const specifier of ${JSON.stringify(Object.keys(published))}) {
  const [imported, other] = [await import(specifier), require(specifier)]
  names[specifier] = Object.keys(imported)
  required[specifier] = Object.keys(other).sort()
  same[specifier] = names[specifier].filter((name) => imported[name] === other[name])
}
for (const specifier of ${JSON.stringify(INTERNAL)}) {
  const imported = await import(specifier).then(() => 'resolved', (error) => error.code ?? 'refused')
  let loaded = 'resolved'
  try { require(specifier) } catch (error) { loaded = error.code ?? 'refused' }
  codes[specifier] = [imported, loaded]
}
process.stdout.write(JSON.stringify({ names, required, same, codes }))
`,
    )
    for (const found of [names, required, same]) assert.deepEqual(found, published)
    for (const specifier of INTERNAL) {
      const [imported, loaded] = codes[specifier]
      if (isNode) {
        assert.equal(imported, 'ERR_PACKAGE_PATH_NOT_EXPORTED', specifier)
        assert.equal(loaded, 'ERR_PACKAGE_PATH_NOT_EXPORTED', specifier)
      } else {
        assert.notEqual(imported, 'resolved', specifier)
        assert.notEqual(loaded, 'resolved', specifier)
      }
    }
  })

  test(`${name}: threads of both kinds run the plugin, each with an engine of its own`, async () => {
    await writeFile(
      join(project, 'thread.mjs'),
      `import { parentPort, workerData } from 'node:worker_threads'
import { runAdvance } from 'warpline'
import { warplineHome } from 'warpline/lib/paths'
process.env.WARPLINE_HOME = workerData
const { status } = await runAdvance({ force: true })
parentPort.postMessage([status, warplineHome()])
`,
    )
    await writeFile(
      join(project, 'thread.cjs'),
      `const { parentPort, workerData } = require('node:worker_threads')
const { runAdvance } = require('warpline')
const { warplineHome } = require('warpline/lib/paths')
process.env.WARPLINE_HOME = workerData
runAdvance({ force: true }).then(({ status }) => parentPort.postMessage([status, warplineHome()]))
`,
    )
    const told = await consume(
      runtime,
      project,
      'threads.mjs',
      `import { cp } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { runAdvance } from 'warpline'
const home = process.env.WARPLINE_HOME
for (const kind of ['mjs', 'cjs']) await cp(home, home + '-' + kind, { recursive: true })
const thread = (kind) => new Promise((resolve, reject) => {
  const worker = new Worker(new URL('thread.' + kind, import.meta.url), { workerData: home + '-' + kind })
  worker.once('message', resolve)
  worker.once('error', reject)
})
const told = await Promise.all([runAdvance({ force: true }), thread('mjs'), thread('cjs')])
process.stdout.write(JSON.stringify([told[0].status, ...told.slice(1)]))
`,
    )
    const home = join(project, 'home-threads.mjs')
    assert.deepEqual(told, ['complete', ['complete', `${home}-mjs`], ['complete', `${home}-cjs`]])
  })
}
