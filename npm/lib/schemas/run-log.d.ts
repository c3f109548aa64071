// The shape of the log of one advance, `runs/<run_id>.json`.

import type { Schema, WithDefaults } from '../schema.js'
import type { SkillResult } from './skill-result.js'

/** How an advance ended. */
export type RunLogStatus = 'complete' | 'partial' | 'failed' | 'interrupted'

/** How one plugin ended in an advance. */
export type PluginEntryStatus = 'completed' | 'failed' | 'skipped' | 'gated' | 'denied'

/** One plugin of an advance. */
export interface PluginLogEntry {
  /** The directory name. */
  plugin: string
  status: PluginEntryStatus
  /** When it was begun or passed over, ISO 8601. */
  started_at: string
  /** Milliseconds, an integer. */
  elapsed_ms: number
  /** The summary of its result, or why there is none. */
  result_summary: string
  /** As the result has it. */
  reversible?: boolean
  /** As the result has it. */
  undo_instruction?: string
  /** Whether there was more than one attempt. */
  retried: boolean
  /** The full result of a plugin that ran. */
  result?: SkillResult
}

/** The document of one advance. */
export interface RunLog {
  /** The name of the file, without `.json`. */
  run_id: string
  /** ISO 8601. */
  started_at: string
  /** `null` for an interrupted run. */
  completed_at: string | null
  status: RunLogStatus
  /** The interrupted run that this one continued. */
  resumed_from: string | null
  /** One line for a reader. */
  summary: string
  /** What became of each plugin that was reached. */
  plugin_entries: PluginLogEntry[]
  /** How many manifests could be used. Absent in logs older than the field. */
  manifests_loaded?: number
}

/** Validates the log of an advance. */
export declare const RunLogSchema: Schema<
  WithDefaults<RunLog, 'completed_at' | 'resumed_from' | 'plugin_entries'>,
  RunLog
>
/** Validates one entry of a log. */
export declare const PluginLogEntrySchema: Schema<
  WithDefaults<PluginLogEntry, 'retried'>,
  PluginLogEntry
>
