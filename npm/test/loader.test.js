// How plugin modules are found, erased, resolved and loaded anew.

import assert from 'node:assert/strict'
import { realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import * as builders from 'warpline/unstable-result'
import { importPlugin } from '../lib/loader/import-plugin.js'
import { PluginFiles } from '../lib/loader/plugin-files.js'
import { AskingEngine } from './support/engine.js'
import { temporaryDirectory, writeFiles } from './support/plugins.js'

const root = temporaryDirectory()
const engine = new AskingEngine()

/**
 * @param {string} name
 * @param {Record<string, string>} files
 * @param {string} [revision]
 */
function plugin(name, files, revision = '1') {
  const directory = join(root, name)
  writeFiles(directory, files)
  return { name, directory, revision }
}

/** @param {import('../lib/native-engine.js').PluginModule} module */
async function manifestOf(module) {
  const [answer] = await engine.manifests(module)
  assert.ok(answer)
  return answer
}

test('types are erased, imports of types never run', async () => {
  const typed = plugin('typed', {
    'manifest.ts': `
      import type { Gone } from './gone.ts'
      import { type Also, kept } from './kept.ts'
      interface Shape { name: string }
      const shape: Shape = { name: 'typed' } satisfies Shape
      export const manifest = { ...shape, kept: kept as number, gone: undefined as Gone | Also }
    `,
    'kept.ts': 'export type Also = string\nexport const kept: number = 3\n',
  })
  assert.deepEqual(await manifestOf(typed), {
    plugin: 'typed',
    manifest: { name: 'typed', kept: 3 },
  })
})

test('syntax that needs code generated is refused, and the file is named', async () => {
  const refused = plugin('refused', {
    'manifest.ts': "import { Level } from './level.ts'\nexport const manifest = { Level }\n",
    'level.ts': '\nexport enum Level { Low }\n',
  })
  const { error } = await manifestOf(refused)
  assert.match(error ?? '', /enum/)
  const place = `${join(refused.directory, 'level.ts')}:2:8`
  assert.equal(
    error,
    `${place}: an enum stands for code and cannot be erased: \`export enum Level { Low }\``,
  )

  const thrown = await importPlugin(refused, 'manifest.ts').then(
    () => assert.fail('an enum was accepted'),
    (/** @type {SyntaxError & { code: string }} */ reason) => reason,
  )
  assert.equal(thrown.name, 'SyntaxError')
  assert.equal(thrown.code, 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
  assert.match(thrown.stack ?? '', /level\.ts:2\nexport enum Level \{ Low \}\n {7}\^+\n/)
})

test('what is not TypeScript at all is refused, and the file is named', async () => {
  const broken = plugin('broken', { 'manifest.ts': "export const manifest = { name: 'open\n" })
  const { error } = await manifestOf(broken)
  const place = `${join(broken.directory, 'manifest.ts')}:1:33`
  assert.equal(error, `${place}: unterminated string: \`export const manifest = { name: 'open\``)
})

test('a file that ends too early is named without an excerpt of nothing', async () => {
  const cut = plugin('cut', { 'manifest.ts': 'export const manifest = (\n' })
  const { error } = await manifestOf(cut)
  assert.match(error ?? '', /manifest\.ts:2:1: expected .*`EOF`$/)
})

test('a type that is imported as a value is told of with the way out', async () => {
  const typed = plugin('named', {
    'manifest.ts':
      "import { Named } from './named.ts'\nexport const manifest = ((of: Named) => of)({ name: 'x' })\n",
    'named.ts': 'export interface Named { name: string }\n',
  })
  const { error } = await manifestOf(typed)
  const told = "provide an export named 'Named', and a type needs `import type`: `import { Named }"
  assert.ok(error?.includes(told), error ?? '')
})

test('each kind of syntax that stands for code names its place and shows it', async () => {
  const kinds = [
    ['enum E { A }', 1],
    ['namespace N { export const a = 1 }', 1],
    ['class C { constructor(private a: number) {} }', 23],
    ["import fs = require('node:fs')", 1],
    ['export = 1', 1],
    ['const a = <number>1', 11],
    ['@sealed class C {}', 1],
  ]
  for (const [index, [source, column]] of kinds.entries()) {
    const files = { 'manifest.ts': `\n${source}\nexport const manifest = {}\n` }
    const { directory, ...rest } = plugin(`kind-${index}`, files)
    const { error } = await manifestOf({ directory, ...rest })
    assert.ok(error?.startsWith(`${join(directory, 'manifest.ts')}:2:${column}: `), error)
    assert.ok(error?.endsWith(`: \`${source}\``), error)
  }
})

test('a fault that only the JavaScript engine sees is found in the file that has it', async () => {
  const early = plugin('early', {
    'manifest.ts': "import { deep } from './deep.ts'\nexport const manifest = { deep }\n",
    'deep.ts': 'export const deep: number = 1\n\nlet a; let a\n',
    'handler.ts': "import { gone } from './deeper.ts'\nexport const handler = gone\n",
    'deeper.ts': 'export const here = 1\n',
  })
  const { error } = await manifestOf(early)
  const place = `${join(early.directory, 'deep.ts')}:3:12`
  assert.equal(error, `${place}: identifier \`a\` has already been declared: \`let a; let a\``)
  const { value } = await engine.handler(early)
  assert.ok(value.startsWith(`${join(early.directory, 'handler.ts')}:1:10: `), value)
  assert.ok(value.endsWith(": `import { gone } from './deeper.ts'`"), value)
})

test('a syntax error that a module throws while it runs names the module', async () => {
  const parsing = plugin('parsing', { 'manifest.ts': "export const manifest = JSON.parse('{')\n" })
  const { error } = await manifestOf(parsing)
  assert.ok(error?.startsWith(`${join(parsing.directory, 'manifest.ts')}: `), error)
})

test('a position in a stack is that of the source', async () => {
  const stacked = plugin('stacked', {
    'manifest.ts': `
interface Erased { a: string }
export const manifest = { stack: (new Error('here') as Error).stack }
`,
  })
  const { manifest } = await manifestOf(stacked)
  assert.match(manifest.stack, /stacked\/manifest\.ts:3:35/)
})

test('warpline/* is the running package, from files of the plugin, beside it, and below it', async () => {
  const rooted = plugin('rooted', {
    'manifest.ts': `
      import { shared } from '../shared.ts'
      import { dep } from 'dep'
      import * as builders from 'warpline/unstable-result'
      export const manifest = { same: [builders.skillOk, shared, dep] }
      export { builders, shared, dep }
    `,
    'node_modules/dep/package.json': '{ "name": "dep", "type": "module", "exports": "./dep.js" }',
    'node_modules/dep/dep.js': "export { skillOk as dep } from 'warpline/unstable-result'\n",
  })
  writeFiles(root, {
    'shared.ts': "export { skillOk as shared } from 'warpline/unstable-result'\n",
  })
  const module = await importPlugin(rooted, 'manifest.ts')
  assert.equal(module.builders, builders)
  assert.equal(module.shared, builders.skillOk)
  assert.equal(module.dep, builders.skillOk)
})

test('what the package does not publish stays closed to plugins', async () => {
  const prying = plugin('prying', {
    'manifest.ts': "import 'warpline/lib/native'\nexport const manifest = {}\n",
  })
  const { error } = await manifestOf(prying)
  assert.match(error ?? '', /lib\/native.*not defined by "exports"/)
})

test('an edited plugin is loaded anew with all it imports, and what it shares stays', async () => {
  const files = {
    'manifest.ts': `
      import { inner } from './lib/inner.ts'
      import { plain } from './lib/plain.mjs'
      import data from './lib/data.json' with { type: 'json' }
      import common, { named } from './lib/common.cjs'
      import { loads } from '../counted.ts'
      import { once } from 'once'
      export const manifest = { inner, plain, data: data.n, common: common.n, named, loads: loads(), once: once() }
    `,
    'lib/inner.ts': "import { deep } from './deep.ts'\nexport const inner = deep\n",
    'lib/deep.ts': 'export const deep = 1\n',
    'lib/plain.mjs': 'export const plain = 1\n',
    'lib/data.json': '{ "n": 1 }',
    'lib/common.cjs': "exports.named = 1\nexports.n = require('./deep.cjs')\n",
    'lib/deep.cjs': 'module.exports = 1\n',
    'node_modules/once/package.json': '{ "name": "once", "main": "once.js" }',
    'node_modules/once/once.js': 'let count = 0\nexports.once = () => ++count\n',
  }
  writeFiles(root, { 'counted.ts': 'let count: number = 0\nexport const loads = () => ++count\n' })
  const all = (/** @type {number} */ n) => ({ inner: n, plain: n, data: n, common: n, named: n })
  const first = await manifestOf(plugin('edited', files, 'before'))
  assert.deepEqual(first.manifest, { ...all(1), loads: 1, once: 1 })

  plugin('edited', {
    'lib/deep.ts': 'export const deep = 2\n',
    'lib/plain.mjs': 'export const plain = 2\n',
    'lib/data.json': '{ "n": 2 }',
    'lib/common.cjs': "exports.named = 2\nexports.n = require('./deep.cjs')\n",
    'lib/deep.cjs': 'module.exports = 2\n',
  })
  const unchanged = await manifestOf(plugin('edited', {}, 'before'))
  assert.deepEqual(unchanged.manifest, first.manifest)
  const second = await manifestOf(plugin('edited', {}, 'after'))
  assert.deepEqual(second.manifest, { ...all(2), loads: 2, once: 2 })
})

test('an import of a file that is not there names file and importer', async () => {
  const missing = plugin('missing', {
    'manifest.ts': "import './gone.ts'\nexport const manifest = {}\n",
    'handler.ts': "import './manifest.js'\nexport const handler = () => {}\n",
  })
  const { error } = await manifestOf(missing)
  assert.ok(error?.includes(`${join(missing.directory, 'gone.ts')}'`), error)
  assert.ok(error?.includes(`imported from ${join(missing.directory, 'manifest.ts')}`), error)
  const loaded = await engine.handler(missing)
  assert.equal(loaded.ok, false)
  assert.ok(loaded.value.includes(join(missing.directory, 'manifest.js')), loaded.value)
})

test('a directory without a manifest, and one without the export, say so', async () => {
  const empty = plugin('empty', { 'readme.md': '' })
  const { error } = await manifestOf(empty)
  assert.equal(error, `${join(empty.directory, 'manifest.ts')} does not exist`)
  const without = plugin('without', { 'manifest.ts': 'export const other = 1\n' })
  assert.match((await manifestOf(without)).error ?? '', /exports no `manifest`/)
})

test('a plugin behind a link loads from where it really lies, relative imports included', async () => {
  const elsewhere = temporaryDirectory()
  writeFiles(elsewhere, {
    'real/manifest.ts':
      "import { n } from '../beside.ts'\nexport const manifest = { n, url: import.meta.url }\n",
    'beside.ts': 'export const n: number = 5\n',
  })
  symlinkSync(join(elsewhere, 'real'), join(root, 'linked'))
  const directory = realpathSync(join(root, 'linked'))
  const { manifest } = await manifestOf({ name: 'linked', directory, revision: '1' })
  assert.equal(manifest.n, 5)
  assert.ok(manifest.url.startsWith(pathToFileURL(join(elsewhere, 'real/manifest.ts')).href))
})

test('a plugin in a CommonJS package is an ES module all the same', async () => {
  const inside = plugin('inside', {
    'package.json': '{ "type": "commonjs" }',
    'manifest.ts': "import { n } from './n.ts'\nexport const manifest = { n }\n",
    'n.ts': 'export const n: number = 1\n',
  })
  assert.deepEqual((await manifestOf(inside)).manifest, { n: 1 })
})

test('two names for one file are one module', async () => {
  const twice = plugin('twice', {
    'manifest.ts': `
      import { token as left } from './real/token.ts'
      import { token as right } from './link/token.ts'
      export const manifest = { same: left === right }
    `,
    'real/token.ts': 'export const token: object = {}\n',
  })
  symlinkSync('real', join(twice.directory, 'link'))
  assert.deepEqual((await manifestOf(twice)).manifest, { same: true })
})

test('several roots, met one after the other, serve in one process', async () => {
  for (const home of [temporaryDirectory(), temporaryDirectory()]) {
    writeFiles(home, {
      'same/manifest.ts': `export const manifest = { home: '${home}' as string }\n`,
    })
    const { manifest } = await manifestOf({
      name: 'same',
      directory: join(home, 'same'),
      revision: '1',
    })
    assert.deepEqual(manifest, { home })
  }
})

test('one plugin that fails takes none along', async () => {
  const answers = await engine.manifests(
    plugin('throws', { 'manifest.ts': "throw new Error('at load')\n" }),
    plugin('throws-null', { 'manifest.ts': 'throw null\n' }),
    plugin('cyclic', {
      'manifest.ts': 'export const manifest: any = {}\nmanifest.self = manifest\n',
    }),
    plugin('good', { 'manifest.ts': 'export const manifest = { fine: true }\n' }),
  )
  const byName = Object.fromEntries(answers.map((answer) => [answer.plugin, answer]))
  assert.equal(byName.throws?.error, 'at load')
  assert.equal(byName['throws-null']?.error, 'null')
  assert.match(byName.cyclic?.error ?? '', /circular/)
  assert.deepEqual(byName.good?.manifest, { fine: true })
})

test('a file that was read ahead is not read again, and is forgotten with its import', () => {
  const files = new PluginFiles('r', 'file:///package.json', () => ({ source: 'read' }))
  const url = 'file:///plugins/p/handler.ts?warpline=r.1'
  files.keep(url, { source: 'kept' })
  assert.match(String(files.load(url)?.source), /^kept\n/)
  files.forget(url)
  assert.match(String(files.load(url)?.source), /^read\n/)
})
