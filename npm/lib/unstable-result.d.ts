// Builders of the three results that a plugin writes.

import type { SkillErrorCode, SkillErrorInput, SkillResultInput } from './schemas/skill-result.js'

/** What a builder lets its caller set; each field means what it means in a result. */
export interface ResultOverrides {
  phases_completed?: readonly string[] | undefined
  phases_failed?: readonly string[] | undefined
  errors?: SkillResultInput['errors']
  data_freshness?: Readonly<Record<string, string>> | undefined
  artifacts_produced?: SkillResultInput['artifacts_produced']
  reversible?: boolean | undefined
  undo_instruction?: string | undefined
}

/** What an error lets its maker set. */
export interface ErrorOverrides {
  impact?: SkillErrorInput['impact'] | undefined
  source?: string | undefined
  retryable?: boolean | undefined
}

/** What `skillFailure` lets its caller set, its error's fields included. */
export type FailureOverrides = ResultOverrides & ErrorOverrides

/** A success. */
export declare function skillOk(summary: string, overrides?: ResultOverrides): SkillResultInput

/** A failure with one error: impact MEDIUM, retryable for `rate_limit` and `timeout` alone. */
export declare function skillFailure(
  code: SkillErrorCode,
  message: string,
  overrides?: FailureOverrides,
): SkillResultInput

/** A hand-off to a model. `contextPath` is relative to the home. */
export declare function skillHandoff(
  task: string,
  contextPath: string,
  overrides?: ResultOverrides,
): SkillResultInput
