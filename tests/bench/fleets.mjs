// The fleets that are timed: plugins in chains of ten, each with an Output of 500 bytes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const CHAIN = 10
const BODY = 500

export const nameOf = (index) => `p${String(index).padStart(4, '0')}`

/** The manifest of a plugin: it waits for the one before it in its chain. `fields` are laid over it. */
function manifestOf(index, fields) {
  const dependencies = index % CHAIN === 0 ? [] : [nameOf(index - 1)]
  return {
    name: nameOf(index),
    version: '1.0.0',
    description: 'Reports five hundred bytes',
    autonomy_level: 'autonomous',
    schedule: 'on_run',
    side_effects: [],
    ttl_hours: 12,
    timeout_ms: 30_000,
    max_retries: 1,
    dependencies,
    outputs: { report: { type: 'report', description: 'Text', temporality: 'replace' } },
    ...fields,
  }
}

const result = `{
    status: 'success',
    phases_completed: [manifest.name],
    phases_failed: [],
    data_freshness: {},
    summary: \`\${manifest.name} reported\`,
    artifacts_produced: [{ type: 'report', format: 'text', body: BODY }],
  }`

/** What the files of a plugin hold, by language. */
const languages = {
  ts: (manifest, { returns = result }) => ({
    'manifest.ts': `import type { PluginManifest } from 'warpline/schemas/plugin-manifest'\n\nexport const manifest: PluginManifest = ${literal(manifest)}\n`,
    'handler.ts': `import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'\n\nconst BODY: string = 'x'.repeat(${BODY})\n\nexport const handler: CapabilityHandlerFn = async (manifest, _args, _signal) => {\n  return ${returns}\n}\n`,
  }),
  mjs: (manifest, { returns = result }) => ({
    'manifest.mjs': `export const manifest = ${literal(manifest)}\n`,
    'handler.mjs': `const BODY = 'x'.repeat(${BODY})\n\nexport const handler = async (manifest, _args, _signal) => {\n  return ${returns}\n}\n`,
  }),
  py: (manifest) => ({
    'manifest.py': `manifest = ${python(manifest)}\n`,
    'handler.py': `BODY = "x" * ${BODY}\n\n\ndef handler(manifest, args, signal, capabilities):\n    return {\n        "status": "success",\n        "phases_completed": [manifest["name"]],\n        "phases_failed": [],\n        "data_freshness": {},\n        "summary": f"{manifest['name']} reported",\n        "artifacts_produced": [{"type": "report", "format": "text", "body": BODY}],\n    }\n`,
  }),
}

/** As a person writes it: keys without quotes. */
const literal = (value) => JSON.stringify(value, null, 2).replace(/^( *)"(\w+)":/gm, '$1$2:')

const python = (value) => JSON.stringify(value, null, 4)

/**
 * Writes a fleet.
 *
 * @param {string} home
 * @param {number} count
 * @param {{ language?: string[], manifest?: (index: number) => object, returns?: string }} [options] the
 *   languages of the files of each plugin, what is laid over its manifest, and what its handler returns
 */
export function makeFleet(home, count, options = {}) {
  const { language = ['ts'], manifest: fields = () => ({}) } = options
  mkdirSync(home, { recursive: true })
  // Else Node.js warns of each file and reads it twice.
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }\n')
  for (let index = 0; index < count; index += 1) {
    const directory = join(home, 'plugins', nameOf(index))
    mkdirSync(directory, { recursive: true })
    const manifest = manifestOf(index, fields(index))
    for (const each of language) {
      for (const [file, text] of Object.entries(languages[each](manifest, options))) {
        writeFileSync(join(directory, file), text)
      }
    }
  }
}
