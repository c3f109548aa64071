// Each invariant of a race finds what it is there for: a round in which nothing is wrong, and what is seen once one thing in it is.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { faultsOfFiles } from './parts/home.mjs'
import { findings } from './parts/invariants.mjs'
import { chance, drawRound } from './parts/plan.mjs'

const event = (type, facts, others = {}) => ({
  type,
  task_id: null,
  run_id: null,
  metadata_json: facts && JSON.stringify(facts),
  ...others,
})

/** An advance that ran three plugins, and one answer of each kind after it. */
function sound() {
  const common = { by: 'node', args: [], said: '', stop: null, killed: false, status: 0 }
  const operation = (id, kind, begin, fields) => {
    return { id, kind, begin, end: begin + 10, names: [], ...common, ...fields }
  }
  const entry = (plugin, status) => ({ plugin, status })
  const plugin_entries = [
    entry('mail-py', 'completed'),
    entry('mail-ts', 'completed'),
    entry('page-ts', 'gated'),
  ]
  const log = { status: 'partial', plugin_entries }
  const ended = { run_id: 'R', ...log }
  const approved = {
    results: [{ plugin: 'page-ts', outcome: 'recorded', run_id: 'R' }],
    grant: null,
  }
  const effect = (plugin, at) => ({ operation: 'a', plugin, run: 'R', at })
  return {
    operations: [
      operation('g', 'approve', 100, {
        names: ['mail-ts'],
        report: { results: [], grant: { scopes: ['mail-py', 'mail-ts'] } },
      }),
      operation('a', 'advance', 200, { end: 300 }),
      operation('y', 'approve', 400, { names: ['page-ts'], report: approved }),
      operation('n', 'deny', 500, {
        names: ['tune-py'],
        report: { recorded: [{ plugin: 'tune-py' }], unchanged: [] },
      }),
      operation('d', 'done', 600, { target: 'done-d' }),
      operation('l', 'defer', 600, { target: 'defer-l' }),
      operation('k', 'ack', 600, { target: 'ack-k' }),
      operation('c', 'configure', 700, { value: 'c' }),
    ],
    advances: [{ id: 'a', begin: 200, end: 300, force: false, killed: false, ended, pid: 7 }],
    pids: new Set([7, 8]),
    accepted: new Set(),
    base: { scopes: ['mail-py'], state: { denials: {} }, level: 'base', count: () => 0 },
    home: {
      state: {
        denials: { 'tune-py': {} },
        completed_tasks: [{ task_id: 'done-d' }],
        deferrals: [{ task_id: 'defer-l' }],
        pending_gates: [{ plugin: 'page-ts', run_id: 'R', applied_at: 'then' }],
      },
      scopes: ['mail-py', 'mail-ts'],
      acknowledgements: { 'ack-k': {} },
      level: 'c',
      events: [
        event('run_started', null, { run_id: 'R' }),
        event('run_completed', null, { run_id: 'R' }),
        event('notice', { event: 'grant_merged' }),
        event('notice', { event: 'denial_recorded', plugin: 'tune-py' }),
        event('task_completed', null, { task_id: 'done-d' }),
        event('task_deferred', null, { task_id: 'defer-l' }),
      ],
      logged: ['run_start', 'run_end'].map((name) => ({ event: name, run_id: 'R' })),
      effects: [effect('mail-py', 250), effect('mail-ts', 250), effect('page-ts', 250)],
      runLog: () => log,
    },
  }
}

const advanceAt = (round, id, begin, fields) => {
  const advance = { id, begin, end: begin + 50, force: false, killed: false, pid: 8 }
  round.advances.push({ ...advance, ended: null, ...fields })
}

/** What is done to the sound round, and what is found then. */
const wrongs = {
  'an effect without a grant': [
    (round) => {
      round.base.scopes = []
    },
    /mail-py acted in a without a grant/,
  ],
  'an effect after the grant was revoked': [
    (round) => {
      const revoked = { ...round.operations[0], id: 'r', kind: 'revoke', begin: 150, end: 160 }
      round.operations.push({ ...revoked, names: [], report: { revoked: false } })
      round.home.scopes = []
    },
    /mail-ts acted in a without a grant/,
  ],
  'an effect against a denial': [
    (round) => {
      round.base.state.denials['mail-py'] = {}
      round.home.state.denials['mail-py'] = {}
    },
    /mail-py acted in a against a no/,
  ],
  'an effect that happens twice': [
    ({ home }) => home.effects.push(home.effects[0]),
    /mail-py acted twice in a/,
  ],
  'an effect before its time': [
    (round) => {
      advanceAt(round, 'b', 400, { killed: true })
      round.home.effects.push({ operation: 'b', plugin: 'mail-py', run: 'R', at: 410 })
    },
    /mail-py acted in a and, 160 ms later, in b/,
  ],
  'an effect that no run log tells of': [
    ({ home }) => {
      home.runLog = () => null
    },
    /mail-py acted in a, and the log of R does not say so/,
  ],
  'a grant that is lost': [({ home }) => home.scopes.pop(), /the grant of mail-ts ends as false/],
  'a denial that is lost': [
    ({ home }) => {
      home.state.denials = {}
    },
    /the denial of tune-py ends as false/,
  ],
  'a denial without a trace': [
    ({ home }) => home.events.splice(3, 1),
    /1 times denial_recorded tune-py was reported, and 0 events/,
  ],
  'a task that is open again': [
    ({ home }) => home.state.completed_tasks.pop(),
    /done-d is not on record as done/,
  ],
  'a task that is not put off': [
    ({ home }) => home.state.deferrals.pop(),
    /defer-l is not on record as put off/,
  ],
  'a notice that is back': [
    ({ home }) => {
      home.acknowledgements = {}
    },
    /ack-k is not acknowledged/,
  ],
  'a configuration that is undone': [
    ({ home }) => {
      home.level = 'base'
    },
    /the configuration ends as base/,
  ],
  'a result that is accepted twice': [
    ({ operations }) => operations.push({ ...operations[2], id: 'z' }),
    /page-ts R was accepted twice/,
  ],
  'an accepted result that waits again': [
    ({ home }) => {
      home.state.pending_gates[0].applied_at = null
    },
    /the accepted result of page-ts R waits again/,
  ],
  'a parked result that is lost': [
    ({ home }) => home.state.pending_gates.pop(),
    /a parked page-ts, which is lost/,
  ],
  'a run log that says something else': [
    ({ advances }) => {
      advances[0].ended = { ...advances[0].ended, status: 'complete' }
    },
    /a reported complete/,
  ],
  'a daily log without the end': [({ home }) => home.logged.pop(), /a has 0 lines run_end/],
  'events without the beginning': [({ home }) => home.events.shift(), /a has 0 events run_started/],
  'a refusal that meets nobody': [
    (round) => {
      const message = 'another advance is running on this home: run R, process 7 (/x)'
      advanceAt(round, 'b', 9000, { message })
    },
    /b was refused although it was alone/,
  ],
  'a refusal for a process that never was': [
    (round) => {
      const message = 'another advance is running on this home: run R, process 9 (/x)'
      advanceAt(round, 'b', 250, { message })
    },
    /b was refused for a stranger/,
  ],
  'a refusal for another reason': [
    (round) => advanceAt(round, 'b', 250, { code: 'ERR_WARPLINE_INVALID', message: 'no' }),
    /b was refused: ERR_WARPLINE_INVALID no/,
  ],
  'a command that fails': [
    ({ operations }) => {
      operations[4].status = 1
    },
    /d \(node done \) ended with 1/,
  ],
  'a command that panics': [
    ({ operations }) => {
      operations[4].said = 'thread panicked'
    },
    /thread panicked/,
  ],
}

test('a sound round has no finding', async () => {
  assert.deepEqual(await findings(sound()), [])
})

for (const [name, [spoil, expected]] of Object.entries(wrongs)) {
  test(`${name} is found`, async () => {
    const round = sound()
    spoil(round)
    assert.match((await findings(round)).join('\n'), expected)
  })
}

test('what one that was killed may have done is no finding, and what it cannot have done is one', async () => {
  const round = sound()
  const killed = { ...round.operations[0], id: 'x', killed: true, report: null, status: null }
  round.operations.push({ ...killed, kind: 'revoke', names: [], begin: 150, end: 160 })
  const look = () => findings({ ...round, accepted: new Set() })
  assert.deepEqual(await look(), [])
  round.home.scopes = []
  assert.deepEqual(await look(), [])
  round.operations.at(-1).end = 99
  round.operations.at(-1).begin = 90
  assert.match((await look()).join('\n'), /the grant of mail-ts ends as false/)
})

test('files that do not parse, locks and leftovers are found, one torn line for each kill aside', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'warpline-invariants-'))
  t.after(() => rm(home, { recursive: true, force: true }))
  await mkdir(join(home, 'state'))
  const put = (name, text) => writeFile(join(home, name), text)
  await put('state/events.jsonl', '{"a":1}\n{"b\n')
  await put('state/x.tmp', '')
  assert.deepEqual(await faultsOfFiles(home, 1), [])
  assert.equal((await faultsOfFiles(home, 0)).length, 2)
  for (const name of ['state/.lock', 'state/.state.lock', 'state/in-flight.jsonl']) {
    await put(name, '')
    assert.match((await faultsOfFiles(home, 1)).join('\n'), /is there although nothing runs/)
    await rm(join(home, name))
  }
  await put('.session-approval', '{')
  assert.deepEqual(await faultsOfFiles(home, 1), ['.session-approval does not parse'])
})

test('the same seed draws the same round, and another one another', () => {
  const drawn = (seed) => drawRound(0, chance(seed))
  assert.deepEqual(drawn(1), drawn(1))
  assert.notDeepEqual(drawn(1), drawn(2))
})
