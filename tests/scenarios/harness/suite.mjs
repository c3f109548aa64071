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

/** With `UPDATE=1` this host writes what is expected; the other hosts never do. */
export function suite(host, names, { writes = false, title = 'scenarios' } = {}) {
  const only = process.env.ONLY
  describe(title, { concurrency: 2 }, () => {
    for (const name of names) {
      if (only && !name.includes(only)) continue
      test(name, async () => {
        const source = await readFile(join(homes, `${name}.json`), 'utf8')
        const file = join(homes, `${name}.txt`)
        const { faults, account, written } = await play(source, host)
        assert.deepEqual(faults, [])
        assert.deepEqual(misfits(written), [])
        if (writes && process.env.UPDATE === '1') await writeFile(file, account)
        const expected = existsSync(file) ? await readFile(file, 'utf8') : ''
        if (account !== expected) assert.fail(await difference(expected, account))
      })
    }
  })
}
