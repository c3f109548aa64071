// Mints the capability context of one attempt from what the engine says the manifest earned.

'use strict'

/**
 * @typedef {import('../unstable-capabilities.js').CapabilityContext} CapabilityContext
 * @typedef {import('../unstable-capabilities.js').Caller} Caller
 * @typedef {{
 *   caller: Caller,
 *   secrets: string[],
 *   dependencies: Record<string, { output: unknown, run: unknown }>,
 * }} ContextData
 */

/**
 * The fourth argument of a handler: `caller`, `dependencies`, `secrets`, and nothing else.
 *
 * @param {ContextData} data
 * @returns {CapabilityContext}
 */
function mintCapabilities(data) {
  const caller = Object.freeze({ ...data.caller })

  /**
   * @param {string} member
   * @param {unknown} given
   */
  const requireCaller = (member, given) => {
    const named = /** @type {Partial<Caller> | null | undefined} */ (given)
    if (named?.plugin !== caller.plugin || named.runId !== caller.runId) {
      throw new TypeError(`${member} takes \`capabilities.caller\` as its first argument`)
    }
  }

  /** @param {string} name */
  const dependency = (name) => {
    const found = Object.hasOwn(data.dependencies, name) ? data.dependencies[name] : undefined
    if (found) return found
    throw new Error(
      `plugin \`${caller.plugin}\` reads \`${String(name)}\`, which its manifest does not declare: add it to \`dependencies\``,
    )
  }

  return Object.freeze({
    caller,
    dependencies: Object.freeze({
      /** @type {CapabilityContext['dependencies']['lastOutput']} */
      lastOutput(given, name) {
        requireCaller('dependencies.lastOutput', given)
        return /** @type {any} */ (structuredClone(dependency(name).output))
      },
      /** @type {CapabilityContext['dependencies']['lastRun']} */
      lastRun(given, name) {
        requireCaller('dependencies.lastRun', given)
        return /** @type {any} */ (structuredClone(dependency(name).run))
      },
    }),
    secrets: Object.freeze({
      /** @type {CapabilityContext['secrets']['resolvedNames']} */
      resolvedNames(given) {
        requireCaller('secrets.resolvedNames', given)
        return [...data.secrets]
      },
    }),
  })
}

module.exports = { mintCapabilities }
