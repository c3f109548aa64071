// The eraser and the reader of literal manifests, as commands: built from the sources that are here.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { account, root, run } from './support.mjs'

const command = join(root, 'target', 'debug', 'examples', 'erase')

/** Builds the command; must be called once before the others. */
export function build() {
  const args = ['build', '--workspace', '--locked', '--example', 'erase']
  const ended = run('cargo', args, { timeout: 600_000 })
  assert.equal(ended.status, 0, account(ended))
}

function call(source, ...args) {
  return spawnSync(command, args, { input: source, encoding: 'utf8', maxBuffer: 1 << 28 })
}

/** Erases the types of a module: {code: null, text}, or the code of the refusal. */
export function erase(source) {
  const { status, stdout, stderr } = call(source)
  const code = status === 0 ? null : (stderr.match(/^ERR_\w+/m)?.[0] ?? stderr)
  return { code, text: stdout }
}

/** Erases the types of several modules: of each the text, or {code} of the refusal. */
export function eraseAll(sources) {
  const { status, stdout, stderr } = call(JSON.stringify(sources), 'many')
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

/** The JSON text of the literal manifest in a module: {bare: value}, {parsed: value} or null. */
export function literal(source) {
  const { status, stdout, stderr } = call(source, 'literal')
  assert.equal(status, 0, stderr)
  return stdout
}

/** Installs a package `warpline` in a directory whose schema's `parse` gives back its argument, as {parsed}. */
export function installSchema(home) {
  const directory = join(home, 'node_modules', 'warpline')
  mkdirSync(directory, { recursive: true })
  writeFileSync(
    join(directory, 'package.json'),
    '{"name":"warpline","type":"module","exports":{"./schemas/plugin-manifest":"./schema.js"}}',
  )
  writeFileSync(
    join(directory, 'schema.js'),
    'export const PluginManifestSchema = { parse: (value) => ({ parsed: value }) }',
  )
}
