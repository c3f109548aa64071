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

/**
 * Where plugin code runs. `none`: TypeScript in this process, and what is written in another language in
 * one process for each language. `process`: every attempt in a process of its own, as every manifest
 * that has to be run to be known; what hangs or breaks there is killed without harm to anything else.
 */
export type Isolation = 'none' | 'process'

/** How an advance is to go. Paths are taken from the working directory. */
export interface AdvanceOptions {
  /** Evaluate and report; nothing with a side effect runs and nothing is written. */
  dryRun?: boolean | undefined
  /** Lift freshness and quiet hours. */
  force?: boolean | undefined
  /** Default: none, which admits every schedule but `manual`. */
  profile?: RunProfile | undefined
  /** The plugin root. Default: `<home>/plugins`. */
  pluginsDir?: string | undefined
  /** The state file itself; locks and journal lie beside it. Default: `<home>/state/engine-state.json`. */
  stateDir?: string | undefined
  /** Where run logs go. Default: `<home>/runs`. */
  runsDir?: string | undefined
  /** The directory whose `runs` holds the files of each day. Default: `<home>/logs`. */
  logsDir?: string | undefined
  /** Default: `<home>/state/events.jsonl`. */
  eventsPath?: string | undefined
  /** Default: `<home>/preferences.json`. */
  preferencesPath?: string | undefined
  /** The grant file. Default: `<home>/.session-approval`. */
  approvalPath?: string | undefined
  /** How many plugins of one level run at once, an integer of at least 1. Default: 16. */
  concurrency?: number | undefined
  /** Where plugin code runs. Default: `none`. */
  isolation?: Isolation | undefined
  /** Interrupts the advance; the promise then resolves with status `interrupted`. */
  signal?: AbortSignal | undefined
  /** Called before a handler is. */
  onPluginStart?: ((plugin: string) => void) | undefined
  /**
   * Called when a handler has ended, and for a plugin that was held back for want of a grant or by a
   * failed dependency. `elapsedMs` is an integer; `reason` says why where it failed or was held back;
   * `cause` is what its code threw, where it did: an error of the same text, without secrets, where it ran
   * in another process.
   */
  onPluginEnd?:
    | ((
        plugin: string,
        state: PluginFsmState,
        elapsedMs: number,
        reason?: string,
        cause?: unknown,
      ) => void)
    | undefined
  /** Called once, last, for an advance that did not end complete. */
  onRunFailure?: ((text: string) => void) | undefined
}

/** What an advance did. */
export interface AdvanceResult {
  /** Names the run log. */
  run_id: string
  /** How the pass ended. */
  status: RunLogStatus
  /** By directory name, plugins that did not load included. */
  plugin_states: Map<string, PluginFsmState>
  /** Plugins whose results wait for a human. */
  gated_plugins: string[]
  /** Empty where none was written. */
  run_log_path: string
  /** What became of each plugin that was reached, as the run log has it. */
  plugin_entries: PluginLogEntry[]
}

/** What went wrong, in a form that does not change. docs/errors.md says what to do about each. */
export type WarplineErrorCode =
  | 'ERR_WARPLINE_PLUGIN_ROOT'
  | 'ERR_WARPLINE_NOT_JSON'
  | 'ERR_WARPLINE_INVALID'
  | 'ERR_WARPLINE_NEWER_STATE'
  | 'ERR_WARPLINE_FILE'
  | 'ERR_WARPLINE_LOCKED'
  | 'ERR_WARPLINE_STATE_LOCK'
  | 'ERR_WARPLINE_SHARED_HOME'
  | 'ERR_WARPLINE_OPTION'
  | 'ERR_WARPLINE_HOST'

/**
 * What a call of this package rejects with when the engine refuses it or cannot finish it. Only the
 * type is published: tell it by `code`. There is no `cause`; what the operating system said stands
 * in `message`.
 */
export interface WarplineError extends Error {
  readonly name: 'WarplineError'
  readonly code: WarplineErrorCode
  /** What the reader can do about it. */
  readonly hint: string | undefined
  readonly cause?: undefined
}

/**
 * Runs every due plugin of a home once.
 *
 * Rejects with a {@link WarplineError} where the advance could not be begun or recorded, and with a
 * `TypeError` where a hook is no function or `signal` no signal.
 */
export declare function runAdvance(options?: AdvanceOptions): Promise<AdvanceResult>
