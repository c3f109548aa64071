// A Node.js host that advances several times, and says before and after each what it does: node host.mjs OPERATION JSON.
import { runAdvance } from '../../../npm/lib/index.mjs'

const [operation, text] = process.argv.slice(2)
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

for (const [number, { force, abortAfter }] of JSON.parse(text).entries()) {
  const id = `${operation}.${number}`
  process.env.RACE_OPERATION = id
  const signal = abortAfter === null ? undefined : AbortSignal.timeout(abortAfter)
  say({ id, begin: Date.now(), force })
  try {
    const { run_id, status, run_log_path, plugin_entries } = await runAdvance({ force, signal })
    say({ id, end: Date.now(), run_id, status, run_log_path, plugin_entries })
  } catch ({ code, message, hint }) {
    say({ id, end: Date.now(), code, message, hint })
  }
}
