// Shows: an effect that is asked about twice. It needs a grant to write files and its result waits for an answer; a file that is
// there already may hold what a person added, and stays.
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteText } from 'warpline/unstable-fs'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { noteName, noteText, toBreaches } from './notes.ts'

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

export const handler: CapabilityHandlerFn = async (manifest, _args, signal, capabilities) => {
  const failure = { phases_failed: [manifest.name] }
  const upstream = capabilities.dependencies.lastOutput(capabilities.caller, 'anomaly-watch')
  if (upstream === null)
    return skillFailure('data_missing', 'no data from `anomaly-watch`', failure)
  const breaches = toBreaches(upstream.body)
  if (breaches === null) {
    return skillFailure(
      'parse_error',
      'the body of the last `anomaly-watch` Output holds no breaches',
      failure,
    )
  }

  const folder = join(warplineHome(), 'notes')
  const paths: string[] = []
  let written = 0
  let stopped: unknown
  try {
    for (const breach of breaches) {
      signal.throwIfAborted()
      const path = join(folder, noteName(breach))
      // A note that is there already may hold what a person added since.
      if (!(await exists(path))) {
        await atomicWriteText(path, noteText(breach))
        written += 1
      }
      paths.push(path)
    }
  } catch (error) {
    // Nothing was changed: an ordinary failure. Otherwise the notes that exist must stay on record.
    if (written === 0) throw error
    stopped = error
  }

  const result = skillOk(
    `${written} written, ${paths.length - written} there before, of ${breaches.length} breached`,
    {
      phases_completed: [manifest.name],
      data_freshness: { 'anomaly-watch': upstream.produced_at ?? '' },
      artifacts_produced: paths.map((path) => ({ type: 'incident-note', path })),
      // Every standing note, not only today's: a later result takes the place of one that still waits for an answer.
      ...(paths.length > 0 && { reversible: true, undo_instruction: `delete ${paths.join(', ')}` }),
    },
  )
  return stopped === undefined
    ? result
    : { ...result, ...failure, status: 'partial', phases_completed: [] }
}
