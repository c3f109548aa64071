// Runs the example fleet on this machine's own readings, one limit set to 0, and checks the state after every step.
// With the argument `python`, the fleet written in Python runs under Python.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { account, environment, fleet, hosts, installPlugins, run } from '../support.mjs'

class Difference extends Error {}

const home = await mkdtemp(join(tmpdir(), 'warpline-demo-'))
const host = process.argv[2] === 'python' ? hosts.python : hosts.node
const env = environment(home, { NO_COLOR: '1', ...host.extra })

function same(what, found, expected) {
  if (isDeepStrictEqual(found, expected)) return
  throw new Difference(
    `${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`,
  )
}

function check(what, held, found) {
  if (!held) throw new Difference(`${what}: found ${JSON.stringify(found)}`)
}

function warpline(...args) {
  const result = run(host.command, [...host.args, ...args], { env })
  if (result.status !== 0) throw new Difference(`warpline ${args.join(' ')}: ${account(result)}`)
  return result.stdout
}

function show(...args) {
  console.log(`\n$ warpline ${args.join(' ')}`)
  const stdout = warpline(...args)
  process.stdout.write(stdout)
  return stdout
}

const json = async (path) => JSON.parse(await readFile(join(home, path), 'utf8'))
const state = () => json('state/engine-state.json')
const runLog = async () => json(`runs/${(await state()).last_run_id}.json`)
const statuses = (entries) =>
  Object.fromEntries(entries.map(({ plugin, status }) => [plugin, status]).sort())
const notes = async () => readdir(join(home, 'notes')).catch(() => [])

async function events() {
  const lines = (await readFile(join(home, 'state/events.jsonl'), 'utf8')).trimEnd().split('\n')
  return lines
    .map((line) => JSON.parse(JSON.parse(line).metadata_json ?? '{}').event)
    .filter(Boolean)
}

async function prepare() {
  await installPlugins(host.plugins, home, fleet)
  await mkdir(join(home, 'config'))
  // Memory in use is always above 0; no reading of any machine breaches the others.
  const limits = {
    load_per_cpu_max: 1e9,
    memory_used_max_percent: 0,
    disk_used_max_percent: 100,
    uptime_min_seconds: 0,
  }
  await writeFile(join(home, 'config', 'anomaly-watch.json'), JSON.stringify(limits, null, 2))
  console.log(`home: ${home}\nplugins: ${fleet.join(', ')}\nlimits: ${JSON.stringify(limits)}`)
}

async function planBeforeAnything() {
  const before = await readdir(home, { recursive: true })
  show('plan')
  const plan = JSON.parse(warpline('plan', '--json'))
  same(
    'due',
    plan.due.map(({ plugin, level }) => [plugin, level]),
    [
      ['host-metrics', 0],
      ['anomaly-watch', 1],
      ['daily-digest', 3],
    ],
  )
  same(
    'not due',
    plan.not_due.map(({ plugin, level, reason }) => [plugin, level, reason]),
    [['incident-note', 2, 'unapproved']],
  )
  same('grant', plan.grant, null)
  same('load failures', plan.failures, [])
  same(
    'files of the home after plan',
    (await readdir(home, { recursive: true })).sort(),
    before.sort(),
  )
}

async function advanceWithoutGrant() {
  show('advance')
  const log = await runLog()
  same('status of the first advance', log.status, 'complete')
  same('entries of the first advance', statuses(log.plugin_entries), {
    'anomaly-watch': 'completed',
    'daily-digest': 'completed',
    'host-metrics': 'completed',
    'incident-note': 'skipped',
  })
  const { plugin_runs } = await state()
  same('plugins with a run on record', Object.keys(plugin_runs).sort(), [
    'anomaly-watch',
    'daily-digest',
    'host-metrics',
  ])
  const { breached } = JSON.parse(plugin_runs['anomaly-watch'].last_output.body)
  same(
    'breached limits',
    breached.map(({ limit }) => limit),
    ['memory_used_max_percent'],
  )
  check(
    'first digest without notes',
    plugin_runs['daily-digest'].last_output.body.includes('no data from incident-note'),
    plugin_runs['daily-digest'],
  )
  same('notes without a grant', await notes(), [])
}

async function approveTheEffect() {
  show('approve', 'incident-note')
  same('scopes of the grant', (await json('.session-approval')).scopes, ['incident-note'])
  same(
    'mode of the grant file',
    ((await stat(join(home, '.session-approval'))).mode & 0o777).toString(8),
    '600',
  )
  check('event of the grant', (await events()).includes('grant_merged'), await events())
  const plan = JSON.parse(warpline('plan', '--json'))
  check(
    'incident-note is due after the grant',
    plan.due.some(({ plugin }) => plugin === 'incident-note'),
    plan.due,
  )
}

async function advanceToTheGate() {
  const shown = show('advance')
  check('the digest is shown as pending', /pending +daily-digest/.test(shown), shown)
  const log = await runLog()
  same('status on record', log.status, 'partial')
  check(
    'no entry for the digest',
    !('daily-digest' in statuses(log.plugin_entries)),
    statuses(log.plugin_entries),
  )
  same(
    'incident-note in the second advance',
    statuses(log.plugin_entries)['incident-note'],
    'gated',
  )
  const { pending_gates, plugin_runs } = await state()
  same(
    'parked results',
    pending_gates.map(({ plugin, run_id, applied_at }) => [plugin, run_id, applied_at]),
    [['incident-note', log.run_id, null]],
  )
  same('status of incident-note on record', plugin_runs['incident-note'].status, 'gated')
  same('notes', (await notes()).length, 1)
}

async function approveTheResult() {
  const before = await state()
  const [note] = await notes()
  const path = join(home, 'notes', note)
  const [written, grant] = [
    await stat(path),
    await readFile(join(home, '.session-approval'), 'utf8'),
  ]
  show('approve', 'incident-note')
  const after = await state()
  same('notes after the answer', await notes(), [note])
  same('the note was written once', (await stat(path)).mtimeMs, written.mtimeMs)
  same('status of incident-note', after.plugin_runs['incident-note'].status, 'success')
  same(
    'instant of its run',
    after.plugin_runs['incident-note'].last_run_at,
    before.pending_gates[0].run_completed_at,
  )
  same('its Output', after.plugin_runs['incident-note'].last_output.path, path)
  check(
    'the gate is marked as applied',
    typeof after.pending_gates[0]?.applied_at === 'string',
    after.pending_gates,
  )
  same('the grant file', await readFile(join(home, '.session-approval'), 'utf8'), grant)
  check('event of the answer', (await events()).includes('gate_applied'), await events())
}

async function advanceToTheDigest() {
  const plan = JSON.parse(warpline('plan', '--json'))
  same(
    'due after the answer',
    plan.due.map(({ plugin }) => plugin),
    ['daily-digest'],
  )
  show('advance')
  const log = await runLog()
  same('status of the third advance', log.status, 'complete')
  same('entries of the third advance', statuses(log.plugin_entries), {
    'anomaly-watch': 'skipped',
    'daily-digest': 'completed',
    'host-metrics': 'skipped',
    'incident-note': 'skipped',
  })
  const [note] = await notes()
  same('notes at the end', (await notes()).length, 1)
  const { body, run_id } = (await state()).plugin_runs['daily-digest'].last_output
  same('run of the digest', run_id, log.run_id)
  check('the digest names the note', body.includes(`notes/${note}`), body)
  check('the digest has all its parts', !body.includes('no data from'), body)
  console.log(`\n${body}`)
}

try {
  await prepare()
  /** @type {[string, () => Promise<void>][]} */
  const steps = [
    [
      'What would run now? incident-note declares an effect, and nobody has allowed it.',
      planBeforeAnything,
    ],
    ['So an advance leaves it out and runs the rest.', advanceWithoutGrant],
    ['A person allows the effect, for four hours.', approveTheEffect],
    [
      'Now it runs. It is supervised: its result waits, and the digest behind it is not reached.',
      advanceToTheGate,
    ],
    ['A person accepts the result. The plugin is not called again.', approveTheResult],
    ['The digest is due, because what it builds on has run since.', advanceToTheDigest],
  ]
  for (const [number, [text, step]] of steps.entries()) {
    console.log(`\n--- ${number + 1}. ${text}`)
    await step()
  }
  console.log('demo: every state was as expected')
} catch (error) {
  if (!(error instanceof Difference)) throw error
  console.error(`\ndemo: ${error.message}`)
  process.exitCode = 1
} finally {
  await rm(home, { recursive: true, force: true })
}
