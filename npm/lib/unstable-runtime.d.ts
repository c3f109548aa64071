// The runtime piece by piece, for hosts. A minor version may rename anything in this file.

import type { Isolation } from './index.js'
import type { BoardEvent, BoardEventSeverity, BoardEventType } from './schemas/board-event.js'
import type { PluginRun } from './schemas/engine-state.js'
import type { PluginManifest, Tier } from './schemas/plugin-manifest.js'
import type { SkillResult } from './schemas/skill-result.js'
import type { GrantWitness } from './unstable-capabilities.js'

/** Every run profile. */
export declare const RUN_PROFILES: readonly ['daily', 'weekly', 'manual']

/** The tier after a time without interaction; `null` and text that is no instant are `normal`. */
export declare function computeTier(lastInteractionAt: string | null, now?: Date): Tier

/** Whether a plugin of this `min_tier` may run in this tier. */
export declare function isEligibleForTier(current: Tier, minTier: Tier): boolean

/** A time without interaction, for a reader. */
export declare function formatIdleDuration(ms: number): string

/** What a caller says of a new event. */
export interface EventDraft {
  type: BoardEventType
  /** Who tells: a plugin, or a part of a program. */
  source: string
  /** Cut after 200 UTF-16 units. */
  summary: string
  /** Default: `info`. */
  severity?: BoardEventSeverity | undefined
  /** Default: `null`. */
  task_id?: string | null | undefined
  /** Default: `null`. */
  run_id?: string | null | undefined
  /** Any JSON value; becomes the text of `metadata_json`. */
  metadata?: unknown
  /** Default: a random UUID. */
  event_id?: string | undefined
  /** Default: now. */
  timestamp?: string | undefined
}

/** Where events go. */
export interface EventOptions {
  /** Default: `<home>/state/events.jsonl`. */
  eventsPath?: string | undefined
}

/** Makes an event of this moment, with an id of its own. */
export declare function makeEvent(draft: EventDraft): BoardEvent

/** Appends an event to the board. */
export declare function emitBoardEvent(event: BoardEvent, options?: EventOptions): Promise<void>

/** Appends the event of a plugin that completed. */
export declare function emitPluginCompleted(
  plugin: string,
  summary: string,
  runId: string | null,
  options?: EventOptions,
): Promise<BoardEvent>

/** Appends the notice of an attempt that failed and will be followed by another. */
export declare function emitAttemptFailed(
  plugin: string,
  attempt: number,
  message: string,
  runId: string | null,
  options?: EventOptions,
): Promise<BoardEvent>

/** A plugin that did not load. */
export interface LoadFailure {
  /** The directory name. */
  plugin: string
  /** Why, in one line. */
  error: string
  /** What its module threw in this process, where it did. Not enumerable: no copy has it, nor the JSON text. */
  readonly cause?: unknown
}

/** What a plugin root holds. */
export interface LoadedManifests {
  /** By directory name. */
  manifests: Map<string, PluginManifest>
  /** Sorted by directory name. */
  failures: LoadFailure[]
  /** Set where the root cannot be used; the rest is then empty. */
  root_error?: { path: string; code: string }
}

/** Loads the manifests of a plugin root. Default: `<home>/plugins`. */
export declare function loadPluginManifests(pluginsDir?: string): Promise<LoadedManifests>

/** How an invocation is to go. */
export interface InvokePluginOptions {
  /** The plugin root. Default: `<home>/plugins`. */
  pluginsDir?: string | undefined
  /** Cancels the invocation. */
  signal?: AbortSignal | undefined
  /** Replaces the manifest's `max_retries`: 0 to 10. */
  maxRetriesOverride?: number | undefined
  /** Write the run artifact and the transcript. Default: false. */
  persistArtifact?: boolean | undefined
  /** Names artifact, transcript and outputs: 1 to 128 of `A-Z a-z 0-9 . _ -`, no dot in front. Default: a random UUID. */
  runId?: string | undefined
  /** What the artifact says of who started it. Default: false. */
  userInitiated?: boolean | undefined
  /** Where artifact and transcript go. Default: `<home>/runs`. */
  runsDir?: string | undefined
  /** Where notices of retries go. Default: `<home>/state/events.jsonl`. */
  eventsPath?: string | undefined
  /** What the handler reads of its dependencies, as `plugin_runs` of the state document has it. */
  dependencyRuns?: Readonly<Record<string, PluginRun>> | undefined
  /** Where the handler runs. Default: `none`. */
  isolation?: Isolation | undefined
  /** Called before each attempt, with its number from 1. */
  onAttemptStart?: ((attempt: number) => void) | undefined
  /**
   * Called after each attempt that failed or ran out of time, not after one that was cancelled; with the
   * first error's message, or the summary of a result without errors. `cause` is what the handler
   * threw, where it did: an error of the same text where it ran in another process.
   */
  onAttemptFailed?: ((attempt: number, message: string, cause?: unknown) => void) | undefined
}

/** How one attempt ended. */
export type AttemptStatus = 'success' | 'failed' | 'cancelled' | 'timeout' | 'delegated'

/** One handler call. */
export interface InvokeAttempt {
  /** From 1. */
  attempt: number
  /** ISO 8601. */
  started_at: string
  /** Milliseconds, an integer. */
  elapsed_ms: number
  status: AttemptStatus
  /** The message of the first error; `null` for `success` and `delegated`. */
  error: string | null
}

/** What an invocation came to. */
export interface InvokePluginResult {
  /**
   * What the plugin threw, where it did, secrets included; an error of the same text, without secrets, where
   * it ran in another process. Not enumerable: no copy has it, nor the JSON text.
   */
  readonly cause?: unknown
  /** The directory name. */
  plugin: string
  /** What the last attempt came to, without secrets. */
  result: SkillResult
  /** Milliseconds, an integer. */
  duration_ms: number
  attempt_count: number
  attempts: InvokeAttempt[]
  /** The message of the last attempt's first error; `null` for a success and a hand-off. */
  final_error: string | null
  /** Whether there was more than one attempt. */
  retried: boolean
  /** Whether the signal fired. */
  cancelled: boolean
  /** Whether the last attempt ran out of time. */
  timed_out: boolean
}

/**
 * Runs one plugin now. What the plugin does wrong is in the result; the call rejects for what the
 * caller does wrong (a missing witness, an unusable option) and for a home that cannot be used.
 */
export declare function invokePlugin(
  plugin: string,
  args: Record<string, unknown> | undefined,
  options: InvokePluginOptions | undefined,
  witness: GrantWitness,
): Promise<InvokePluginResult>
