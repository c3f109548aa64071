// Runs a suite to its end, also where that does not come by itself: what hangs is killed so that its runner can still name it.
import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { below, signal } from './processes.mjs'

// The closing lines of cargo test, of node's test runner in both of its forms, and of pytest.
const PASSED = [
  /^test result: \w+\. (\d+) passed/gm,
  /^(?:#|ℹ) pass (\d+)$/gm,
  /^(?:\d+ failed, )?(\d+) passed.* in [\d.]+s/gm,
]
const FAILED = [
  /^test result: \w+\. \d+ passed; (\d+) failed/gm,
  /^(?:#|ℹ) fail (\d+)$/gm,
  /^(\d+) failed.* in [\d.]+s/gm,
]

function count(patterns, text) {
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .reduce((sum, [, number]) => sum + Number(number), 0)
}

/**
 * Ends with {name, ok, passed, failed, seconds, said}, the last being all it printed.
 *
 * After `limit` milliseconds its processes are killed, those that started no other first: who started them says then
 * what it waited for. `grace` is how long that is tried, and how long its output may stay open after its end.
 */
export function runSuite({ name, command, args, cwd, single }, { limit, grace }) {
  return new Promise((resolve) => {
    const started = Date.now()
    // A runner that is told to be part of another one says nothing by itself.
    const { NODE_TEST_CONTEXT, ...env } = process.env
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (chunk) => {
        said += chunk
        if (stream === child.stdout) text += chunk
      })
    }
    let timers = []
    const end = (ok) => {
      for (const timer of timers) clearTimeout(timer)
      timers = []
      // A variable of the caller may ask for colours.
      text = stripVTControlCharacters(text)
      said = stripVTControlCharacters(said)
      const passed = single ? Number(ok) : count(PASSED, text)
      const isFine = ok && passed > 0
      // A suite that fails without naming a test (it did not build, it hung) still counts as one failure.
      const failed = Math.max(single ? 0 : count(FAILED, text), Number(!isFine))
      const seconds = Math.round((Date.now() - started) / 1000)
      resolve({ name, ok: isFine, passed, failed, seconds, said })
    }
    const killLeaves = () => {
      for (const id of below(child.pid, { leaves: true })) signal(id, 'SIGKILL')
      timers.push(setTimeout(killLeaves, grace / 12))
    }
    timers.push(
      setTimeout(() => {
        said += `\nkilled: it had not ended after ${limit / 60_000} minutes\n`
        killLeaves()
        timers.push(
          setTimeout(() => {
            for (const id of below(child.pid)) signal(id, 'SIGKILL')
          }, grace),
        )
      }, limit),
    )
    child.on('error', (error) => {
      said += `${error.message}\n`
      end(false)
    })
    child.on('exit', () => {
      timers.push(
        setTimeout(() => {
          said += '\nit has ended, and left a process that holds its output\n'
          child.stdout.destroy()
          child.stderr.destroy()
          end(false)
        }, grace),
      )
    })
    child.on('close', (code) => end(code === 0))
  })
}
