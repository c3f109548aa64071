// Runs plugin code in Node.js for the engine: it starts what it is told to and gives one answer to each call.
//
// It decides nothing: no timer, no retry. A call the engine no longer waits for is forgotten, and
// what its code still does is neither an answer nor an unhandled rejection.

'use strict'

const { nextTurn, ownMap, parse, stringify } = require('../intrinsics.js')
const { importPlugin, revisionNumber } = require('../loader/import-plugin.js')
const { restoreAfter, watchProcess } = require('./ambient.js')
const { mintCapabilities } = require('./capabilities.js')
const { PluginCall } = require('./plugin-call.js')
const { divertPrints, showRest } = require('./prints.js')
const { jsonOf, plainJsonOf, textOfThrown } = require('./text.js')

/**
 * @typedef {import('../native-engine.js').PluginModule} PluginModule
 * @typedef {import('../native-engine.js').NativePrints} NativePrints
 * @typedef {import('../native-engine.js').Erased} Erased
 * @typedef {import('./capabilities.js').ContextData} ContextData
 * @typedef {{
 *   kind: 'attempt',
 *   operation: number,
 *   plugin: PluginModule,
 *   attempt: number,
 *   invocation: number,
 *   manifest: { secrets?: string[] },
 *   args: Record<string, unknown>,
 *   context: ContextData,
 *   prints: boolean,
 *   load?: true,
 * }} AttemptRequest `load` says that the handler is to be loaded first
 * @typedef {{
 *   kind: 'handler',
 *   operation: number,
 *   plugin: PluginModule,
 *   invocation: number,
 *   secrets: string[],
 *   prints: boolean,
 * }} HandlerRequest
 * @typedef {{
 *   kind: 'manifests',
 *   operation: number,
 *   plugins: PluginModule[],
 *   invocation: number,
 *   prints: boolean,
 * }} ManifestsRequest
 * @typedef {ManifestsRequest | HandlerRequest | AttemptRequest} Request
 * @typedef {(...args: unknown[]) => unknown} Handler
 * @typedef {{ plugin: string, thrown: unknown, secrets?: string[] }} Fault what plugin code threw;
 *   `secrets` names variables whose values it may quote, and is left out where they are not known
 * @typedef {<T>(code: () => T) => T} Enter
 * @typedef {{ outcome: 'value' | 'threw' | 'noJson', json: string }} Answer
 * @typedef {{
 *   begin(call: number): boolean,
 *   complete(call: number, outcome: 'value' | 'threw' | 'noJson', json: string): void,
 *   prints(invocation: number): NativePrints | null,
 *   warn(text: string): void,
 *   enter(operation: number): Enter | undefined,
 *   threw(operation: number, fault: Fault): void,
 *   settled?(call: number): void,
 * }} Engine how the host answers; `enter` gives the async context of an operation's caller, `settled`
 *   hears that the code of an aborted attempt is over
 * @typedef {'timeout' | 'cancelled' | 'dropped'} AbortReason
 */

/** What a handler's signal says of the reason it was fired. */
const REASONS = {
  timeout: () => new DOMException('the time of this attempt ran out', 'TimeoutError'),
  cancelled: () => new DOMException('this run was cancelled', 'AbortError'),
  dropped: () => new DOMException('nobody waits for this attempt any more', 'AbortError'),
}

/** Runs plugin code for one engine. */
class NodeHost {
  #engine
  /** @type {Map<number, Handler>} loaded handlers, by revision number */
  #handlers = ownMap()
  /** @type {Map<number, (reason: AbortReason) => void>} how to abort each open call */
  #open = ownMap()

  /** @param {Engine} engine */
  constructor(engine) {
    this.#engine = engine
  }

  /**
   * Starts a call. Never throws.
   *
   * @param {number} call
   * @param {string} requestJson
   * @param {Erased | null} [erased] the file of a handler that is to be loaded, where it was read already
   */
  start(call, requestJson, erased = null) {
    try {
      const request = /** @type {Request} */ (parse(requestJson))
      divertPrints()
      watchProcess()
      const enter = this.#engine.enter(request.operation) ?? ((code) => code())
      enter(() => this.#begin(call, request, erased))
    } catch (thrown) {
      this.#fail(call, textOfThrown(thrown))
    }
  }

  /**
   * Aborts a call: its signal fires, its answer is no longer wanted. Never throws.
   *
   * @param {number} call
   * @param {AbortReason} reason
   */
  abort(call, reason) {
    const abort = this.#open.get(call)
    this.#open.delete(call)
    try {
      abort?.(reason)
    } catch (thrown) {
      this.#engine.warn(textOfThrown(thrown))
    }
  }

  /**
   * @param {number} call
   * @param {Request} request
   * @param {Erased | null} erased
   */
  #begin(call, request, erased) {
    // Before it is asked whether it still waits: later, it may have let go of them.
    const prints = request.prints ? this.#engine.prints(request.invocation) : null
    if (request.kind === 'attempt' && !request.load && this.#open.size > 0) {
      this.#attemptApart(call, request, prints)
      return
    }
    // What the engine has given up meanwhile must not run: it is on record as over.
    if (!this.#engine.begin(call)) return
    switch (request.kind) {
      case 'manifests':
        return this.#settle(call, this.#manifests(request, prints))
      case 'handler':
        return this.#settle(call, this.#loadHandler(request, prints))
      case 'attempt':
        if (request.load) return this.#loadAndAttempt(call, request, prints, erased)
        return this.#attempt(call, request, prints)
    }
  }

  /**
   * Answers a call with what a promise of JSON text comes to.
   *
   * @param {number} call
   * @param {Promise<string>} json
   */
  async #settle(call, json) {
    try {
      this.#engine.complete(call, 'value', await json)
    } catch (thrown) {
      this.#fail(call, textOfThrown(thrown))
    }
  }

  /**
   * @param {number} call
   * @param {string} text
   */
  #fail(call, text) {
    this.#engine.complete(call, 'threw', stringify(text))
  }

  /**
   * @param {ManifestsRequest} request
   * @param {NativePrints | null} prints
   */
  async #manifests({ operation, plugins }, prints) {
    const answers = plugins.map((plugin) => this.#manifest(operation, plugin, prints))
    const rows = []
    for (const answer of answers) rows.push(await answer)
    return `[${rows.join(',')}]`
  }

  /**
   * One row of the answer. Never rejects: an error of one manifest is not an error of the others.
   *
   * @param {number} operation
   * @param {PluginModule} plugin
   * @param {NativePrints | null} prints
   */
  async #manifest(operation, plugin, prints) {
    const name = stringify(plugin.name)
    try {
      const manifest = await this.#load(plugin, 'manifest.ts', prints, (module) => {
        if (module.manifest === undefined) {
          throw new Error(`${plugin.directory}/manifest.ts exports no \`manifest\``)
        }
        return plainJsonOf(module.manifest)
      })
      return `{"plugin":${name},"manifest":${manifest}}`
    } catch (thrown) {
      this.#engine.threw(operation, { plugin: plugin.name, thrown })
      return `{"plugin":${name},"error":${stringify(textOfThrown(thrown))}}`
    }
  }

  /**
   * @param {Pick<HandlerRequest, 'operation' | 'plugin' | 'secrets'>} request
   * @param {NativePrints | null} prints
   * @param {Erased | null} [erased]
   */
  async #loadHandler({ operation, plugin, secrets }, prints, erased = null) {
    const number = revisionNumber(plugin)
    if (this.#handlers.has(number)) return 'null'
    const take = (/** @type {Record<string, unknown>} */ module) => {
      if (typeof module.handler === 'function') return /** @type {Handler} */ (module.handler)
      throw new Error(`${plugin.directory}/handler.ts exports no function \`handler\``)
    }
    const load = this.#load(plugin, 'handler.ts', prints, take, erased)
    try {
      this.#handlers.set(number, await load)
    } catch (thrown) {
      this.#engine.threw(operation, { plugin: plugin.name, thrown, secrets })
      throw thrown
    }
    return 'null'
  }

  /**
   * Loads a handler and calls it, unless the engine has given that up meanwhile.
   *
   * @param {number} call
   * @param {AttemptRequest} request
   * @param {NativePrints | null} prints
   * @param {Erased | null} erased
   */
  async #loadAndAttempt(call, request, prints, erased) {
    const { operation, plugin, manifest } = request
    try {
      const loading = { operation, plugin, secrets: manifest.secrets ?? [] }
      await this.#loadHandler(loading, prints, erased)
      this.#attemptApart(call, request, prints)
    } catch (thrown) {
      this.#fail(call, textOfThrown(thrown))
    }
  }

  /**
   * Calls a handler in a turn of its own, unless the engine has given that up meanwhile. Never throws.
   *
   * A handler that keeps the thread must find none beside it that has returned and could not say so yet: the
   * time that it takes would be theirs.
   *
   * @param {number} call
   * @param {AttemptRequest} request
   * @param {NativePrints | null} prints
   */
  #attemptApart(call, request, prints) {
    nextTurn(() => {
      try {
        if (this.#engine.begin(call)) this.#attempt(call, request, prints)
      } catch (thrown) {
        this.#fail(call, textOfThrown(thrown))
      }
    })
  }

  /**
   * Imports a module in a context of its own and takes from it what is wanted.
   *
   * @template T
   * @param {PluginModule} plugin
   * @param {string} file
   * @param {NativePrints | null} prints where what the module prints goes, if not straight on
   * @param {(module: Record<string, unknown>) => T} take
   * @param {Erased | null} [erased]
   * @returns {Promise<T>}
   */
  async #load(plugin, file, prints, take, erased = null) {
    const running = new PluginCall(plugin.name, prints)
    try {
      return await running.run(async () => take(await importPlugin(plugin, file, erased)))
    } finally {
      this.#end(running)
    }
  }

  /**
   * @param {number} call
   * @param {AttemptRequest} request
   * @param {NativePrints | null} prints
   */
  #attempt(call, request, prints) {
    const handler = this.#handlers.get(revisionNumber(request.plugin))
    if (!handler) throw new Error(`the handler of \`${request.plugin.name}\` is not loaded`)
    const { manifest, args, context } = request
    const running = new PluginCall(request.plugin.name, prints)
    const controller = new AbortController()
    this.#open.set(call, (reason) => {
      running.run(() => controller.abort(REASONS[reason]()))
      this.#end(running)
    })
    const told = { operation: request.operation, secrets: manifest.secrets ?? [] }
    this.#answer(call, running, told, async () => {
      const value = await handler(manifest, args, controller.signal, mintCapabilities(context))
      try {
        return { __proto__: null, outcome: 'value', json: jsonOf(value) }
      } catch (thrown) {
        const why = `the handler's result has no JSON form: ${textOfThrown(thrown)}`
        return { __proto__: null, outcome: 'noJson', json: stringify(why) }
      }
    })
  }

  /**
   * Runs an attempt and answers with what it comes to, if that is still wanted.
   *
   * @param {number} call
   * @param {InstanceType<typeof PluginCall>} running
   * @param {{ operation: number, secrets: string[] }} told what is told of a throw
   * @param {() => Promise<Answer>} code gives an object that inherits no `then`
   */
  async #answer(call, running, { operation, secrets }, code) {
    /** @type {Answer} */
    let answer
    /** @type {import('./host.js').Fault | undefined} */
    let fault
    try {
      answer = await running.run(code)
    } catch (thrown) {
      const text = running.run(() => textOfThrown(thrown))
      answer = { outcome: 'threw', json: stringify(text) }
      fault = { plugin: running.plugin, thrown, secrets }
    }
    try {
      this.#end(running)
    } finally {
      if (this.#open.delete(call)) {
        if (fault) this.#engine.threw(operation, fault)
        this.#engine.complete(call, answer.outcome, answer.json)
      } else this.#engine.settled?.(call)
    }
  }

  /** @param {InstanceType<typeof PluginCall>} running */
  #end(running) {
    if (running.over) return
    showRest(running)
    restoreAfter(running, (what) => {
      this.#engine.warn(`plugin \`${running.plugin}\` changed ${what}; it was put back`)
    })
  }
}

module.exports = { NodeHost }
