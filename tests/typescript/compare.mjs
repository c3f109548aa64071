// Compares the eraser with TypeScript's own output, and with that of Node.js where it has one, over
// cases.json and over every plugin that is shipped.
//
// Of a module that erases: the text has the length and the line breaks of the source; compiled
// again it equals what TypeScript makes of the source; run, it prints the same.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { build, erase } from '../eraser.mjs'
import { npmDir } from '../support.mjs'

const ts = createRequire(join(npmDir, 'package.json'))('typescript-js')
const { cases } = JSON.parse(readFileSync(new URL('./cases.json', import.meta.url), 'utf8'))
const REFUSALS = {
  unsupported: 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
  invalid: 'ERR_INVALID_TYPESCRIPT_SYNTAX',
}
const compilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  removeComments: true,
}

let directory

before(() => {
  directory = mkdtempSync(join(tmpdir(), 'erase-'))
  build()
})

after(() => rmSync(directory, { recursive: true }))

const withoutMark = (source) => source.replace(/^\uFEFF/, '')
const breaks = (text) => text.match(/\r\n|[\n\r\u2028\u2029]/g)?.join('') ?? ''
const compiled = (text, fileName) =>
  ts.transpileModule(text, { compilerOptions, fileName }).outputText
// What blanking may leave behind or put in place of a type does not count.
const bare = (text) => text.replace(/[\s;,()]|\/\/# sourceMappingURL.*/g, '')

/** Runs a module and returns what it hands to `out`, and the error that ends it. */
async function printed(name, text) {
  const path = join(directory, `${name}.mjs`)
  writeFileSync(path, text)
  const lines = []
  globalThis.out = (...values) => lines.push(JSON.stringify(values) ?? 'undefined')
  try {
    await import(pathToFileURL(path).href)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ReferenceError) throw error
    lines.push(`throws ${error}`)
  }
  return lines.join('\n')
}

/** What erasing keeps: places, and the meaning that TypeScript gives the source. */
function assertSameText(source, text) {
  assert.equal(text.length, source.length, 'the length')
  assert.equal(breaks(text), breaks(source), 'the line breaks')
  assert.equal(bare(compiled(text, 'erased.mjs')), bare(compiled(source, 'source.mts')))
}

/** An error that a module creates is where the source has it. */
function assertPlaces(source, lines) {
  const places = lines.match(/"\d+:\d+"/g) ?? []
  if (places.length === 0) return
  const before = source.slice(0, source.indexOf('new Error(')).split('\n')
  const place = `"${before.length}:${before.at(-1).length + 1}"`
  assert.deepEqual(new Set(places), new Set([place]))
}

test('there are cases of every kind', () => {
  const kinds = new Set(cases.map(({ expect }) => expect))
  assert.deepEqual([...kinds].sort(), ['engine', 'invalid', 'runs', 'unsupported'])
})

for (const { name, why, expect, source } of cases) {
  test(`${name}: ${why}`, async () => {
    const { code, text } = erase(source)
    assert.equal(code, REFUSALS[expect] ?? null)
    if (code !== null) return
    if (expect === 'engine') {
      await assert.rejects(printed(name, text))
      return
    }
    assertSameText(withoutMark(source), text)
    const found = await printed(name, text)
    const expected = await printed(`${name}.oracle`, compiled(source, 'source.mts'))
    // Positions that a module prints are those of the source, which TypeScript's output moves.
    const unplaced = (lines) => lines.replace(/"\d+:\d+"/g, '"line:column"')
    assert.equal(unplaced(found), unplaced(expected))
    assertPlaces(source, found)
  })
}

const plugins = join(npmDir, 'examples', 'plugins')
const shipped = readdirSync(plugins, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))

test('there are shipped modules', () => assert.ok(shipped.length > 0))

for (const path of shipped) {
  test(`shipped: ${relative(plugins, path)}`, () => {
    const source = withoutMark(readFileSync(path, 'utf8'))
    const { code, text } = erase(source)
    assert.equal(code, null)
    assertSameText(source, text)
  })
}

/** What Node.js makes of a module: {code: null, text}, or the code of the refusal. */
function stripped(source) {
  try {
    return { code: null, text: module.stripTypeScriptTypes(source) }
  } catch (error) {
    return { code: error.code, text: '' }
  }
}

// Where Node.js itself is the one that is wrong.
const NODE_ERRS = new Map([
  ['names2', 'takes a name on a line of its own for the start of the declaration below it'],
  ['exp2', 'refuses it by the other code'],
  ['html', 'lets an HTML comment into a module'],
])

if (module.stripTypeScriptTypes) {
  const unspaced = (text) => text.replace(/[\s;]/g, '')
  for (const { name, expect, source } of cases.filter((each) => !NODE_ERRS.has(each.name))) {
    test(`${name}: as Node.js itself`, () => {
      const [ours, theirs] = [erase(source), stripped(source)]
      if (expect === 'engine' && theirs.code === REFUSALS.invalid) return // it refuses sooner
      assert.equal(ours.code, theirs.code)
      assert.equal(unspaced(ours.text), unspaced(withoutMark(theirs.text)))
    })
  }
}
