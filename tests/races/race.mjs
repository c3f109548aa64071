// Hosts and commands of both languages race on one home, some are killed, and nothing that was answered, done or
// forbidden may be lost. WARPLINE_RACE_SEED chooses other races, WARPLINE_SOAK_SECONDS asks for a long one.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { account, hosts, run } from '../support.mjs'
import { effectful, writeFleet } from './parts/fleet.mjs'
import { faultsOfFiles, prepare, readHome } from './parts/home.mjs'
import { counter, findings } from './parts/invariants.mjs'
import { chance, drawRound } from './parts/plan.mjs'
import { leftBehind, playRound, variables } from './parts/play.mjs'

const ROUNDS = 3
const seed = Number(process.env.WARPLINE_RACE_SEED ?? 1)
const seconds = Number(process.env.WARPLINE_SOAK_SECONDS ?? 0)

/** What the rounds met, so that a race that met nothing is no race. */
const met = {
  rounds: 0,
  operations: 0,
  advances: 0,
  refused: 0,
  killed: 0,
  effects: 0,
  accepted: 0,
}

/** An advance that meets nobody: it takes over what killed ones left. */
function settle(round, env) {
  const { command, args } = hosts[round % 2 === 0 ? 'node' : 'python']
  const id = `${round}-settled`
  const begin = Date.now()
  const ended = run(command, [...args, 'advance', '--json'], {
    env: { ...env, RACE_OPERATION: id },
  })
  const end = Date.now()
  assert.ok([0, 1].includes(ended.status), `nothing holds the home: ${account(ended)}`)
  return { id, begin, end, force: false, killed: false, ended: JSON.parse(ended.stdout) }
}

async function play(home, round, next, memory) {
  const mark = `${seed}-${process.pid}-${round}`
  const env = variables(home, mark)
  const lanes = drawRound(round, next)
  await prepare(home, lanes)
  const base = await readHome(home)
  const { operations, advances } = await playRound(lanes, env)
  const left = await leftBehind(mark)
  for (const { pid } of operations) memory.pids.add(pid)
  met.killed += operations.filter(({ killed }) => killed).length
  met.operations += operations.length
  met.refused += advances.filter(({ ended, killed }) => !ended && !killed).length
  advances.push(settle(round, env))
  const after = await readHome(home)
  const found = await findings({
    operations,
    advances,
    pids: memory.pids,
    accepted: memory.accepted,
    base: { ...base, count: counter(base.events) },
    home: after,
  })
  met.rounds += 1
  met.advances += advances.filter(({ ended }) => ended).length
  met.effects = after.effects.length
  met.accepted = memory.accepted.size
  return [
    ...found,
    ...left.map((process) => `left behind: ${process}`),
    ...(await faultsOfFiles(home, met.killed)),
  ].map((text) => `seed ${seed}, round ${round}: ${text}`)
}

test('hosts, commands and kills race on one home, and it stays true', {
  timeout: seconds * 2000 + 600_000,
}, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'warpline-races-'))
  const home = join(directory, 'home')
  await mkdir(home)
  await writeFleet(home)
  const { command, args } = hosts.node
  const granted = run(command, [...args, 'approve', ...effectful], { env: variables(home, 'none') })
  assert.equal(granted.status, 0, account(granted))
  const next = chance(seed)
  const memory = { pids: new Set(), accepted: new Set() }
  const until = Date.now() + seconds * 1000
  const found = []
  for (let round = 0; round < ROUNDS || Date.now() < until; round += 1) {
    found.push(...(await play(home, round, next, memory)))
  }
  const summary = Object.entries(met).map(([name, count]) => `${name} ${count}`)
  console.log(`races: seed ${seed}, ${summary.join(', ')}, findings ${found.length}`)
  assert.deepEqual(found, [], `the home is kept in ${directory}`)
  for (const name of ['advances', 'killed', 'effects']) {
    assert.ok(met[name] > 0, `the race met no ${name}`)
  }
  t.after(() => rm(directory, { recursive: true, force: true }))
})
