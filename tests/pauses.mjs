// Runs a command while its processes are stopped by chance, as a machine with too much to do stops them: a test that counts on being
// quicker than something else fails here in minutes. `node tests/pauses.mjs [--seed N] [--longest MS] COMMAND...`
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const args = process.argv.slice(2)
const options = { '--seed': 1, '--longest': 400 }
while (args[0] in options) options[args.shift()] = Number(args.shift())

let state = options['--seed']
/** A whole number below `limit`, the same ones again for the same seed. */
function chance(limit) {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
  return Math.floor((state / 0x80000000) * limit)
}

/** All processes below one, itself included: what a test starts in a session of its own still has its parent. */
function below(root) {
  const parents = new Map()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]))
    } catch {
      // It has ended meanwhile.
    }
  }
  const found = new Set([root])
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const [id, parent] of parents) if (found.has(parent)) found.add(id)
  }
  return [...found]
}

function signal(id, name) {
  try {
    process.kill(id, name)
  } catch {
    // It has ended meanwhile.
  }
}

const child = spawn(args[0], args.slice(1), { stdio: 'inherit' })
let running = true
child.on('exit', (code, killed) => {
  running = false
  process.exitCode = killed ? 1 : code
})
while (running) {
  const stopped = below(child.pid).filter(() => chance(3) === 0)
  for (const id of stopped) signal(id, 'SIGSTOP')
  await sleep(1 + chance(options['--longest']))
  for (const id of stopped) signal(id, 'SIGCONT')
  await sleep(1 + chance(200))
}
