// One advance of a home, as each of the schedulers beside this file makes it.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runAdvance } from 'warpline'

/**
 * Tells a person that an advance did not end complete. Put your pager or your mail in here.
 *
 * @param {string} text
 */
export function alert(text) {
  console.error(`ALERT ${text}`)
}

/**
 * Runs what is due until it ends, or the signal fires.
 *
 * @param {AbortSignal} signal
 * @returns {Promise<string>} `complete`, `partial`, `failed` or `interrupted`; `busy` where another
 *   advance of the home is at work, which is no failure, as the next tick will do; `refused` where it
 *   could not begin
 */
export async function oneAdvance(signal) {
  try {
    const { run_id, status, gated_plugins } = await runAdvance({
      signal,
      onPluginEnd: (plugin, state, _, reason) => console.log(`${plugin} ${state} ${reason ?? ''}`),
      onRunFailure: alert,
    })
    for (const plugin of gated_plugins) {
      console.log(`${plugin} waits for an answer: warpline approve ${plugin}, or deny`)
    }
    console.log(`run ${run_id} is ${status}`)
    return status
  } catch (error) {
    if (error.code === 'ERR_WARPLINE_LOCKED') {
      console.log('another advance is at work: the next tick will do')
      return 'busy'
    }
    alert(`the advance could not begin: ${error.message}`)
    return 'refused'
  }
}

/**
 * Reads what each of these programs is told, and gives the process its home and the secrets of plugins.
 *
 * @returns a signal that fires when the process is told to stop, and the cron expression of its ticks
 */
export function prepare() {
  const { values } = parseArgs({
    options: {
      home: { type: 'string' },
      secrets: { type: 'string' },
      cron: { type: 'string', default: '*/15 * * * *' },
    },
  })
  if (!values.home) throw new Error('--home says which home')
  process.env.WARPLINE_HOME = resolve(values.home)
  // Lines such as `API_TOKEN=...`
  const lines = values.secrets ? readFileSync(values.secrets, 'utf8').split('\n') : []
  for (const line of lines) {
    const [, name, value] = /^([^#=]+)=(.*)$/.exec(line) ?? []
    if (name) process.env[name] = value
  }
  const stop = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT']) process.once(name, () => stop.abort())
  return { signal: stop.signal, cron: values.cron }
}
