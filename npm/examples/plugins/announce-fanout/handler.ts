// Shows: inputs that are lists and objects. Their insides are checked here, since the manifest says no more than `array` and
// `object`; each channel is on record as soon as it was told, so that a run after a failure tells only the others.
import { join } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteJson, readJsonOrNull } from 'warpline/unstable-fs'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { digestOf, toChannels, toLabels, toTold } from './channels.ts'

/** Whether the channel took the message. */
async function post(url: string, message: object, signal: AbortSignal): Promise<boolean> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(message)
  const response = await fetch(url, { method: 'POST', headers, body, signal }).catch(() => null)
  return response?.ok ?? false
}

export const handler: CapabilityHandlerFn = async (manifest, args, signal, capabilities) => {
  const failure = { phases_failed: [manifest.name] }
  const base = args.base_url as string
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
    return skillFailure('parse_error', 'input `base_url` must be an http or https URL', failure)
  }
  const [channels, labels] = [toChannels(args.channels), toLabels(args.labels)]
  if (typeof channels === 'string') return skillFailure('parse_error', channels, failure)
  if (typeof labels === 'string') return skillFailure('parse_error', labels, failure)
  const upstream = capabilities.dependencies.lastOutput(capabilities.caller, 'daily-digest')
  if (upstream?.body === undefined) {
    return skillFailure('data_missing', 'no data from `daily-digest`', failure)
  }
  const file = join('state', `${manifest.name}.json`)
  const path = join(warplineHome(), file)
  const before = toTold(await readJsonOrNull(path).catch(() => undefined))
  if (before === null) {
    const message = `file \`${file}\` of the home is not the record that \`${manifest.name}\` keeps`
    return skillFailure('parse_error', message, failure)
  }

  const digest = digestOf(upstream.body)
  const told = before.digest === digest ? [...before.channels] : []
  const todo = channels.filter(({ name }) => !told.includes(name))
  let delivered = 0
  for (const { name, path: place } of todo) {
    if (signal.aborted) break
    const url = `${base.replace(/\/+$/, '')}${place}`
    if (await post(url, { text: upstream.body, labels }, signal)) {
      delivered += 1
      told.push(name)
      await atomicWriteJson(path, { digest, channels: told })
    }
  }
  if (delivered === 0) signal.throwIfAborted()

  const counts = {
    before: channels.length - todo.length,
    delivered,
    failed: todo.length - delivered,
  }
  const errors = [
    {
      code: 'dependency_unavailable' as const,
      message: `${counts.failed} of ${channels.length} channels did not take the message`,
      impact: 'MEDIUM' as const,
    },
  ]
  const result = skillOk(`told ${delivered} of ${channels.length} channels`, {
    phases_completed: [manifest.name],
    data_freshness: { 'daily-digest': upstream.produced_at ?? '' },
    artifacts_produced: [{ type: 'delivery', format: 'json', body: JSON.stringify(counts) }],
    // What was said stays said.
    ...(delivered > 0 && { reversible: false }),
  })
  if (counts.failed === 0) return result
  const status = delivered > 0 ? 'partial' : 'failed'
  return { ...result, ...failure, phases_completed: [], errors, status }
}
