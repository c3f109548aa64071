// Compares the eraser with TypeScript and with Node.js over modules that are written by chance, the same
// ones in every run: WARPLINE_SEED=N begins with another, WARPLINE_PROGRAMS=N writes more or fewer.
//
// Each erased text keeps the place of every token, has the tokens that TypeScript leaves, those that
// Node.js leaves where it has an eraser, and is a module to the parser of Node.js.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import module, { createRequire } from 'node:module'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { build, eraseAll } from '../eraser.mjs'
import { npmDir } from '../support.mjs'
import { program } from './generator/programs.mjs'

const ts = createRequire(join(npmDir, 'package.json'))('typescript-js')
const FIRST = Number(process.env.WARPLINE_SEED ?? 1)
const COUNT = Number(process.env.WARPLINE_PROGRAMS ?? 2000)
const compilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  removeComments: true,
}

/** Modules with their seeds; of what is written by chance, TypeScript itself refuses a few. */
const programs = []
let erased

before(() => {
  build()
  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    const source = program(seed)
    const options = { compilerOptions, fileName: 'source.mts', reportDiagnostics: true }
    const { outputText, diagnostics } = ts.transpileModule(source, options)
    if (diagnostics.length === 0) programs.push({ seed, source, compiled: outputText })
  }
  erased = eraseAll(programs.map(({ source }) => source))
})

// What stands in the place of a type, and what TypeScript's printer adds or leaves out.
const LOOSE = new Set([';', ',', '(', ')', ''])

/** The tokens of a module with the place of each. */
function tokens(text, fileName) {
  const file = ts.createSourceFile(fileName, text, ts.ScriptTarget.ESNext)
  const found = []
  const visit = (node) => {
    const children = node.getChildren(file)
    if (children.length > 0) return children.forEach(visit)
    const at = node.getStart(file)
    const token = text.slice(at, node.end)
    if (!LOOSE.has(token)) found.push({ at, token })
  }
  visit(file)
  return found
}

const bare = (text, fileName) => tokens(text, fileName).map(({ token }) => token)

/** Without the mark of a module that TypeScript puts behind one from which only types were exported. */
function unmarked(found) {
  const mark = found.slice(-3).join('') === 'export{}'
  return mark ? found.slice(0, -3) : found
}

// Node.js takes the first one for a modifier of what stands on the next line.
const NODE_ERRS = /\bpublic\n/

/** Runs a check of every module, and tells the seed of one that fails it. */
function each(check) {
  programs.forEach((each, at) => {
    try {
      check({ ...each, text: erased[at] })
    } catch (error) {
      error.message = `seed ${each.seed}: ${error.message}\n${JSON.stringify(each.source)}`
      throw error
    }
  })
}

test('nearly all of what is written is TypeScript', () => {
  assert.ok(programs.length > 0.98 * COUNT, `${programs.length} of ${COUNT}`)
  const texts = programs.map(({ source }) => source)
  assert.ok(new Set(texts).size > 0.98 * COUNT, 'they differ')
})

test('everything erases, and each token stands where it stood', () =>
  each(({ source, text }) => {
    assert.equal(typeof text, 'string', JSON.stringify(text))
    assert.equal(text.length, source.length)
    for (const { at, token } of tokens(text, 'erased.mjs')) {
      assert.equal(source.slice(at, at + token.length), token)
    }
  }))

test('the tokens are those that TypeScript leaves', () =>
  each(({ compiled, text }) => {
    assert.deepEqual(unmarked(bare(text, 'erased.mjs')), unmarked(bare(compiled, 'compiled.mjs')))
  }))

test('Node.js reads every one as a module', () => {
  const check = `
    import { SourceTextModule } from 'node:vm'
    import { readFileSync } from 'node:fs'
    for (const [at, text] of JSON.parse(readFileSync(0, 'utf8')).entries()) {
      try { new SourceTextModule(text) } catch (error) { console.log(at, String(error)) }
    }`
  const args = ['--no-warnings', '--experimental-vm-modules', '--input-type=module', '-e', check]
  const options = { input: JSON.stringify(erased), encoding: 'utf8', maxBuffer: 1 << 28 }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
  assert.equal(status, 0, stderr)
  const at = Number.parseInt(stdout, 10)
  const refused = programs[at]
  assert.equal(stdout, '', refused && `seed ${refused.seed}: ${JSON.stringify(refused.source)}`)
})

if (module.stripTypeScriptTypes) {
  test('the tokens are those that Node.js leaves, in the same places', () =>
    each(({ source, text }) => {
      if (NODE_ERRS.test(source)) return
      const theirs = tokens(module.stripTypeScriptTypes(source), 'stripped.mjs')
      assert.deepEqual(tokens(text, 'erased.mjs'), theirs)
    }))
}
