// Shows: an effect that nobody can take back. It needs a grant, its result waits for an answer, it is never tried again by
// itself, every issue is on record before the next is filed, and whoever has to clean up by hand is told which ones there are.
import { join } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { SkillErrorCode } from 'warpline/schemas/skill-result'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteJson, readJsonOrNull } from 'warpline/unstable-fs'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { type Breach, isAddress, issueOf, keyOf, toBreaches, toFiled } from './issues.ts'

/** Why no more issues are filed; names nothing that was configured. */
class Stop extends Error {
  readonly code: SkillErrorCode
  constructor(code: SkillErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

async function file(url: string, breach: Breach, signal: AbortSignal): Promise<string> {
  const headers = {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${process.env.GITHUB_TOKEN}`,
    'content-type': 'application/json',
    'user-agent': 'warpline-anomaly-issue',
  }
  const body = JSON.stringify(issueOf(breach))
  const response = await fetch(url, { method: 'POST', headers, body, signal }).catch(() => null)
  signal.throwIfAborted()
  if (response === null) {
    throw new Stop(
      'dependency_unavailable',
      'the API cannot be reached, or did not say what it did',
    )
  }
  if (response.status === 401 || response.status === 403) {
    throw new Stop('auth_failure', 'the API refuses secret `GITHUB_TOKEN`, or its quota is used up')
  }
  if (response.status === 429) throw new Stop('rate_limit', 'the API wants a pause')
  if (response.status !== 201) {
    throw new Stop('dependency_unavailable', `the API answered with status ${response.status}`)
  }
  const answer = (await response.json().catch(() => null)) as { html_url?: unknown } | null
  if (isAddress(answer?.html_url)) return answer.html_url
  throw new Stop('parse_error', 'the API filed an issue and did not say where')
}

export const handler: CapabilityHandlerFn = async (manifest, args, signal, capabilities) => {
  const failure = { phases_failed: [manifest.name] }
  const [repo, base] = [args.repo as string, args.base_url as string]
  if (!/^[A-Za-z0-9-]{1,39}\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/.test(repo)) {
    return skillFailure('parse_error', 'input `repo` must be in the form owner/name', failure)
  }
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
    return skillFailure('parse_error', 'input `base_url` must be an http or https URL', failure)
  }
  const upstream = capabilities.dependencies.lastOutput(capabilities.caller, 'anomaly-watch')
  if (upstream === null)
    return skillFailure('data_missing', 'no data from `anomaly-watch`', failure)
  const breaches = toBreaches(upstream.body)
  if (breaches === null) {
    const message = 'the body of the last `anomaly-watch` Output holds no breaches'
    return skillFailure('parse_error', message, failure)
  }
  const name = join('state', `${manifest.name}.json`)
  const path = join(warplineHome(), name)
  const before = toFiled(await readJsonOrNull(path).catch(() => undefined))
  if (before === null) {
    const message = `file \`${name}\` of the home is not the record that \`${manifest.name}\` keeps`
    return skillFailure('parse_error', message, failure)
  }

  // Of breaches that are over, nothing has to be known any more.
  const standing = breaches.map(keyOf)
  const kept = Object.entries(before).filter(([key]) => standing.includes(key))
  const filed = new Map(kept)
  const addresses: string[] = []
  const limits: string[] = []
  let stopped: unknown
  try {
    for (const breach of breaches) {
      if (filed.has(keyOf(breach))) continue
      signal.throwIfAborted()
      const address = await file(`${base.replace(/\/+$/, '')}/repos/${repo}/issues`, breach, signal)
      filed.set(keyOf(breach), address)
      addresses.push(address)
      limits.push(breach.limit)
      await atomicWriteJson(path, Object.fromEntries(filed))
    }
  } catch (thrown) {
    stopped = thrown
  }
  if (stopped !== undefined && addresses.length === 0) {
    if (stopped instanceof Stop) {
      const fields = { ...failure, impact: 'HIGH' as const, retryable: false }
      return skillFailure(stopped.code, stopped.message, fields)
    }
    throw stopped
  }

  const result = skillOk(
    `${addresses.length} issues filed, ${kept.length} there before, of ${breaches.length} breached`,
    {
      phases_completed: limits,
      data_freshness: { 'anomaly-watch': upstream.produced_at ?? '' },
      artifacts_produced: [
        { type: 'issues-filed', format: 'json', body: JSON.stringify({ limits }) },
      ],
      // The addresses name the repository that was configured: in this one field, since nobody could close them otherwise.
      ...(addresses.length > 0 && {
        reversible: false,
        undo_instruction: `close by hand: ${addresses.join(', ')}`,
      }),
    },
  )
  if (stopped === undefined) return result
  const code = stopped instanceof Stop ? stopped.code : 'timeout'
  const message = stopped instanceof Stop ? stopped.message : 'stopped before all were filed'
  return { ...result, ...failure, status: 'partial', errors: [{ code, message, impact: 'HIGH' }] }
}
