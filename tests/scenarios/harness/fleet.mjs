// Writes the plugins of a scenario in the language of a host.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const player = fileURLToPath(new URL('../player', import.meta.url))

/** What a handler does that succeeds, fails, or hands over: short forms of `returns`. */
function spelled(does) {
  const { ok, partial, failed, handoff, skipped, code, retryable, fields, ...rest } = does
  const base = (status, summary) => ({
    status,
    phases_completed: [],
    phases_failed: [],
    data_freshness: {},
    summary,
    ...fields,
  })
  if (ok !== undefined) return { ...rest, returns: base('success', ok) }
  if (partial !== undefined) return { ...rest, returns: base('partial', partial) }
  if (skipped !== undefined) return { ...rest, returns: base('skipped', skipped) }
  if (handoff !== undefined) {
    const result = base('skipped', `[needs-llm] ${handoff}`)
    const needs_llm = { task: handoff, context_path: 'state/context.json' }
    return { ...rest, returns: { ...result, needs_llm, ...fields } }
  }
  if (failed === undefined) return does
  const error = { code: code ?? 'dependency_unavailable', message: failed, impact: 'HIGH' }
  if (retryable !== undefined) error.retryable = retryable
  return { ...rest, returns: { ...base('failed', failed), errors: [error], ...fields } }
}

function python(value) {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`
  const members = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}: ${python(item)}`,
  )
  return `{${members.join(', ')}}`
}

/** The two modules of a plugin: a text for `manifest` or `module` is what evaluating it throws. */
const modules = {
  typescript({ manifest, module }) {
    const thrown = (text) => `throw new Error(${JSON.stringify(text)})\n`
    const value = `export const manifest = ${JSON.stringify(manifest, null, 2)}\n`
    const handler = `import { play } from ${JSON.stringify(join(player, 'scenario_player.mjs'))}
export const handler = play(import.meta.url)
`
    return {
      'manifest.ts': typeof manifest === 'string' ? thrown(manifest) : value,
      'handler.ts': module === undefined ? handler : thrown(module),
    }
  },
  python({ manifest, module }) {
    const thrown = (text) => `import scenario_player
scenario_player.upset(${JSON.stringify(text)})
`
    const handler = `import scenario_player
handler = scenario_player.play(__file__)
`
    return {
      'manifest.py':
        typeof manifest === 'string' ? thrown(manifest) : `manifest = ${python(manifest)}\n`,
      'handler.py': module === undefined ? handler : thrown(module),
    }
  },
}

/** What a manifest has that a scenario says nothing of. */
const plain = (name) => ({
  name,
  version: '1.0.0',
  description: 'a plugin',
  autonomy_level: 'autonomous',
  ttl_hours: 6,
})

/**
 * Writes a plugin; `null` takes it away. `manifest` is laid over a plain one, unless it is what its module throws,
 * or `null`: then there is no such file.
 */
export async function writePlugin(root, calls, language, name, plugin) {
  const directory = join(root, name)
  await rm(directory, { recursive: true, force: true })
  if (plugin === null) return
  await mkdir(directory, { recursive: true })
  const { manifest: fields = {}, does = { ok: 'done' }, module } = plugin
  const manifest =
    typeof fields === 'string' || fields === null ? fields : { ...plain(name), ...fields }
  const behaviour = { name, calls, manifest, module, does: [does].flat().map(spelled) }
  await writeFile(join(directory, 'behaviour.json'), JSON.stringify(behaviour))
  for (const [file, text] of Object.entries(modules[language]({ manifest, module }))) {
    if (manifest === null && file.startsWith('manifest')) continue
    await writeFile(join(directory, file), text)
  }
}
