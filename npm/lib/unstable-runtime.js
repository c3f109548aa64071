// The runtime piece by piece, for hosts.

import { randomUUID } from 'node:crypto'

import { optionsJson, runOperation, warn } from './engine.js'
import { environmentJson } from './environment.js'
import { awaitNative, fromNative } from './errors.js'
import { native } from './native.js'

/** @typedef {typeof import('./unstable-runtime.js')} Published */
/** @typedef {import('./schemas/board-event.js').BoardEvent} BoardEvent */

/** @type {Published['RUN_PROFILES']} */
export const RUN_PROFILES = Object.freeze(['daily', 'weekly', 'manual'])

/** @type {Published['computeTier']} */
export function computeTier(lastInteractionAt, now = new Date()) {
  const tier = native().tier(JSON.stringify(lastInteractionAt ?? null), now.getTime())
  return /** @type {import('./schemas/plugin-manifest.js').Tier} */ (tier)
}

/** @type {Published['isEligibleForTier']} */
export function isEligibleForTier(current, minTier) {
  return native().isEligibleForTier(current, minTier)
}

/** @type {Published['formatIdleDuration']} */
export function formatIdleDuration(ms) {
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
    return JSON.parse(native().makeEvent(JSON.stringify({ ...stamp, ...fields })))
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
  await awaitNative(() =>
    native().appendEvent(environment, eventsPath ?? null, JSON.stringify(event)),
  )
  return event
}

/** @type {Published['makeEvent']} */
export function makeEvent(draft) {
  return stamped({ severity: 'info', ...draft, event: 'raw' })
}

/** @type {Published['emitBoardEvent']} */
export async function emitBoardEvent(event, options) {
  await append(event, options ?? {})
}

/** @type {Published['emitPluginCompleted']} */
export async function emitPluginCompleted(plugin, summary, runId, options) {
  const fields = { event: 'plugin_completed', plugin, summary, run_id: runId }
  return append(stamped(fields), options ?? {})
}

/** @type {Published['emitAttemptFailed']} */
export async function emitAttemptFailed(plugin, attempt, message, runId, options) {
  const fields = { event: 'attempt_failed', plugin, attempt, error: message, run_id: runId }
  return append(stamped(fields), options ?? {})
}

/** @type {Published['loadPluginManifests']} */
export async function loadPluginManifests(pluginsDir) {
  const loaded = await runOperation('loadManifests', JSON.stringify({ pluginsDir }))
  const { manifests, failures, root_error, warnings } = loaded
  for (const text of warnings) warn(text)
  return { manifests: new Map(manifests), failures, ...(root_error ? { root_error } : {}) }
}

const INVOKE_HOOKS = ['onAttemptStart', 'onAttemptFailed']

/** @type {Published['invokePlugin']} */
export async function invokePlugin(plugin, args = {}, options = {}, witness) {
  if (typeof plugin !== 'string') throw new TypeError('`plugin` must be a string')
  checkWitness(witness)
  const { signal, onAttemptStart, onAttemptFailed } = options
  const plain = optionsJson({ ...options }, INVOKE_HOOKS)
  const [name, given, answer] = [plugin, args, witness].map((value) => JSON.stringify(value))
  const request = `{"plugin":${name},"args":${given},"options":${plain},"witness":${answer}}`
  return runOperation('invoke', request, {
    signal,
    onNotice(notice) {
      if (notice.kind === 'attempt_start') return onAttemptStart?.(notice.attempt)
      if (notice.kind === 'attempt_failed') {
        return onAttemptFailed?.(notice.attempt, notice.message)
      }
    },
  })
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
