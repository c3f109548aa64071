// The native engine of this thread, and the operations that callers have begun on it.

'use strict'

const { AsyncResource } = require('node:async_hooks')
const { writeSync } = require('node:fs')
const { join } = require('node:path')
const { clearInterval, setInterval } = require('node:timers')

const { environmentJson, liveDirectory } = require('./environment.js')
const { awaitNative, fromNative, refusal } = require('./errors.js')
const { outside } = require('./host/plugin-call.js')
const { isPlain, oneLine, textOfThrown } = require('./host/text.js')
const { nextTurn, ownMap, parse, stringify } = require('./intrinsics.js')
const { native } = require('./native.js')
const { usesStreams } = require('./streams.js')

/**
 * @typedef {import('./native-engine.js').NativeEngine} NativeEngine
 * @typedef {import('./host/host.js').AbortReason} AbortReason
 * @typedef {{ kind: string, plugin: string, state: string, elapsed_ms: number, reason?: string,
 *   text: string, attempt: number, message: string, result?: unknown,
 *   error?: { code: string, message: string, hint: string | null } }} Notice
 * @typedef {import('./host/host.js').Fault} Fault
 * @typedef {{
 *   onNotice: (notice: Notice) => unknown,
 *   onThrown: (fault: Fault) => void,
 *   onFault: (plugin: string, text: string) => void,
 *   onStray: () => void,
 *   enter: <T>(code: () => T) => T,
 *   onEnded: (notice: Notice) => void,
 * }} Operation
 */

// Timers that a test has replaced by fakes would let the process end while the engine works.
const keepAlive = setInterval
const letGo = clearInterval
const clock = performance
const { now } = clock

/** @type {<T>(resource: AsyncResource, code: () => T) => T} */
const enter = Function.prototype.call.bind(AsyncResource.prototype.runInAsyncScope)

/** How long calls may follow each other before whatever else the thread has to do, in milliseconds. */
const TURN_MS = 1

/**
 * How a worker of this package is started: the program, and what it is given.
 *
 * @type {[string, string[]]}
 */
const WORKER = [
  process.execPath,
  [...(process.versions.deno ? ['run', '--allow-all'] : []), join(__dirname, 'worker.js')],
]

/** @type {NativeEngine | undefined} */
let engine
/** @type {InstanceType<typeof import('./host/host.js').NodeHost> | undefined} */
let hostOfThread
/** @type {Map<number, Operation>} */
const operations = ownMap()
let begun = 0
/** @type {NodeJS.Timeout | undefined} */
let alive
let isBeginning = false
let turnSince = 0

/** Types that JSON has no form for. */
const LOST = ['function', 'symbol', 'bigint']

/** @param {string} text one line for a reader */
function warn(text) {
  let line = 'a message that cannot be shown'
  try {
    line = oneLine(text)
  } catch {}
  complain(`warpline: ${line}`)
}

/**
 * Writes a line to standard error. Never throws: no work may end because nobody reads about it.
 *
 * @param {string} line
 */
function complain(line) {
  try {
    usesStreams()
    process.stderr.write(`${line}\n`)
  } catch {
    // A plugin has put something in its place.
    try {
      writeSync(2, `${line}\n`)
    } catch {}
  }
}

function engineOfThread() {
  if (engine) return engine
  const opened = new (native().NativeEngine)(
    (call, requestJson, erased) => host().start(call, requestJson, erased),
    (call, reason) => host().abort(call, /** @type {AbortReason} */ (reason)),
    notified,
    ...WORKER,
  )
  engine = opened
  return opened
}

/** What runs plugin code: loaded with the first plugin, since many commands run none. */
function host() {
  if (hostOfThread) return hostOfThread
  const opened = /** @type {NativeEngine} */ (engine)
  const { NodeHost } = require('./host/host.js')
  hostOfThread = new NodeHost({
    begin: (call) => opened.begin(call),
    complete: (call, outcome, json) => opened.complete(call, outcome, json),
    prints: (invocation) => opened.prints(invocation),
    warn,
    enter: (operation) => operations.get(operation)?.enter,
    threw: (operation, fault) => outside(() => tell(operations.get(operation), fault)),
  })
  return hostOfThread
}

/**
 * Tells an operation what plugin code threw. Never throws: the call that threw still wants its answer.
 *
 * @param {Operation | undefined} operation
 * @param {Fault} fault
 */
function tell(operation, fault) {
  try {
    operation?.onThrown(fault)
  } catch (thrown) {
    warn(`what \`${fault.plugin}\` threw cannot be shown: ${textOfThrown(thrown)}`)
  }
}

/**
 * What plugin code threw in a worker, as an error of this process.
 *
 * @param {string} text the message, and lines that say where
 */
function workerError(text) {
  const [message = ''] = text.split('\n')
  const error = new Error(message)
  error.stack = `Error: ${text}`
  return error
}

/**
 * Says that the process of a command ends now, and with which exit code.
 *
 * @param {number} code
 */
function commandOver(code) {
  engine?.commandOver(code)
}

/** Puts back the handlers of signals that a command began with, which Node takes away with a listener. */
function restoreHandlers() {
  engine?.restoreHandlers()
}

/** Records what is known when the process ends under running operations: nothing else can any more. */
function recordExit() {
  try {
    const running = /** @type {string[]} */ (parse(engine?.exit() ?? '[]'))
    if (running.length > 0) warn(`the process ends while these plugins run: ${running.join(', ')}`)
  } catch (thrown) {
    warn(`the run could not be recorded: ${textOfThrown(fromNative(thrown))}`)
  }
}

/**
 * A hook may be async; what it rejects with is no more the pass's business than a throw.
 *
 * @param {unknown} told
 */
async function hear(told) {
  try {
    await told
  } catch (thrown) {
    warn(`a hook failed: ${textOfThrown(thrown)}`)
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
    const notice = /** @type {Notice} */ (parse(noticeJson))
    if (notice.kind === 'ended') operation?.onEnded(notice)
    else if (notice.kind === 'warning') warn(notice.text)
    else if (notice.kind === 'stray') {
      warn(notice.text)
      operation?.onStray()
    } else if (notice.kind === 'fault')
      outside(() => operation?.onFault(notice.plugin, notice.text))
    else {
      hear(operation?.enter(() => operation.onNotice(notice)))
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
 * @param {{
 *   signal?: AbortSignal | undefined,
 *   onNotice?: ((notice: Notice) => unknown) | undefined,
 *   onThrown?: (fault: Fault) => void,
 *   onFault?: (plugin: string, text: string) => void,
 *   onStray?: () => void,
 * }} [options] `onNotice` takes notices of progress, which cost less where nobody wants them; `onThrown`
 *   takes what plugin code threw before a notice tells of it, `onFault` the text of what it threw in a
 *   worker: by default `onThrown` takes an error of that text; `onStray` hears that code in a worker
 *   threw where no call fails of it, which has been told already
 * @returns {Promise<any>} what the operation came to
 */
async function runOperation(kind, requestJson, options = {}) {
  const { signal, onNotice, onThrown = () => {}, onStray = () => {} } = options
  const { onFault = (plugin, text) => onThrown({ plugin, thrown: workerError(text) }) } = options
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('option `signal` must be an AbortSignal')
  }
  const target = engineOfThread()
  begun += 1
  const number = begun
  const caller = new AsyncResource('WARPLINE')
  /** @type {Promise<Notice>} */
  const ended = new Promise((resolve) => {
    operations.set(number, {
      onNotice: onNotice ?? (() => {}),
      onThrown,
      onFault,
      onStray,
      enter: (code) => enter(caller, code),
      onEnded: resolve,
    })
  })
  if (operations.size === 1) hold()
  const cancel = () => target.cancel(number)
  try {
    const aborted = signal?.aborted ?? false
    const hears = onNotice !== undefined
    if (kind === 'invoke') {
      prepare(target, number, aborted, hears, requestJson)
      signal?.addEventListener('abort', cancel, { once: true })
      return outcomeOf(await ended)
    }
    const environment = environmentJson()
    const result = awaitNative(() => target[kind](number, aborted, hears, environment, requestJson))
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      return parse(await result)
    } finally {
      await ended
      if (kind === 'command') target.commandEnded()
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    operations.delete(number)
    if (operations.size === 0) release()
  }
}

/** Keeps the process until the last operation has ended, and sees to it that its end is recorded. */
function hold() {
  process.on('exit', recordExit)
  alive = keepAlive(() => {}, 0x7fff_ffff)
}

function release() {
  process.off('exit', recordExit)
  letGo(alive)
}

/**
 * Has an invocation begin with all others that are called for in this turn: then what they have in common is
 * looked at once.
 *
 * @param {NativeEngine} target
 * @param {number} number
 * @param {boolean} aborted
 * @param {boolean} hears
 * @param {string} requestJson
 */
function prepare(target, number, aborted, hears, requestJson) {
  try {
    const cwd = liveDirectory()
    const isRead =
      cwd !== undefined && target.prepare(number, aborted, hears, cwd, true, requestJson)
    if (!isRead) target.prepare(number, aborted, hears, environmentJson(), false, requestJson)
  } catch (thrown) {
    throw fromNative(thrown)
  }
  if (isBeginning) return
  isBeginning = true
  begin(target)
}

/** @param {NativeEngine} target */
async function begin(target) {
  try {
    await undefined
    // Calls that wait for one another would otherwise hold up timers and whatever comes from outside.
    if (now.call(clock) - turnSince > TURN_MS) {
      await new Promise((resolve) => nextTurn(resolve))
      turnSince = now.call(clock)
    }
  } finally {
    isBeginning = false
    target.beginPrepared()
  }
}

/** @param {Notice} notice that of the end of an invocation */
function outcomeOf({ result, error }) {
  if (result !== undefined) return result
  throw error ? refusal(error) : new Error('the engine failed, and the invocation with it')
}

/**
 * Splits options into those that cross to the engine as JSON and the rest: the signal and the hooks.
 *
 * @param {Record<string, unknown>} options
 * @param {readonly string[]} hooks the names of the hooks
 * @returns {string} JSON text; a name that nobody knows is in it, for the engine to refuse
 * @throws {TypeError} for a hook that is no function, and an option that JSON would lose
 */
function optionsJson(options, hooks) {
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
  return stringify(plain)
}

module.exports = { commandOver, complain, optionsJson, restoreHandlers, runOperation, warn }
