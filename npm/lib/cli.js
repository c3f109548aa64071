// The command line under Node: the program is in the engine, the process around it is here.

import { fileURLToPath } from 'node:url'

import { runOperation, warn } from './engine.js'
import { environmentJson } from './environment.js'
import { currentCall } from './host/plugin-call.js'
import { oneLine, textOfThrown } from './host/text.js'
import { native } from './native.js'

const INTERRUPTED = 130

/** The plugin that `init` installs. */
const SEED = '../examples/plugins/host-metrics'

/**
 * Runs one command and ends the process with its exit code.
 *
 * @param {string[]} args those that follow the program's name
 */
export async function main(args) {
  const interrupt = new AbortController()
  let stray = 0
  for (const stream of [process.stdout, process.stderr]) {
    // A reader that went away is no fault of this program.
    stream.on('error', () => {})
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (interrupt.signal.aborted) process.exit(INTERRUPTED)
      interrupt.abort()
    })
  }
  process.on('uncaughtException', (thrown, origin) => {
    stray = 1
    const what = origin === 'unhandledRejection' ? 'left a rejection unhandled' : 'threw'
    const who = currentCall()
    warn(`${who ? `plugin \`${who.plugin}\`` : 'the program'} ${what}: ${textOfThrown(thrown)}`)
  })
  let done = false
  process.on('exit', () => {
    if (done) return
    const who = currentCall()
    if (who) warn(`plugin \`${who.plugin}\` ended the process`)
    process.exitCode = interrupt.signal.aborted ? INTERRUPTED : 1
  })

  let code
  try {
    code = await run(args, interrupt.signal)
  } catch (thrown) {
    process.stderr.write(`error: ${oneLine(textOfThrown(thrown))}\n`)
    code = 1
  }
  // A plugin's open timers and sockets must not keep the command alive; its queued output may.
  await Promise.all([closed(process.stdout), closed(process.stderr)])
  done = true
  process.exit(code === 0 ? stray : code)
}

/**
 * @param {string[]} args
 * @param {AbortSignal} signal
 * @returns {Promise<number>} the exit code
 */
async function run(args, signal) {
  const home = native().homeArgument(environmentJson(), JSON.stringify({ arguments: args }))
  if (home !== null) process.env.WARPLINE_HOME = home
  const path = (/** @type {string} */ relative) => fileURLToPath(new URL(relative, import.meta.url))
  const request = { arguments: args, package: path('..'), seed: path(SEED) }
  return runOperation('command', JSON.stringify(request), { signal })
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
