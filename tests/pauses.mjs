// Runs a command while its processes are stopped by chance, as a machine with too much to do stops them: a test that counts on being
// quicker than something else fails here in minutes. `node tests/pauses.mjs [--seed N] [--longest MS] COMMAND...`
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { below, signal } from './processes.mjs'

const args = process.argv.slice(2)
const options = { '--seed': 1, '--longest': 400 }
while (args[0] in options) options[args.shift()] = Number(args.shift())

let state = options['--seed']
/** A whole number below `limit`, the same ones again for the same seed. */
function chance(limit) {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
  return Math.floor((state / 0x80000000) * limit)
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
