// A test for each scenario under one host.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bin, npmDir, python, root, run } from '../../support.mjs'
import { misfits } from './documents.mjs'
import { play } from './scenario.mjs'

const homes = fileURLToPath(new URL('../homes', import.meta.url))
const player = fileURLToPath(new URL('../player', import.meta.url))

/** What lets an interpreter find the package, and what plays the plugins. */
const forPython = {
  PYTHONPATH: `${join(root, 'python')}:${player}`,
  PYTHONDONTWRITEBYTECODE: '1',
}

/**
 * What one language says of an error and the other does not: the line of a plugin's file and the class are part of the
 * text of an error that a module, or the runtime itself, raises in Python.
 */
const PLACE = / \((?:manifest|handler)\.py:\d+\)|LookupError: (?=plugin `)/g

/** And on a terminal, where in its code a plugin threw. */
const STACK = /^warpline: plugin `[^`]*` threw: .*\n(?: {4}(?:at|File) .*\n)*/gm

const spoken = { stack: STACK, place: PLACE }

/** How each host's command is run. `stack` and `place` are left out of what it says, `place` also of files. */
export const players = {
  program: {
    command: join(root, 'target', 'debug', 'examples', 'scenarios'),
    language: 'typescript',
    speaksAll: true,
  },
  node: {
    command: process.execPath,
    args: [bin],
    env: { ...forPython, WARPLINE_PYTHON: python },
    language: 'typescript',
    ...spoken,
  },
  python: {
    command: python,
    args: ['-m', 'warpline'],
    env: { ...forPython, WARPLINE_NODE: process.execPath, WARPLINE_NPM: npmDir },
    language: 'python',
    ...spoken,
  },
}

/** Builds the host that is a program. */
export function build() {
  const args = ['build', '--workspace', '--locked', '--quiet', '--example', 'scenarios']
  const { status, stderr } = run('cargo', args, { timeout: 600_000 })
  assert.equal(status, 0, stderr)
}

/** The difference of two texts as people read it. */
async function difference(expected, found) {
  const directory = await mkdtemp(join(tmpdir(), 'warpline-difference-'))
  try {
    await writeFile(join(directory, 'expected'), expected)
    await writeFile(join(directory, 'found'), found)
    return spawnSync('diff', ['-u', 'expected', 'found'], { cwd: directory, encoding: 'utf8' })
      .stdout
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The names of the scenarios in a folder, sorted. */
export function scenarios(folder = '') {
  const files = readdirSync(join(homes, folder), { withFileTypes: true })
  return files
    .flatMap((file) => {
      const path = join(folder, file.name)
      if (file.isDirectory()) return scenarios(path)
      return path.endsWith('.json') ? [path.slice(0, -'.json'.length)] : []
    })
    .sort()
}

/** What is played once more with a process for each attempt: nothing may come of that which anybody sees. */
export const isolated = [
  'ends/three-ends',
  'hostile/texts',
  'mixed/failures',
  'mixed/one-graph',
  'mixed/secrets-and-prints',
  'retries/until-well',
]

/**
 * The text of a scenario, and where one of its limits is to be reached, the same with longer ones: a machine with much
 * to do may let pass a short one before what comes first has happened.
 */
function patient(source) {
  const longer = (factor) =>
    source.replaceAll(
      /(?<="timeout_ms": )[1-9]\d{1,3}\b/g,
      (milliseconds) => Number(milliseconds) * factor,
    )
  return longer(10) === source ? [source] : [source, longer(10), longer(60)]
}

/** What was said without spans of time: those from the beginning of a scenario grow by a minute while it is played for one. */
const timeless = (text) =>
  text
    .replaceAll(/\bjust now\b|<1m\b|\b\d+(?:d|m|h(?: \d+m)?)\b(?: ago)?/g, '<span>')
    .replaceAll(/ {2,}/g, '  ')

/** With `UPDATE=1` this host writes what is expected; the other hosts never do. */
export function suite(host, names, { writes = false, title = 'scenarios' } = {}) {
  const only = process.env.ONLY
  describe(title, { concurrency: 2 }, () => {
    for (const name of names) {
      if (only && !name.includes(only)) continue
      test(name, async () => {
        const source = await readFile(join(homes, `${name}.json`), 'utf8')
        const file = join(homes, `${name}.txt`)
        const sources = patient(source)
        for (const [turn, text] of sources.entries()) {
          const { faults, account, written, isLate } = await play(text, host)
          const known = existsSync(file) ? await readFile(file, 'utf8') : ''
          const [expected, found] = [known, account].map(isLate ? timeless : String)
          const isLast = turn === sources.length - 1
          if (!isLast && (faults.length > 0 || found !== expected)) continue
          assert.deepEqual(faults, [])
          assert.deepEqual(misfits(written), [])
          if (writes && process.env.UPDATE === '1') await writeFile(file, account)
          else if (found !== expected) assert.fail(await difference(expected, found))
          return
        }
      })
    }
  })
}
