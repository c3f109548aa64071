// Writes THIRD-PARTY.md: what is compiled into the native engines, under which licence, with the text of each.
//
//   node scripts/release/third-party.mjs [--check]
//
// Taken from the lock file and the sources that cargo has fetched, without a network. It goes into every package that
// holds compiled code. `--check` fails where the file does not say what is so. npm and Python bring nothing of others
// along, which is checked as well.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = join(root, 'THIRD-PARTY.md')
const BINDINGS = ['warpline-node', 'warpline-python']

/** Where a licence offers a choice, the first of these is taken: the fewer texts, the more likely they are read. */
const TAKEN = [
  'Apache-2.0',
  'MIT',
  'ISC',
  'Unicode-3.0',
  'Apache-2.0 WITH LLVM-exception',
  'BSL-1.0',
]
/** Words by which the text of a licence is known. */
const KNOWN_BY = {
  MIT: /Permission is hereby granted, free of charge/,
  ISC: /Permission to use, copy, modify,? and(?:\/or)? distribute this software/,
  'Unicode-3.0': /UNICODE LICENSE V3/i,
}
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/** What cargo says. */
function cargo(...args) {
  const all = [...args, '--locked', '--offline']
  const { status, stdout, stderr } = spawnSync('cargo', all, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (status !== 0) throw new Error(`cargo ${args[0]}: ${stderr}`)
  return stdout
}

/** The crates that are compiled into a binding, by name; build scripts and what only they need are not. */
function crates() {
  // The same crates for every target that is built, as a test says; other systems' are not fetched by a build.
  const target = process.env.WARPLINE_TARGET ?? 'x86_64-unknown-linux-gnu'
  const shown = ['--edges=normal', '--prefix=none', '--format={p}', `--target=${target}`]
  const tree = cargo('tree', ...shown, ...BINDINGS.map((name) => `--package=${name}`))
  // Metadata tells more of a crate, and also of those that an unused feature would bring.
  const reached = new Set(tree.match(/^\S+ v\S+/gm))
  const { packages } = JSON.parse(
    cargo('metadata', '--format-version=1', `--filter-platform=${target}`),
  )
  const key = ({ name, version }) => `${name} v${version}`
  const compare = (a, b) => (key(a) < key(b) ? -1 : 1)
  return packages.filter((each) => reached.has(key(each)) && each.source !== null).sort(compare)
}

/** The licences that are taken of an SPDX expression: one of each choice. Throws where none of a choice is allowed. */
export function taken(expression) {
  const parts = expression.replaceAll('/', ' OR ').split(/\s+AND\s+/)
  return parts.map((part) => {
    const choices = part
      .replace(/[()]/g, '')
      .split(/\s+OR\s+/)
      .map((name) => name.trim())
    const found = TAKEN.find((name) => choices.includes(name))
    if (!found) throw new Error(`no licence of \`${expression}\` is allowed`)
    return found
  })
}

/** The files of a crate that speak of its licence, by name. */
function papers(crate) {
  const directory = dirname(crate.manifest_path)
  return readdirSync(directory, { withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && /^(?:licen[cs]e|copying|notice|copyright)/i.test(entry.name),
    )
    .map(({ name }) => ({ name, text: tidy(readFileSync(join(directory, name), 'utf8')) }))
}

function tidy(text) {
  return text
    .replaceAll('\r', '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+|\n+$/g, '')
}

/** The text that a licence asks to be handed on with a crate. */
function paper(crate, licence) {
  if (licence.startsWith('Apache-2.0')) return undefined
  const files = papers(crate).filter(({ text }) => KNOWN_BY[licence]?.test(text))
  if (files.length > 0) return files.map(({ text }) => text).join('\n\n')
  if (licence !== 'MIT') throw new Error(`${crate.name} holds no text of ${licence}`)
  const authors = crate.authors.map((name) => name.replace(/ <.*>/, ''))
  return `Copyright (c) ${authors.join(', ') || `the authors of ${crate.name}`}\n\n${MIT}`
}

function table(all) {
  const rows = all.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`)
  return ['| crate | version | licence |', '|---|---|---|', ...rows].join('\n')
}

/** A text as a block that no line of it ends. */
function block(text) {
  return text
    .split('\n')
    .map((line) => (line ? `    ${line}` : ''))
    .join('\n')
}

/** The whole page. */
function write(all) {
  const texts = new Map()
  const notices = []
  for (const crate of all) {
    for (const licence of taken(crate.license)) {
      const text = paper(crate, licence)
      if (text !== undefined)
        texts.set(text, [...(texts.get(text) ?? []), `${crate.name} (${licence})`])
    }
    for (const { text } of papers(crate).filter(({ name }) => /^notice/i.test(name))) {
      notices.push(`### Notice of ${crate.name}\n\n${block(text)}`)
    }
  }
  const parts = [...texts].map(([text, names]) => `### ${names.join(', ')}\n\n${block(text)}`)
  return `# What others wrote

The native engine holds compiled code of the ${all.length} crates below, and of the standard library of Rust, which is under MIT or Apache-2.0; a
build for a target other than the machine's may hold parts of LLVM's libunwind and compiler-rt, under Apache-2.0 with the LLVM exception.
Where a licence offers a choice, the first of these is taken: ${TAKEN.join(', ')}. The text of Apache-2.0 is the project's own
\`LICENSE\`. The npm and the Python package depend on no others.

${table(all)}

## Texts

${[...parts, ...notices].join('\n\n')}
`
}

/** The packages of npm and Python bring nothing along: what they name is for those who work on the project. */
function refuseDependencies() {
  const { dependencies, bundledDependencies } = JSON.parse(
    readFileSync(join(root, 'npm/package.json'), 'utf8'),
  )
  if (dependencies ?? bundledDependencies)
    throw new Error('npm/package.json: a dependency needs its licence in THIRD-PARTY.md')
  const project = readFileSync(join(root, 'pyproject.toml'), 'utf8')
    .split(/^\[project\]$/m)[1]
    .split(/^\[/m)[0]
  if (/^dependencies\b/m.test(project))
    throw new Error('pyproject.toml: a dependency needs its licence in THIRD-PARTY.md')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  refuseDependencies()
  const text = write(crates())
  if (!process.argv.includes('--check')) writeFileSync(page, text)
  else if (readFileSync(page, 'utf8') !== text) {
    console.error('THIRD-PARTY.md does not fit the lock file: `make licences` writes it')
    process.exit(1)
  }
}
