// Plays the lanes of a round side by side, each operation a process, and takes down what each reported and when.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { environment, hosts, npmDir, python } from '../../support.mjs'

const LIMIT_MS = 300_000

const programs = {
  node: [process.execPath, fileURLToPath(new URL('host.mjs', import.meta.url))],
  python: [python, fileURLToPath(new URL('host.py', import.meta.url))],
}

/** How long a kind of operation takes, as it was seen so far: a kill is to fall inside of it. */
const typical = new Map()

/** The variables of every process of a race; `mark` is how those that are left are found. */
export function variables(home, mark) {
  return environment(home, {
    ...hosts.python.extra,
    RACE_MARK: mark,
    RACE_EFFECTS: `${home}-effects.jsonl`,
    WARPLINE_PYTHON: python,
    WARPLINE_NODE: process.execPath,
    WARPLINE_NPM: npmDir,
  })
}

const parsed = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Runs one operation to its end; adds pid, begin, end, killed, status, signal, said and what it reported. */
function play(operation, env) {
  const { id, by, kind, args, advances, stop } = operation
  const [command, ...first] = advances
    ? [...programs[by], id, JSON.stringify(advances)]
    : [hosts[by].command, ...hosts[by].args, ...args]
  return new Promise((resolve, reject) => {
    const begin = Date.now()
    const child = spawn(command, first, {
      env: { ...env, RACE_OPERATION: id },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      out += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      said += chunk
    })
    let hung = false
    const limit = setTimeout(() => {
      hung = true
      child.kill('SIGKILL')
    }, LIMIT_MS)
    const key = `${by} ${kind}`
    const delay = stop && stop.share * (typical.get(key) ?? 500)
    const kill = () => child.kill(stop.signal)
    const timer = stop && !stop.acted && setTimeout(kill, delay)
    const watcher =
      stop?.acted &&
      setInterval(() => {
        if (readFileSync(env.RACE_EFFECTS, 'utf8').includes(`"${id}`)) kill()
      }, 5)
    // The end of the process counts, not that of its output, which what it started may hold open.
    let end
    child.on('exit', () => {
      end = Date.now()
      clearTimeout(limit)
      clearTimeout(timer)
      clearInterval(watcher)
    })
    child.on('error', reject)
    child.on('close', (status, signal) => {
      if (!stop) typical.set(key, end - begin)
      const killed = signal !== null
      resolve({ ...operation, pid: child.pid, begin, end, killed, hung, status, out, said })
    })
  })
}

/** The advances of an operation, each with begin, end (that of the process where it was killed) and what it came to. */
function advancesOf(operation) {
  const { id, kind, begin, end, killed, status, out, said, pid } = operation
  if (kind === 'advance') {
    const report = parsed(out)
    const [message] = said.split('\n').filter((line) => /another advance|state\.lock/.test(line))
    const { force } = operation
    return [{ id, begin, end, force, killed, status, pid, ended: report, message }]
  }
  if (!operation.advances) return []
  const lines = out.split('\n').map(parsed).filter(Boolean)
  return lines
    .filter((line) => line.begin !== undefined)
    .map((line) => {
      const answer = lines.find((other) => other.id === line.id && other.end !== undefined)
      const times = { id: line.id, begin: line.begin, end: answer?.end ?? end, force: line.force }
      const ended = answer?.run_id ? answer : null
      return { ...times, pid, killed: !answer, ended, code: answer?.code, message: answer?.message }
    })
}

/** Plays the lanes; `{operations, advances}` in no order. */
export async function playRound(lanes, env) {
  const played = await Promise.all(
    lanes.map(async (lane) => {
      const done = []
      for (const operation of lane) done.push(await play(operation, env))
      return done
    }),
  )
  const operations = played.flat().map((each) => ({ ...each, report: parsed(each.out) }))
  return { operations, advances: operations.flatMap(advancesOf) }
}

/** The processes that carry the mark, as `pid command`. */
async function marked(mark) {
  const found = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const text = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    if (!text.includes(`RACE_MARK=${mark}\0`)) continue
    const command = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
    found.push(`${pid} ${command.replaceAll('\0', ' ')}`)
  }
  return found
}

/** What still runs a minute after the last process of a round has ended. */
export async function leftBehind(mark) {
  const until = Date.now() + 60_000
  for (;;) {
    const found = await marked(mark)
    if (found.length === 0 || Date.now() > until) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
