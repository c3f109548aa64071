// A host that puts the package to use on whatever runtime runs it, and prints what came of it as JSON.
//
// Arguments: the plugin root, and one below a `node_modules`. The home is `WARPLINE_HOME`.

import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { runAdvance } from 'warpline'
import { invokePlugin, loadPluginManifests } from 'warpline/unstable-runtime'

const [pluginsDir, installed] = process.argv.slice(2)
const witness = { granted: false, reason: 'no-declared-side-effects' }
const storage = new AsyncLocalStorage()
globalThis.storageOfHost = storage
const found = {}

const call = async (name, options = {}, args = {}) => {
  const outcome = await invokePlugin(name, args, { pluginsDir, ...options }, witness)
  const { result, final_error, cancelled, timed_out } = outcome
  return {
    status: result.status,
    summary: result.summary,
    error: final_error,
    cancelled,
    timed_out,
  }
}

// The caller's context reaches hooks and handlers, those that run side by side included.
const seen = []
await storage.run('of the advance', async () => {
  const hook = () => seen.push(storage.getStore())
  const { status, plugin_states, plugin_entries } = await runAdvance({
    pluginsDir,
    onPluginStart: hook,
    onPluginEnd: hook,
    onRunFailure: hook,
  })
  const reasons = plugin_entries.map((entry) => [entry.plugin, entry.result_summary])
  found.advance = {
    status,
    states: Object.fromEntries(plugin_states),
    reasons: Object.fromEntries(reasons),
  }
})
found.hooks = [...new Set(seen)]
found.contexts = await Promise.all(
  ['one', 'two'].map((name) => storage.run(name, () => call('context'))),
)

const { failures } = await loadPluginManifests(pluginsDir)
found.failures = Object.fromEntries(failures.map(({ plugin, error }) => [plugin, error]))

// An edited file that the handler imports by way of another one.
found.before = (await call('edited')).summary
const file = join(pluginsDir, 'edited', 'lib', 'deep.ts')
writeFileSync(file, readFileSync(file, 'utf8').replace('first', 'second edition'))
found.after = (await call('edited')).summary

found.throws = await call('throws')
found.stack = (await call('stack')).summary
found.timeout = await call('patient')
const controller = new AbortController()
const onAttemptStart = () => controller.abort()
found.cancelled = await call('waits', { signal: controller.signal, onAttemptStart })
const directory = process.cwd()
found.changes = await call('changes')
found.restored = [process.cwd() === directory, process.env.WARPLINE_TEST_LEFT ?? null]
found.huge = await call('huge')
found.installed = await call('linked', { pluginsDir: installed })

const refusal = await runAdvance({ pluginsDir: join(pluginsDir, 'absent') }).catch((error) => error)
found.refusal = [refusal.name, refusal.code, refusal instanceof Error]

// One instance for both kinds of import.
const required = createRequire(import.meta.url)('warpline/unstable-runtime')
found.same = required.invokePlugin === invokePlugin

console.log(JSON.stringify(found))
