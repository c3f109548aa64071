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
  message: string
  impact: SkillErrorImpact
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

/** The content of an output: exactly one of the two. */
export type OutputContent =
  | { /** At most `OUTPUT_BODY_CAP_BYTES`. */ body: string; path?: never }
  | { body?: never; path: string }

/** An output, as a handler writes it. The runtime stamps `run_id` and `produced_at`. */
export type OutputRecordInput = {
  /** Semantic kind, free text: `report`, `brief`. */
  type: string
  /** Default: `markdown`. */
  format?: OutputFormat | undefined
  run_id?: string | undefined
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
  task: string
  /** A file under the home, relative to it. */
  context_path: string
}

/** A result, as a handler writes it. */
export interface SkillResultInput {
  status: SkillStatus
  phases_completed: readonly string[]
  phases_failed: readonly string[]
  errors?: readonly SkillErrorInput[] | undefined
  data_freshness: Readonly<Record<string, string>>
  /** One line for a reader. */
  summary: string
  /** Outputs; a bare string is the path of a markdown artifact. */
  artifacts_produced?: readonly (OutputRecordInput | string)[] | undefined
  reversible?: boolean | undefined
  undo_instruction?: string | undefined
  needs_llm?: NeedsLlm | undefined
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

export declare const SkillResultSchema: Schema<SkillResultInput, SkillResult>
export declare const SkillErrorSchema: Schema<SkillErrorInput, SkillError>
export declare const OutputRecordSchema: Schema<OutputRecordInput | string, OutputRecord>
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
