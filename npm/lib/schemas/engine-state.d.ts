// The shape of the engine's state document, `state/engine-state.json`.

import type { Schema } from '../schema.js'
import type { OutputRecord, SkillResult } from './skill-result.js'

/** How a plugin's last run ended. */
export type RunStatus = 'success' | 'partial' | 'failed' | 'skipped' | 'gated'

/** The last run of a plugin. */
export interface PluginRun {
  /** When it ended, ISO 8601. */
  last_run_at: string
  status: RunStatus
  /** Milliseconds. */
  duration_ms?: number
  /** The newest output the plugin ever produced. */
  last_output?: OutputRecord
}

/** A supervised plugin's result that waits for a human. */
export interface PendingGate {
  /** The directory name. */
  plugin: string
  /** The run whose result is parked. */
  run_id: string
  /** When it was parked, ISO 8601. */
  created_at: string
  /** The summary of the result. */
  payload_summary: string
  /** What is recorded once a human accepts it. */
  plugin_result: SkillResult
  /** ISO 8601; a dependency that ran later makes the result stale. */
  run_started_at: string | null
  /** ISO 8601; the age counts from here. */
  run_completed_at: string | null
  /** When it was accepted, ISO 8601; `null` while it waits. */
  applied_at: string | null
}

/** A human's no. */
export interface Denial {
  /** The directory name. */
  plugin: string
  /** Why, in the words of who denied. */
  reason: string
  /** ISO 8601. */
  denied_at: string
  /** A remark beside the reason. */
  note: string | null
  /** SHA-256 of what was denied, in hex. */
  fingerprint: string
}

/** A task put off. */
export interface Deferral {
  task_id: string
  reason: string
  /** ISO 8601. */
  deferred_at: string
  /** ISO 8601. */
  expires_at: string
}

/** How urgent a task is. */
export type TaskSeverity = 'critical' | 'warning' | 'info'

/** An open task. */
export interface TaskAging {
  task_id: string
  /** When it was first seen, ISO 8601. */
  first_flagged: string
  description: string
  severity: TaskSeverity
  /** How many runs have seen it. */
  run_count: number
  /** How many runs in a row have not. */
  clean_streak: number
  /** What was said of it last. */
  last_detail: string
  /** The plugin that it keeps from running while it is open. */
  source_check: string
  /** The run that saw it first. */
  first_run_id: string | null
  /** The run that saw it last. */
  last_flagged_run_id: string | null
  /** What kind of action it asks for, free text. */
  action_type: string
  /** When it should be done, as written. */
  due_date: string | null
  /** Whatever other programs keep here. */
  extensions: Record<string, unknown>
}

/** A task that is done. */
export interface CompletedTask {
  task_id: string
  description: string
  severity: TaskSeverity
  /** The plugin that it concerned. */
  source_check: string
  /** ISO 8601. */
  completed_at: string
  /** Whatever other programs keep here. */
  extensions: Record<string, unknown>
}

/** The whole document. Unknown keys at its top survive. */
export interface EngineState {
  /** At most `ENGINE_STATE_MAX_SCHEMA_VERSION` in a file that this build reads. */
  schema_version: number
  /** The advance that wrote it last. */
  last_run_id: string | null
  /** When that advance ended, ISO 8601. */
  last_run_at: string | null
  /** When somebody last dealt with the home, ISO 8601; every advance counts. */
  last_interaction_at: string | null
  /** By directory name. */
  plugin_runs: Record<string, PluginRun>
  deferrals: Deferral[]
  /** By directory name. */
  denials: Record<string, Denial>
  task_aging: TaskAging[]
  completed_tasks: CompletedTask[]
  /** Results that wait, oldest first, and those accepted lately. */
  pending_gates: PendingGate[]
  /** Whatever other programs keep here. */
  extensions: Record<string, unknown>
}

/** A document as a file may have it: every key has a default. */
export type EngineStateInput = Partial<EngineState>

/** Validates the document; every key has a default. */
export declare const EngineStateSchema: Schema<EngineStateInput, EngineState>

/** The newest `schema_version` that this build understands. */
export declare const ENGINE_STATE_MAX_SCHEMA_VERSION: 1
