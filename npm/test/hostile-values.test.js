// What plugins throw, return, print and leave unsettled: a failed result or a fine one, never harm to the host.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { before, describe, test } from 'node:test'
import { makeHome } from './support/home.js'
import { checkRun, command, entryOf, intact, pluginOf, SIBLING } from './support/hostile.js'

/** @typedef {import('./support/hostile.js').Row} Row */

const RESULT =
  "{ status: 'success', phases_completed: [], phases_failed: [], data_freshness: {}, summary: 's' }"
const SOON = { timeout_ms: 200 }

/** @param {string} extra properties of a result */
const returns = (extra) => `return { ...${RESULT}, ${extra} }`

/** @type {Row[]} */
const rows = [
  { name: 'throws-undefined', handler: 'throw undefined', says: /: undefined$/ },
  { name: 'throws-null', handler: 'throw null', says: /: null$/ },
  { name: 'throws-string', handler: "throw 'as text'", says: /: as text$/ },
  { name: 'throws-number', handler: 'throw 17', says: /: 17$/ },
  { name: 'throws-bigint', handler: 'throw 17n', says: /: 17$/ },
  { name: 'throws-symbol', handler: "throw Symbol('s')", says: /Symbol\(s\)$/ },
  { name: 'throws-function', handler: 'throw () => {}', says: /throws-function: .+/ },
  { name: 'throws-frozen', handler: 'throw Object.freeze({ why: 1 })', says: /why: 1/ },
  {
    name: 'throws-getter',
    handler:
      "throw Object.defineProperty(new Error(''), 'message', { get() { throw new Error('inner') } })",
    says: /cannot be shown/,
  },
  {
    name: 'throws-tostring',
    handler: 'throw { toString() { throw 1 }, [Symbol.toPrimitive]() { throw 2 } }',
    says: /throws-tostring: .+/,
  },
  {
    name: 'throws-proxy',
    handler:
      'throw new Proxy({}, { get() { throw new Error() }, getPrototypeOf() { throw new Error() } })',
    says: /throws-proxy: .+/,
  },
  {
    name: 'throws-revoked',
    handler: 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy',
    says: /throws-revoked: .+/,
  },
  {
    name: 'throws-cycle',
    handler: "const e = new Error('cyclic', { cause: {} }); (e as any).cause.cause = e; throw e",
    says: /: cyclic$/,
  },
  {
    name: 'throws-aggregate',
    handler: "throw new AggregateError([new Error('one'), undefined], 'many')",
    says: /: many$/,
  },
  { name: 'throws-long', handler: "throw new Error('x'.repeat(1_000_000))", says: /… \(cut\)$/ },
  { name: 'throws-deep', handler: 'const deep = () => deep(); return deep()', says: /call stack/ },
  { name: 'throws-memory', handler: "return 'x'.repeat(2 ** 30)", says: /Invalid string length/ },
  {
    name: 'throws-thenable',
    handler: 'throw { then() { throw new Error() } }',
    says: /throws-thenable: .+/,
  },
  { name: 'returns-undefined', handler: 'return undefined', says: /not valid/ },
  { name: 'returns-number', handler: 'return 5', says: /not valid/ },
  { name: 'returns-function', handler: 'return () => {}', says: /not valid/ },
  {
    name: 'returns-cycle',
    handler: `const r: any = ${RESULT}; r.self = r; return r`,
    says: /no JSON form/,
  },
  { name: 'returns-bigint', handler: returns('big: 1n'), says: /no JSON form/ },
  {
    name: 'returns-getter',
    handler: returns("get bad() { throw new Error('from a getter') }"),
    ends: 'failed',
    says: /from a getter/,
  },
  { name: 'returns-tojson', handler: returns('toJSON() { return 5 }'), says: /not valid/ },
  {
    name: 'returns-throwing-tojson',
    handler: returns("toJSON() { throw new Error('from toJSON') }"),
    says: /no JSON form: .*from toJSON|no JSON form: from toJSON/,
  },
  {
    name: 'returns-deep',
    handler: `let deep: any = 1; for (let at = 0; at < 100_000; at += 1) deep = [deep]; ${returns('deep')}`,
    says: /no JSON form/,
  },
  {
    name: 'returns-long',
    handler: returns("long: 'x'.repeat(33 * 1024 * 1024)"),
    says: /longer than/,
  },
  {
    name: 'returns-many',
    handler: returns("many: new Array(340_000).fill('x'.repeat(100))"),
    says: /longer than/,
  },
  {
    name: 'returns-proxy',
    handler: `return new Proxy(${RESULT}, { ownKeys() { throw new Error('from a trap') } })`,
    says: /from a trap/,
  },
  {
    name: 'returns-surrogate',
    handler: "return skillOk('half \\ud83d')",
    ends: 'completed',
    says: /^half \ud83d$/,
  },
  {
    name: 'returns-proto',
    handler: `return JSON.parse('{"__proto__": {"summary": "from a prototype"}, "status": "success", "phases_completed": [], "phases_failed": [], "data_freshness": {"__proto__": "x"}, "summary": "own"}')`,
    ends: 'completed',
    says: /^own$/,
  },
  { name: 'returns-inherited', handler: `return Object.create(${RESULT})`, says: /not valid/ },
  {
    name: 'then-twice',
    handler: `return { then(done: any) { done(${RESULT}); done({}) } }`,
    ends: 'completed',
  },
  {
    name: 'then-throws',
    handler: "return { then() { throw new Error('from then') } }",
    says: /from then/,
  },
  {
    name: 'then-late-throw',
    handler: `return { then(done: any) { done(${RESULT}); throw new Error('late') } }`,
    ends: 'completed',
  },
  {
    name: 'then-getter',
    handler: "return { get then() { throw new Error('from a getter') } }",
    says: /from a getter/,
  },
  { name: 'then-never', handler: 'return { then() {} }', manifest: SOON, says: /timeout/ },
  {
    name: 'never-settles',
    handler: 'await new Promise(() => {})',
    manifest: SOON,
    says: /timeout/,
  },
  {
    name: 'rejects-late',
    handler:
      "await new Promise((_, reject) => signal.addEventListener('abort', () => setTimeout(() => reject(new Error('late')), 10)))",
    manifest: SOON,
    says: /timeout/,
  },
  {
    name: 'rejects-on-abort',
    handler:
      "await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))",
    manifest: SOON,
    says: /timeout/,
  },
]

/** Those whose throw, which is no return and no late one, the command tells of: once each. */
const THROWN = rows
  .map(({ name }) => name)
  .filter((name) => /^throws-|^then-(throws|getter)$/.test(name))
  .sort()

/** @type {(tasks: (() => Promise<void>)[]) => Promise<unknown>} */
const threeAtATime = (tasks) => {
  const next = tasks.values()
  const worker = async () => {
    for (const task of next) await task()
  }
  return Promise.all([worker(), worker(), worker()])
}

describe('what plugins throw and return', () => {
  const plugins = Object.fromEntries(rows.map((row) => [row.name, pluginOf(row)]))
  const together = makeHome({ ...plugins, sibling: SIBLING })
  const homes = rows.map((row) => makeHome({ [row.name]: pluginOf(row) }).home)
  /** @type {Awaited<ReturnType<typeof command>>} */
  let advance
  /** @type {Map<string, { home: string, run: Awaited<ReturnType<typeof command>> }>} */
  const runs = new Map()

  before(async () => {
    advance = await command(together.home, ['advance', '--json'])
    await threeAtATime(
      rows.map((row, index) => async () => {
        const home = homes[index] ?? ''
        runs.set(row.name, { home, run: await command(home, ['run', row.name, 'go', '--json']) })
      }),
    )
  })

  for (const row of rows) {
    test(row.name, () => {
      const ends = row.ends ?? 'failed'
      const left = intact(together.home)
      const entry = entryOf(left.logs[0], row.name)
      assert.equal(entry.status, ends, JSON.stringify(entry))
      const status = ends === 'failed' ? 'failed' : 'success'
      assert.equal(left.state.plugin_runs[row.name].status, status)
      if (row.says) assert.match(entry.result_summary, row.says)
      const alone = runs.get(row.name)
      assert.ok(alone)
      checkRun(alone.home, row, alone.run)
    })
  }

  test('the siblings of all of them', async () => {
    assert.equal(advance.code, 1, advance.stderr)
    assert.doesNotMatch(advance.stderr, /rejection|the program/)
    const threw = [...advance.stderr.matchAll(/^warpline: plugin `(.+?)` threw: /gm)]
    assert.deepEqual(threw.map(([, name]) => name).sort(), THROWN)
    const { plugin_states } = JSON.parse(advance.stdout)
    assert.equal(plugin_states.sibling, 'completed')
    assert.equal(Object.keys(plugin_states).length, rows.length + 1)
    assert.equal({}.constructor, Object)
    const plan = await command(together.home, ['plan', '--json'])
    assert.equal(plan.code, 0, plan.stderr)
  })

  test('a host without handlers of its own outlives all of them, and what they reject with later', () => {
    const index = new URL('../lib/index.js', import.meta.url).href
    const { home } = makeHome({
      ...plugins,
      'rejects-after': pluginOf({
        name: 'rejects-after',
        handler: `await new Promise((resolve) => signal.addEventListener('abort', resolve))
          await new Promise((resolve) => { globalThis.rejectAfter = resolve })
          throw new Error('late')`,
        manifest: SOON,
      }),
      sibling: SIBLING,
    })
    const host = `import { runAdvance } from ${JSON.stringify(index)}
      console.log('host before')
      const pass = runAdvance()
      console.log('host meanwhile')
      const { plugin_states } = await pass
      console.log(plugin_states.get('sibling'))
      const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
      while (!globalThis.rejectAfter) await pause(5)
      globalThis.rejectAfter()
      // Longer than the latest rejection takes to come, and timers fire in the order of their times.
      await pause(50)`
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', host], {
      encoding: 'utf8',
      env: { ...process.env, WARPLINE_HOME: home },
    })
    assert.equal(ended.stderr, 'from the sibling\n')
    assert.deepEqual([ended.status, ended.stdout], [0, 'host before\nhost meanwhile\ncompleted\n'])
  })
})

test('200 MB of prints: memory stays bounded, the transcript is cut with a mark', async () => {
  const { home } = makeHome({
    talks: pluginOf({
      name: 'talks',
      manifest: { timeout_ms: 600_000 },
      top: `import { setFlagsFromString } from 'node:v8'
        import { runInNewContext } from 'node:vm'`,
      // What is merely not collected yet does not count.
      handler: `setFlagsFromString('--expose-gc')
        const collect = runInNewContext('gc')
        const text = ('x'.repeat(1023) + '\\n').repeat(1024)
        for (let at = 0; at < 200; at += 1) {
          process.stdout.write(text)
          if (at % 10 !== 0) continue
          await new Promise((resolve) => setImmediate(resolve))
          collect()
        }
        return skillOk(String(Math.round(process.resourceUsage().maxRSS / 1024)))`,
    }),
  })
  const run = await command(home, ['run', 'talks', 'go', '--json'])
  assert.equal(run.code, 0, run.stdout)
  assert.equal(run.stderr.length, 200 * 1024 * 1024)
  const { transcripts, artifacts } = intact(home)
  const megabytes = Number(artifacts[0].summary)
  assert.ok(megabytes < 400, `${megabytes} MB`)
  assert.ok((transcripts[0]?.length ?? 0) <= 10 * 1024 * 1024 + 200)
  assert.match(transcripts[0]?.subarray(-200).toString() ?? '', /cut/)
})
