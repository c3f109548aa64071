// The kit with which plugins are tested: a home, a clock, facts, and what a run came to.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'

import { warplineHome } from 'warpline/lib/paths'
import { openTestHome } from 'warpline/unstable-testing'
import { testHomes } from '../lib/environment.js'
import { makeHome } from './support/home.js'

/**
 * A test home for plugins as `makeHome` writes them. Their own home is not the test's.
 *
 * @param {Parameters<typeof makeHome>[0]} plugins
 */
async function kit(plugins) {
  const { home: around } = makeHome(plugins)
  const home = await openTestHome({ pluginsDir: join(around, 'plugins') })
  after(() => home.remove())
  return home
}

const NOW = '2001-02-03T04:05:06.007Z'

test('a run is complete: result, attempts, prints, record', async () => {
  const home = await kit({
    echo: {
      manifest: { inputs: { word: { type: 'string' } }, max_retries: 1, retry_delay_ms: 0 },
      handler: `
        console.log('asked with', args.word)
        if ((globalThis as any).echoed !== capabilities.caller.runId) {
          (globalThis as any).echoed = capabilities.caller.runId
          return skillFailure('rate_limit', 'busy')
        }
        return skillOk('done', { artifacts_produced: [{ type: 't', body: String(args.word) }] })`,
    },
  })
  const run = await home.run('echo', { args: { word: 'yes' } })
  assert.equal(run.result.status, 'success')
  assert.deepEqual([run.run_id, run.result.artifacts_produced[0]?.run_id], ['test-1', 'test-1'])
  assert.deepEqual(
    run.attempts.map(({ status }) => status),
    ['failed', 'success'],
  )
  assert.equal(
    run.transcript,
    '=== Attempt 1 ===\nasked with yes\n=== Attempt 2 ===\nasked with yes\n',
  )
  assert.equal(run.artifact?.status, 'success')
  assert.deepEqual(run.artifact?.attempts, run.attempts)
  const once = await home.run('echo', { args: { word: 'no' }, retries: 0, runId: 'mine' })
  assert.deepEqual([once.run_id, once.attempt_count], ['mine', 1])
})

test('the clock stands still for the handler and for every record, and for nobody else', async () => {
  const home = await kit({
    clock: {
      handler: `
        const before = Date.now()
        await new Promise((resolve) => setTimeout(resolve, 20))
        class Special extends Date {}
        const given = [new Date(0).toISOString(), new Date(2020, 0).getFullYear(), Date.UTC(1970, 0)]
        const kinds = [new Special() instanceof Date, typeof Date(), Date.now() - before]
        return skillOk(new Date().toISOString(), {
          data_freshness: { special: new Special().toISOString() },
          artifacts_produced: [{ type: 't', body: JSON.stringify([...given, ...kinds]) }],
        })`,
    },
  })
  const real = Date
  const running = home.run('clock', { now: NOW })
  const seen = []
  while (seen.length < 3) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    seen.push(new Date().getFullYear())
  }
  const run = await running
  assert.ok(
    seen.every((year) => year > 2001),
    `the test's own clock went to ${seen}`,
  )
  assert.equal(globalThis.Date, real)
  assert.deepEqual([run.result.summary, run.result.data_freshness.special], [NOW, NOW])
  const [output] = run.result.artifacts_produced
  assert.equal(output?.produced_at, NOW)
  assert.equal(output?.body, '["1970-01-01T00:00:00.000Z",2020,0,true,"string",0]')
  assert.deepEqual([run.duration_ms, run.attempts[0]?.started_at], [0, NOW])
  assert.deepEqual([run.artifact?.started_at, run.artifact?.completed_at], [NOW, NOW])
  const later = await home.run('clock', { now: new Date('2001-02-04') })
  assert.equal(later.result.summary, '2001-02-04T00:00:00.000Z')
  assert.notEqual((await home.run('clock')).result.summary.slice(0, 4), '2001')
})

test('time limits go by the real time', async () => {
  const home = await kit({
    slow: { manifest: { timeout_ms: 50 }, handler: 'return new Promise(() => {})' },
  })
  const run = await home.run('slow', { now: NOW })
  assert.deepEqual([run.timed_out, run.result.errors[0]?.code], [true, 'timeout'])
})

test('dependencies have done what the test says', async () => {
  const home = await kit({
    reader: {
      manifest: { dependencies: ['a', 'b', 'c'] },
      handler: `
        const { caller, dependencies } = capabilities
        const facts = ['a', 'b', 'c'].map((name) => [dependencies.lastOutput(caller, name), dependencies.lastRun(caller, name)])
        return skillOk(JSON.stringify(facts))`,
    },
  })
  const run = await home.run('reader', {
    now: NOW,
    dependencies: { a: { output: { type: 't', body: 'b' } }, b: { run: 'failed' } },
  })
  assert.deepEqual(JSON.parse(run.result.summary), [
    [{ type: 't', format: 'markdown', body: 'b', run_id: 'test-0', produced_at: NOW }, 'success'],
    [null, 'failed'],
    [null, null],
  ])
  await assert.rejects(home.run('reader', { dependencies: { d: {} } }), {
    name: 'TypeError',
    message: 'the manifest of `reader` does not name `d` in `dependencies`',
  })
})

test('secrets and the home are there during a run alone, configuration too', async () => {
  process.env.KIT_OTHER = 'of the developer'
  const before = { ...process.env }
  const home = await kit({
    secretive: {
      manifest: { secrets: ['KIT_TOKEN', 'KIT_OTHER'], inputs: { days: { type: 'number' } } },
      handler: `
        console.log(process.env.KIT_TOKEN)
        return skillOk([args.days, 'in', process.env.WARPLINE_HOME].join(' '))`,
    },
  })
  process.env.WARPLINE_HOME = before.WARPLINE_HOME ?? ''
  const facts = { secrets: { KIT_TOKEN: 'sesame', KIT_OTHER: 'of the test' }, config: { days: 3 } }
  const runs = await Promise.all([
    home.run('secretive', facts),
    home.run('secretive', { ...facts, config: { days: 4 } }),
  ])
  assert.deepEqual(
    runs.map(({ result }) => result.summary),
    [`3 in ${home.path}`, `4 in ${home.path}`],
  )
  assert.equal(runs[0]?.transcript, '=== Attempt 1 ===\n[redacted]\n')
  assert.deepEqual({ ...process.env }, { ...before, WARPLINE_HOME: process.env.WARPLINE_HOME })
  assert.equal(await home.read('config/secretive.json'), null)

  // What the developer has in the environment does not reach a test.
  const missing = await home.run('secretive', { ...facts, secrets: { KIT_TOKEN: 'x' } })
  assert.equal(missing.result.errors[0]?.code, 'auth_failure')
  assert.match(missing.result.errors[0]?.message ?? '', /KIT_OTHER/)
  assert.deepEqual([missing.artifact, missing.transcript], [null, ''])
  assert.equal(process.env.KIT_OTHER, 'of the developer')
  delete process.env.KIT_OTHER
  await assert.rejects(home.run('secretive', { secrets: { PATH: '' } }), {
    message: 'the manifest of `secretive` does not name `PATH` in `secrets`',
  })
  await home.write('config/secretive.json', '{"days": 7}')
  await home.run('secretive', facts)
  assert.equal(await home.read('config/secretive.json'), '{"days": 7}')
})

test('effects are allowed unless the test says otherwise, and no grant is written', async () => {
  const home = await kit({ writes: { manifest: { side_effects: ['modifies_file'] } }, reads: {} })
  assert.equal((await home.run('writes')).result.status, 'success')
  await assert.rejects(home.run('writes', { granted: false }), { code: 'ERR_WARPLINE_OPTION' })
  assert.equal((await home.run('reads', { granted: false })).result.status, 'success')
  assert.deepEqual(readdirSync(home.path), ['runs'])
})

test('a handler that goes on after its run does not find the home of the developer', async () => {
  const handler = `
    const late = globalThis as any
    late.lateBegan = true
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    late.lateHome = (await import('warpline/lib/paths')).warplineHome()
    return skillOk('too late')`
  const limits = [50, 500, 5_000, 20_000]
  const home = await kit(
    Object.fromEntries(
      limits.map((timeout_ms) => [`late-${timeout_ms}`, { manifest: { timeout_ms }, handler }]),
    ),
  )
  const late = /** @type {{ lateBegan?: boolean, lateHome?: string }} */ (globalThis)
  // On a busy machine, the first of them may be over before the handler begins.
  for (const limit of limits) {
    if (late.lateBegan) break
    assert.equal((await home.run(`late-${limit}`)).timed_out, true)
  }
  assert.equal(late.lateBegan, true)
  while (late.lateHome === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(late.lateHome, home.path)
})

// Cases: T392.
test('the home of a test counts for what runs in it alone, the innermost first', async () => {
  process.env.WARPLINE_HOME = '/of/the/environment'
  const later = () => new Promise((resolve) => setTimeout(resolve, 5))
  const outer = testHomes.run('/outer', async () => {
    await later()
    const inner = await testHomes.run('/inner', async () => {
      await later()
      return warplineHome()
    })
    return [inner, warplineHome()]
  })
  const beside = testHomes.run('beside', async () => {
    await later()
    return warplineHome()
  })
  assert.equal(warplineHome(), '/of/the/environment')
  assert.deepEqual(await outer, ['/inner', '/outer'])
  assert.equal(await beside, join(process.cwd(), 'beside'))
  assert.equal(warplineHome(), '/of/the/environment')
})

test('a run can be cancelled', async () => {
  const home = await kit({ slow: { handler: 'return new Promise(() => {})' } })
  const controller = new AbortController()
  const running = home.run('slow', { signal: controller.signal })
  setTimeout(() => controller.abort(), 20)
  assert.equal((await running).cancelled, true)
})

test('a home holds its files, and is gone when it is removed', async () => {
  const home = await kit({ any: {} })
  await home.write('state/any.json', { rows: [1] })
  assert.deepEqual(JSON.parse((await home.read('state/any.json')) ?? ''), { rows: [1] })
  assert.equal(await home.read('state/none.json'), null)
  for (const outside of ['..', '../x', '/etc/passwd', '', 'state/../..']) {
    await assert.rejects(home.read(outside), TypeError, outside)
    await assert.rejects(home.write(outside, ''), TypeError, outside)
  }
  await assert.rejects(home.write('x', undefined), TypeError)
  await home.remove()
  await home.remove()
  await assert.rejects(home.run('any'), { message: 'the test home has been removed' })
  await assert.rejects(home.write('x', ''), { message: 'the test home has been removed' })
  assert.ok(!existsSync(home.path))
})

test('what cannot be is refused in words', async () => {
  const reads = { manifest: { dependencies: ['any'] } }
  const home = await kit({ any: {}, reads, broken: { manifest: { ttl_hours: 0 } } })
  const refused = async (/** @type {any} */ options, /** @type {RegExp} */ message) =>
    assert.rejects(home.run('any', options), { name: 'TypeError', message })
  await refused({ arguments: {} }, /^there is no option `arguments`; the options are `args`, /)
  await refused({ args: [] }, /^option `args` must be an object$/)
  await refused({ config: 'x' }, /^option `config` must be an object$/)
  for (const now of ['soon', 5, null]) await refused({ now }, /^option `now` must be an instant: /)
  await refused(null, /^the options of a run must be an object$/)
  await refused({ granted: 'false' }, /^option `granted` must be true or false$/)
  for (const retries of [11, -1, 0.5, '1']) {
    await refused({ retries }, /^option `retries` must be an integer from 0 to 10$/)
  }
  for (const facts of [null, 'success', [], { outptu: {} }]) {
    const options = /** @type {any} */ ({ dependencies: { any: facts } })
    await assert.rejects(home.run('reads', options), {
      name: 'TypeError',
      message: 'dependency `any` must be an object of `output` and `run`',
    })
  }
  await assert.rejects(home.run('an'), /there is no plugin `an` in .*; there is `any`, `reads`$/)
  await assert.rejects(home.run('broken'), /plugin `broken` does not load: .*`ttl_hours`/)
  for (const wrong of [undefined, {}, { pluginsDir: '' }, { pluginsDir: 5 }, { plugins: 'x' }]) {
    await assert.rejects(openTestHome(/** @type {any} */ (wrong)), TypeError)
  }
  const nowhere = await openTestHome({ pluginsDir: pathToFileURL('/nowhere/at/all') })
  after(() => nowhere.remove())
  await assert.rejects(nowhere.run('any'), /\/nowhere\/at\/all cannot be read \(ENOENT\)$/)
  mkdirSync(join(nowhere.path, 'plugins'))
  const empty = await openTestHome({ pluginsDir: join(nowhere.path, 'plugins') })
  after(() => empty.remove())
  await assert.rejects(empty.run('any'), /; there is none$/)
})
