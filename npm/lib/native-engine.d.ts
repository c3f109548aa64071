// What the native module offers. Text is JSON wherever a name ends in `Json`.

/** Where a plugin's code lies. */
export interface PluginModule {
  readonly name: string
  /** Canonical. */
  readonly directory: string
  /** Changes whenever a file of the plugin does. */
  readonly revision: string
}

/** Why a source cannot be loaded, and where. */
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

/** What a module looks like before it runs. */
export interface Examined {
  /** Why no engine accepts it. */
  readonly fault?: EraseFault
  /** What it imports, as it names it. */
  readonly imports: readonly string[]
}

/** Sends a number and a text; never throws. */
type Callback = (number: number, text: string) => void

/** The same with the file of a handler that is to be loaded, where it was read already. */
type StartCallback = (call: number, requestJson: string, erased: Erased | null) => void

/** The prints of one invocation. Kept for as long as its code can run. */
export interface NativePrints {
  /** Takes text and gives what may be shown now; `null` where it may be shown as it came. */
  print(text: string): string | null
  /** Gives what was kept back: for the end of a load or an attempt. */
  release(): string
  /** Takes the secrets out of what was thrown. */
  redact(text: string): string
}

/** The engine of this thread. */
export interface NativeEngine {
  /**
   * Answers a started call with JSON: a value, the text of what was thrown, or the text that says
   * why what was returned has no JSON form.
   */
  complete(call: number, outcome: 'value' | 'threw' | 'noJson', json: string): void
  /** Asks whether plugin code may run for a call, right before it does. */
  begin(call: number): boolean
  /** Where the prints of an invocation go; `null` once it is over. */
  prints(invocation: number): NativePrints | null
  /** Interrupts an operation. */
  cancel(operation: number): void
  /** Of this and the operations below, `hears` says whether notices of progress are wanted. */
  advance(
    operation: number,
    aborted: boolean,
    hears: boolean,
    environmentJson: string,
    optionsJson: string,
  ): Promise<string>
  /**
   * Calls for one run of a plugin, which {@link NativeEngine.beginPrepared} begins with all others. The
   * notice of its end has the `result`, or an `error`. Where `isLive`, `environment` is the working
   * directory, and the variables are those of the process; no means that they have to be given as JSON.
   */
  prepare(
    operation: number,
    aborted: boolean,
    hears: boolean,
    environment: string,
    isLive: boolean,
    requestJson: string,
  ): boolean
  /** Begins what was called for. Callbacks are called before it returns, as by `begin` and `complete`. */
  beginPrepared(): void
  loadManifests(
    operation: number,
    aborted: boolean,
    hears: boolean,
    environmentJson: string,
    optionsJson: string,
  ): Promise<string>
  /** The exit code of `{arguments, package, seed}`. */
  command(
    operation: number,
    aborted: boolean,
    hears: boolean,
    environmentJson: string,
    requestJson: string,
  ): Promise<string>
  /** Says that the exit code of a command was received: the process ends by itself. */
  commandEnded(): void
  /** Says that the process ends now, with this exit code, whatever plugin code does meanwhile. */
  commandOver(code: number): void
  /** Puts back the handlers of signals that a command began with. */
  restoreHandlers(): void
  /** Records running passes while the process ends: the names of the plugins that ran, as JSON. */
  exit(): string
}

/** The engine in another process, whose worker this one is. */
export interface NativeWorker {
  /** As of {@link NativeEngine}. */
  complete(call: number, outcome: 'value' | 'threw' | 'noJson', json: string): void
  /** Asks whether plugin code may run for a call, right before it does. Blocks. */
  begin(call: number): boolean
  /** Where the prints of an invocation go; `null` once it is over. Blocks, and so do its methods. */
  prints(invocation: number): NativePrints | null
  /** Says that the signal of an aborted call has fired. */
  aborted(call: number): void
  /** Tells a reader of something that does not stop anything. */
  warn(operation: number, text: string): void
  /** Tells a reader of what plugin code threw where no call fails of it. */
  stray(operation: number, text: string): void
  /** Tells a reader what plugin code threw and where, over several lines and without secrets. */
  fault(operation: number, plugin: string, text: string): void
}

/** The native module. */
export interface NativeModule {
  readonly NativeEngine: new (
    start: StartCallback,
    abort: Callback,
    notify: Callback,
    program: string,
    args: string[],
  ) => NativeEngine
  /** Takes the standard streams of the process, which ends when the engine goes away. */
  readonly NativeWorker: new (
    start: Callback,
    abort: Callback,
  ) => NativeWorker
  /** Reads a file and erases its types; throws for what is there and is no readable file. */
  eraseFile(path: string): Erased
  /** Says that `start` may come with the handler's file erased already. */
  takeErased(): void
  /** Looks at a module that did not load; `null` where there is no such file. */
  examineFile(path: string): Examined | null
  /** `{value}` or `{issues: [{path, message}]}`. */
  validateJson(schema: string, json: string): string
  /** A text without the values of an array of secrets; both are JSON. */
  redact(textJson: string, secretsJson: string): string
  jsonSchema(schema: string): string
  warplineHome(environmentJson: string): string
  /** Takes the line that tells of progress off the terminal; it comes back once a line has ended. */
  beforePrint(endsLine: boolean): void
  /** A variable of this process; `null` where it is not set, or is no text. */
  processVariable(name: string): string | null
  /** The home that `--home` among `{arguments}` names. */
  homeArgument(environmentJson: string, requestJson: string): string | null
  /** Writes help, a version, a script or a refusal where that is all of a command: its exit code, else `null`. */
  runAlone(args: string[]): number | null
  readText(path: string): Promise<string | null>
  writeAtomic(path: string, text: string): Promise<void>
  tier(lastInteractionAtJson: string, nowMs: number): string
  isEligibleForTier(current: string, minTier: string): boolean
  formatIdle(ms: number): string
  /** The version that the engine was released in. */
  version(): string
  /** Makes the event of a draft; JSON both ways. */
  makeEvent(draftJson: string): string
  appendEvent(environmentJson: string, eventsPath: string | null, eventJson: string): Promise<void>
}
