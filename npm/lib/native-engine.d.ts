// What the native module offers. Text is JSON wherever a name ends in `Json`.

/** Where a plugin's code lies. */
export interface PluginModule {
  readonly name: string
  /** Canonical. */
  readonly directory: string
  /** Changes whenever a file of the plugin does. */
  readonly revision: string
}

/** Why types could not be erased. */
export interface EraseFault {
  readonly code: 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' | 'ERR_INVALID_TYPESCRIPT_SYNTAX'
  readonly message: string
  /** From 1. */
  readonly line: number
  /** In UTF-16 units, from 1. */
  readonly column: number
  /** The line of the source, or the part of a long one that holds the fault. */
  readonly snippet: string
  /** Blanks and carets to print below the snippet. */
  readonly caret: string
}

/** The JavaScript of a TypeScript file. Neither is set for a file that is not there. */
export interface Erased {
  readonly source?: string
  readonly fault?: EraseFault
}

/** Sends a number and a text; never throws. */
type Callback = (number: number, text: string) => void

/** The engine of this thread. */
export interface NativeEngine {
  /**
   * Answers a started call with JSON: a value, the text of what was thrown, or the text that says
   * why what was returned has no JSON form.
   */
  complete(call: number, outcome: 'value' | 'threw' | 'noJson', json: string): void
  /** Asks whether plugin code may run for a call, right before it does. */
  begin(call: number): boolean
  /** Hands over what plugin code printed. */
  print(invocation: number, text: string): void
  /** Interrupts an operation. */
  cancel(operation: number): void
  advance(
    operation: number,
    aborted: boolean,
    environmentJson: string,
    optionsJson: string,
  ): Promise<string>
  invoke(
    operation: number,
    aborted: boolean,
    environmentJson: string,
    requestJson: string,
  ): Promise<string>
  loadManifests(
    operation: number,
    aborted: boolean,
    environmentJson: string,
    optionsJson: string,
  ): Promise<string>
  /** The exit code of `{arguments, package, seed}`. */
  command(
    operation: number,
    aborted: boolean,
    environmentJson: string,
    requestJson: string,
  ): Promise<string>
  /** Says that the exit code of a command was received: the process ends by itself. */
  commandEnded(): void
  /** Records running passes while the process ends: the names of the plugins that ran, as JSON. */
  exit(): string
}

/** The native module. */
export interface NativeModule {
  readonly NativeEngine: new (start: Callback, abort: Callback, notify: Callback) => NativeEngine
  /** Reads a file and erases its types; throws for what is there and is no readable file. */
  eraseFile(path: string): Erased
  /** `{value}` or `{issues: [{path, message}]}`. */
  validateJson(schema: string, json: string): string
  jsonSchema(schema: string): string
  warplineHome(environmentJson: string): string
  /** The home that `--home` among `{arguments}` names. */
  homeArgument(environmentJson: string, requestJson: string): string | null
  readText(path: string): Promise<string | null>
  writeAtomic(path: string, text: string): Promise<void>
  tier(lastInteractionAtJson: string, nowMs: number): string
  isEligibleForTier(current: string, minTier: string): boolean
  formatIdle(ms: number): string
  /** Makes the event of a draft; JSON both ways. */
  makeEvent(draftJson: string): string
  appendEvent(environmentJson: string, eventsPath: string | null, eventJson: string): Promise<void>
}
