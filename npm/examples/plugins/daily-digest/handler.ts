// Shows: building on several plugins. A part without data is named in the page and not left out, and how its last run ended
// stands beside data that may be older than that run.
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillOk } from 'warpline/unstable-result'
import { digest } from './digest.ts'

export const handler: CapabilityHandlerFn = async (
  manifest,
  _args,
  _signal,
  { caller, dependencies },
) => {
  const upstream = (name: string) => ({
    output: dependencies.lastOutput(caller, name),
    run: dependencies.lastRun(caller, name),
  })
  const dates = manifest.dependencies.flatMap((name) => {
    const producedAt = upstream(name).output?.produced_at
    return producedAt === undefined ? [] : [[name, producedAt] as const]
  })
  const missing = manifest.dependencies.length - dates.length
  return skillOk(
    missing === 0
      ? 'all parts present'
      : `${missing} of ${manifest.dependencies.length} parts without data`,
    {
      phases_completed: [manifest.name],
      data_freshness: Object.fromEntries(dates),
      artifacts_produced: [{ type: 'digest', format: 'markdown', body: digest(upstream) }],
    },
  )
}
