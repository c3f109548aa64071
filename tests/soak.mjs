// Plays what is rare far more often than the tests do, the race of hosts and commands beside everything else, and closes with a
// line for each part. SEED chooses other histories and another race, WARPLINE_SOAK_SECONDS says how long the race lasts; the variables
// of each part may be given as well.
import { spawn } from 'node:child_process'
import { npmDir, python, root } from './support.mjs'

const seed = process.env.SEED || '1'
const stress = { WARPLINE_STRESS_ROUNDS: '200', WARPLINE_STRESS_INVOCATIONS: '100000' }
const core = ['test', '-p', 'warpline-core', '--locked']
const faults = ['--workspace', '--locked', '--features', 'warpline-core/fault-injection']

const race = {
  name: 'races of hosts and commands',
  command: process.execPath,
  args: ['--test', 'tests/races/race.mjs'],
  env: {
    WARPLINE_RACE_SEED: seed,
    WARPLINE_SOAK_SECONDS: process.env.WARPLINE_SOAK_SECONDS || '600',
  },
  told: /races: (.*)/g,
}

const parts = [
  {
    name: 'races of answers, and kills',
    command: 'cargo',
    args: [...core, '--lib', '--test', 'answers', '--', 'races', 'crash'],
    env: { WARPLINE_RACE_OPERATIONS: '200', WARPLINE_RACE_KILLS: '400' },
    told: /^test result: \w+\. (\d+ passed; \d+ failed)/gm,
  },
  {
    name: 'histories',
    command: 'cargo',
    args: [...core, '--test', 'model'],
    env: { WARPLINE_MODEL_CASES: '5000', WARPLINE_MODEL_SEED: seed },
    told: /^test result: \w+\. (\d+ passed; \d+ failed)/gm,
  },
  {
    name: 'disk faults',
    command: 'cargo',
    args: ['test', ...faults, '--test', 'faults', '--', '--nocapture', 'walk'],
    env: { WARPLINE_FAULTS: 'all' },
    told: /: (\d+) points, (\d+) stops, (\d+) failures, (\d+) faults found$/gm,
    units: ['points', 'stops', 'failures', 'faults found'],
  },
  {
    name: 'stress under Python',
    command: python,
    args: ['-m', 'pytest', '--quiet', '-s', 'tests/python/test_stress.py'],
    env: stress,
    told: /(\d+ invocations: .*|\d+ passed.*)/g,
  },
  {
    name: 'stress under Node.js',
    command: process.execPath,
    args: ['--test', 'test/stress.test.js'],
    env: stress,
    cwd: npmDir,
    told: /(\d+ invocations: .*|(?:pass|fail) \d+$)/gm,
  },
]

/** What a part said in few words: each fact as it stands, or, with units, the sums of all. */
function factsOf(said, told, units) {
  const facts = [...said.matchAll(told)].map(([, ...found]) => found)
  if (!units) return facts.map(([fact]) => fact).join('; ')
  const sum = (index) => facts.reduce((total, found) => total + Number(found[index]), 0)
  return units.map((unit, index) => `${sum(index)} ${unit}`).join(', ')
}

/** Runs a part to its end, shows what it says, and ends with its line. */
function play({ name, command, args, env, cwd = root, told, units }) {
  return new Promise((resolve) => {
    const started = Date.now()
    const child = spawn(command, args, {
      cwd,
      env: { ...env, ...process.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        said += chunk
      })
    }
    const end = (ok) => {
      console.log(`\n=== ${name}\n${said}`)
      const facts = factsOf(said, told, units)
      const seconds = Math.round((Date.now() - started) / 1000)
      resolve({ ok, line: `${ok ? 'ok  ' : 'FAIL'} ${name}, ${seconds} s: ${facts}` })
    }
    child.on('error', () => end(false))
    child.on('close', (code) => end(code === 0))
  })
}

async function oneAfterTheOther(waiting) {
  const ended = []
  for (const part of waiting) ended.push(await play(part))
  return ended
}

const results = (await Promise.all([oneAfterTheOther([race]), oneAfterTheOther(parts)])).flat()
console.log('\n=== summary')
for (const { line } of results) console.log(line)
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
