// Stands in for the engine towards a host: asks, awaits the answer, keeps what else is told.

import { NodeHost } from '../../lib/host/host.js'

/** @typedef {import('../../lib/native-engine.js').PluginModule} PluginModule */

export class AskingEngine {
  /** @type {string[]} */
  warnings = []
  /** @type {{ invocation: number, text: string }[]} */
  prints = []
  /** @type {import('../../lib/host/host.js').Fault[]} */
  faults = []
  /** @type {{ call: number, ok: boolean, value: any }[]} */
  answers = []
  /** @type {Map<number, import('../../lib/host/host.js').Enter>} */
  callers = new Map()
  #calls = 0
  /** @type {Map<number, (answer: { ok: boolean, value: any }) => void>} */
  #waiting = new Map()

  host = new NodeHost({
    begin: () => true,
    complete: (call, outcome, json) => {
      const answer = { ok: outcome === 'value', value: JSON.parse(json) }
      this.answers.push({ call, ...answer })
      this.#waiting.get(call)?.(answer)
    },
    prints: (invocation) => ({
      print: (text) => {
        this.prints.push({ invocation, text })
        return null
      },
      release: () => '',
      redact: (text) => text,
    }),
    warn: (text) => this.warnings.push(text),
    enter: (operation) => this.callers.get(operation),
    threw: (_operation, fault) => this.faults.push(fault),
  })

  /**
   * Starts a call; `answer` settles when the host answers it.
   *
   * @param {object} request
   */
  start(request) {
    this.#calls += 1
    const call = this.#calls
    /** @type {Promise<{ ok: boolean, value: any }>} */
    const answer = new Promise((resolve) => {
      this.#waiting.set(call, resolve)
    })
    this.host.start(call, JSON.stringify(request))
    return { call, answer }
  }

  /** @param {PluginModule[]} plugins */
  async manifests(...plugins) {
    const { value } = await this.start({ kind: 'manifests', plugins }).answer
    return /** @type {{ plugin: string, manifest?: any, error?: string }[]} */ (value)
  }

  /** @param {PluginModule} plugin */
  handler(plugin) {
    return this.start({ kind: 'handler', plugin }).answer
  }

  /**
   * @param {PluginModule} plugin
   * @param {object} [fields] of the request, in place of the usual ones
   */
  startAttempt(plugin, fields = {}) {
    return this.start({
      kind: 'attempt',
      operation: 1,
      plugin,
      attempt: 1,
      invocation: 1,
      manifest: {},
      args: {},
      context: { caller: { plugin: plugin.name, runId: 'run' }, secrets: [], dependencies: {} },
      prints: false,
      ...fields,
    })
  }

  /**
   * Loads the handler and calls it once.
   *
   * @param {PluginModule} plugin
   * @param {object} [fields]
   */
  async attempt(plugin, fields) {
    const loaded = await this.handler(plugin)
    return loaded.ok ? this.startAttempt(plugin, fields).answer : loaded
  }
}
