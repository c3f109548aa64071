// Plays the engine towards a worker: starts its process, says what an engine says, hears its answers.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../lib/worker.js', import.meta.url))

/**
 * @typedef {import('../../lib/native-engine.js').PluginModule} PluginModule
 * @typedef {{ kind: string, [member: string]: any }} Message
 */

export class WorkerTalk {
  /** @type {Message[]} what the worker has said, without its questions */
  said = []
  /** @type {Message[]} what it has asked */
  asked = []
  /** @type {string[]} lines of its output that are no messages */
  noise = []
  /** What it has written to standard error. */
  shown = ''
  #calls = 0
  /** @type {Set<() => void>} */
  #listening = new Set()

  /**
   * @param {{
   *   env?: NodeJS.ProcessEnv,
   *   leads?: boolean,
   *   answer?: (asked: Message) => unknown,
   * }} [options] whether its process leads a group, and what it is told when it asks
   */
  constructor({ env = {}, leads = true, answer = (asked) => defaultAnswer(asked) } = {}) {
    this.process = spawn(process.execPath, [program], {
      detached: leads,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.ended = once(this.process, 'exit')
    this.process.stdin.on('error', () => {})
    this.process.stderr.setEncoding('utf8').on('data', (text) => {
      this.shown += text
      this.#heard()
    })
    createInterface({ input: this.process.stdout }).on('line', (line) => {
      const message = messageOf(line)
      if (!message) this.noise.push(line)
      else if (message.kind === 'ask') {
        this.asked.push(message)
        const value = answer(message)
        if (value !== undefined) this.say({ kind: 'answer', ask: message.ask, value })
      } else this.said.push(message)
      this.#heard()
    })
    after(() => this.process.kill('SIGKILL'))
  }

  #heard() {
    for (const listener of this.#listening) listener()
  }

  /** @param {Message} message */
  say(message) {
    this.process.stdin.write(`${JSON.stringify(message)}\n`)
  }

  /**
   * Waits until something is so.
   *
   * @template T
   * @param {() => T | undefined | false | null} look
   * @returns {Promise<T>}
   */
  until(look) {
    return new Promise((resolve, reject) => {
      const heard = `heard ${JSON.stringify(this.said)}, shown ${this.shown.slice(-2000)}`
      const limit = setTimeout(() => reject(new Error(`in vain: ${look}; ${heard}`)), 60_000)
      const listener = () => {
        const found = look()
        if (!found) return
        clearTimeout(limit)
        this.#listening.delete(listener)
        resolve(found)
      }
      this.#listening.add(listener)
      listener()
    })
  }

  /**
   * Starts a call and gives its number.
   *
   * @param {object} request
   */
  start(request) {
    this.#calls += 1
    this.say({ kind: 'start', call: this.#calls, request })
    return this.#calls
  }

  /**
   * The answer to a call.
   *
   * @param {number} call
   */
  answer(call) {
    return this.until(() =>
      this.said.find((message) => message.kind === 'complete' && message.call === call),
    )
  }

  /**
   * Loads the handler of a plugin and starts an attempt.
   *
   * @param {PluginModule} plugin
   * @param {{ secrets?: string[], prints?: boolean, manifest?: object }} [fields]
   */
  async attempt(plugin, { secrets = [], prints = false } = {}) {
    const common = { operation: 5, plugin, invocation: 3, prints }
    const loaded = await this.answer(this.start({ kind: 'handler', ...common, secrets }))
    if (loaded.outcome !== 'value') throw new Error(loaded.value)
    const context = { caller: { plugin: plugin.name, runId: 'r' }, secrets, dependencies: {} }
    return this.start({
      kind: 'attempt',
      ...common,
      attempt: 1,
      manifest: { secrets },
      args: {},
      context,
    })
  }
}

/**
 * Everything may begin, and what is printed be shown as it came.
 *
 * @param {Message} asked
 */
function defaultAnswer({ what }) {
  return what === 'begin' ? true : what === 'prints' ? false : null
}

/** @param {string} line */
function messageOf(line) {
  try {
    const message = JSON.parse(line)
    return typeof message?.kind === 'string' ? /** @type {Message} */ (message) : undefined
  } catch {
    return undefined
  }
}
