// A command of Node.js that runs plugins written in Python, beside those in TypeScript.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { invokePlugin, loadPluginManifests } from '../../npm/lib/unstable-runtime.js'
import { processesOf, soon } from '../../npm/test/support/processes.js'
import { homeLeft, spoken } from '../home-left.mjs'
import {
  account,
  bin,
  environment,
  fleet,
  hosts,
  installPlugins,
  npmDir,
  python,
  root,
  run,
} from '../support.mjs'

/** What a machine has on which `python3` is the one with the package. */
const extra = {
  PYTHONPATH: join(root, 'python'),
  WARPLINE_PYTHON: python,
  PYTHONDONTWRITEBYTECODE: '1',
}

let directory

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'warpline-python-plugins-'))
})

after(() => rm(directory, { recursive: true, force: true }))

const fields = (name, more) => ({
  name,
  version: '1.0.0',
  description: 'd',
  autonomy_level: 'autonomous',
  ttl_hours: 1,
  ...more,
})

const FINE = `import { skillOk } from 'warpline/unstable-result'
export const handler = async () => skillOk('fine')
`

/** Writes plugins, each `[manifest, handler]`, in the language that `extension` names. */
async function write(home, extension, plugins) {
  for (const [name, [manifest, handler]] of Object.entries(plugins)) {
    const folder = join(home, 'plugins', name)
    await mkdir(folder, { recursive: true })
    const text = JSON.stringify(fields(name, manifest))
    const whole =
      extension === 'py'
        ? `import json\nmanifest = json.loads(${JSON.stringify(text)})\n`
        : `export const manifest = ${text}\n`
    await writeFile(join(folder, `manifest.${extension}`), whole)
    await writeFile(join(folder, `handler.${extension}`), handler)
  }
}

let homes = 0

async function newHome() {
  homes += 1
  const home = join(directory, `home-${homes}`)
  await mkdir(home)
  return home
}

const cli = (home, args, env = extra) => {
  const ended = run(process.execPath, [bin, ...args], { env: environment(home, env) })
  assert.equal(ended.signal, null, account(ended))
  return ended
}

/** The one run log of a home: its entries by plugin. */
async function entriesOf(home) {
  const runs = await readdir(join(home, 'runs'))
  const logs = runs.filter((name) => name.endsWith('.json'))
  const texts = await Promise.all(logs.map((name) => readFile(join(home, 'runs', name), 'utf8')))
  const [log] = texts.map((text) => JSON.parse(text)).filter((each) => each.plugin_entries)
  return Object.fromEntries(log.plugin_entries.map((entry) => [entry.plugin, entry]))
}

test('a Python fleet comes to the same under Node.js as under Python', async () => {
  const metrics = [{ at: '2026-03-02', name: 'visits', value: 10.5 }]
  const source = join(npmDir, 'examples', 'test', 'fixtures', 'proc-busy')
  const outcome = async ({ command, args }, ...flags) => {
    const home = join(directory, 'home')
    await rm(home, { recursive: true, force: true })
    await installPlugins(hosts.python.plugins, home, [...fleet, 'metrics-rollup'])
    await mkdir(join(home, 'config'))
    await writeFile(join(home, 'metrics.json'), JSON.stringify(metrics))
    const rollup = { metrics_path: 'metrics.json', retention_days: 3660 }
    await writeFile(join(home, 'config', 'metrics-rollup.json'), JSON.stringify(rollup))
    await writeFile(join(home, 'config', 'host-metrics.json'), JSON.stringify({ source }))
    const said = []
    for (const step of [
      ['plan', '--json'],
      ['advance', ...flags],
      ['approve', 'incident-note', '--ttl', '2h'],
      ['advance', '--json', ...flags],
      ['approve', 'incident-note'],
      ['run', 'daily-digest', 'now', '--json', ...flags],
      ['run', 'metrics-rollup', 'now', '--input', 'metrics_path=no/such/file', ...flags],
    ]) {
      const env = environment(home, extra)
      const ended = run(command, [...args, ...step], { cwd: directory, env })
      said.push(`$ warpline ${step.join(' ')}\n${spoken(account(ended))}`.replace(' --isolate', ''))
      assert.deepEqual(processesOf(home), [])
    }
    await rm(join(home, 'plugins'), { recursive: true })
    return { said, left: await homeLeft(home) }
  }
  const at = await outcome(hosts.python)
  for (const flags of [[], ['--isolate']]) {
    const { said, left } = await outcome(hosts.node, ...flags)
    for (const [index, text] of at.said.entries()) assert.equal(said[index], text)
    assert.deepEqual(left, at.left)
  }
})

test('plugins of two languages read each other’s Outputs', async () => {
  const home = await newHome()
  const outputs = { note: { type: 'note', description: 'd', temporality: 'versioned' } }
  await write(home, 'py', {
    first: [
      { outputs },
      `from warpline import skill_ok
def handler(manifest, args, signal, capabilities):
    return skill_ok("begun", artifacts_produced=[{"type": "note", "format": "json", "body": "[1]"}])
`,
    ],
    last: [
      { dependencies: ['middle'] },
      `from warpline import skill_ok
def handler(manifest, args, signal, capabilities):
    return skill_ok(capabilities.dependencies.last_output(capabilities.caller, "middle")["body"])
`,
    ],
  })
  await write(home, 'ts', {
    middle: [
      { outputs, dependencies: ['first'] },
      `import { skillOk } from 'warpline/unstable-result'
export const handler = async (_manifest, _args, _signal, capabilities) => {
  const { body } = capabilities.dependencies.lastOutput(capabilities.caller, 'first')
  const more = JSON.stringify([...JSON.parse(body), 2])
  return skillOk('gone on', { artifacts_produced: [{ type: 'note', format: 'json', body: more }] })
}
`,
    ],
  })
  const ended = cli(home, ['advance', '--json'])
  assert.equal(ended.status, 0, account(ended))
  const { last } = await entriesOf(home)
  assert.equal(last.result_summary, '[1,2]')
  assert.deepEqual(processesOf(home), [])
})

test('without an interpreter, or without the package in it, the rest of the fleet runs', async () => {
  const bare = join(directory, 'bare-python')
  await writeFile(bare, `#!/bin/sh\nunset PYTHONPATH\nexec "${python}" -S "$@"\n`, { mode: 0o755 })
  const says = [
    [{ WARPLINE_PYTHON: '/no/such/python3' }, /WARPLINE_PYTHON.*Python/],
    [{ WARPLINE_PYTHON: '', PATH: directory }, /python3.*PATH.*WARPLINE_PYTHON/],
    [{ WARPLINE_PYTHON: bare }, /python3 -m pip install warpline-runtime/],
  ]
  for (const [env, expected] of says) {
    const home = await newHome()
    const handler = 'def handler(*_):\n    return {}\n'
    await write(home, 'py', { snake: [{}, handler], other: [{}, handler] })
    await write(home, 'ts', { fine: [{}, FINE] })
    const ended = cli(home, ['advance', '--json'], env)
    assert.equal(ended.status, 1, account(ended))
    const states = { snake: 'failed', other: 'failed', fine: 'completed' }
    assert.deepEqual(JSON.parse(ended.stdout).plugin_states, states)
    const entries = await entriesOf(home)
    for (const name of ['snake', 'other']) assert.match(entries[name].result_summary, expected)
    const plan = cli(home, ['plan', '--json'], env)
    const { failures } = JSON.parse(plan.stdout)
    assert.deepEqual(failures.map(({ plugin }) => plugin).sort(), ['other', 'snake'])
    assert.match(failures[0].error, expected)
  }
})

test('a plugin that ends its process fails with those beside it, and later ones run', async () => {
  const home = await newHome()
  await write(home, 'py', {
    exits: [
      {},
      `import os, pathlib, time
home = pathlib.Path(os.environ["WARPLINE_HOME"])
def handler(*_):
    while not (home / "beside").exists():
        time.sleep(0.01)
    (home / "pid.part").write_text(str(os.getpid()))
    (home / "pid.part").rename(home / "pid")
    os._exit(3)
`,
    ],
    beside: [
      {},
      `import os, pathlib, time
def handler(*_):
    (pathlib.Path(os.environ["WARPLINE_HOME"]) / "beside").touch()
    time.sleep(50)
`,
    ],
    later: [
      { dependencies: ['fine'] },
      `import time
from warpline import skill_ok
def handler(*_):
    return skill_ok("later")
`,
    ],
  })
  await write(home, 'ts', {
    fine: [
      {},
      `import { existsSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { skillOk } from 'warpline/unstable-result'
const file = process.env.WARPLINE_HOME + '/pid'
// Until the process of the others has ended and is reaped.
const isOver = () => existsSync(file) && !existsSync('/proc/' + readFileSync(file, 'utf8'))
export const handler = async () => {
  while (!isOver()) await setTimeout(10)
  return skillOk('fine')
}
`,
    ],
  })
  const ended = cli(home, ['advance', '--json'])
  assert.deepEqual(JSON.parse(ended.stdout).plugin_states, {
    ...{ exits: 'failed', beside: 'failed', later: 'completed', fine: 'completed' },
  })
  const entries = await entriesOf(home)
  for (const name of ['exits', 'beside']) {
    assert.match(entries[name].result_summary, /exit code 3\b/, name)
    assert.equal(entries[name].result.errors[0].code, 'dependency_unavailable', name)
  }
  assert.deepEqual(processesOf(home), [])
})

test('a process of its own keeps what one does from those beside it', async () => {
  const home = await newHome()
  const says = {
    exits: [{}, 'import os\ndef handler(*_):\n    os._exit(3)\n', /exit code 3\b/],
    breaks: [{}, 'import os\ndef handler(*_):\n    os.abort()\n', /SIGABRT/],
    spins: [{ timeout_ms: 400 }, 'def handler(*_):\n    while True: pass\n', /timeout/],
    'at-load': [{}, 'import os\nos._exit(5)\n', /exit code 5\b/],
  }
  await write(home, 'py', {
    ...says,
    sibling: [
      {},
      'import time\nfrom warpline import skill_ok\ndef handler(*_):\n    time.sleep(1)\n    return skill_ok("whole")\n',
    ],
  })
  await write(home, 'ts', { fine: [{}, FINE] })
  const ended = cli(home, ['advance', '--json', '--isolate'])
  const entries = await entriesOf(home)
  for (const [name, [, , expected]] of Object.entries(says)) {
    assert.equal(entries[name].status, 'failed', account(ended))
    assert.match(entries[name].result_summary, expected, name)
  }
  for (const name of ['sibling', 'fine']) assert.equal(entries[name].status, 'completed', name)
  assert.deepEqual(processesOf(home), [])
})

test('what a Python plugin prints and raises is shown without secrets', async () => {
  const home = await newHome()
  await write(home, 'py', {
    tells: [
      { secrets: ['TOLD_KEY'] },
      `import os, sys
def handler(manifest, args, signal, capabilities):
    key = os.environ["TOLD_KEY"]
    print("printed", key)
    print("and", key, file=sys.stderr)
    raise ValueError("raised " + key)
`,
    ],
  })
  const secret = 'hunter2-hunter2'
  const ended = cli(home, ['run', 'tells', 'now'], { ...extra, TOLD_KEY: secret })
  assert.equal(ended.status, 1)
  assert.ok(!account(ended).includes(secret), account(ended))
  assert.match(ended.stderr, /printed \[redacted\]\n/)
  assert.match(ended.stderr, /and \[redacted\]\n/)
  assert.match(
    ended.stderr,
    /plugin `tells` threw: .*raised \[redacted\]\n(?: {4}.*\n)*? {4}.*handler\.py/,
  )
  for (const text of await homeLeft(home)) {
    if (!text.startsWith('plugins/')) assert.ok(!text.includes(secret), text)
  }
  assert.ok((await homeLeft(home)).some((text) => text.includes('printed [redacted]')))
})

test('a program sees what a Python plugin raised as a cause', async () => {
  const home = await newHome()
  await write(home, 'py', {
    raises: [{}, 'def handler(*_):\n    raise ValueError("boom")\n'],
    fine: [{}, 'from warpline import skill_ok\ndef handler(*_):\n    return skill_ok("fine")\n'],
  })
  Object.assign(process.env, extra, { WARPLINE_HOME: home })
  const { manifests, failures } = await loadPluginManifests()
  assert.deepEqual([[...manifests.keys()], failures], [['fine', 'raises'], []])
  const witness = { granted: false, reason: 'manual-run' }
  for (const isolation of ['none', 'process']) {
    const raised = await invokePlugin('raises', {}, { isolation }, witness)
    assert.equal(raised.final_error, 'ValueError: boom (handler.py:2)')
    assert.equal(raised.cause.message, 'ValueError: boom')
    assert.match(raised.cause.stack, /^Error: ValueError: boom\n {4}.*handler\.py", line 2/)
    const fine = await invokePlugin('fine', {}, { isolation }, witness)
    assert.deepEqual([fine.result.summary, fine.cause], ['fine', undefined])
    assert.deepEqual(processesOf(home), [])
  }
})

test('an interrupted command leaves no process of Python behind', async () => {
  const home = await newHome()
  await write(home, 'py', {
    waits: [
      {},
      'import time\ndef handler(*_):\n    print("ready", flush=True)\n    time.sleep(60)\n',
    ],
  })
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGKILL', null],
  ]) {
    const child = spawn(process.execPath, [bin, 'advance', '--force'], {
      env: environment(home, extra),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(child, 'exit')
    let shown = ''
    for await (const text of child.stderr.setEncoding('utf8')) {
      shown += text
      if (shown.includes('ready')) break
    }
    child.kill(signal)
    assert.deepEqual(await ended, [code, code === null ? signal : null], shown)
    assert.equal(await soon(() => processesOf(home).length === 0), true, `${processesOf(home)}`)
  }
})
