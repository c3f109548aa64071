// Shows: a plugin with a memory. The rows it has seen stay in a file of its own for as long as the operator wants,
// whatever becomes of the file they came from, and the Output is derived from them anew each time.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteJson, readJsonOrNull } from 'warpline/unstable-fs'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { type Row, retain, rollUp, sampleRows, toRows } from './rows.ts'

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const handler: CapabilityHandlerFn = async (manifest, args, signal) => {
  const failure = { phases_failed: [manifest.name] }
  const days = args.retention_days as number // the runtime checked both types against the manifest
  const source = args.metrics_path as string | undefined
  if (source === '') {
    return skillFailure('parse_error', 'input `metrics_path` must not be empty', failure)
  }
  if (!(days > 0 && days <= 3660)) {
    const message = 'input `retention_days` must be above 0 and at most 3660'
    return skillFailure('parse_error', message, failure)
  }

  const now = Date.now()
  const report = (summary: string, rows: Row[]) =>
    skillOk(summary, {
      phases_completed: [manifest.name],
      data_freshness: { metrics: rows.at(-1)?.at ?? new Date(now).toISOString() },
      artifacts_produced: [
        { type: 'metrics-rollup', format: 'json', body: JSON.stringify(rollUp(rows)) },
      ],
    })
  if (source === undefined) {
    // Not remembered: these rows are nobody's.
    const rows = sampleRows(now)
    return report(`a sample of ${rows.length} rows: \`metrics_path\` names no file yet`, rows)
  }

  let text: string
  try {
    text = await readFile(resolve(warplineHome(), source), { encoding: 'utf8', signal })
  } catch (error) {
    signal.throwIfAborted()
    // The system's own text would show the path, which is the operator's.
    const { code } = error as NodeJS.ErrnoException
    const message = `the file of input \`metrics_path\` cannot be read (${code ?? 'unknown'})`
    return skillFailure('data_missing', message, failure)
  }
  const fresh = toRows(parse(text))
  if (!Array.isArray(fresh)) {
    const what =
      fresh === null
        ? 'is not a JSON array'
        : `has no \`{at, name, value}\` at position ${fresh} of its array`
    return skillFailure('parse_error', `the file of input \`metrics_path\` ${what}`, failure)
  }

  const file = join('state', `${manifest.name}.json`)
  const memory = await readJsonOrNull(join(warplineHome(), file)).catch(() => undefined)
  const kept = memory === null ? [] : toRows(memory)
  if (!Array.isArray(kept)) {
    const message = `file \`${file}\` of the home is not the record that \`${manifest.name}\` keeps`
    return skillFailure('parse_error', message, failure)
  }
  const rows = retain(kept, fresh, days, now)
  signal.throwIfAborted()
  await atomicWriteJson(join(warplineHome(), file), rows)
  return report(`${fresh.length} rows read, ${rows.length} kept`, rows)
}
