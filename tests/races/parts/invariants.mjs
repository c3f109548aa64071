// What must hold of the home after a round, whatever was killed in it. Each finding is a line for a reader.

import { denialWords, grantWords, levelWords, mayEndWith, mayStand } from './answers.mjs'
import { effectful, fleet, supervised, TTL_MS, timed } from './fleet.mjs'

/** Clocks of two languages, cut to milliseconds. */
const CLOCK_MS = 3

const metadata = ({ metadata_json }) => (metadata_json === null ? {} : JSON.parse(metadata_json))
const brief = ({ id, by, kind, args, status, said }) =>
  `${id} (${by} ${kind} ${args.join(' ')}) ended with ${status}: ${said.slice(-600)}`

/** Ends that an operation may have: what is asked of something that is there is never refused. */
const ENDS = {
  advance: [0, 1, 75, 130],
  approve: [0, 1],
  'deny --remove': [0, 1],
  forget: [0, 1],
}

function* faultsOfEnds(operations) {
  for (const operation of operations) {
    if (operation.hung) yield `hangs: ${brief(operation)}`
    if (operation.killed) continue
    const ends = ENDS[operation.kind] ?? [0]
    const stopped = operation.stop?.signal === 'SIGTERM' ? [130] : []
    if (![...ends, ...stopped].includes(operation.status)) yield brief(operation)
    if (/panicked|Fatal|Traceback|Segmentation|UnhandledPromise/.test(operation.said)) {
      yield brief(operation)
    }
  }
}

/** Advances exclude each other; a refusal names a process of the race and comes only where another one had the lock. */
function* faultsOfTurns(operations, advances, pids) {
  const ran = advances.filter(({ ended }) => ended)
  for (const one of advances.filter(({ ended, killed }) => !ended && !killed)) {
    if (one.status === 130) continue
    const [, holder] = /another advance is running on this home: (.*) \(/.exec(one.message) ?? []
    if (holder === undefined) {
      yield `${one.id} was refused: ${one.code ?? one.status} ${one.message}`
      continue
    }
    const [, pid] = /process (\d+)/.exec(holder) ?? []
    const silent = holder === 'its lock file does not say which'
    if (!silent && !pids.has(Number(pid))) yield `${one.id} was refused for a stranger: ${holder}`
    // Whoever takes over a journal has the lock for a moment, too.
    const others = operations.filter(({ id }) => !one.id.startsWith(id))
    if (!others.some(({ begin, end }) => begin <= one.end && end >= one.begin)) {
      yield `${one.id} was refused although it was alone: ${holder}`
    }
  }
  const runs = new Set(ran.map(({ ended }) => ended.run_id))
  if (runs.size !== ran.length) yield 'two advances have one run id'
}

/** Every effect had its yes, no standing no, and happened once; and not again before the plugin was due. */
function* faultsOfEffects({ operations, advances, base, home }) {
  const byId = new Map(advances.map((advance) => [advance.id, advance]))
  const effects = home.effects.filter(({ operation }) => byId.has(operation))
  const seen = new Set()
  for (const { operation, plugin, at } of effects) {
    const { begin } = byId.get(operation)
    const [from, to] = [begin - CLOCK_MS, at + CLOCK_MS]
    if (seen.has(`${operation} ${plugin}`)) yield `${plugin} acted twice in ${operation}`
    seen.add(`${operation} ${plugin}`)
    const grants = grantWords(operations, plugin, base.scopes.includes(plugin))
    if (effectful.includes(plugin) && !mayStand(grants, true, from, to)) {
      yield `${plugin} acted in ${operation} without a grant`
    }
    const denials = denialWords(operations, plugin, plugin in (base.state.denials ?? {}))
    if (!mayStand(denials, false, from, to)) yield `${plugin} acted in ${operation} against a no`
  }
  for (const plugin of timed) {
    const times = effects.filter((effect) => effect.plugin === plugin)
    times.sort((one, other) => one.at - other.at)
    for (const [index, second] of times.entries()) {
      const first = times[index - 1]
      if (!first || byId.get(second.operation).force) continue
      const forgotten = operations.some(
        ({ kind, names, begin, end }) =>
          kind === 'forget' &&
          names.includes(plugin) &&
          begin <= second.at + CLOCK_MS &&
          end >= first.at - CLOCK_MS,
      )
      const between = second.at - first.at
      if (!forgotten && between < TTL_MS - CLOCK_MS) {
        yield `${plugin} acted in ${first.operation} and, ${between} ms later, in ${second.operation}`
      }
    }
  }
  const runs = operations.filter(({ kind }) => kind === 'run').map(({ id }) => id)
  for (const id of runs) {
    const count = home.effects.filter(({ operation }) => operation === id).length
    if (count > 1) yield `the run by hand ${id} acted ${count} times`
  }
}

/** Every answer that was reported as done is on record, in its document and in the events. */
function* faultsOfAnswers({ operations, base, home }) {
  const { state } = home
  for (const plugin of Object.keys(fleet)) {
    const granted = home.scopes.includes(plugin)
    const grants = grantWords(operations, plugin, base.scopes.includes(plugin))
    if (!mayEndWith(granted, grants)) yield `the grant of ${plugin} ends as ${granted}`
    const denied = plugin in (state.denials ?? {})
    const denials = denialWords(operations, plugin, plugin in (base.state.denials ?? {}))
    if (!mayEndWith(denied, denials)) yield `the denial of ${plugin} ends as ${denied}`
  }
  if (!mayEndWith(home.level, levelWords(operations, base.level))) {
    yield `the configuration ends as ${home.level}`
  }
  const told = home.events.map((event) => ({ ...event, ...metadata(event) }))
  const events = (name, plugin) =>
    told.filter((each) => each.event === name && (!plugin || each.plugin === plugin)).length
  const has = (type, task) => told.some((each) => each.type === type && each.task_id === task)
  const expected = new Map()
  const expect = (name, plugin) => {
    const key = `${name} ${plugin ?? ''}`
    expected.set(key, (expected.get(key) ?? 0) + 1)
  }
  for (const { kind, target, killed, status, report } of operations) {
    if (killed || status !== 0) continue
    if (kind === 'done') {
      const recorded = state.completed_tasks?.some(({ task_id }) => task_id === target)
      if (!recorded || !has('task_completed', target)) yield `${target} is not on record as done`
    } else if (kind === 'defer') {
      const recorded = state.deferrals?.some(({ task_id }) => task_id === target)
      if (!recorded || !has('task_deferred', target)) yield `${target} is not on record as put off`
    } else if (kind === 'ack') {
      if (!(target in home.acknowledgements)) yield `${target} is not acknowledged`
    }
    if (kind === 'deny') for (const { plugin } of report.recorded) expect('denial_recorded', plugin)
    if (kind === 'deny --remove') {
      for (const { plugin } of report.removed) expect('denial_removed', plugin)
    }
    if (kind === 'forget') {
      for (const { plugin } of report.forgotten) expect('run_record_removed', plugin)
    }
    if (kind === 'approve' && report.grant) expect('grant_merged')
    if (kind === 'revoke' && report.revoked) expect('grant_revoked')
  }
  for (const [key, count] of expected) {
    const [name, plugin] = key.split(' ')
    const found = events(name, plugin) - base.count(name, plugin)
    if (found < count) yield `${count} times ${key} was reported, and ${found} events tell of it`
  }
}

/** A parked result is accepted once, and no parked result disappears without an answer or a newer one. */
function* faultsOfGates({ operations, advances, home, accepted }) {
  const gates = home.state.pending_gates ?? []
  for (const { kind, report, killed } of operations) {
    if (kind !== 'approve' || killed) continue
    for (const { outcome, run_id, plugin } of report?.results ?? []) {
      if (outcome !== 'recorded') continue
      const key = `${plugin} ${run_id}`
      if (accepted.has(key)) yield `the result of ${key} was accepted twice`
      accepted.add(key)
      const gate = gates.find((each) => each.plugin === plugin && each.run_id === run_id)
      if (gate?.applied_at === null) yield `the accepted result of ${key} waits again`
      if (!home.effects.some((each) => each.plugin === plugin && each.run === run_id)) {
        yield `the result of ${key} was accepted, and nothing had run`
      }
    }
  }
  for (const plugin of supervised) {
    const answered = operations.filter(({ names }) => names.includes(plugin))
    const waiting = gates.filter((each) => each.plugin === plugin && each.applied_at === null)
    if (waiting.length > 1) yield `${waiting.length} results of ${plugin} wait`
    for (const { id, begin, ended } of advances.filter((each) => each.ended)) {
      const parked = ended.plugin_entries.some(
        (entry) => entry.plugin === plugin && entry.status === 'gated',
      )
      const there = gates.some((each) => each.plugin === plugin && each.run_id === ended.run_id)
      const denied = answered.some((each) => each.kind === 'deny' && each.end >= begin)
      const runs = home.effects.filter((each) => each.plugin === plugin)
      const own = runs.find((each) => each.run === ended.run_id)
      // The end that a host tells of comes later than that of its lock.
      const newer = runs.some((each) => own && each.run !== own.run && each.at >= own.at)
      if (parked && !there && !denied && !newer) yield `${id} parked ${plugin}, which is lost`
    }
  }
}

/** Every advance that was reported, and every effect, is in its run log, in the daily log and in the events. */
async function faultsOfRecords({ advances, home }) {
  const faults = []
  for (const { id, ended } of advances.filter((advance) => advance.ended)) {
    const log = await home.runLog(ended.run_id)
    const rows = (entries) => JSON.stringify(entries?.map(({ plugin, status }) => [plugin, status]))
    if (log?.status !== ended.status || rows(log.plugin_entries) !== rows(ended.plugin_entries)) {
      faults.push(`${id} reported ${ended.status}, its run log has ${JSON.stringify(log)}`)
    }
    const daily = home.logged.filter(({ run_id }) => run_id === ended.run_id)
    const events = home.events.filter(({ run_id }) => run_id === ended.run_id)
    for (const name of ['run_start', 'run_end']) {
      const count = daily.filter(({ event }) => event === name).length
      if (count !== 1) faults.push(`${id} has ${count} lines ${name}`)
    }
    for (const name of ['run_started', 'run_completed']) {
      const count = events.filter(({ type }) => type === name).length
      if (count !== 1) faults.push(`${id} has ${count} events ${name}`)
    }
  }
  const ids = new Set(advances.map(({ id }) => id))
  for (const { operation, plugin, run } of home.effects) {
    if (!ids.has(operation) || !effectful.includes(plugin)) continue
    const log = await home.runLog(run)
    const entry = log?.plugin_entries.find((each) => each.plugin === plugin)
    if (!entry)
      faults.push(`${plugin} acted in ${operation}, and the log of ${run} does not say so`)
    const unfinished = home.events.some((event) => {
      const facts = metadata(event)
      return facts.event === 'run_unfinished' && facts.plugin === plugin && facts.run_id === run
    })
    const advance = advances.find(({ id }) => id === operation)
    if (unfinished && advance.ended)
      faults.push(`${operation} ended, and ${plugin} is told as open`)
  }
  return faults
}

/** Everything that is wrong after a round; `accepted` remembers the parked results that were accepted in all rounds. */
export async function findings(round) {
  const { operations, advances, pids } = round
  return [
    ...faultsOfEnds(operations),
    ...faultsOfTurns(operations, advances, pids),
    ...faultsOfEffects(round),
    ...faultsOfAnswers(round),
    ...faultsOfGates(round),
    ...(await faultsOfRecords(round)),
  ]
}

/** How many events of a name a home tells of, before a round. */
export const counter = (events) => (name, plugin) =>
  events.filter((event) => {
    const facts = metadata(event)
    return facts.event === name && (!plugin || facts.plugin === plugin)
  }).length
