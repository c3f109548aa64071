// Shows: a plugin that writes nothing. What it says follows from another plugin's Output alone, so there is nothing to
// remember, nothing to clean up and nothing to ask anybody about; run twice, it says the same.
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { summary, toWeeks } from './summary.ts'

export const handler: CapabilityHandlerFn = async (manifest, _args, _signal, capabilities) => {
  const failure = { phases_failed: [manifest.name] }
  const upstream = capabilities.dependencies.lastOutput(capabilities.caller, 'metrics-rollup')
  if (upstream === null) {
    return skillFailure('data_missing', 'no data from `metrics-rollup`', failure)
  }
  const weeks = toWeeks(upstream.body)
  if (weeks === null) {
    const message = 'the body of the last `metrics-rollup` Output holds no weeks'
    return skillFailure('parse_error', message, failure)
  }
  return skillOk(weeks.length === 0 ? 'no metrics yet' : 'summary derived', {
    phases_completed: [manifest.name],
    data_freshness: { 'metrics-rollup': upstream.produced_at ?? '' },
    artifacts_produced: [{ type: 'summary', body: summary(weeks) }],
  })
}
