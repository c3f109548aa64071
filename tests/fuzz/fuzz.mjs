// Runs the fuzz targets, each for FUZZ_SECONDS (60), and prints a table of what they did. An input that
// crashes one is kept below fuzz/regressions, where `cargo test` finds it, and makes this end with 1.
//
// FUZZ_TARGETS="json erase" runs some of them alone, FUZZ_JOBS=1 one after the other. The argument is the command `cargo-fuzz`.
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { root } from '../support.mjs'

const folder = join(root, 'fuzz')
const seconds = Number(process.env.FUZZ_SECONDS ?? 60)
if (!(Number.isInteger(seconds) && seconds > 0)) throw new Error('FUZZ_SECONDS: expected seconds')

/** How many run at once. */
const jobs = Number(process.env.FUZZ_JOBS ?? availableParallelism())

/** Beside those of memory that `fuzz/limit.rs` sets for the allocations of a target. */
const LIMITS = ['-timeout=10', '-rss_limit_mb=1024', '-malloc_limit_mb=512', '-max_len=16384']

/** How long a crashing input is made shorter, in seconds. */
const MINIMIZE = 15

const DICTIONARIES = {
  erase: 'code',
  literal_manifest: 'code',
  manifest_source: 'code',
  typescript: 'code',
  python: 'python',
}

const known = readdirSync(join(folder, 'fuzz_targets')).map((file) => file.replace('.rs', ''))
const targets = process.env.FUZZ_TARGETS?.split(' ').filter(Boolean) ?? known.sort()
const odd = targets.filter((name) => !known.includes(name))
if (odd.length > 0) throw new Error(`FUZZ_TARGETS: no target is called ${odd.join(', ')}`)

/** The machine that is built for, which names a directory of its own. */
function triple() {
  const { stdout } = spawnSync('rustc', ['-vV'], { encoding: 'utf8' })
  return stdout.match(/^host: (.*)$/m)[1]
}

function build(command) {
  // The stable compiler has no sanitizer, and needs none: the code is safe Rust.
  const args = ['build', '--fuzz-dir', folder, '--sanitizer', 'none']
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error('the targets were not built')
}

function directory(...parts) {
  const path = join(folder, ...parts)
  mkdirSync(path, { recursive: true })
  return path
}

/** A target that ends does not clean up, so what it writes for the time being lies here. */
const scratch = directory('work', '.tmp')
const env = { ...process.env, TMPDIR: scratch }

/** Ends with {code, said}. */
function call(binary, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.setEncoding('utf8')
    // The statistics come last, what crashed shortly before.
    child.stderr.on('data', (chunk) => {
      said = (said + chunk).slice(-200_000)
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, said }))
  })
}

/** Makes an input that crashes shorter, as far as that goes quickly, and keeps it for the tests. */
async function keep(binary, name, path, file) {
  const shorter = join(path, `short-${file}`)
  const args = ['-minimize_crash=1', `-max_total_time=${MINIMIZE}`, ...LIMITS]
  await call(binary, [...args, `-exact_artifact_path=${shorter}`, join(path, file)])
  const still = existsSync(shorter) && (await call(binary, [...LIMITS, shorter])).code !== 0
  const kept = join(directory('regressions', name), file)
  copyFileSync(still ? shorter : join(path, file), kept)
  return kept
}

/** Ends with what one target did. */
async function fuzz(name, binaries) {
  const binary = join(binaries, name)
  const artifacts = directory('artifacts', name)
  const before = new Set(readdirSync(artifacts))
  const corpora = [
    directory('work', name),
    directory('corpus', name),
    directory('regressions', name),
  ]
  const { code, said } = await call(binary, [
    ...corpora,
    ...LIMITS,
    `-max_total_time=${seconds}`,
    `-artifact_prefix=${artifacts}/`,
    `-dict=${join(folder, 'dictionaries', `${DICTIONARIES[name] ?? 'json'}.dict`)}`,
    '-print_final_stats=1',
  ])
  const number = (pattern) => Number([...said.matchAll(pattern)].at(-1)?.[1] ?? 0)
  const fresh = readdirSync(artifacts).filter((file) => !before.has(file))
  const crashes = fresh.filter((file) => /^(crash|timeout|oom|leak)-/.test(file))
  if (code !== 0) console.log(`\n=== ${name}\n${said.slice(-8000)}`)
  for (const file of crashes) {
    console.log(`kept as ${await keep(binary, name, artifacts, file)}`)
  }
  return {
    target: name,
    executions: number(/stat::number_of_executed_units: (\d+)/g),
    'execs/s': number(/stat::average_exec_per_sec: +(\d+)/g),
    coverage: number(/ cov: (\d+)/g),
    'peak MB': number(/stat::peak_rss_mb: +(\d+)/g),
    crashes: Math.max(crashes.length, Number(code !== 0)),
  }
}

const results = []

async function run(waiting, binaries) {
  for (let name = waiting.shift(); name; name = waiting.shift()) {
    results.push(await fuzz(name, binaries))
  }
}

build(process.argv[2])
const binaries = join(folder, 'target', triple(), 'release')
const waiting = [...targets]
await Promise.all(Array.from({ length: jobs }, () => run(waiting, binaries)))
rmSync(scratch, { recursive: true })
results.sort((left, right) => targets.indexOf(left.target) - targets.indexOf(right.target))

const columns = Object.keys(results[0])
const width = (column) =>
  Math.max(...[column, ...results.map((row) => `${row[column]}`)].map((text) => text.length))
const line = (row) =>
  columns
    .map((column, at) => `${row[column]}`[at === 0 ? 'padEnd' : 'padStart'](width(column)))
    .join('  ')
console.log(`\n${line(Object.fromEntries(columns.map((column) => [column, column])))}`)
for (const row of results) console.log(line(row))
process.exitCode = results.some(({ crashes }) => crashes > 0) ? 1 : 0
