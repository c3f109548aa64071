// The runtime piece by piece, for hosts.

'use strict'

const { randomUUID } = require('node:crypto')

const { optionsJson, runOperation, warn } = require('./engine.js')
const { environmentJson } = require('./environment.js')
const { awaitNative, fromNative } = require('./errors.js')
const { ownMap, parse, stringify } = require('./intrinsics.js')
const { native } = require('./native.js')

/** @typedef {typeof import('./unstable-runtime.js')} Published */
/** @typedef {import('./schemas/board-event.js').BoardEvent} BoardEvent */
/** @typedef {{ thrown: unknown }} Cause what plugin code threw, whatever that is */

/** @type {Published['RUN_PROFILES']} */
const RUN_PROFILES = Object.freeze(['daily', 'weekly', 'manual'])

/** @type {Published['computeTier']} */
function computeTier(lastInteractionAt, now = new Date()) {
  const tier = native().tier(stringify(lastInteractionAt ?? null), now.getTime())
  return /** @type {import('./schemas/plugin-manifest.js').Tier} */ (tier)
}

/** @type {Published['isEligibleForTier']} */
function isEligibleForTier(current, minTier) {
  return native().isEligibleForTier(current, minTier)
}

/** @type {Published['formatIdleDuration']} */
function formatIdleDuration(ms) {
  return native().formatIdle(ms)
}

/**
 * Makes an event of this moment, unless `fields` says otherwise.
 *
 * @param {object} fields
 * @returns {BoardEvent}
 */
function stamped(fields) {
  const stamp = { event_id: randomUUID(), timestamp: new Date().toISOString() }
  try {
    return parse(native().makeEvent(stringify({ ...stamp, ...fields })))
  } catch (thrown) {
    throw fromNative(thrown)
  }
}

/**
 * @param {BoardEvent} event
 * @param {import('./unstable-runtime.js').EventOptions} options
 */
async function append(event, { eventsPath }) {
  const environment = environmentJson()
  await awaitNative(() => native().appendEvent(environment, eventsPath ?? null, stringify(event)))
  return event
}

/** @type {Published['makeEvent']} */
function makeEvent(draft) {
  return stamped({ severity: 'info', ...draft, event: 'raw' })
}

/** @type {Published['emitBoardEvent']} */
async function emitBoardEvent(event, options) {
  await append(event, options ?? {})
}

/** @type {Published['emitPluginCompleted']} */
async function emitPluginCompleted(plugin, summary, runId, options) {
  const fields = { event: 'plugin_completed', plugin, summary, run_id: runId }
  return append(stamped(fields), options ?? {})
}

/** @type {Published['emitAttemptFailed']} */
async function emitAttemptFailed(plugin, attempt, message, runId, options) {
  const fields = { event: 'attempt_failed', plugin, attempt, error: message, run_id: runId }
  return append(stamped(fields), options ?? {})
}

/** @type {Published['loadPluginManifests']} */
async function loadPluginManifests(pluginsDir) {
  /** @type {Map<string, Cause>} */
  const causes = ownMap()
  const loaded = await runOperation('loadManifests', stringify({ pluginsDir }), {
    onThrown: ({ plugin, thrown }) => causes.set(plugin, { thrown }),
  })
  const { manifests, failures, root_error, warnings } = loaded
  for (const text of warnings) warn(text)
  for (const failure of failures) withCause(failure, causes.get(failure.plugin))
  return { manifests: new Map(manifests), failures, ...(root_error ? { root_error } : {}) }
}

const INVOKE_HOOKS = ['onAttemptStart', 'onAttemptFailed']

/** @type {Published['invokePlugin']} */
async function invokePlugin(plugin, args = {}, options = {}, witness) {
  if (typeof plugin !== 'string') throw new TypeError('`plugin` must be a string')
  checkWitness(witness)
  const { signal, onAttemptStart, onAttemptFailed } = options
  const plain = optionsJson({ ...options }, INVOKE_HOOKS)
  const [name, given, answer] = [plugin, args, witness].map((value) => stringify(value))
  const request = `{"plugin":${name},"args":${given},"options":${plain},"witness":${answer}}`
  /** @type {Cause | undefined} */
  let cause
  /** @param {import('./engine.js').Notice} notice */
  const onNotice = (notice) => {
    if (notice.kind === 'attempt_start') return onAttemptStart?.(notice.attempt)
    if (notice.kind === 'attempt_failed') {
      return onAttemptFailed?.(notice.attempt, notice.message, cause?.thrown)
    }
  }
  const outcome = await runOperation('invoke', request, {
    signal,
    onThrown: ({ thrown }) => {
      cause = { thrown }
    },
    onNotice: onAttemptStart || onAttemptFailed ? onNotice : undefined,
  })
  return withCause(outcome, cause)
}

/**
 * Lets an object carry what plugin code threw, beside what is shown and recorded of it.
 *
 * @template {object} T
 * @param {T} object
 * @param {Cause | undefined} cause
 * @returns {T}
 */
function withCause(object, cause) {
  if (!cause) return object
  return Object.defineProperty(object, 'cause', { value: cause.thrown })
}

/**
 * Nothing is invoked unless its caller says why that may be.
 *
 * @param {unknown} witness
 */
function checkWitness(witness) {
  const { granted, scope, reason } = /** @type {any} */ (witness ?? {})
  const holds =
    (granted === true && typeof scope === 'string' && scope !== '') ||
    (granted === false && (reason === 'manual-run' || reason === 'no-declared-side-effects'))
  if (!holds) {
    throw new TypeError(
      'invokePlugin takes a witness as its fourth argument: `{ granted: true, scope }` or `{ granted: false, reason }`',
    )
  }
}

module.exports = {
  RUN_PROFILES,
  computeTier,
  isEligibleForTier,
  formatIdleDuration,
  makeEvent,
  emitBoardEvent,
  emitPluginCompleted,
  emitAttemptFailed,
  loadPluginManifests,
  invokePlugin,
}
