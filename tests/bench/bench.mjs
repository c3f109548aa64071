// Times warpline against what does the same work without it, and writes a table and a JSON file.
//
// node bench.mjs [--pairs 5] [--plugins 1000] [--only name,name] [--no-limits] [--json file]
// The engine is the one that WARPLINE_NATIVE names. A ratio is the median over pairs of runs that take turns.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { python, root } from '../support.mjs'
import { limits } from './limits.mjs'
import { Bench, node20, node22, node24, rows } from './rows.mjs'

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '5' },
    plugins: { type: 'string', default: '1000' },
    only: { type: 'string' },
    json: { type: 'string' },
    limits: { type: 'boolean', default: true },
  },
  allowNegative: true,
})

const said = (command, ...args) =>
  execFileSync(command, args, { cwd: root, encoding: 'utf8' }).trim()

function surroundings() {
  const [{ model }] = cpus()
  const changed = said(
    'git',
    'status',
    '--porcelain',
    '--',
    'core',
    'bindings-node',
    'npm',
    'python',
  )
  return {
    at: new Date().toISOString(),
    commit: said('git', 'rev-parse', '--short=12', 'HEAD') + (changed ? ', changed' : ''),
    machine: `${cpus().length} × ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    load: said('cut', '-d ', '-f1-3', '/proc/loadavg'),
    versions: [
      ...[node20, node22, node24].map((node) => `Node.js ${said(node, '--version')}`),
      said(python, '--version'),
      said('rustc', '--version'),
    ],
    plugins: Number(values.plugins),
    pairs: Number(values.pairs),
  }
}

function number(value) {
  if (value === undefined) return ''
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en', {
    maximumFractionDigits: digits,
    minimumFractionDigits: Number.isInteger(value) ? 0 : digits,
  })
}

/** Whether a figure is within its target; `undefined` where it has none. */
function reached({ target, ratio, atLeast }) {
  if (target === undefined) return undefined
  return atLeast ? ratio >= target : ratio <= target
}

const WORDS = { true: 'yes', false: 'no', undefined: '' }

function tableOf(figures) {
  const head = [
    'figure',
    'floor',
    'measured',
    'result',
    'from … to',
    'processor',
    'target',
    'reached',
  ]
  const body = figures.map((found) => {
    const { figure, target, unit, floorUnit, floor, measured, ratio, least, most, cpu, atLeast } =
      found
    const raw = (value) => (value === undefined ? '' : `${number(value)} ${floorUnit}`)
    return [
      figure,
      raw(floor),
      raw(measured),
      `${number(ratio)} ${unit}`.trim(),
      least === undefined ? '' : `${number(least)} … ${number(most)}`,
      cpu === undefined ? '' : `${number(cpu)} ×`,
      target === undefined ? '' : `${atLeast ? '≥' : '≤'} ${number(target)} ${unit}`.trim(),
      WORDS[reached(found)],
    ]
  })
  return [head, head.map(() => '---'), ...body]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

function limitsTable(met) {
  const body = met.map(
    ({ limit, wall, memory }) =>
      `| ${limit} | ${number(wall / 1000)} s | ${number(memory / 1024)} MiB |`,
  )
  return ['| size | took | held at most |', '| --- | --- | --- |', ...body].join('\n')
}

const directory = mkdtempSync(join(tmpdir(), 'warpline-bench-'))
try {
  const bench = new Bench({
    directory,
    plugins: Number(values.plugins),
    pairs: Number(values.pairs),
  })
  const about = surroundings()
  console.log(
    `${about.machine}; load ${about.load}\n${about.versions.join('; ')}\ncommit ${about.commit}; ${about.plugins} plugins, ${about.pairs} pairs\n`,
  )
  const wanted = values.only?.split(',')
  const figures = []
  for (const [name, take] of Object.entries(rows)) {
    if (wanted && !wanted.includes(name)) continue
    for (const found of take(bench)) {
      figures.push(found)
      process.stderr.write(`${found.figure}: ${number(found.ratio)} ${found.unit}\n`)
    }
  }
  const met = []
  for (const meet of values.limits && !wanted ? limits : []) met.push(...meet(bench))
  console.log(tableOf(figures))
  if (met.length > 0) console.log(`\n${limitsTable(met)}`)
  if (values.json) {
    const told = figures.map((found) => ({ ...found, reached: reached(found) }))
    writeFileSync(
      values.json,
      `${JSON.stringify({ ...about, figures: told, limits: met }, null, 2)}\n`,
    )
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
