// The package at work on every runtime: the same host, the same home, the same outcome.
import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { account, bin, environment, run } from '../support.mjs'
import { makeProject } from './support/home.mjs'
import { runtimes } from './support/runtimes.mjs'

const support = fileURLToPath(new URL('support', import.meta.url))

/** After so long a command hangs. */
const HANGS_MS = 300_000

let directory

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'warpline-runtimes-'))
})

after(() => rm(directory, { recursive: true, force: true }))

test('a runtime that does not start is not passed over', () => {
  const absent = { name: 'Absent', file: 'no/such/file', version: /^1/ }
  assert.throws(() => runtimes([absent]), /the tests need Absent as .*no\/such\/file/)
})

for (const { name, isNode, command, args } of runtimes()) {
  test(`${name}: what a host sees`, async () => {
    const project = await mkdtemp(join(directory, 'host-'))
    const { home, plugins, installed } = await makeProject(project)
    await cp(join(support, 'host.mjs'), join(project, 'host.mjs'))
    const ended = run(command, [...args, 'host.mjs', plugins, installed], {
      cwd: project,
      env: environment(home, { NO_COLOR: '1' }),
      timeout: HANGS_MS,
    })
    assert.equal(ended.status, 0, account(ended))
    // Two lines for plugins that print would make this no JSON.
    const found = JSON.parse(ended.stdout)
    assert.match(ended.stderr, /printed by the plugin\nwritten by the plugin\n/)

    const { status, states, reasons } = found.advance
    assert.equal(status, 'partial')
    const [ok, failed, held] = ['completed', 'failed', 'skipped']
    assert.deepEqual(states, {
      ...{ changes: ok, context: ok, edited: ok, linked: ok, stack: ok },
      ...{ huge: failed, throws: failed, patient: held, waits: held },
      ...{ broken: failed, early: failed, enum: failed, loads: failed, missing: failed },
    })
    assert.equal(reasons.context, 'of the advance')
    assert.deepEqual(found.hooks, ['of the advance'])
    assert.deepEqual(
      found.contexts.map(({ summary }) => summary),
      ['one', 'two'],
    )

    const at = (file) => join(plugins, file)
    assert.equal(
      found.failures.broken,
      `${at('broken/open.ts')}:2:26: unterminated string: \`export const a = { name: 'open\``,
    )
    assert.equal(
      found.failures.early,
      `${at('early/manifest.ts')}:2:12: identifier \`a\` has already been declared: \`let a; let a\``,
    )
    // Bun and Deno run an enum: there the manifest alone is at fault.
    const refused = `${at('enum/manifest.ts')}:1:8: an enum stands for code and cannot be erased: \`export enum Level { Low }\``
    if (isNode) assert.equal(found.failures.enum, refused)
    else assert.match(found.failures.enum, /^the manifest is not valid: `version`/)
    assert.match(
      found.failures.missing,
      /gone\.ts.*\s.*missing\/manifest\.ts|missing\/manifest\.ts/,
    )
    assert.doesNotMatch(found.failures.missing, /warpline=/)
    assert.equal(found.failures.loads, 'at load')
    for (const [plugin, error] of Object.entries(found.failures)) {
      assert.equal(reasons[plugin], error, 'the record has the same text')
    }

    assert.deepEqual([found.before, found.after], ['first', 'second edition'])
    assert.deepEqual([found.throws.summary, found.throws.error], ['throws: boom', 'boom'])
    assert.match(found.stack, /stack\/handler\.ts(?:\?\S+)?:3:\d+/)
    assert.equal(found.timeout.timed_out, true)
    assert.equal(found.cancelled.cancelled, true)
    assert.equal(found.changes.status, 'success')
    assert.deepEqual(found.restored, [true, null])
    assert.match(found.huge.error, /no JSON form.*BigInt/)
    // Deno strips no types of what is installed.
    assert.equal(found.installed.status, name === 'Deno' ? 'failed' : 'success')
    assert.deepEqual(found.refusal, ['WarplineError', 'ERR_WARPLINE_PLUGIN_ROOT', true])
    assert.equal(found.same, true)
  })

  test(`${name}: the command`, async () => {
    const project = await mkdtemp(join(directory, 'command-'))
    const { home, plugins } = await makeProject(project)
    const env = environment(home, { NO_COLOR: '1' })
    const options = { cwd: project, env, timeout: HANGS_MS }
    const cli = (...given) => run(command, [...args, bin, ...given], options)

    const plan = cli('plan', '--json')
    assert.equal(plan.status, 1, account(plan))
    const { due, failures } = JSON.parse(plan.stdout)
    assert.ok(due.some(({ plugin }) => plugin === 'changes'))
    const early = failures.find(({ plugin }) => plugin === 'early')
    assert.ok(early.error.startsWith(`${join(plugins, 'early/manifest.ts')}:2:12: `), early.error)

    const ran = cli('run', 'changes', 'now', '--json')
    assert.equal(ran.status, 0, account(ran))
    assert.equal(JSON.parse(ran.stdout).ok, true)
    assert.match(ran.stderr, /printed by the plugin\nwritten by the plugin\n/)

    const threw = cli('run', 'throws', 'now', '--json')
    assert.equal(threw.status, 1, account(threw))
    assert.equal(JSON.parse(threw.stdout).error, 'boom')

    const bogus = cli('bogus')
    assert.deepEqual([bogus.status, bogus.stdout], [1, ''], account(bogus))
  })

  test(`${name}: a thread that ends in the middle of an advance`, async () => {
    const project = await mkdtemp(join(directory, 'threads-'))
    const { home, plugins } = await makeProject(project)
    await cp(join(support, 'threads.mjs'), join(project, 'threads.mjs'))
    const env = environment(home, { NO_COLOR: '1' })
    const options = { cwd: project, env, timeout: HANGS_MS }
    const ended = run(command, [...args, 'threads.mjs', plugins], options)
    assert.equal(ended.status, 0, account(ended))
    const { called, cancelled, next } = JSON.parse(ended.stdout)
    assert.deepEqual([called, cancelled], ['success', true])
    // The pass that was cut off is on record as that, by itself or in the log of the one that took it over.
    const logs = await Promise.all(
      (await readdir(join(home, 'runs')))
        .filter((file) => file.endsWith('.json'))
        .map(async (file) => JSON.parse(await readFile(join(home, 'runs', file), 'utf8'))),
    )
    const log = logs.find(({ run_id }) => next.includes(run_id))
    const cut = logs.find(({ status }) => status === 'interrupted')
    assert.ok(log.resumed_from ?? cut, JSON.stringify(logs))
    if (cut) assert.equal(log.resumed_from, cut.run_id)
    const plan = run(command, [...args, bin, 'plan', '--json'], options)
    assert.equal(JSON.parse(plan.stdout).home, home)
  })
}
