// Runs a floor and what is measured against it by turns, and says what one is in terms of the other.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { python } from '../support.mjs'

const TIMED = fileURLToPath(new URL('timed.py', import.meta.url))
const LIMIT_MS = 300_000

/**
 * Runs a command in a process of its own.
 *
 * @returns {{ wall: number, cpu: number, memory: number, output: string }} milliseconds, KiB, standard output
 */
export function timed(command, { env, directory }) {
  const output = join(directory, 'output')
  const ended = spawnSync(python, ['-S', '-E', TIMED, output, ...command], {
    env,
    cwd: directory,
    encoding: 'utf8',
    timeout: LIMIT_MS,
  })
  if (ended.error || ended.status !== 0) throw ended.error ?? new Error(ended.stderr)
  const figures = JSON.parse(ended.stdout)
  const said = readFileSync(output, 'utf8')
  if (!figures.ok) throw new Error(`${command.join(' ')}\n${said}${ended.stderr}`)
  return { ...figures, output: said }
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * Takes so many pairs, who is first changing from pair to pair, after one pair that does not count.
 *
 * @param {number} pairs
 * @param {() => Record<string, number>} floor gives the figures of one run
 * @param {() => Record<string, number>} measured
 * @returns {Record<string, { floor: number, measured: number, ratio: number, least: number, most: number }>}
 *   for each figure the medians of both, and the median and the extremes of what the pairs' ratios are
 */
export function compare(pairs, floor, measured) {
  const taken = []
  for (let pair = -1; pair < pairs; pair += 1) {
    const sides = pair % 2 === 0 ? { floor, measured } : { measured, floor }
    const found = {}
    for (const [side, run] of Object.entries(sides)) found[side] = run()
    if (pair >= 0) taken.push(found)
  }
  const figures = Object.keys(taken[0].floor).filter(
    (key) => typeof taken[0].floor[key] === 'number',
  )
  return Object.fromEntries(
    figures.map((key) => {
      const ratios = taken.map((pair) => pair.measured[key] / pair.floor[key])
      return [
        key,
        {
          floor: median(taken.map((pair) => pair.floor[key])),
          measured: median(taken.map((pair) => pair.measured[key])),
          ratio: median(ratios),
          least: Math.min(...ratios),
          most: Math.max(...ratios),
        },
      ]
    }),
  )
}
