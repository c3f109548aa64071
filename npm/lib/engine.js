// The native engine of this thread, and the operations that callers have begun on it.

import { AsyncLocalStorage } from 'node:async_hooks'
import { clearInterval, setInterval } from 'node:timers'

import { environmentJson } from './environment.js'
import { awaitNative, fromNative } from './errors.js'
import { NodeHost } from './host/host.js'
import { isPlain, oneLine, textOfThrown } from './host/text.js'
import { native } from './native.js'

/**
 * @typedef {import('./native-engine.js').NativeEngine} NativeEngine
 * @typedef {import('./host/host.js').AbortReason} AbortReason
 * @typedef {{ kind: string, plugin: string, state: string, elapsed_ms: number, reason?: string,
 *   text: string, attempt: number, message: string }} Notice
 * @typedef {{ onNotice: (notice: Notice) => unknown, enter: <T>(code: () => T) => T, onEnded: () => void }} Operation
 */

// Timers that a test has replaced by fakes would let the process end while the engine works.
const keepAlive = setInterval
const letGo = clearInterval

/** @type {NativeEngine | undefined} */
let engine
/** @type {Map<number, Operation>} */
const operations = new Map()
let begun = 0

/** Types that JSON has no form for. */
const LOST = ['function', 'symbol', 'bigint']

/** @param {string} text one line for a reader */
export function warn(text) {
  process.stderr.write(`warpline: ${oneLine(text)}\n`)
}

function engineOfThread() {
  if (engine) return engine
  const host = new NodeHost({
    begin: (call) => opened.begin(call),
    complete: (call, outcome, json) => opened.complete(call, outcome, json),
    print: (invocation, text) => opened.print(invocation, text),
    warn,
    enter: (operation) => operations.get(operation)?.enter,
  })
  const opened = new (native().NativeEngine)(
    (call, requestJson) => host.start(call, requestJson),
    (call, reason) => host.abort(call, /** @type {AbortReason} */ (reason)),
    notified,
  )
  engine = opened
  return opened
}

/** Records what is known when the process ends under running operations: nothing else can any more. */
function recordExit() {
  try {
    const running = /** @type {string[]} */ (JSON.parse(engine?.exit() ?? '[]'))
    if (running.length > 0) warn(`the process ends while these plugins run: ${running.join(', ')}`)
  } catch (thrown) {
    warn(`the run could not be recorded: ${textOfThrown(fromNative(thrown))}`)
  }
}

/**
 * What the engine tells of an operation. Never throws: it is called from native code.
 *
 * @param {number} number
 * @param {string} noticeJson
 */
function notified(number, noticeJson) {
  const operation = operations.get(number)
  try {
    const notice = /** @type {Notice} */ (JSON.parse(noticeJson))
    if (notice.kind === 'ended') operation?.onEnded()
    else if (notice.kind === 'warning') warn(notice.text)
    else {
      const told = operation?.enter(() => operation.onNotice(notice))
      // A hook may be async; what it rejects with is no more the pass's business than a throw.
      Promise.resolve(told).catch((thrown) => warn(`a hook failed: ${textOfThrown(thrown)}`))
    }
  } catch (thrown) {
    warn(`a hook failed: ${textOfThrown(thrown)}`)
  }
}

/**
 * Runs one operation of the engine: its notices come in order, in the caller's async context, and
 * before it ends; the caller's signal cancels it.
 *
 * @param {'advance' | 'invoke' | 'loadManifests' | 'command'} kind
 * @param {string} requestJson
 * @param {{ signal?: AbortSignal | undefined, onNotice?: (notice: Notice) => unknown }} [options]
 * @returns {Promise<any>} what the operation came to
 */
export async function runOperation(kind, requestJson, { signal, onNotice = () => {} } = {}) {
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('option `signal` must be an AbortSignal')
  }
  const target = engineOfThread()
  const environment = environmentJson()
  begun += 1
  const number = begun
  const ended = new Promise((resolve) => {
    const enter = AsyncLocalStorage.snapshot()
    operations.set(number, { onNotice, enter, onEnded: () => resolve(undefined) })
  })
  if (operations.size === 1) process.on('exit', recordExit)
  const alive = keepAlive(() => {}, 0x7fff_ffff)
  const cancel = () => target.cancel(number)
  try {
    const aborted = signal?.aborted ?? false
    const result = awaitNative(() => target[kind](number, aborted, environment, requestJson))
    signal?.addEventListener('abort', cancel, { once: true })
    const [outcome] = await Promise.allSettled([result, ended])
    if (kind === 'command') target.commandEnded()
    if (outcome.status === 'rejected') throw outcome.reason
    return JSON.parse(outcome.value)
  } finally {
    signal?.removeEventListener('abort', cancel)
    letGo(alive)
    operations.delete(number)
    if (operations.size === 0) process.off('exit', recordExit)
  }
}

/**
 * Splits options into those that cross to the engine as JSON and the rest: the signal and the hooks.
 *
 * @param {Record<string, unknown>} options
 * @param {readonly string[]} hooks the names of the hooks
 * @returns {string} JSON text; a name that nobody knows is in it, for the engine to refuse
 * @throws {TypeError} for a hook that is no function, and an option that JSON would lose
 */
export function optionsJson(options, hooks) {
  /** @type {Record<string, unknown>} */
  const plain = {}
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || name === 'signal') continue
    if (hooks.includes(name)) {
      if (typeof value !== 'function') throw new TypeError(`option \`${name}\` must be a function`)
      continue
    }
    // JSON would turn these into null, and null means that the option is not given.
    const lost = typeof value === 'number' ? !Number.isFinite(value) : LOST.includes(typeof value)
    // A URL, say, would pass for a text that is no path.
    const odd = typeof value === 'object' && !isPlain(value ?? {})
    if (lost || odd) throw new TypeError(`option \`${name}\` has no value that can be used`)
    plain[name] = value
  }
  return JSON.stringify(plain)
}
