// What a test says of a run, checked against the manifest before anything is called.

'use strict'

/**
 * @typedef {import('../unstable-testing.js').TestRunOptions} TestRunOptions
 * @typedef {import('../schemas/plugin-manifest.js').PluginManifest} PluginManifest
 */

const OPTIONS = [
  'args',
  'config',
  'secrets',
  'dependencies',
  'now',
  'granted',
  'retries',
  'runId',
  'signal',
]

/**
 * @param {object} given
 * @param {readonly string[]} known
 */
function checkNames(given, known) {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    throw new TypeError(`there is no option \`${name}\`; the options are ${quoted(known)}`)
  }
}

/** @param {unknown} value */
function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param {TestRunOptions} options */
function checkOptions(options) {
  if (!isRecord(options)) throw new TypeError('the options of a run must be an object')
  checkNames(options, OPTIONS)
  for (const name of /** @type {const} */ (['args', 'config', 'secrets', 'dependencies'])) {
    if (options[name] === undefined || isRecord(options[name])) continue
    throw new TypeError(`option \`${name}\` must be an object`)
  }
  const { granted = true, retries = 0 } = options
  if (typeof granted !== 'boolean') throw new TypeError('option `granted` must be true or false')
  if (!Number.isInteger(retries) || retries < 0 || retries > 10) {
    throw new TypeError('option `retries` must be an integer from 0 to 10')
  }
}

/**
 * The instant of a run in milliseconds since 1970; the present where none is given.
 *
 * @param {TestRunOptions['now']} now
 * @returns {number}
 */
function instantOf(now) {
  if (now === undefined) return Date.now()
  const instant = now instanceof Date || typeof now === 'string' ? new Date(now).getTime() : NaN
  if (!Number.isNaN(instant)) return instant
  throw new TypeError(
    'option `now` must be an instant: a Date, or text such as `2026-03-01T08:00:00Z`',
  )
}

/**
 * The variables of the declared secrets. One that the test does not give is missing, whatever the
 * developer's own environment holds: no test may use a real credential by accident.
 *
 * @param {PluginManifest} manifest
 * @param {Record<string, string>} given
 * @returns {Record<string, string | undefined>}
 */
function secretVariables(manifest, given) {
  const stray = Object.keys(given).find((name) => !manifest.secrets.includes(name))
  if (stray !== undefined) throw new TypeError(undeclared(manifest, stray, 'secrets'))
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'string') throw new TypeError(`secret \`${name}\` must be a string`)
  }
  return Object.fromEntries(
    manifest.secrets.map((name) => [name, Object.hasOwn(given, name) ? given[name] : undefined]),
  )
}

/**
 * The dependencies as the state document would have them, stamped as the runtime stamps.
 *
 * @param {PluginManifest} manifest
 * @param {NonNullable<TestRunOptions['dependencies']>} given
 * @param {string} instant ISO 8601
 */
function dependencyRuns(manifest, given, instant) {
  const runs = Object.entries(given).map(([name, facts]) => {
    if (!manifest.dependencies.includes(name)) {
      throw new TypeError(undeclared(manifest, name, 'dependencies'))
    }
    // A misspelt one would be a dependency that has done nothing.
    const { output, run = 'success', ...rest } = isRecord(facts) ? facts : { facts }
    if (Object.keys(rest).length > 0) {
      throw new TypeError(`dependency \`${name}\` must be an object of \`output\` and \`run\``)
    }
    const stamped = { run_id: 'test-0', produced_at: instant, ...output }
    return [
      name,
      { last_run_at: instant, status: run, ...(output ? { last_output: stamped } : {}) },
    ]
  })
  return Object.fromEntries(runs)
}

/**
 * @param {PluginManifest} manifest
 * @param {string} name
 * @param {'secrets' | 'dependencies'} field
 */
function undeclared(manifest, name, field) {
  return `the manifest of \`${manifest.name}\` does not name \`${name}\` in \`${field}\``
}

/** @param {readonly string[]} names */
function quoted(names) {
  return names.map((name) => `\`${name}\``).join(', ')
}

module.exports = { checkNames, checkOptions, dependencyRuns, instantOf, quoted, secretVariables }
