// Every report that `--json` gives holds to its schema below docs/schemas: those of the golden files, and those of a home in use.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { before, test } from 'node:test'
import { account, environment, hosts, root, run } from '../support.mjs'
import { schema, validator } from './harness/schemas.mjs'

const snapshots = join(root, 'core', 'tests', 'cli', 'snapshots')
const validators = new Map()

before(async () => {
  for (const file of await readdir(join(root, 'docs', 'schemas'))) {
    const verb = file.replace(/\.json$/, '')
    if (verb !== file) validators.set(verb, validator(verb))
  }
})

/** Holds a report to the schema of its verb. */
function assertFits(verb, report, from) {
  const validate = validators.get(verb)
  assert.ok(validate, `${from}: docs/schemas/${verb}.json is missing`)
  assert.ok(validate(JSON.parse(report)), `${from}: ${JSON.stringify(validate.errors, null, 2)}`)
}

test('the reports in the golden files fit, and every schema is met by one', async () => {
  const met = new Set()
  for (const verb of await readdir(snapshots)) {
    for (const file of await readdir(join(snapshots, verb))) {
      const golden = await readFile(join(snapshots, verb, file), 'utf8')
      const [, line, report] = /^\$ (.*)\n.*?-- stdout --\n(.*?)-- stderr --$/ms.exec(golden)
      if (!/ --json\b/.test(line) || report === '') continue
      assertFits(verb, report, `${verb}/${file}`)
      met.add(verb)
    }
  }
  // Its lines come while something runs: the home in use below shows them.
  met.add('log-follow')
  assert.deepEqual([...met].sort(), [...validators.keys()].sort())
})

test('no schema lets an unknown key pass', async () => {
  const open = (place, path) => {
    if (place === null || typeof place !== 'object') return []
    const closed = 'additionalProperties' in place || 'maxProperties' in place
    const own = place.type === 'object' && 'properties' in place && !closed ? [path] : []
    return own.concat(
      Object.entries(place).flatMap(([key, child]) => open(child, `${path}/${key}`)),
    )
  }
  for (const verb of validators.keys()) {
    assert.deepEqual(open(schema(verb), verb), [])
  }
})

/** The lines that a command told of while `act` did something, up to the end of an advance; then it was interrupted. */
async function follow(command, args, env, act) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const found = []
  // It tells of what begins after it looked; an advance before that is repeated.
  const again = setInterval(act, 1000)
  for await (const line of lines) {
    found.push(line)
    if (JSON.parse(line).event === 'run_end') break
  }
  clearInterval(again)
  child.kill('SIGINT')
  const [code] = await once(child, 'exit')
  assert.equal(code, 130)
  return found
}

for (const [name, { command, args, extra, plugins }] of Object.entries(hosts)) {
  test(`a home in use reports as its schemas say, under ${name}`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'warpline-reports-'))
    t.after(() => rm(directory, { recursive: true, force: true }))
    const home = join(directory, '.warpline')
    await cp(plugins, join(home, 'plugins'), {
      recursive: true,
      filter: (path) => !path.endsWith('__pycache__'),
    })
    const env = environment(home, extra)
    for (const step of [
      ['init'],
      ['plan', '--explain', 'incident-note'],
      ['approve', '--all'],
      ['advance', '--force'],
      ['plan'],
      ['run', 'host-metrics', 'look'],
      ['deny', 'incident-note'],
      ['deny', '--list'],
      ['status'],
      ['log'],
      ['show', 'host-metrics'],
      ['handoffs'],
      ['board', '--all'],
      ['ack', '--all'],
      ['revoke'],
    ]) {
      const ended = run(command, [...args, ...step, '--json'], { cwd: directory, env })
      assertFits(step[0], ended.stdout, `${step.join(' ')}: ${account(ended)}`)
    }
    const lines = await follow(command, [...args, 'log', '--follow', '--json'], env, () =>
      run(command, [...args, 'advance', '--force'], { cwd: directory, env }),
    )
    for (const line of lines) assertFits('log-follow', line, 'log --follow')
  })
}
