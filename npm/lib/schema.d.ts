// What every published schema object offers.

/** One fault of a document: where it lies, and which shape was expected. Never a value. */
export interface SchemaIssue {
  /** Property names and array positions; empty for the document itself. */
  readonly path: readonly (string | number)[]
  /** For a reader. */
  readonly message: string
}

/** A value that does not have the shape of its schema. */
export declare class SchemaError extends Error {
  readonly name: 'SchemaError'
  readonly code: 'ERR_WARPLINE_SCHEMA'
  /** All faults of the value. */
  readonly issues: readonly SchemaIssue[]
  constructor(issues: readonly SchemaIssue[])
}

/** The outcome of a validation that does not throw. */
export type SafeParseResult<Output> =
  | { readonly success: true; readonly data: Output }
  | { readonly success: false; readonly error: SchemaError }

/** A JSON Schema document. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/**
 * A published shape. Values are read as `JSON.stringify` writes them; what comes back is a new value
 * with defaults filled in and unknown keys dropped.
 */
export interface Schema<Input, Output, Parsed = unknown> {
  /** Returns the normalised value. @throws {SchemaError} */
  parse(value: Parsed): Output
  /** Returns the normalised value or all that is wrong with it. */
  safeParse(value: unknown): SafeParseResult<Output>
  /** The same shape as a JSON Schema document. */
  toJSONSchema(): JsonSchema
  /** The Standard Schema interface, version 1. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'warpline'
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Output; readonly issues?: undefined }
      | { readonly issues: readonly SchemaIssue[] }
    readonly types?: { readonly input: Input; readonly output: Output }
  }
}

/** A shape whose `Keys` may be left out, because a default fills them in. */
export type WithDefaults<Shape, Keys extends keyof Shape> = Omit<Shape, Keys> &
  Partial<Pick<Shape, Keys>>
