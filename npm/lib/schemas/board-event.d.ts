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
  event_id: string
  type: BoardEventType
  timestamp: string
  source: string
  /** At most 200 UTF-16 units. */
  summary: string
  severity: BoardEventSeverity
  task_id: string | null
  run_id: string | null
  /** JSON text. */
  metadata_json: string | null
}

/** What an operator did about an event. */
export interface Acknowledgement {
  acknowledged_at: string
  action_taken: 'acknowledge' | 'action' | 'defer' | 'mark_done'
}

/** Acknowledgements by event id. */
export type Acknowledgements = Record<string, Acknowledgement>

export declare const BoardEventSchema: Schema<
  WithDefaults<BoardEvent, 'task_id' | 'run_id' | 'metadata_json'>,
  BoardEvent
>
export declare const AcknowledgementsSchema: Schema<Acknowledgements, Acknowledgements>
