// Runs a fleet of plugins once.

import { optionsJson, runOperation } from './engine.js'

const HOOKS = ['onPluginStart', 'onPluginEnd', 'onRunFailure']

/** @type {typeof import('./index.js').runAdvance} */
export async function runAdvance(options = {}) {
  const { signal, onPluginStart, onPluginEnd, onRunFailure } = options
  const outcome = await runOperation('advance', optionsJson({ ...options }, HOOKS), {
    signal,
    onNotice(notice) {
      if (notice.kind === 'plugin_start') return onPluginStart?.(notice.plugin)
      if (notice.kind === 'plugin_end') {
        const state = /** @type {import('./index.js').PluginFsmState} */ (notice.state)
        return onPluginEnd?.(notice.plugin, state, notice.elapsed_ms, notice.reason)
      }
      if (notice.kind === 'run_failure') return onRunFailure?.(notice.text)
    },
  })
  return { ...outcome, plugin_states: new Map(Object.entries(outcome.plugin_states)) }
}
