// The command line under Node: the program is in the engine, the process around it is here.

'use strict'

const { join } = require('node:path')

const { commandOver, complain, restoreHandlers, runOperation, warn } = require('./engine.js')
const { environmentJson } = require('./environment.js')
const { hold } = require('./hold.js')
const { faultText } = require('./host/fault.js')
const { currentCall } = require('./host/plugin-call.js')
const { oneLine, textOfThrown } = require('./host/text.js')
const { stringify } = require('./intrinsics.js')
const { native } = require('./native.js')
const { beforeStreams } = require('./streams.js')

const INTERRUPTED = 130
const NEWLINE = 10

const PACKAGE = join(__dirname, '..')

// As it is before any plugin runs.
const exit = process.exit.bind(process)

/** The plugin that `init` installs. */
const SEED = 'examples/plugins/metrics-rollup'

/**
 * Runs one command and ends the process with its exit code.
 *
 * @param {string[]} args those that follow the program's name
 */
async function main(args) {
  const interrupt = new AbortController()
  let stray = 0
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    const interrupted = () => {
      if (interrupt.signal.aborted) end(INTERRUPTED)
      interrupt.abort()
    }
    // Node takes the handler away with the last listener.
    hold(signal, interrupted, restoreHandlers)
  }
  hold('uncaughtException', (/** @type {unknown} */ thrown, /** @type {string} */ origin) => {
    stray = 1
    const what = origin === 'unhandledRejection' ? 'left a rejection unhandled' : 'threw'
    const who = currentCall()
    const text = textOfThrown(thrown)
    const shown = who?.prints?.redact(text) ?? text
    warn(`${who ? `plugin \`${who.plugin}\`` : 'the program'} ${what}: ${shown}`)
  })
  let done = false
  hold('exit', () => {
    if (done) return
    done = true
    const who = currentCall()
    if (who) warn(`plugin \`${who.plugin}\` ended the process`)
    process.exitCode = interrupt.signal.aborted ? INTERRUPTED : 1
    commandOver(process.exitCode)
  })

  let code
  /** @type {NodeJS.WriteStream[]} */
  const streams = []
  // Nobody uses them before the command has taken standard output for itself, and led this stream elsewhere.
  beforeStreams(() => {
    streams.push(process.stdout, process.stderr)
    // A reader that went away is no fault of this program.
    for (const stream of streams) stream.on('error', () => {})
    if (process.stderr.isTTY) giveWayToPrints(process.stderr)
  })
  try {
    code = await run(args, interrupt.signal, () => {
      stray = 1
    })
  } catch (thrown) {
    const [said = '', hint] = textOfThrown(thrown).split('\nhint: ')
    complain(`error: ${oneLine(said)}`)
    if (hint !== undefined) complain(`hint: ${oneLine(hint)}`)
    code = 1
  }
  // A plugin's open timers and sockets must not keep the command alive; its queued output may.
  for (const stream of streams) await closed(stream)
  done = true
  end(code === 0 ? stray : code)
}

/**
 * Ends the process. What plugin code does while it ends does not change the exit code.
 *
 * @param {number} code
 */
function end(code) {
  commandOver(code)
  exit(code)
}

/**
 * @param {string[]} args
 * @param {AbortSignal} signal
 * @param {() => void} onStray called when code in a worker threw where no call fails of it
 * @returns {Promise<number>} the exit code
 */
async function run(args, signal, onStray) {
  const home = native().homeArgument(environmentJson(), stringify({ arguments: args }))
  if (home !== null) process.env.WARPLINE_HOME = home
  const request = { arguments: args, package: PACKAGE, seed: join(PACKAGE, SEED) }
  const variables = { ...process.env }
  /** @param {import('./engine.js').Fault} fault */
  const onThrown = ({ plugin, thrown, secrets }) => {
    // What a manifest threw is shown with the plugins that do not load.
    if (secrets) tellFault(plugin, faultText(thrown, secrets, variables))
  }
  const hooks = { onThrown, onFault: tellFault, onStray }
  return runOperation('command', stringify(request), { signal, ...hooks })
}

/**
 * @param {string} plugin
 * @param {string} text what it threw, and where
 */
function tellFault(plugin, text) {
  const [first = '', ...frames] = text.split('\n')
  complain([`warpline: plugin \`${oneLine(plugin)}\` threw: ${first}`, ...frames].join('\n'))
}

/**
 * Has the line that tells of progress taken away before anything else is printed on the terminal.
 *
 * @param {NodeJS.WriteStream} stream
 */
function giveWayToPrints(stream) {
  const write = stream.write
  stream.write = (/** @type {any[]} */ ...printed) => {
    const [chunk] = printed
    native().beforePrint(chunk.at?.(-1) === (typeof chunk === 'string' ? '\n' : NEWLINE))
    return write.apply(stream, /** @type {any} */ (printed))
  }
}

/**
 * Takes no more writes, and waits until what was written has reached the reader, or the reader is
 * gone: a plugin that goes on printing can neither hold the command nor leave half a line.
 *
 * @param {NodeJS.WriteStream} stream
 */
function closed(stream) {
  const write = stream.write.bind(stream)
  stream.write = () => true
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve(undefined)
    else write('', () => resolve(undefined))
  })
}

module.exports = { main }
