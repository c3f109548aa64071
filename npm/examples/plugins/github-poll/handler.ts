// Shows: reading over the network. It is declared as an effect, only what time mends is tried again, the signal ends the
// request, and nothing of the configuration gets into the result: the Output has numbers, the repository stays out.
import { join } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteJson, readJsonOrNull } from 'warpline/unstable-fs'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { deltaOf, isRepo, refusalOf, toCounters, toSnapshot } from './counters.ts'

export const handler: CapabilityHandlerFn = async (manifest, args, signal) => {
  const failure = { phases_failed: [manifest.name] }
  const repo = args.repo as string
  if (!isRepo(repo)) {
    return skillFailure('parse_error', 'input `repo` must be in the form owner/name', failure)
  }
  if (!/^https?:\/\//.test(args.base_url as string) || !URL.canParse(args.base_url as string)) {
    return skillFailure('parse_error', 'input `base_url` must be an http or https URL', failure)
  }
  const file = join('state', `${manifest.name}.json`)
  const path = join(warplineHome(), file)
  const before = toSnapshot(await readJsonOrNull(path).catch(() => undefined))
  if (before === null) {
    const message = `file \`${file}\` of the home is not the record that \`${manifest.name}\` keeps`
    return skillFailure('parse_error', message, failure)
  }

  let response: Response
  let answer: unknown
  try {
    const base = (args.base_url as string).replace(/\/+$/, '')
    const headers = { accept: 'application/vnd.github+json', 'user-agent': 'warpline-github-poll' }
    response = await fetch(`${base}/repos/${repo}`, { headers, signal })
    answer = await response.json().catch(() => undefined)
    signal.throwIfAborted()
  } catch {
    signal.throwIfAborted()
    const message = 'the API cannot be reached'
    return skillFailure('dependency_unavailable', message, { ...failure, retryable: true })
  }
  const refusal = refusalOf(response.status, response.headers.get('x-ratelimit-remaining'))
  if (refusal) {
    const { code, message, retryable } = refusal
    return skillFailure(code, message, { ...failure, retryable })
  }
  const counters = toCounters(answer)
  if (counters === null) {
    return skillFailure('parse_error', 'the answer of the API is no repository', failure)
  }
  // After a change of the input, the numbers of another repository are nothing to compare with.
  const delta = deltaOf(before?.repo === repo ? before.counters : undefined, counters)
  await atomicWriteJson(path, { repo, counters })
  const { stars, forks, open_issues } = counters
  return skillOk(`${stars} stars, ${forks} forks, ${open_issues} open issues`, {
    phases_completed: [manifest.name],
    data_freshness: { github: new Date().toISOString() },
    artifacts_produced: [
      { type: 'github-counters', format: 'json', body: JSON.stringify({ ...counters, delta }) },
    ],
  })
}
