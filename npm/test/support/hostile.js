// The words of the tests of hostile plugins: commands on a home, and what each of them must leave.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { makeHome, writePlugins } from './home.js'

/** The program of the command. */
export const bin = fileURLToPath(new URL('../../bin/warpline.cjs', import.meta.url))

/**
 * What a plugin does, and what becomes of it.
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {string} [handler] the body of its handler
 * @property {string} [top] code beside the handler
 * @property {object} [manifest]
 * @property {'completed' | 'failed' | 'interrupted'} [ends] its state, `failed` where it is not given;
 *   `interrupted` where its code ends the process or a signal does
 * @property {RegExp} [says] in its summary
 * @property {RegExp} [stderr]
 * @property {number} [exit] of the command; what follows from `ends` where it is not given
 * @property {{ handler: string }} [sibling] in place of the usual one
 * @property {boolean} [alone] without a sibling, which could not end either
 * @property {NodeJS.Signals} [signal] sent once the plugin has printed `ready`
 * @property {(left: ReturnType<typeof intact>, verb: 'advance' | 'run') => void} [left] looks at what is left
 */

/** A plugin that does nothing wrong, and is still at work when its neighbours begin. */
export const SIBLING = {
  handler: `await new Promise((resolve) => setTimeout(resolve, 30))
    console.log('from the sibling')
    return skillOk('the sibling is fine', { data_freshness: { a: 'b' } })`,
}

/** Another one, that uses nothing which can be replaced. */
export const QUIET = {
  handler: `await new Promise((resolve) => setTimeout(resolve, 30))
    return { status: 'success', phases_completed: [], phases_failed: [], data_freshness: {}, summary: 's' }`,
}

/** @param {Row} row */
export function pluginOf({ top = '', handler = '', manifest = {} }) {
  const source = `import { skillFailure, skillOk } from 'warpline/unstable-result'
${top}
export const handler = async (manifest: any, args: any, signal: AbortSignal, capabilities: any) => {
  ${handler}
}
`
  return { manifest, files: { 'handler.ts': source } }
}

/**
 * Runs a command to the end of its process; what its children hold open is not waited for.
 *
 * @param {string} home
 * @param {string[]} args
 * @param {NodeJS.Signals} [signal] sent once a plugin has printed `ready`
 */
export async function command(home, args, signal) {
  const child = spawn(process.execPath, [bin, ...args], {
    env: { ...process.env, WARPLINE_HOME: home },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    if (signal && !stderr.includes('ready') && (stderr + text).includes('ready')) child.kill(signal)
    stderr += text
  })
  const limit = setTimeout(() => child.kill('SIGKILL'), 600_000)
  const [code, by] = await once(child, 'exit')
  clearTimeout(limit)
  // What the process wrote lies in the pipes, even where a child of it keeps them open: each turn of the
  // loop takes what is there.
  for (let read = -1; read !== stdout.length + stderr.length; ) {
    read = stdout.length + stderr.length
    for (let turns = 0; turns < 3; turns += 1) await new Promise((done) => setImmediate(done))
  }
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
  return { code, by, stdout, stderr }
}

/** Left by an advance that came to its end, for monitors. */
const SIGN = 'last-successful-advance'
const STATE_FILES = ['engine-state.json', 'events.jsonl', SIGN]

/**
 * Every document of a home, parsed; none may be broken, and no lock or temporary file be left.
 *
 * @param {string} home
 * @param {boolean} [ended] whether plugin code ended the process
 */
export function intact(home, ended = false) {
  const names = (/** @type {string} */ path) =>
    existsSync(join(home, path)) ? readdirSync(join(home, path)).sort() : []
  const text = (/** @type {string} */ path) => readFileSync(join(home, path), 'utf8')
  const lines = (/** @type {string} */ path) =>
    existsSync(join(home, path))
      ? text(path)
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line))
      : []
  const stray = names('state').filter(
    // A process that was ended leaves the file of its lock, which then nobody holds.
    (name) => ![...STATE_FILES, ...(ended ? ['.lock'] : [])].includes(name),
  )
  assert.deepEqual(stray, [], 'nothing but documents is left in state/')
  const runs = names('runs')
  assert.deepEqual(
    runs.filter((name) => !/^[\w-]+\.(json|log)$/.test(name)),
    [],
    'nothing but documents is left in runs/',
  )
  const documents = runs
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(text(`runs/${name}`)))
  const state = names('state')
  if (state.includes(SIGN)) JSON.parse(text(`state/${SIGN}`))
  return {
    state: state.includes('engine-state.json')
      ? JSON.parse(text('state/engine-state.json'))
      : undefined,
    events: lines('state/events.jsonl'),
    lines: names('logs/runs').flatMap((name) => lines(`logs/runs/${name}`)),
    logs: documents.filter((document) => 'plugin_entries' in document),
    artifacts: documents.filter((document) => 'attempts' in document),
    transcripts: runs
      .filter((name) => name.endsWith('.log'))
      .map((name) => readFileSync(join(home, 'runs', name))),
  }
}

/**
 * What a command said, for the message of an assertion.
 *
 * @param {{ stdout: string, stderr: string }} said
 */
export const said = ({ stdout, stderr }) =>
  `stdout: ${stdout.slice(-3000)}\nstderr: ${stderr.slice(-3000)}`

/**
 * Lets a row loose in `run` and in `advance`, in a home of its own with a sibling; then an advance
 * without it must do its work.
 *
 * @param {Row} row
 */
export async function survives(row) {
  const plugins = { [row.name]: pluginOf(row), sibling: row.sibling ?? SIBLING }
  const { home } = makeHome(plugins)
  checkRun(home, row, await command(home, ['run', row.name, 'go', '--json'], row.signal))
  if (row.alone) rmSync(join(home, 'plugins', 'sibling'), { recursive: true })
  writePlugins(home, { [row.name]: pluginOf(row) })
  checkAdvance(home, row, await command(home, ['advance', '--json'], row.signal))
  rmSync(join(home, 'plugins', row.name), { recursive: true })
  writePlugins(home, { sibling: row.sibling ?? SIBLING })
  await works(home)
}

/**
 * @param {string} home
 * @param {Row} row
 * @param {Awaited<ReturnType<typeof command>>} run
 */
export function checkRun(home, row, run) {
  const ends = row.ends ?? 'failed'
  checkProcess(row, run)
  const left = intact(home)
  assert.equal(left.state, undefined, 'run writes no state')
  const artifact = left.artifacts.find(({ plugin }) => plugin === row.name)
  assert.ok(artifact, 'a run artifact')
  const status = {
    completed: ['success'],
    failed: ['failed', 'timeout'],
    interrupted: ['failed', 'cancelled'],
  }
  assert.ok(status[ends].includes(artifact.status), `the artifact says ${artifact.status}`)
  assert.notEqual(artifact.completed_at, null)
  if (ends !== 'interrupted') {
    assert.equal(JSON.parse(run.stdout).ok, ends === 'completed', said(run))
  }
  if (row.says) assert.match(artifact.summary, row.says)
  row.left?.(left, 'run')
}

/**
 * @param {string} home
 * @param {Row} row
 * @param {Awaited<ReturnType<typeof command>>} advance
 */
function checkAdvance(home, row, advance) {
  const ends = row.ends ?? 'failed'
  checkProcess(row, advance)
  const left = intact(home, ends === 'interrupted')
  assert.equal(left.logs.length, 1, 'one run log')
  const [log] = left.logs
  const entry = entryOf(log, row.name)
  if (ends === 'interrupted') {
    assert.deepEqual([log.status, log.completed_at, entry.status], ['interrupted', null, 'failed'])
  } else {
    const states = { [row.name]: ends, ...(row.alone ? {} : { sibling: 'completed' }) }
    assert.deepEqual(JSON.parse(advance.stdout).plugin_states, states, said(advance))
    assert.deepEqual([log.status, entry.status], [ends === 'failed' ? 'partial' : 'complete', ends])
    const { plugin_runs } = left.state
    assert.equal(plugin_runs[row.name].status, ends === 'failed' ? 'failed' : 'success')
    if (!row.alone) assert.equal(plugin_runs.sibling.status, 'success')
  }
  if (row.says) assert.match(entry.result_summary, row.says)
  row.left?.(left, 'advance')
}

/**
 * @param {{ plugin_entries: any[] }} log
 * @param {string} name
 */
export function entryOf(log, name) {
  return log.plugin_entries.find(({ plugin }) => plugin === name)
}

/**
 * @param {Row} row
 * @param {Awaited<ReturnType<typeof command>>} ended
 */
function checkProcess(row, ended) {
  const { ends = 'failed', signal, exit } = row
  const expected = exit ?? (signal ? 130 : ends === 'completed' ? 0 : 1)
  assert.deepEqual([ended.code, ended.by], [expected, null], said(ended))
  if (row.stderr) assert.match(ended.stderr, row.stderr)
}

/**
 * The next command does its work, on a home that holds the sibling alone.
 *
 * @param {string} home
 */
export async function works(home) {
  const next = await command(home, ['advance', '--force', '--json'])
  assert.equal(next.code, 0, said(next))
  assert.deepEqual(JSON.parse(next.stdout).plugin_states, { sibling: 'completed' })
  assert.equal(intact(home).state.plugin_runs.sibling.status, 'success')
}
