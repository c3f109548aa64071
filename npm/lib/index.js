// Runs a fleet of plugins once.

'use strict'

const { optionsJson, runOperation } = require('./engine.js')
const { ownMap } = require('./intrinsics.js')

const HOOKS = ['onPluginStart', 'onPluginEnd', 'onRunFailure']

/** @type {typeof import('./index.js').runAdvance} */
async function runAdvance(options = {}) {
  const { signal, onPluginStart, onPluginEnd, onRunFailure } = options
  /** @type {Map<string, unknown>} */
  const causes = ownMap()
  /** @param {import('./engine.js').Notice} notice */
  const onNotice = (notice) => {
    if (notice.kind === 'plugin_start') return onPluginStart?.(notice.plugin)
    if (notice.kind === 'plugin_end') {
      const state = /** @type {import('./index.js').PluginFsmState} */ (notice.state)
      const cause = causes.get(notice.plugin)
      return onPluginEnd?.(notice.plugin, state, notice.elapsed_ms, notice.reason, cause)
    }
    if (notice.kind === 'run_failure') return onRunFailure?.(notice.text)
  }
  const outcome = await runOperation('advance', optionsJson({ ...options }, HOOKS), {
    signal,
    onThrown: ({ plugin, thrown }) => causes.set(plugin, thrown),
    onNotice: onPluginStart || onPluginEnd || onRunFailure ? onNotice : undefined,
  })
  return { ...outcome, plugin_states: new Map(Object.entries(outcome.plugin_states)) }
}

module.exports = { runAdvance }
