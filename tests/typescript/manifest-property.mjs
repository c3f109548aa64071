// Makes modules that hold a manifest in ever other forms, and asks of each: does reading it give what running
// it gives? What only running can tell must not be read.
//
// SEED=n begins elsewhere, MODULES=n makes more of them.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { build, erase, installSchema, literal } from '../eraser.mjs'

const SEED = Number(process.env.SEED ?? 7)
const MODULES = Number(process.env.MODULES ?? 150)

/** So that no text of a plugin looks like a placeholder of this file. */
const DOLLAR = '$'

let home

before(() => {
  home = mkdtempSync(join(tmpdir(), 'manifest-property-'))
  installSchema(home)
  build()
})

after(() => rmSync(home, { recursive: true }))

/** Numbers from 0 up to 1, the same for the same seed. */
function randomOf(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const NUMBERS = [
  '0',
  '-0',
  '7',
  '-1.5',
  '.5',
  '5.',
  '1e3',
  '2E-7',
  '1_000',
  '0x1F',
  '0b101',
  '0o17',
  '1e400',
  '9007199254740993',
  '123456789012345678901234',
]
const STRINGS = [
  "''",
  '""',
  '``',
  "'a'",
  '"it\'s"',
  "'\\u00e9\\x41\\n\\t\\0'",
  '"\\u{1F600}"',
  "'\\ud800'",
  '`back\nquote`',
  `\`\\\`\\${DOLLAR}{no}\``,
  "'line \\\ncontinued'",
  "'\u2028'",
  "'日本'",
  '"</script>"',
  "'\\v\\b\\q'",
  '`a\r\nb`',
]
const KEYS = [
  'a',
  'name',
  'default',
  '$_',
  "'quoted key'",
  '"2"',
  '1',
  '10',
  '0x3',
  '1e3',
  '.5',
  "'__proto__x'",
  'constructor',
  'toJSON',
  "'\\u0061'",
  'é',
  '\\u0062c',
  'async',
  'get',
  'set',
  'static',
]
const SPACE = ['', ' ', '\n', ' /* } */ ', ' // {\n', '\t']

/** What runs code, or depends on what is elsewhere: each has a value, and none is a literal. */
const COMPUTED = [
  'outside',
  '...{ a: 1 }',
  '[outside]: 1',
  'get a() { return 1 }',
  'a() {}',
  'a: outside',
  'a: 1 + 1',
  `a: \`x${DOLLAR}{1}\``,
  'a: String(1)',
  'a: (() => 1)()',
  'a: [...[1]]',
  'a: [, 1]',
  'a: undefined',
  'a: true ? 1 : 2',
  'a: +1',
  'a: !0',
  'a: 1n.toString()',
  'a: /x/.source',
  'a: new Date(0)',
  '__proto__: { b: 1 }',
  "'__proto__': null",
  'a: { b: [{ c: outside }] }',
  'a: (1, 2)',
  'a: typeof 1',
  'a: void 0',
  'a: function () {}',
  'a: outside!',
]

function maker(random) {
  const pick = (list) => list[Math.floor(random() * list.length)]
  const blank = () => (random() < 0.3 ? pick(SPACE) : '')
  const list = (items, open, close) => {
    const comma = items.length > 0 && random() < 0.3 ? ',' : ''
    return open + items.map((item) => blank() + item + blank()).join(',') + comma + blank() + close
  }
  const many = (make) => Array.from({ length: Math.floor(random() * 4) }, make)

  function value(depth) {
    const kind = random()
    let text
    if (kind < 0.2) text = pick(NUMBERS)
    else if (kind < 0.5) text = pick(STRINGS)
    else if (kind < 0.6) text = pick(['true', 'false', 'null'])
    else if (depth > 3) text = '[]'
    else if (kind < 0.8)
      text = list(
        many(() => value(depth + 1)),
        '[',
        ']',
      )
    else text = object(depth + 1)
    if (random() < 0.1) return `(${text})`
    return random() < 0.1 ? `${text} as ${pick(['const', 'any', 'unknown'])}` : text
  }

  function object(depth, extra = []) {
    const entries = many(() => `${pick(KEYS)}${blank()}:${blank()}${value(depth)}`)
    entries.splice(Math.floor(random() * (entries.length + 1)), 0, ...extra)
    return list(entries, '{', '}')
  }

  /** A module; `extra` are entries of its manifest. */
  return (extra) => {
    const body = object(0, extra) + pick(['', '', ' as const', ' satisfies object', ' as any'])
    const name = pick(['PluginManifestSchema', 'S'])
    const imported = name === 'S' ? 'PluginManifestSchema as S' : name
    const type = pick(['', ': object', ': any'])
    const parsed = random() < 0.5
    const lines = [
      ...(random() < 0.3
        ? ["import type { PluginManifest } from 'warpline/schemas/plugin-manifest'"]
        : []),
      ...(parsed ? [`import { ${imported} } from 'warpline/schemas/plugin-manifest'`] : []),
      ...(random() < 0.2 ? ['type Local = { a: string }', 'interface Other {}'] : []),
      ...(extra.some((entry) => entry.includes('outside')) ? ['const outside = 1'] : []),
      `export const manifest${type} =${blank()} ${parsed ? `${name}.parse(${body})` : body}${pick(['', ';'])}`,
      ...(random() < 0.2 ? ['export type { Local as Named } from "./types.ts"'] : []),
    ]
    return { source: `${lines.join('\n')}\n`, parsed }
  }
}

let made = 0

/** The JSON text of what a module exports, by running it; `undefined` where it does not run. */
async function ran(source) {
  const { code, text } = erase(source)
  if (code !== null) return undefined
  made += 1
  const path = join(home, `${made}.mjs`)
  writeFileSync(path, text)
  try {
    const { manifest } = await import(pathToFileURL(path).href)
    return manifest
  } catch {
    return undefined
  }
}

test(`what is read of a literal is what running it gives, ${MODULES} times from seed ${SEED}`, async () => {
  const module = maker(randomOf(SEED))
  let read = 0
  for (let index = 0; index < MODULES; index += 1) {
    const { source, parsed } = module([])
    const found = literal(source)
    if (JSON.parse(found) === null) continue
    read += 1
    const value = await ran(source)
    assert.notEqual(value, undefined, `it is read and does not run:\n${source}`)
    assert.equal(found, JSON.stringify(parsed ? value : { bare: value }), source)
  }
  assert.ok(read > MODULES * 0.6, `only ${read} of ${MODULES} were read`)
})

test('what only running can tell is not read', () => {
  const module = maker(randomOf(SEED + 1))
  for (const extra of COMPUTED) {
    for (let index = 0; index < 3; index += 1) {
      const { source } = module([extra])
      assert.equal(JSON.parse(literal(source)), null, source)
    }
  }
})
