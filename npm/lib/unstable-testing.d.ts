// Runs plugins for their tests: the real engine, in a home of its own, on facts that a test makes up.

import type { RunStatus } from './schemas/engine-state.js'
import type { OutputRecordInput } from './schemas/skill-result.js'
import type { AttemptStatus, InvokeAttempt, InvokePluginResult } from './unstable-runtime.js'

/** What a dependency is said to have done. */
export interface TestDependency {
  /** The newest output it ever produced. Default: none. `run_id` and `produced_at` are filled in. */
  output?: OutputRecordInput | undefined
  /** How its last run ended. Default: `success`. */
  run?: RunStatus | undefined
}

/** The facts of one run. */
export interface TestRunOptions {
  /** Arguments of the call, the strongest tier. */
  args?: Record<string, unknown> | undefined
  /** What `config/<plugin>.json` holds for this run. Default: the file of the test home, if any. */
  config?: Record<string, unknown> | undefined
  /**
   * Values of declared secrets: environment variables during this run. A declared one that is not
   * given is missing, whatever the environment of the tests holds.
   */
  secrets?: Record<string, string> | undefined
  /** Declared dependencies by name. One that is not given has never run. */
  dependencies?: Record<string, TestDependency> | undefined
  /**
   * The instant at which the run takes place: what records hold, and what `new Date()` and
   * `Date.now()` show to the plugin. Time limits and waits go by the real time. Default: the present,
   * which does not stand still.
   */
  now?: Date | string | undefined
  /**
   * Whether a person is said to have allowed the effects. With `false` the call rejects for a plugin
   * that declares one. Default: true. No grant is written.
   */
  granted?: boolean | undefined
  /** Replaces the manifest's `max_retries`: 0 to 10. */
  retries?: number | undefined
  /** Names the records. Default: `test-1`, `test-2` and so on, for each test home. */
  runId?: string | undefined
  /** Cancels the run. */
  signal?: AbortSignal | undefined
}

/** The record of one run as it lies in the home. */
export interface RunArtifact {
  run_id: string
  plugin: string
  /** ISO 8601. */
  started_at: string
  /** ISO 8601; `null` while it runs. */
  completed_at: string | null
  status: AttemptStatus | 'running'
  summary: string
  user_initiated: boolean
  attempts: InvokeAttempt[]
  final_error: string | null
  cancelled: boolean
  timed_out: boolean
  retried: boolean
}

/** What a run came to. */
export interface TestRun extends InvokePluginResult {
  run_id: string
  /** What the plugin printed, without secrets; each attempt begins with a line `=== Attempt N ===`. */
  transcript: string
  /** `null` where the handler was not reached: bad configuration, a missing secret. */
  artifact: RunArtifact | null
}

/** A home that holds nothing but what a test and its plugins write. */
export interface TestHome {
  /** Absolute. */
  readonly path: string
  /**
   * Runs one plugin, through the real engine. `WARPLINE_HOME` and the secrets are set meanwhile, so
   * runs of one process take turns. Rejects for facts that the manifest does not allow.
   */
  run(plugin: string, options?: TestRunOptions): Promise<TestRun>
  /** Writes a file of the home, text as it is and anything else as JSON. */
  write(path: string, content: unknown): Promise<void>
  /** The text of a file of the home; `null` where there is none. */
  read(path: string): Promise<string | null>
  /** Deletes the home. */
  remove(): Promise<void>
}

/** Makes a home in the system's temporary directory for the plugins of a folder, which stay where they are. */
export declare function openTestHome(options: { pluginsDir: string | URL }): Promise<TestHome>
