// The program of a worker: plugin code in a process of its own, driven by an engine in another one.
//
// It is started by an engine, which is at the other end of its standard input and output, and ends
// when that goes away.

'use strict'

const { writeSync } = require('node:fs')
const { setImmediate, setInterval } = require('node:timers')

const { hold } = require('./hold.js')
const { faultText } = require('./host/fault.js')
const { NodeHost } = require('./host/host.js')
const { currentCall } = require('./host/plugin-call.js')
const { oneLine, textOfThrown } = require('./host/text.js')
const { writeThrough } = require('./host/write-through.js')
const { stringify } = require('./intrinsics.js')
const { native } = require('./native.js')

/** @typedef {import('./host/host.js').AbortReason} AbortReason */

const LONGEST_MS = 0x7fff_ffff

// As they are before any plugin runs: what is thrown is shown without the values of its secrets.
const variables = { ...process.env }

/** The operation that the last call belonged to: a worker lives for one. */
let operation = 0

/**
 * What was answered in this turn of the event loop. The engine may kill a process that has answered:
 * a rejection that the code left unhandled is told before.
 *
 * @type {Set<() => void>}
 */
const answers = new Set()

function answer() {
  for (const say of answers) say()
  answers.clear()
}

const host = new NodeHost({
  begin: (call) => worker.begin(call),
  complete(call, outcome, json) {
    answers.add(() => worker.complete(call, outcome, json))
    setImmediate(answer)
  },
  // Whoever waits for the process to end waits no longer.
  settled: (call) => worker.complete(call, 'value', 'null'),
  prints: (invocation) => worker.prints(invocation),
  warn,
  enter(number) {
    operation = number
    return undefined
  },
  threw(number, { plugin, thrown, secrets }) {
    // What a manifest threw is shown with the plugins that do not load.
    if (!secrets) return
    try {
      worker.fault(number, plugin, faultText(thrown, secrets, variables))
    } catch (unshown) {
      warn(`what \`${plugin}\` threw cannot be shown: ${textOfThrown(unshown)}`)
    }
  },
})

/** @param {string} text one line for a reader */
function warn(text) {
  worker.warn(operation, oneLine(text))
}

/**
 * What is thrown where nobody can catch it concerns one plugin, and others run beside it.
 *
 * @param {unknown} thrown
 * @param {string} origin
 */
function stray(thrown, origin) {
  const what = origin === 'unhandledRejection' ? 'left a rejection unhandled' : 'threw'
  const call = currentCall()
  const text = textOfThrown(thrown)
  const shown = call?.prints?.redact(text) ?? text
  const who = call ? `plugin \`${call.plugin}\`` : 'plugin code'
  worker.stray(operation, oneLine(`${who} ${what}: ${shown}`))
}

function exits() {
  answer()
  const call = currentCall()
  if (call) warn(`plugin \`${call.plugin}\` ended the process that it ran in`)
}

/** Opens the native engine. Without it nobody is talked to but by this one line, and the process ends. */
function nativeOrNot() {
  try {
    return native()
  } catch (error) {
    writeSync(1, `${stringify({ kind: 'unable', text: oneLine(textOfThrown(error)) })}\n`)
    return process.exit(1)
  }
}

const worker = new (nativeOrNot().NativeWorker)(
  (call, requestJson) => host.start(call, requestJson),
  (call, reason) => {
    host.abort(call, /** @type {AbortReason} */ (reason))
    worker.aborted(call)
  },
)
hold('uncaughtException', stray)
// Node.js hands rejections to the listener above, with the call they belong to.
if (process.versions.bun || process.versions.deno) {
  hold('unhandledRejection', (reason) => stray(reason, 'unhandledRejection'))
}
hold('exit', exits)
writeThrough()
// The engine ends this process, not the end of what there is to do.
setInterval(() => {}, LONGEST_MS)
