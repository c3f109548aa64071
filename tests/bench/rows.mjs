// The figures that are promised, each with its floor and its limit.

import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bin, environment, hosts, nodes, npmDir, python, root } from '../support.mjs'
import { makeFleet, nameOf } from './fleets.mjs'
import { compare, median, timed } from './pairs.mjs'
import { checkAdvance, checkPlan } from './right.mjs'

const here = (file) => fileURLToPath(new URL(file, import.meta.url))
const release = (file) => join(root, 'target', 'release', file)

const [node20, node22] = nodes()
const node24 = join(npmDir, 'node_modules', 'node-24', 'bin', 'node')

const namesOf = (count) => Array.from({ length: count }, (_, index) => nameOf(index))

/** Everything that a row needs: a directory of its own, commands that run there, how often. */
export class Bench {
  constructor({ directory, plugins, pairs }) {
    Object.assign(this, { directory, plugins, pairs, fleets: new Map() })
  }

  /** A fleet that is made once. */
  fleet(name, count, options) {
    const home = join(this.directory, name)
    if (!this.fleets.has(name)) {
      makeFleet(home, count, options)
      this.fleets.set(name, home)
    }
    return home
  }

  run(command, home, extra = {}) {
    const env = environment(home, extra)
    return timed(command, { env, directory: this.directory })
  }

  /** Empties a home of all that runs have left. */
  forget(home) {
    for (const part of ['state', 'runs', 'logs']) {
      rmSync(join(home, part), { recursive: true, force: true })
    }
  }

  /** The floor: plugins imported and called by plain Node.js. */
  plain(node, home, { extension = 'ts', mode = 'run' } = {}) {
    const file = join(this.directory, 'floor.json')
    return this.run(
      [node, here('floors/node.mjs'), join(home, 'plugins'), extension, mode, file],
      home,
    )
  }

  /** An advance in which everything is due, its records looked at. */
  firstAdvance(node, home, count, args = []) {
    this.forget(home)
    const figures = this.run([node, here('measured/advance.mjs'), ...args], home)
    checkAdvance(home, namesOf(count))
    return figures
  }
}

/** What is said of each figure of a comparison. */
const row = (figure, { target, unit = '×', ...found }) => ({ figure, target, unit, ...found })

/** Wall time and peak memory of a comparison, as two rows. */
function wallAndMemory(figure, target, compared) {
  const { wall, cpu, memory } = compared
  return [
    row(figure, { target, ...wall, floorUnit: 'ms', cpu: cpu.ratio }),
    row(`${figure}, peak memory`, { target: 1, ...memory, floorUnit: 'KiB' }),
  ]
}

function firstAdvance(bench, node, version) {
  const home = bench.fleet('fleet', bench.plugins)
  const compared = compare(
    bench.pairs,
    () => bench.plain(node, home),
    () => bench.firstAdvance(node, home, bench.plugins),
  )
  return wallAndMemory(`first advance, Node.js ${version}`, 0.6, compared)
}

function nothingDue(bench, node, version) {
  const home = bench.fleet('fleet', bench.plugins)
  bench.firstAdvance(node, home, bench.plugins)
  const floor = () => bench.plain(node, home, { mode: 'manifests' })
  const fresh = compare(bench.pairs, floor, () => {
    const figures = bench.run([node, here('measured/advance.mjs')], home)
    checkAdvance(home, namesOf(bench.plugins), { fresh: true })
    return figures
  })
  const planned = compare(bench.pairs, floor, () => {
    const figures = bench.run([node, bin, 'plan', '--json'], home)
    checkPlan(figures.output, namesOf(bench.plugins), { due: false })
    return figures
  })
  return [
    ...wallAndMemory(`advance, nothing due, Node.js ${version}`, 0.3, fresh),
    ...wallAndMemory(`plan, Node.js ${version}`, 0.3, planned),
  ]
}

function tenTimes(bench) {
  const few = bench.fleet('fleet', bench.plugins)
  const many = bench.fleet('many', bench.plugins * 10)
  const advances = compare(
    Math.min(bench.pairs, 5),
    () => bench.firstAdvance(node24, few, bench.plugins),
    () => bench.firstAdvance(node24, many, bench.plugins * 10),
  )
  const figure = 'ten times as many plugins, first advance'
  return [row(figure, { target: 10.5, ...advances.wall, floorUnit: 'ms', cpu: advances.cpu.ratio })]
}

function oldNode(bench) {
  const home = bench.fleet('fleet', bench.plugins)
  const plain = bench.fleet('plain', bench.plugins, { language: ['mjs'] })
  const compared = compare(
    bench.pairs,
    () => bench.plain(node20, plain, { extension: 'mjs' }),
    () => bench.firstAdvance(node20, home, bench.plugins),
  )
  return wallAndMemory('first advance, Node.js 20, against `.mjs`', 1.2, compared).slice(0, 1)
}

function startUp(bench) {
  const home = join(bench.directory, 'example')
  mkdirSync(home, { recursive: true })
  bench.run([node24, bin, 'init'], home)
  const empty = join(bench.directory, 'empty.mjs')
  writeFileSync(empty, '')
  const pairs = bench.pairs * 3
  const floor = () => bench.run([node24, empty], home)
  const help = compare(pairs, floor, () => bench.run([node24, bin, '--help'], home))
  const plan = compare(pairs, floor, () => bench.run([node24, bin, 'plan'], home))
  const said = { floorUnit: 'ms' }
  return [
    row('`--help` against an empty process', {
      target: 1.15,
      ...help.wall,
      ...said,
      cpu: help.cpu.ratio,
    }),
    row('`plan` of the example home, likewise', {
      target: 1.5,
      ...plan.wall,
      ...said,
      cpu: plan.cpu.ratio,
    }),
  ]
}

function invocations(bench) {
  const home = bench.fleet('one', 1, {
    language: ['ts', 'mjs'],
    manifest: () => ({ max_parallelism: 1000 }),
  })
  return [
    ['one after another', 1, 50],
    ['100 at once', 100, 15],
  ].map(([how, together, target]) => {
    const taken = Array.from({ length: bench.pairs }, () => {
      const command = [node24, here('measured/invocations.mjs'), home, String(together)]
      const { floor, measured } = JSON.parse(bench.run(command, home).output)
      return { floor, measured, over: measured - floor }
    })
    const of = (key) => taken.map((each) => each[key])
    return row(`an invocation over the bare handler, ${how}`, {
      target,
      unit: 'µs',
      floorUnit: 'µs',
      floor: median(of('floor')),
      measured: median(of('measured')),
      ratio: median(of('over')),
      least: Math.min(...of('over')),
      most: Math.max(...of('over')),
    })
  })
}

/** The state of a fleet that has run, as large as asked. */
export function writeState(home, megabytes) {
  const run = (index) => ({
    last_run_at: '2026-08-20T10:00:00.000Z',
    status: 'success',
    duration_ms: index % 1000,
    last_output: {
      type: 'report',
      format: 'text',
      run_id: '2026-08-20T100000000Z-00000000',
      produced_at: '2026-08-20T10:00:00.000Z',
      body: `${index} `.padEnd(500, 'x'),
    },
  })
  const each = JSON.stringify(run(0), null, 2).length + 60
  const count = Math.ceil((megabytes * 1_000_000) / each)
  const runs = Array.from({ length: count }, (_, index) => [`other-${index}`, run(index)])
  const state = { schema_version: 1, plugin_runs: Object.fromEntries(runs) }
  mkdirSync(join(home, 'state'), { recursive: true })
  writeFileSync(join(home, 'state', 'engine-state.json'), `${JSON.stringify(state, null, 2)}\n`)
}

function largeState(bench) {
  const home = join(bench.directory, 'large')
  writeState(home, 10)
  const file = join(home, 'state', 'engine-state.json')
  const spent = (command) => ({ wall: Number(bench.run(command, home).output) })
  const { wall } = compare(
    bench.pairs,
    () => spent([release('serde-floor'), file]),
    () => spent([release('examples/speed'), 'state', home]),
  )
  return [row('one write of a state of 10 MB', { target: 2, ...wall, floorUnit: 'ms' })]
}

function verdicts(bench) {
  const count = 100_000
  const taken = Array.from({ length: bench.pairs }, () => {
    const command = [release('examples/speed'), 'verdicts', String(count)]
    return (count / Number(bench.run(command, bench.directory).output)) * 1000
  })
  const [least, most] = [Math.min(...taken), Math.max(...taken)]
  const figure = 'verdicts of dueness, one thread'
  return [
    row(figure, {
      target: 1_000_000,
      atLeast: true,
      unit: '/s',
      ratio: median(taken),
      least,
      most,
    }),
  ]
}

function underPython(bench) {
  const home = bench.fleet('python', bench.plugins, { language: ['py'] })
  const file = join(bench.directory, 'floor.json')
  const compared = compare(
    bench.pairs,
    () => bench.run([python, here('floors/python.py'), join(home, 'plugins'), file], home),
    () => {
      bench.forget(home)
      const command = [python, here('measured/advance.py')]
      const figures = bench.run(command, home, { PYTHONPATH: release('python') })
      checkAdvance(home, namesOf(bench.plugins))
      return figures
    },
  )
  return wallAndMemory('first advance, Python', 1.15, compared).slice(0, 1)
}

function flushes(bench) {
  if (spawnSync('strace', ['--version']).error) return []
  const count = (plugins, effectful) => {
    const name = `flushes-${plugins}-${effectful}`
    const manifest = (index) => (index < effectful ? { side_effects: ['sends_email'] } : {})
    const home = bench.fleet(name, plugins, { manifest })
    writeFileSync(join(home, '.session-approval'), JSON.stringify(grant()))
    const trace = join(bench.directory, 'trace')
    const command = ['/usr/bin/strace', '-f', '-o', trace, '-e', 'trace=fsync,fdatasync', node24]
    bench.forget(home)
    bench.run([...command, here('measured/advance.mjs')], home)
    checkAdvance(home, namesOf(plugins))
    return spawnSync('grep', ['-cE', '(fsync|fdatasync)\\(', trace], { encoding: 'utf8' }).stdout
  }
  const [none, more, some] = [count(100, 0), count(200, 0), count(100, 20)].map(Number)
  return [
    row('flushes to the disk, 100 plugins without effects', { unit: '', ratio: none }),
    row('the same, 100 plugins more', { unit: 'more', target: 0, ratio: more - none }),
    row('the same, 20 of them with an effect', { unit: 'more', target: 40, ratio: some - none }),
  ]
}

function grant() {
  const now = Date.now()
  const at = (ms) => new Date(ms).toISOString()
  return { granted_at: at(now), expires_at: at(now + 3_600_000), scopes: '*' }
}

function queue(bench) {
  const home = bench.fleet('fleet', bench.plugins)
  const results = join(bench.directory, 'results')
  const compared = compare(
    bench.pairs,
    () => {
      rmSync(results, { recursive: true, force: true })
      return bench.run([node24, here('floors/queue.mjs'), join(home, 'plugins'), results], home)
    },
    () => bench.firstAdvance(node24, home, bench.plugins),
  )
  return wallAndMemory('first advance against a loop of p-queue and p-retry', 0.5, compared).slice(
    0,
    1,
  )
}

export const rows = {
  'first-22': (bench) => firstAdvance(bench, node22, 22),
  'first-24': (bench) => firstAdvance(bench, node24, 24),
  'fresh-22': (bench) => nothingDue(bench, node22, 22),
  'fresh-24': (bench) => nothingDue(bench, node24, 24),
  'ten-times': tenTimes,
  'first-20': oldNode,
  'start-up': startUp,
  invocations,
  state: largeState,
  verdicts,
  python: underPython,
  flushes,
  queue,
}

export { here, hosts, namesOf, node20, node22, node24, row }
