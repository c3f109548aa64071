// Shows: handing work over. Which entries matter is a judgement, so no code here makes it, and no model is called: the
// entries go into a file under the home, and the result names the task and the file for whoever consumes such results.
import { join } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteJson } from 'warpline/unstable-fs'
import { skillFailure, skillHandoff, skillOk } from 'warpline/unstable-result'
import { taskOf, toEntries } from './entries.ts'

export const handler: CapabilityHandlerFn = async (manifest, _args, signal, capabilities) => {
  const failure = { phases_failed: [manifest.name] }
  const { caller, dependencies } = capabilities
  const upstream = dependencies.lastOutput(caller, 'feed-monitor')
  if (upstream === null) return skillFailure('data_missing', 'no data from `feed-monitor`', failure)
  const entries = toEntries(upstream.body)
  if (entries === null) {
    const message = 'the body of the last `feed-monitor` Output holds no entries'
    return skillFailure('parse_error', message, failure)
  }
  const fields = {
    phases_completed: [manifest.name],
    data_freshness: { 'feed-monitor': upstream.produced_at ?? '' },
  }
  if (entries.length === 0) return skillOk('nothing new to judge', fields)

  // The path is made of the plugin's name alone, and the same entries make the same file: run twice, it asks the same.
  const file = `state/${manifest.name}.json`
  const { run_id, produced_at } = upstream
  // A record outlives a later run that failed; who reads it is told.
  const last_run = dependencies.lastRun(caller, 'feed-monitor')
  signal.throwIfAborted()
  await atomicWriteJson(join(warplineHome(), file), { run_id, produced_at, last_run, entries })
  return skillHandoff(taskOf(entries.length), file, fields)
}
