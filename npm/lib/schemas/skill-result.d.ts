// The shape of what a handler returns.

import type { Schema } from '../schema.js'
import type { ErrorOverrides } from '../unstable-result.js'

/** How a handler says that it ended. */
export type SkillStatus = 'success' | 'partial' | 'failed' | 'skipped'

/** What went wrong. */
export type SkillErrorCode =
  | 'auth_failure'
  | 'rate_limit'
  | 'data_missing'
  | 'stale_data'
  | 'parse_error'
  | 'timeout'
  | 'dependency_unavailable'

/** How much an error matters. */
export type SkillErrorImpact = 'HIGH' | 'MEDIUM' | 'LOW'

/** One error, as a handler writes it. */
export interface SkillErrorInput {
  code: SkillErrorCode
  /** For a reader: names, never values. */
  message: string
  impact: SkillErrorImpact
  /** Where it came from. */
  source?: string | undefined
  /** Whether another attempt may succeed. Default: false. */
  retryable?: boolean | undefined
}

/** One error, defaults filled in. */
export interface SkillError {
  code: SkillErrorCode
  message: string
  impact: SkillErrorImpact
  source?: string
  retryable: boolean
}

/** How an output is rendered. */
export type OutputFormat = 'markdown' | 'json' | 'html' | 'text'

/** The content of an output, held in it or in a file. */
export type OutputContent =
  | { /** At most `OUTPUT_BODY_CAP_BYTES`. */ body: string; path?: never }
  | { body?: never; path: string }

/** An output, as a handler writes it. The runtime stamps `run_id` and `produced_at`. */
export type OutputRecordInput = {
  /** Semantic kind, free text: `report`, `brief`. */
  type: string
  /** Default: `markdown`. */
  format?: OutputFormat | undefined
  /** Overwritten by the runtime. */
  run_id?: string | undefined
  /** Overwritten by the runtime. */
  produced_at?: string | undefined
} & OutputContent

/** A validated output. */
export type OutputRecord = {
  type: string
  format: OutputFormat
  /** The run that produced it. */
  run_id?: string
  /** The instant, ISO 8601, at which the runtime took it from the handler. */
  produced_at?: string
} & OutputContent

/** Work handed to a model. */
export interface NeedsLlm {
  /** What is to be done. */
  task: string
  /** A file under the home, relative to it. */
  context_path: string
}

/** A result, as a handler writes it. */
export interface SkillResultInput {
  status: SkillStatus
  /** Parts of the work that are done, in words of the plugin's own. */
  phases_completed: readonly string[]
  /** Parts that are not. */
  phases_failed: readonly string[]
  /** The first one is shown, and decides about another attempt. Default: none. */
  errors?: readonly SkillErrorInput[] | undefined
  /** When the data of each source was fetched, ISO 8601 by source name. */
  data_freshness: Readonly<Record<string, string>>
  /** One line for a reader. */
  summary: string
  /** Outputs; a bare string is the path of a markdown artifact. */
  artifacts_produced?: readonly (OutputRecordInput | string)[] | undefined
  /** Whether what was done can be undone. */
  reversible?: boolean | undefined
  /** How a reader undoes it. */
  undo_instruction?: string | undefined
  /** Only counts with status `skipped`. */
  needs_llm?: NeedsLlm | undefined
  /** Default: 2. */
  schema_version?: number | undefined
}

/** A validated result, defaults filled in. */
export interface SkillResult {
  status: SkillStatus
  phases_completed: string[]
  phases_failed: string[]
  errors: SkillError[]
  data_freshness: Record<string, string>
  summary: string
  artifacts_produced: OutputRecord[]
  reversible?: boolean
  undo_instruction?: string
  needs_llm?: NeedsLlm
  schema_version: number
}

/** Validates what a handler returns. */
export declare const SkillResultSchema: Schema<SkillResultInput, SkillResult>
/** Validates one error. */
export declare const SkillErrorSchema: Schema<SkillErrorInput, SkillError>
/** Validates one output. */
export declare const OutputRecordSchema: Schema<OutputRecordInput | string, OutputRecord>
/** Validates a hand-off. */
export declare const NeedsLlmSchema: Schema<NeedsLlm, NeedsLlm>

/** The largest inline body of an output, in UTF-8 bytes, measured after redaction. */
export declare const OUTPUT_BODY_CAP_BYTES: 16384

/**
 * Makes an error of impact MEDIUM, retryable for `rate_limit` and `timeout` alone, unless overridden.
 */
export declare function makeSkillError(
  code: SkillErrorCode,
  message: string,
  overrides?: ErrorOverrides,
): SkillError
