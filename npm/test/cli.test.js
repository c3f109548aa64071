// The command as a process: exit codes, streams, signals, and plugins that misbehave.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { nativePath } from '../lib/native.js'
import { makeHome } from './support/home.js'
import { temporaryDirectory, writeFiles } from './support/plugins.js'

const bin = fileURLToPath(new URL('../bin/warpline.cjs', import.meta.url))

/** @param {string[]} args */
function warpline(...args) {
  return spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8', timeout: 120_000 })
}

test('--help and a verb that is none', () => {
  const help = warpline('--help')
  assert.deepEqual([help.status, help.stderr], [0, ''])
  const answers = ['approve', 'deny', 'revoke', 'ack', 'defer', 'done']
  const authoring = ['configure', 'scaffold', 'check']
  for (const verb of [
    'init',
    'plan',
    'advance',
    'run',
    'board',
    'tasks',
    ...answers,
    ...authoring,
  ]) {
    assert.match(help.stdout, new RegExp(`^ +${verb} `, 'm'))
  }
  const bogus = warpline('bogus')
  assert.deepEqual([bogus.status, bogus.stdout], [1, ''])
  assert.match(bogus.stderr, /^Unknown command/)
})

// Cases: T538.
test('a Node below the floor of the package is told so, without a trace', () => {
  const directory = temporaryDirectory()
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const floor = engines.node.replace('>=', '')
  const under = (/** @type {string} */ version) => {
    const name = `${version}.cjs`
    const versions = `{ ...process.versions, node: '${version}' }`
    writeFiles(directory, {
      [name]: `Object.defineProperty(process, 'versions', { value: ${versions} })\n`,
    })
    const args = ['-r', join(directory, name), bin, '--help']
    return spawnSync(process.execPath, args, { encoding: 'utf8' })
  }
  const [major, minor] = floor.split('.').map(Number)
  for (const version of ['18.20.4', `${major}.${minor - 1}.0`]) {
    const old = under(version)
    assert.deepEqual([old.status, old.stdout], [1, ''])
    const said = `error: warpline needs Node.js ${floor} or newer, and this is ${version}\n`
    assert.equal(old.stderr, said)
  }
  assert.equal(under(`${floor}.0`).status, 0)
})

test('a command that only tells something loads nothing but the engine', () => {
  const directory = temporaryDirectory()
  writeFiles(directory, {
    'loaded.cjs': `const { writeFileSync } = require('node:fs')
process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => !file.endsWith('loaded.cjs'))
  writeFileSync(process.env.LOADED, JSON.stringify(files))
})
`,
  })
  const loaded = (/** @type {string[]} */ ...args) => {
    const file = join(directory, 'loaded.json')
    const env = { ...process.env, LOADED: file, WARPLINE_HOME: join(directory, 'home') }
    const preload = ['-r', join(directory, 'loaded.cjs')]
    const ended = spawnSync(process.execPath, [...preload, bin, ...args], { encoding: 'utf8', env })
    const files = JSON.parse(readFileSync(file, 'utf8')).map((/** @type {string} */ each) =>
      basename(each),
    )
    return { ended, files }
  }
  const engine = ['warpline.cjs', 'native.js', 'elf.js', 'package.json', basename(nativePath())]
  for (const args of [[], ['--help'], ['plan', '--help'], ['--version'], ['completions', 'bash']]) {
    const { ended, files } = loaded(...args)
    assert.deepEqual([ended.status, ended.stderr, files], [0, '', engine], args.join(' '))
    assert.ok(ended.stdout.endsWith('\n'))
  }
  const refused = loaded('bogus', '--help')
  assert.deepEqual([refused.ended.status, refused.ended.stdout, refused.files], [1, '', engine])
  assert.ok(loaded('tasks').files.length > engine.length)
})

// Cases: T359.
test('init asks nobody who is not at a terminal, and reads nothing of what is piped to it', () => {
  const directory = temporaryDirectory()
  const file = 'config/metrics-rollup.json'
  const written = ['', 'rows.json\n30\n'].map((input, index) => {
    const home = join(directory, String(index))
    const args = [bin, 'init', '--home', home]
    const init = spawnSync(process.execPath, args, { encoding: 'utf8', input, timeout: 120_000 })
    assert.deepEqual([init.status, init.stderr], [0, ''])
    return readFileSync(join(home, file), 'utf8')
  })
  assert.deepEqual(written, Array(2).fill('{\n  "retention_days": 90\n}'))
})

test('results go to standard output alone, what plugins print to standard error', () => {
  makeHome({ prints: { handler: "console.log('from the plugin'); return skillOk('fine')" } })
  const advance = warpline('advance', '--json')
  assert.equal(advance.status, 0, advance.stderr)
  const result = JSON.parse(advance.stdout)
  assert.deepEqual(
    [result.status, result.plugin_states, result.exit_code],
    ['complete', { prints: 'completed' }, 0],
  )
  assert.match(advance.stderr, /from the plugin/)
})

test('what a plugin throws is shown with its place, without secrets, and plays no tricks', () => {
  process.env.WARPLINE_TEST_TOKEN = 'hunter2-token'
  const { home } = makeHome({
    throws: {
      manifest: { secrets: ['WARPLINE_TEST_TOKEN'] },
      files: {
        'handler.ts': `import { fail } from './fail.ts'
interface Erased { a: string }
export const handler = async () => fail(process.env.WARPLINE_TEST_TOKEN as string)
`,
        'fail.ts': `export function fail(token: string) {
  throw new TypeError('no \\u001b[31m' + token + '\\nsecond line')
}
`,
      },
    },
    loads: { files: { 'handler.ts': "\n  throw new Error('at load')\n" } },
  })
  const at = join(home, 'plugins')
  const run = warpline('run', 'throws', 'now', '--json')
  assert.equal(run.status, 1, run.stderr)
  assert.equal(JSON.parse(run.stdout).error, 'no \u001b[31m[redacted]\nsecond line')
  assert.ok(!run.stdout.includes('fail.ts'), run.stdout)
  const lines = run.stderr.split('\n')
  const first = lines.indexOf(
    'warpline: plugin `throws` threw: no \\u{1b}[31m[redacted]\\u{a}second line',
  )
  assert.ok(first >= 0, run.stderr)
  assert.equal(lines[first + 1], `    at fail (${at}/throws/fail.ts:2:9)`)
  assert.match(lines[first + 2] ?? '', /^ {4}at handler \(.*\/throws\/handler\.ts:3:36\)$/)
  assert.equal(lines[first + 3], '', 'the frames of the runtime are left out')

  const advance = warpline('advance', '--json')
  assert.equal(JSON.parse(advance.stdout).plugin_states.loads, 'failed')
  assert.ok(advance.stderr.includes(`    at ${at}/loads/handler.ts:2:9\n`), advance.stderr)
  assert.ok(!advance.stderr.includes('import-plugin.js'), advance.stderr)
  assert.ok(!`${run.stderr}${advance.stderr}`.includes('hunter2'))
})

test('--home reaches plugin code', () => {
  const { home } = makeHome({
    asks: { handler: 'return skillOk(String(process.env.WARPLINE_HOME))' },
  })
  delete process.env.WARPLINE_HOME
  const run = warpline('--home', home, 'run', 'asks', 'go')
  assert.equal(run.status, 0, run.stderr)
  assert.ok(run.stdout.includes(home), run.stdout)
})

test('a failing plugin is exit 1, a home that cannot be used 75', () => {
  makeHome({ fails: { handler: "return skillFailure('data_missing', 'nothing there')" } })
  assert.equal(warpline('advance').status, 1)
  const refused = warpline('--plugins', join(temporaryDirectory(), 'absent'), 'advance')
  assert.deepEqual([refused.status, refused.stdout], [75, ''])
  assert.match(refused.stderr, /^error: cannot read plugin root .*ENOENT\n/)
})

// Cases: T381, T382.
test('a plan runs the code of manifests and no handler', () => {
  const leave = (/** @type {string} */ name) =>
    `writeFileSync(join(process.env.WARPLINE_HOME ?? '', '${name}'), '')`
  const imports = "import { writeFileSync } from 'node:fs'\nimport { join } from 'node:path'\n"
  const { list } = makeHome({
    writes: {
      files: {
        'manifest.ts': `${imports}${leave('by-manifest')}
export const manifest = { name: 'writes', version: '1', description: '', autonomy_level: 'autonomous', ttl_hours: 1 }
`,
        'handler.ts': `${imports}import { skillOk } from 'warpline/unstable-result'
export const handler = async () => {
  ${leave('by-handler')}
  return skillOk('wrote')
}
`,
      },
    },
  })
  const plan = warpline('plan')
  assert.match(plan.stdout, /Due \(1\):\n {2}writes/, plan.stderr)
  assert.deepEqual(list('.'), ['by-manifest', 'plugins'])
  assert.equal(warpline('run', 'writes', 'now').status, 0)
  assert.ok(list('.').includes('by-handler'))
})

test('what a plugin leaves open does not hold the command', () => {
  makeHome({ lingers: { handler: "setInterval(() => {}, 1000); return skillOk('fine')" } })
  assert.equal(warpline('advance').status, 0)
})

test('a stray rejection, and a throw from a timer, are reported by plugin and exit 1', () => {
  makeHome({
    strays: { handler: "Promise.reject(new Error('astray')); await null; return skillOk('fine')" },
    timer: {
      handler:
        "setTimeout(() => { throw new Error('from a timer') }, 1); await new Promise((r) => setTimeout(r, 20)); return skillOk('fine')",
    },
  })
  for (const flags of [[], ['--isolate']]) {
    const advance = warpline('advance', '--force', ...flags)
    assert.equal(advance.status, 1, flags[0])
    assert.match(advance.stderr, /`strays` left a rejection unhandled: astray/)
    assert.match(advance.stderr, /`timer` threw: from a timer/)
    assert.match(advance.stdout, /complete/)
  }
})

test('what a plugin prints, throws and leaves behind shows no secret, in one piece or two', () => {
  process.env.WARPLINE_TEST_TOKEN = 'hunter2-token'
  const token = 'const token = process.env.WARPLINE_TEST_TOKEN ?? ""'
  const { home } = makeHome({
    prints: {
      manifest: { secrets: ['WARPLINE_TEST_TOKEN'] },
      handler: `
        ${token}
        console.error('whole', token)
        process.stdout.write('in two ' + token.slice(0, 5))
        await null
        process.stdout.write(Buffer.from(token.slice(5) + '\\n'))
        process.stderr.write(Buffer.from('as hex ' + token).toString('hex'), 'hex')
        await new Promise((resolve) => process.stderr.write('\\n', resolve))
        process.stderr.write(new DataView(new TextEncoder().encode('a view ' + token).buffer) as any)
        setTimeout(() => { throw new Error('late ' + token) }, 1)
        await new Promise((resolve) => setTimeout(resolve, 20))
        process.stderr.write('only begun: hunter')
        return skillOk('fine')
      `,
    },
    loads: {
      manifest: { secrets: ['WARPLINE_TEST_TOKEN'] },
      files: {
        'handler.ts': `${token}\nconsole.log('module', token)\nthrow new Error('module ' + token)\n`,
      },
    },
    declares: {
      files: {
        'manifest.ts': `${token}\nexport const manifest = { secrets: ['WARPLINE_TEST_TOKEN'] }\nconsole.log('manifest', token)\nthrow new Error('manifest ' + token)\n`,
      },
    },
  })
  for (const arguments_ of [['advance'], ['run', 'prints', 'now'], ['plan']]) {
    const { stdout, stderr } = warpline(...arguments_)
    assert.ok(!`${stdout}${stderr}`.includes('hunter2'), `${stdout}${stderr}`)
  }
  const { stdout, stderr } = warpline('advance', '--force')
  for (const text of [
    'whole [redacted]\n',
    'in two [redacted]\n',
    'as hex [redacted]\n',
    'a view [redacted]',
    '`prints` threw: late [redacted]\n',
    'only begun: hunter',
    'module [redacted]\n',
    'manifest [redacted]\n',
  ]) {
    assert.ok(stderr.includes(text), `${text} in ${stderr}`)
  }
  assert.match(stdout, /module \[redacted\]/)
  assert.match(stdout, /manifest \[redacted\]/)
  delete process.env.WARPLINE_TEST_TOKEN
  assert.equal(spawnSync('grep', ['-rq', 'hunter2-token', home]).status, 1, 'nor is it in the home')
})

test('a plugin that ends the process is named; the run is recorded as interrupted', () => {
  const { home, list, json } = makeHome({ ends: { handler: 'process.exit(0)' }, other: {} })
  const advance = warpline('advance')
  assert.equal(advance.status, 1)
  assert.match(advance.stderr, /plugin `ends` ended the process/)
  const [log] = list('runs')
  const { status, completed_at, run_id } = json(`runs/${log}`)
  assert.deepEqual([status, completed_at], ['interrupted', null])
  assert.ok(!list('state').includes('in-flight.jsonl'), 'the crash journal is settled')
  assert.equal(warpline('plan').status, 0)

  const handler = join(home, 'plugins/ends/handler.ts')
  writeFileSync(
    handler,
    readFileSync(handler, 'utf8').replace('process.exit(0)', "return skillOk('')"),
  )
  const next = warpline('advance', '--json')
  assert.equal(next.status, 0, next.stderr)
  const result = JSON.parse(next.stdout)
  assert.equal(result.plugin_states.ends, 'completed')
  assert.equal(json(`runs/${result.run_id}.json`).resumed_from, run_id)
  const kept = ['engine-state.json', 'events.jsonl', 'last-successful-advance']
  assert.deepEqual(list('state'), kept, 'and nothing is left')
})

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  test(`${signal} cancels what runs, records it, and exits 130`, async () => {
    const { list, json } = makeHome({
      waits: {
        handler: `
          console.log('running')
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          throw signal.reason
        `,
      },
    })
    const child = spawn(process.execPath, [bin, 'advance'], { stdio: ['ignore', 'pipe', 'pipe'] })
    const exited = once(child, 'exit')
    let errors = ''
    for await (const chunk of child.stderr) {
      errors += chunk
      if (errors.includes('running')) break
    }
    child.kill(signal)
    assert.deepEqual(await exited, [130, null])
    const [log] = list('runs')
    assert.deepEqual(
      [json(`runs/${log}`).status, json(`runs/${log}`).completed_at],
      ['interrupted', null],
    )
  })
}

// Cases: T377.
test('an interrupt between two attempts of a run ends it at once, with 130', async () => {
  const { list, json } = makeHome({
    flaky: {
      manifest: { retry_delay_ms: 60_000 },
      handler: "return skillFailure('rate_limit', 'busy')",
    },
  })
  const child = spawn(process.execPath, [bin, 'run', 'flaky', 'now', '--retries=10'], {
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  // The notice of the attempt that is to follow is written right before the wait.
  while (!list('state').includes('events.jsonl')) await delay(20)
  child.kill('SIGINT')
  assert.deepEqual(await exited, [130, null])
  const [artifact] = list('runs').filter((name) => name.endsWith('.json'))
  const { status, cancelled, retried, attempts } = json(`runs/${artifact}`)
  assert.deepEqual([status, cancelled, retried, attempts.length], ['cancelled', true, false, 1])
})

// Cases: T374, T375.
test('a slow reader gets every line whole, while the plugin goes on printing', async () => {
  makeHome({
    talks: {
      handler: `
        for (let i = 0; i < 400; i += 1) console.log('x'.repeat(499))
        setInterval(() => console.log('y'.repeat(499)), 0)
        await new Promise((resolve) => setTimeout(resolve, 10))
        return skillOk('fine')
      `,
    },
  })
  const child = spawn(process.execPath, [bin, 'run', 'talks', 'go'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  await delay(1000)
  let errors = ''
  for await (const chunk of child.stderr) errors += chunk
  const [code] = await exited
  assert.equal(code, 0)
  assert.equal(errors.match(/^x{499}$/gm)?.length, 400)
  assert.match(errors, /^(?:[^\n]*\n)*y{499}\n$/)
})

// Cases: T376.
test('a reader that goes away ends nothing badly', async () => {
  makeHome({
    talks: {
      handler:
        "for (let i = 0; i < 400; i += 1) console.log('x'.repeat(499)); return skillOk('fine')",
    },
  })
  const child = spawn(process.execPath, [bin, 'run', 'talks', 'go'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stderr.destroy()
  child.stdout.destroy()
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
})

test('a plugin that never gives the thread back ends with the command it is in', async () => {
  // Both at once: each takes five seconds to give the plugin up.
  const started = (/** @type {object} */ manifest) => {
    const handler = "console.log('running'); await null; for (;;);"
    const { list, json } = makeHome({ spins: { manifest, handler } })
    const child = spawn(process.execPath, [bin, 'advance'], { stdio: ['ignore', 'ignore', 'pipe'] })
    return { child, exited: once(child, 'exit'), log: () => json(`runs/${list('runs')[0]}`) }
  }
  const timedOut = started({ timeout_ms: 300 })
  const signalled = started({})
  await once(signalled.child.stderr, 'data')
  signalled.child.kill('SIGTERM')
  assert.deepEqual(await timedOut.exited, [1, null])
  assert.deepEqual(
    [timedOut.log().status, timedOut.log().plugin_entries[0].status],
    ['partial', 'failed'],
  )
  assert.deepEqual(await signalled.exited, [130, null])
  assert.equal(signalled.log().status, 'interrupted')
})

test('in a directory that was deleted a home has to be named', () => {
  const directory = temporaryDirectory()
  const nameless = { ...process.env, PWD: directory }
  delete (/** @type {NodeJS.ProcessEnv} */ (nameless).WARPLINE_HOME)
  const there = (/** @type {NodeJS.ProcessEnv} */ given, /** @type {string[]} */ ...args) => {
    const script = 'mkdir "$1/gone" && cd "$1/gone" && rmdir "$1/gone" && shift && exec "$@"'
    const words = ['-c', script, 'sh', directory, process.execPath, bin, ...args]
    return spawnSync('sh', words, { encoding: 'utf8', env: given })
  }
  for (const args of [['init'], ['status'], ['advance'], ['plan', '--home', 'near']]) {
    const { status, stdout, stderr } = there(nameless, ...args)
    assert.deepEqual([status, stdout], [args[0] === 'advance' ? 75 : 1, ''], args.join(' '))
    assert.match(stderr, /^error: .*the working directory is gone\n$/)
  }
  const home = join(directory, 'home')
  assert.equal(there(nameless, 'init', '--home', home).status, 0)
  assert.equal(there({ ...nameless, WARPLINE_HOME: home }, 'plan').status, 0)
})
