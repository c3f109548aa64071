// The shape of the board's events (`state/events.jsonl`) and of `state/acknowledgements.json`.

import type { Schema, WithDefaults } from '../schema.js'

/** What an event tells of. */
export type BoardEventType =
  | 'task_created'
  | 'task_updated'
  | 'task_completed'
  | 'task_deferred'
  | 'run_started'
  | 'run_completed'
  | 'plugin_result'
  | 'error'
  | 'notice'

/** How much an event matters. */
export type BoardEventSeverity = 'critical' | 'warning' | 'info'

/** One event. */
export interface BoardEvent {
  /** Unique; a UUID where warpline made it. */
  event_id: string
  type: BoardEventType
  /** ISO 8601. */
  timestamp: string
  /** Who tells: a plugin, or a part of the runtime. */
  source: string
  /** At most 200 UTF-16 units. */
  summary: string
  severity: BoardEventSeverity
  /** The task it concerns. */
  task_id: string | null
  /** The run it came from. */
  run_id: string | null
  /** JSON text. */
  metadata_json: string | null
}

/** What an operator did about an event. */
export interface Acknowledgement {
  /** ISO 8601. */
  acknowledged_at: string
  action_taken: 'acknowledge' | 'action' | 'defer' | 'mark_done'
}

/** Acknowledgements by event id. */
export type Acknowledgements = Record<string, Acknowledgement>

/** Validates one line of `state/events.jsonl`. */
export declare const BoardEventSchema: Schema<
  WithDefaults<BoardEvent, 'task_id' | 'run_id' | 'metadata_json'>,
  BoardEvent
>
/** Validates the content of `state/acknowledgements.json`. */
export declare const AcknowledgementsSchema: Schema<Acknowledgements, Acknowledgements>
