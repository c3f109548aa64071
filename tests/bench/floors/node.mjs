// What a person would write without warpline: import the plugins, call them, keep what they said in one file.
//
// node node.mjs <plugins> <extension> run|manifests <file>
import { closeSync, fsyncSync, openSync, readdirSync, writeSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const IMPORTS_AT_ONCE = 16

const [root, extension, mode, file] = process.argv.slice(2)
const names = readdirSync(root).sort()
const base = pathToFileURL(`${root}/`).href
const plugins = new Map()

let next = 0
async function importSome() {
  while (next < names.length) {
    const name = names[next]
    next += 1
    const { manifest } = await import(`${base}${name}/manifest.${extension}`)
    if (mode === 'manifests') plugins.set(name, { manifest })
    else {
      const { handler } = await import(`${base}${name}/handler.${extension}`)
      plugins.set(name, { manifest, handler })
    }
  }
}
await Promise.all(Array.from({ length: IMPORTS_AT_ONCE }, importSome))

if (mode === 'run') {
  const state = {}
  for (const name of names) {
    const { manifest, handler } = plugins.get(name)
    const result = await handler(manifest, {}, new AbortController().signal)
    state[name] = { last_run_at: new Date().toISOString(), result }
  }
  const opened = openSync(file, 'w')
  writeSync(opened, JSON.stringify(state))
  fsyncSync(opened)
  closeSync(opened)
} else if (plugins.size !== names.length) throw new Error('a manifest is missing')
