// Measures which lines of the rules and of the home no test of the core reaches, and holds them against tests/uncovered.txt.
//
// It wants cargo-llvm-cov, and an llvm-cov and llvm-profdata that read the profiles of this rustc. `--write` adds what is new to the
// list, without a reason, and takes out what is reached by now; a line without a reason is a failure. `--report-only` measures nothing anew.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from '../support.mjs'

const LIST = join(root, 'tests', 'uncovered.txt')
const WATCHED = /^core\/src\/(decide|home)\//
const UNKNOWN = '?'

/** The tool of the major version that this rustc has, unless the environment names one. */
function tool(variable, name) {
  if (process.env[variable]) return process.env[variable]
  const { stdout } = spawnSync('rustc', ['-vV'], { encoding: 'utf8' })
  const [, major] = /LLVM version: (\d+)/.exec(stdout) ?? []
  const path = `/usr/bin/${name}-${major}`
  if (spawnSync(path, ['--version']).status === 0) return path
  throw new Error(
    `no ${name} of LLVM ${major}: install llvm-${major}, or name one with ${variable}`,
  )
}

const env = {
  ...process.env,
  LLVM_COV: tool('LLVM_COV', 'llvm-cov'),
  LLVM_PROFDATA: tool('LLVM_PROFDATA', 'llvm-profdata'),
}

function cargo(args) {
  const ended = spawnSync('cargo', ['llvm-cov', ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (ended.error) throw ended.error
  if (ended.status !== 0) throw new Error(`cargo llvm-cov ${args[0]} ended with ${ended.status}`)
  return ended.stdout
}

/** The lines that ran not once, by file, of a report in the form of lcov. */
function uncovered(report) {
  const found = new Map()
  for (const record of report.split('end_of_record')) {
    const [, path] = /^SF:(.*)$/m.exec(record) ?? []
    const name = path && relative(root, path)
    if (!name || !WATCHED.test(name) || /tests\.rs$|fixtures\.rs$/.test(name)) continue
    const lines = [...record.matchAll(/^DA:(\d+),0$/gm)].map(([, line]) => Number(line))
    if (lines.length > 0) found.set(name, lines)
  }
  return found
}

/** `file function` with its lines, the tests at the end of a file left out. */
function byFunction(found) {
  const functions = new Map()
  for (const [file, lines] of found) {
    const source = readFileSync(join(root, file), 'utf8').split('\n')
    const tests = source.findIndex((line) => /^mod tests \{/.test(line))
    for (const line of lines.filter((line) => tests === -1 || line <= tests)) {
      let at = line - 1
      while (at >= 0 && !/\bfn \w+/.test(source[at])) at -= 1
      const name = /\bfn (\w+)/.exec(source[at] ?? '')?.[1] ?? UNKNOWN
      const key = `${file} ${name}`
      functions.set(key, [...(functions.get(key) ?? []), line])
    }
  }
  return functions
}

function readList() {
  const lines = readFileSync(LIST, 'utf8').split('\n')
  const heading = lines.filter((line) => line.startsWith('#'))
  const rows = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const split = rows.map((row) => row.split(' '))
  return {
    heading,
    reasons: new Map(split.map(([file, name, ...reason]) => [`${file} ${name}`, reason.join(' ')])),
  }
}

// The tests of workers look for examples where another build puts them; they reach nothing here that others do not.
const TESTS = ['answers', 'cli', 'engine', 'faults', 'home_files', 'model', 'vectors']

if (!process.argv.includes('--report-only')) {
  const which = ['--lib', ...TESTS.flatMap((name) => ['--test', name])]
  const features = ['--features', 'warpline-core/fault-injection']
  cargo(['--locked', '-p', 'warpline-core', ...features, '--no-report', ...which])
}
// A process that a test killed leaves half a profile.
const functions = byFunction(uncovered(cargo(['report', '--lcov', '--failure-mode', 'all'])))
const { heading, reasons } = readList()
const faults = []
for (const [key, lines] of functions) {
  if (!reasons.get(key))
    faults.push(`${key}: no test reaches ${lines.join(', ')}, and no reason is given`)
}
for (const key of reasons.keys()) {
  if (!functions.has(key)) faults.push(`${key}: is reached by now, and still listed`)
}
if (process.argv.includes('--write')) {
  const rows = [...functions.keys()].sort().map((key) => `${key} ${reasons.get(key) ?? ''}`.trim())
  writeFileSync(LIST, `${[...heading, ...rows].join('\n')}\n`)
}
for (const fault of faults) console.log(fault)
const count = [...functions.values()].reduce((sum, lines) => sum + lines.length, 0)
console.log(
  `coverage: ${count} lines of ${functions.size} functions are not reached, findings ${faults.length}`,
)
process.exitCode = faults.length === 0 ? 0 : 1
