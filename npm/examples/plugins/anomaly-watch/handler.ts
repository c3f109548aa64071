// Shows: comparing with what was. The limits are configuration, the readings are another plugin's Output, and a breach keeps the
// moment it was first seen in a file of the plugin's own.
import { join } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteJson, readJsonOrNull } from 'warpline/unstable-fs'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { type Bounds, report, standing, toCurrent, toStanding } from './limits.ts'

export const handler: CapabilityHandlerFn = async (manifest, args, signal, capabilities) => {
  const failure = { phases_failed: [manifest.name] }
  const upstream = capabilities.dependencies.lastOutput(capabilities.caller, 'host-metrics')
  if (upstream === null) return skillFailure('data_missing', 'no data from `host-metrics`', failure)
  const current = toCurrent(upstream.body)
  if (current === null) {
    return skillFailure(
      'parse_error',
      'the body of the last `host-metrics` Output holds no readings',
      failure,
    )
  }

  // What breached before is kept in a file that is named after the plugin alone, so that no input can lead it elsewhere.
  // It is this plugin's memory and concerns nobody else, which is why the manifest declares no effect for it.
  const file = join('state', `${manifest.name}.json`)
  const path = join(warplineHome(), file)
  const before = toStanding(await readJsonOrNull(path).catch(() => undefined))
  if (before === null) {
    return skillFailure(
      'parse_error',
      `file \`${file}\` of the home is not the record that \`${manifest.name}\` keeps`,
      failure,
    )
  }

  const now = { since: new Date().toISOString(), since_run: capabilities.caller.runId }
  const result = report(current, args as Bounds, before, now)
  signal.throwIfAborted()
  await atomicWriteJson(path, standing(result))
  return skillOk(
    `${result.breached.length} breached, ${result.newly_breached.length} newly, ${result.cleared.length} cleared`,
    {
      phases_completed: [manifest.name],
      data_freshness: { 'host-metrics': upstream.produced_at ?? now.since },
      artifacts_produced: [
        { type: 'anomaly-report', format: 'json', body: JSON.stringify(result) },
      ],
    },
  )
}
