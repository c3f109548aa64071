// Runs a fleet of plugins once.

import type { PluginManifest } from './schemas/plugin-manifest.js'
import type { PluginLogEntry, RunLogStatus } from './schemas/run-log.js'
import type { SkillResultInput } from './schemas/skill-result.js'

/** Which schedules an advance admits. */
export type RunProfile = 'daily' | 'weekly' | 'manual'

/** Where a plugin stands in an advance. */
export type PluginFsmState =
  | 'pending'
  | 'running'
  | 'gated'
  | 'approved'
  | 'completed'
  | 'failed'
  | 'skipped'

/** A handler with three parameters. `CapabilityHandlerFn` has the fourth. */
export type HandlerFn = (
  manifest: PluginManifest,
  args: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<SkillResultInput>

/** How an advance is to go. Paths are taken from the working directory. */
export interface AdvanceOptions {
  /** Evaluate and report; nothing with a side effect runs and nothing is written. */
  dryRun?: boolean | undefined
  /** Lift freshness and quiet hours. */
  force?: boolean | undefined
  profile?: RunProfile | undefined
  /** The plugin root. Default: `<home>/plugins`. */
  pluginsDir?: string | undefined
  /** The state file itself. */
  stateDir?: string | undefined
  runsDir?: string | undefined
  logsDir?: string | undefined
  eventsPath?: string | undefined
  preferencesPath?: string | undefined
  approvalPath?: string | undefined
  /** How many plugins run at once, at least 1. Default: 16. */
  concurrency?: number | undefined
  /** Interrupts the advance. */
  signal?: AbortSignal | undefined
  onPluginStart?: ((plugin: string) => void) | undefined
  onPluginEnd?:
    | ((plugin: string, state: PluginFsmState, elapsedMs: number, reason?: string) => void)
    | undefined
  /** Called once, last, for an advance that did not end complete. */
  onRunFailure?: ((text: string) => void) | undefined
}

/** What an advance did. */
export interface AdvanceResult {
  run_id: string
  status: RunLogStatus
  plugin_states: Map<string, PluginFsmState>
  /** Plugins whose results wait for a human. */
  gated_plugins: string[]
  /** Empty where none was written. */
  run_log_path: string
  plugin_entries: PluginLogEntry[]
}

/** Runs every due plugin of a home once. Rejects where the advance could not be begun or recorded. */
export declare function runAdvance(options?: AdvanceOptions): Promise<AdvanceResult>
