// The shape of the log of one advance, `runs/<run_id>.json`.

import type { Schema, WithDefaults } from '../schema.js'
import type { SkillResult } from './skill-result.js'

/** How an advance ended. */
export type RunLogStatus = 'complete' | 'partial' | 'failed' | 'interrupted'

/** How one plugin ended in an advance. */
export type PluginEntryStatus = 'completed' | 'failed' | 'skipped' | 'gated' | 'denied'

/** One plugin of an advance. */
export interface PluginLogEntry {
  plugin: string
  status: PluginEntryStatus
  started_at: string
  /** Milliseconds, an integer. */
  elapsed_ms: number
  result_summary: string
  reversible?: boolean
  undo_instruction?: string
  retried: boolean
  /** The full result of a plugin that ran. */
  result?: SkillResult
}

/** The document of one advance. */
export interface RunLog {
  run_id: string
  started_at: string
  /** `null` for an interrupted run. */
  completed_at: string | null
  status: RunLogStatus
  /** The interrupted run that this one continued. */
  resumed_from: string | null
  summary: string
  plugin_entries: PluginLogEntry[]
  /** Absent in logs older than the field. */
  manifests_loaded?: number
}

export declare const RunLogSchema: Schema<
  WithDefaults<RunLog, 'completed_at' | 'resumed_from' | 'plugin_entries'>,
  RunLog
>
export declare const PluginLogEntrySchema: Schema<
  WithDefaults<PluginLogEntry, 'retried'>,
  PluginLogEntry
>
