// Runs plugin code in Node.js for the engine: it starts what it is told to and gives one answer to each call.
//
// It decides nothing: no timer, no retry. A call the engine no longer waits for is forgotten, and
// what its code still does is neither an answer nor an unhandled rejection.

import { importPlugin, revisionNumber } from '../loader/import-plugin.js'
import { restoreAfter, watchProcess } from './ambient.js'
import { mintCapabilities } from './capabilities.js'
import { PluginCall } from './plugin-call.js'
import { divertPrints } from './prints.js'
import { jsonOf, plainJsonOf, textOfThrown } from './text.js'

/**
 * @typedef {import('../native-engine.js').PluginModule} PluginModule
 * @typedef {import('./capabilities.js').ContextData} ContextData
 * @typedef {{
 *   kind: 'attempt',
 *   operation: number,
 *   plugin: PluginModule,
 *   attempt: number,
 *   invocation: number,
 *   manifest: unknown,
 *   args: Record<string, unknown>,
 *   context: ContextData,
 *   capture: boolean,
 * }} AttemptRequest
 * @typedef {{
 *   kind: 'handler',
 *   operation: number,
 *   plugin: PluginModule,
 *   invocation: number,
 *   capture: boolean,
 * }} HandlerRequest
 * @typedef {{ kind: 'manifests', operation: number, plugins: PluginModule[] }
 *   | HandlerRequest
 *   | AttemptRequest} Request
 * @typedef {(...args: unknown[]) => unknown} Handler
 * @typedef {<T>(code: () => T) => T} Enter
 * @typedef {{
 *   begin(call: number): boolean,
 *   complete(call: number, outcome: 'value' | 'threw' | 'noJson', json: string): void,
 *   print(invocation: number, text: string): void,
 *   warn(text: string): void,
 *   enter(operation: number): Enter | undefined,
 * }} Engine how the host answers; `enter` gives the async context of an operation's caller
 * @typedef {'timeout' | 'cancelled' | 'dropped'} AbortReason
 */

/** What a handler's signal says of the reason it was fired. */
const REASONS = {
  timeout: () => new DOMException('the time of this attempt ran out', 'TimeoutError'),
  cancelled: () => new DOMException('this run was cancelled', 'AbortError'),
  dropped: () => new DOMException('nobody waits for this attempt any more', 'AbortError'),
}

/** Runs plugin code for one engine. */
export class NodeHost {
  #engine
  /** @type {Map<number, Handler>} loaded handlers, by revision number */
  #handlers = new Map()
  /** @type {Map<number, (reason: AbortReason) => void>} how to abort each open call */
  #open = new Map()

  /** @param {Engine} engine */
  constructor(engine) {
    this.#engine = engine
  }

  /**
   * Starts a call. Never throws.
   *
   * @param {number} call
   * @param {string} requestJson
   */
  start(call, requestJson) {
    try {
      const request = /** @type {Request} */ (JSON.parse(requestJson))
      divertPrints()
      watchProcess()
      const enter = this.#engine.enter(request.operation) ?? ((code) => code())
      enter(() => this.#begin(call, request))
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
   */
  #begin(call, request) {
    // What the engine has given up meanwhile must not run: it is on record as over.
    if (!this.#engine.begin(call)) return
    switch (request.kind) {
      case 'manifests':
        return this.#settle(call, this.#manifests(request.plugins))
      case 'handler':
        return this.#settle(call, this.#loadHandler(request))
      case 'attempt':
        return this.#attempt(call, request)
    }
  }

  /**
   * Answers a call with what a promise of JSON text comes to.
   *
   * @param {number} call
   * @param {Promise<string>} json
   */
  #settle(call, json) {
    json.then(
      (text) => this.#engine.complete(call, 'value', text),
      (thrown) => this.#fail(call, textOfThrown(thrown)),
    )
  }

  /**
   * @param {number} call
   * @param {string} text
   */
  #fail(call, text) {
    this.#engine.complete(call, 'threw', JSON.stringify(text))
  }

  /** @param {PluginModule[]} plugins */
  async #manifests(plugins) {
    const answers = plugins.map(async (plugin) => {
      const name = JSON.stringify(plugin.name)
      try {
        const manifest = await this.#load(plugin, 'manifest.ts', undefined, (module) => {
          if (module.manifest === undefined) {
            throw new Error(`${plugin.directory}/manifest.ts exports no \`manifest\``)
          }
          return plainJsonOf(module.manifest)
        })
        return `{"plugin":${name},"manifest":${manifest}}`
      } catch (thrown) {
        return `{"plugin":${name},"error":${JSON.stringify(textOfThrown(thrown))}}`
      }
    })
    return `[${(await Promise.all(answers)).join(',')}]`
  }

  /** @param {HandlerRequest} request */
  async #loadHandler({ plugin, invocation, capture }) {
    const number = revisionNumber(plugin)
    if (!this.#handlers.has(number)) {
      const print = this.#capture(invocation, capture)
      const handler = await this.#load(plugin, 'handler.ts', print, (module) => {
        if (typeof module.handler === 'function') return /** @type {Handler} */ (module.handler)
        throw new Error(`${plugin.directory}/handler.ts exports no function \`handler\``)
      })
      this.#handlers.set(number, handler)
    }
    return 'null'
  }

  /**
   * Imports a module in a context of its own and takes from it what is wanted.
   *
   * @template T
   * @param {PluginModule} plugin
   * @param {string} file
   * @param {((text: string) => void) | undefined} print takes what the module prints
   * @param {(module: Record<string, unknown>) => T} take
   * @returns {Promise<T>}
   */
  async #load(plugin, file, print, take) {
    const running = new PluginCall(plugin.name, print)
    try {
      return await running.run(async () => take(await importPlugin(plugin, file)))
    } finally {
      this.#end(running)
    }
  }

  /**
   * @param {number} call
   * @param {AttemptRequest} request
   */
  #attempt(call, request) {
    const handler = this.#handlers.get(revisionNumber(request.plugin))
    if (!handler) throw new Error(`the handler of \`${request.plugin.name}\` is not loaded`)
    const { invocation, manifest, args, context } = request
    const print = this.#capture(invocation, request.capture)
    const running = new PluginCall(request.plugin.name, print)
    const controller = new AbortController()
    this.#open.set(call, (reason) => {
      running.run(() => controller.abort(REASONS[reason]()))
      this.#end(running)
    })
    /** @type {Promise<{ json: string } | { noJson: string }>} */
    const returned = running.run(async () => {
      const value = await handler(manifest, args, controller.signal, mintCapabilities(context))
      try {
        return { json: jsonOf(value) }
      } catch (thrown) {
        return { noJson: `the handler's result has no JSON form: ${textOfThrown(thrown)}` }
      }
    })
    const answer = (/** @type {() => void} */ complete) => {
      this.#end(running)
      if (this.#open.delete(call)) complete()
    }
    returned.then(
      (result) =>
        answer(() => {
          if ('json' in result) this.#engine.complete(call, 'value', result.json)
          else this.#engine.complete(call, 'noJson', JSON.stringify(result.noJson))
        }),
      (thrown) => {
        const text = running.run(() => textOfThrown(thrown))
        answer(() => this.#fail(call, text))
      },
    )
  }

  /**
   * Where what is printed under an invocation goes, if anywhere.
   *
   * @param {number} invocation
   * @param {boolean} capture
   */
  #capture(invocation, capture) {
    return capture
      ? (/** @type {string} */ text) => this.#engine.print(invocation, text)
      : undefined
  }

  /** @param {PluginCall} running */
  #end(running) {
    if (running.over) return
    for (const what of restoreAfter(running)) {
      this.#engine.warn(`plugin \`${running.plugin}\` changed ${what}; it was put back`)
    }
  }
}
