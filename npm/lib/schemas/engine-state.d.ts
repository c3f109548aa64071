// The shape of the engine's state document, `state/engine-state.json`.

import type { Schema } from '../schema.js'
import type { OutputRecord, SkillResult } from './skill-result.js'

/** How a plugin's last run ended. */
export type RunStatus = 'success' | 'partial' | 'failed' | 'skipped' | 'gated'

/** The last run of a plugin. */
export interface PluginRun {
  last_run_at: string
  status: RunStatus
  /** Milliseconds. */
  duration_ms?: number
  /** The newest output the plugin ever produced. */
  last_output?: OutputRecord
}

/** A supervised plugin's result that waits for a human. */
export interface PendingGate {
  plugin: string
  run_id: string
  created_at: string
  payload_summary: string
  plugin_result: SkillResult
  run_started_at: string | null
  run_completed_at: string | null
  applied_at: string | null
}

/** A human's no. */
export interface Denial {
  plugin: string
  reason: string
  denied_at: string
  note: string | null
  fingerprint: string
}

/** A task put off. */
export interface Deferral {
  task_id: string
  reason: string
  deferred_at: string
  expires_at: string
}

/** How urgent a task is. */
export type TaskSeverity = 'critical' | 'warning' | 'info'

/** An open task. */
export interface TaskAging {
  task_id: string
  first_flagged: string
  description: string
  severity: TaskSeverity
  run_count: number
  clean_streak: number
  last_detail: string
  source_check: string
  first_run_id: string | null
  last_flagged_run_id: string | null
  action_type: string
  due_date: string | null
  extensions: Record<string, unknown>
}

/** A task that is done. */
export interface CompletedTask {
  task_id: string
  description: string
  severity: TaskSeverity
  source_check: string
  completed_at: string
  extensions: Record<string, unknown>
}

/** The whole document. Unknown keys at its top survive. */
export interface EngineState {
  schema_version: number
  last_run_id: string | null
  last_run_at: string | null
  last_interaction_at: string | null
  plugin_runs: Record<string, PluginRun>
  deferrals: Deferral[]
  denials: Record<string, Denial>
  task_aging: TaskAging[]
  completed_tasks: CompletedTask[]
  pending_gates: PendingGate[]
  extensions: Record<string, unknown>
}

/** A document as a file may have it: every key has a default. */
export type EngineStateInput = Partial<EngineState>

export declare const EngineStateSchema: Schema<EngineStateInput, EngineState>

/** The newest `schema_version` that this build understands. */
export declare const ENGINE_STATE_MAX_SCHEMA_VERSION: 1
