// Holds cases.txt against the tests: every case has a test that names it, and no test names an unknown one.
//
// A line of cases.txt is an id, its area and, where a decision of this project overrules the case, which one:
// `T100 dueness CHANGED: a cycle fails its own plugins and stops no others`. A test names what it shows in
// comment lines right above it, `Cases: T047, T048.`; in Python they may also end its docstring.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './support.mjs'

/** Where tests are. */
const FOLDERS = [
  'bindings-node',
  'bindings-python',
  'core/src',
  'core/tests',
  'npm/examples/test',
  'npm/test',
  'python/warpline',
  'tests',
]

const faults = []
const fault = (where, what) => faults.push(`${where}: ${what}`)

/** Every case by its id: its area. */
const known = new Map()
for (const line of readFileSync(join(root, 'tests/cases.txt'), 'utf8').trimEnd().split('\n')) {
  const [, id, area] = line.match(/^(T\d{3}) ([a-z-]+)(?: CHANGED: \S.*)?$/) ?? []
  if (id === undefined) fault('tests/cases.txt', `\`${line}\` is no case`)
  else if (known.has(id)) fault('tests/cases.txt', `${id} is there twice`)
  else known.set(id, area)
}

/** Every file of a language of ours below a folder. */
function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* files(path)
    else if (entry.isFile() && /\.(?:rs|js|mjs|py)$/.test(entry.name)) yield path
  }
}

/** A line that names cases, well or badly: in a comment, or in a docstring by itself. */
const COMMENT = /^\s*(?:(?:\/\/|#|""").*)?\bCases: /
const RUST_TEST = /^\s*#\[(?:tokio::)?test\b/
const SCRIPT_TEST = /^\s*(?:(?:it|test)(?:\.\w+)?\(|(?:async )?def test_|@pytest\.)/

/** Whether the comment at `at` belongs to a test: one begins right below it, or in Python right above it. */
function isOfTest(lines, at, path) {
  const begins = path.endsWith('.rs') ? RUST_TEST : SCRIPT_TEST
  const below = lines.slice(at + 1).find((line) => !/^\s*(?:\/\/|#(?!\[))/.test(line))
  if (below !== undefined && begins.test(below)) return true
  if (!path.endsWith('.py')) return false
  const opening = lines.slice(0, at + 1).findLastIndex((line) => line.includes('"""'))
  const above = lines.slice(0, opening).findLast((line) => /\bdef /.test(line))
  return above !== undefined && SCRIPT_TEST.test(above)
}

const shown = new Set()
for (const path of FOLDERS.flatMap((folder) => [...files(join(root, folder))])) {
  if (path === fileURLToPath(import.meta.url)) continue
  const lines = readFileSync(path, 'utf8').split('\n')
  for (const [at, line] of lines.entries()) {
    if (!COMMENT.test(line)) continue
    const where = `${relative(root, path)}:${at + 1}`
    const [, list] = line.match(/\bCases: (T\d{3}(?:, T\d{3})*)\.(?:"""|\s*$)/) ?? []
    if (list === undefined) fault(where, 'expected a comment such as `Cases: T047, T048.`')
    else if (!isOfTest(lines, at, path)) fault(where, 'the cases stand above no test')
    for (const id of list?.split(', ') ?? []) {
      if (known.has(id)) shown.add(id)
      else fault(where, `cases.txt does not know ${id}`)
    }
  }
}

for (const [id, area] of known) if (!shown.has(id)) fault(area, `no test shows ${id}`)

if (faults.length > 0) {
  console.error(faults.join('\n'))
  process.exitCode = 1
}
