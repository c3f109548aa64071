// Shows: many sources in, one Output out. Each source stands alone: one that cannot be read or looked up is named in an
// error and costs the others nothing, and the result is `partial`. The token is declared, so it is there or nothing runs.
import { readFile, realpath } from 'node:fs/promises'
import { sep } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { OutputRecord, SkillErrorCode } from 'warpline/schemas/skill-result'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { type Link, linksOfEntries, linksOfText, titleOf } from './links.ts'

/** What keeps one source from being used. */
class Fault extends Error {
  readonly code: SkillErrorCode
  constructor(code: SkillErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A path is another plugin's word: it is followed only where it stays inside the home. */
async function readInside(path: string, signal: AbortSignal): Promise<string> {
  const [home, file] = await Promise.all([realpath(warplineHome()), realpath(path)])
  if (!file.startsWith(home + sep)) throw new Error('outside of the home')
  return readFile(file, { encoding: 'utf8', signal })
}

async function linksOf(name: string, output: OutputRecord, most: number, signal: AbortSignal) {
  if (output.path === undefined) {
    const links = linksOfEntries(output.body ?? '', most)
    if (links) return links
    throw new Fault('parse_error', `the last Output of \`${name}\` holds no links`)
  }
  const text = await readInside(output.path, signal).catch(() => null)
  if (text !== null) return linksOfText(text, most)
  throw new Fault('data_missing', `the file of the last Output of \`${name}\` cannot be read`)
}

async function lookUp(base: string, url: string, signal: AbortSignal): Promise<Link> {
  const headers = { authorization: `Bearer ${process.env.LINK_SERVICE_TOKEN}` }
  const asked = `${base.replace(/\/+$/, '')}/preview?url=${encodeURIComponent(url)}`
  const response = await fetch(asked, { headers, signal }).catch(() => null)
  if (response === null) throw new Fault('dependency_unavailable', 'the service cannot be reached')
  if (response.status === 404) return { url, title: null }
  if (response.status === 401 || response.status === 403) {
    throw new Fault('auth_failure', 'the service refuses secret `LINK_SERVICE_TOKEN`')
  }
  if (response.status === 429) throw new Fault('rate_limit', 'the service wants a pause')
  if (!response.ok) {
    throw new Fault('dependency_unavailable', `the service answered with status ${response.status}`)
  }
  return { url, title: titleOf(await response.json().catch(() => null)) }
}

export const handler: CapabilityHandlerFn = async (manifest, args, signal, capabilities) => {
  const failure = { phases_failed: [manifest.name] }
  const [base, most] = [args.base_url as string, args.links_max as number]
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
    return skillFailure('parse_error', 'input `base_url` must be an http or https URL', failure)
  }
  if (!Number.isInteger(most) || most < 1 || most > 8) {
    const message = 'input `links_max` must be an integer from 1 to 8'
    return skillFailure('parse_error', message, failure)
  }
  const { caller, dependencies } = capabilities
  const sources = manifest.dependencies.flatMap((name) => {
    const output = dependencies.lastOutput(caller, name)
    return output === null ? [] : [{ name, output, last_run: dependencies.lastRun(caller, name) }]
  })
  if (sources.length === 0) return skillFailure('data_missing', 'no data from any source', failure)

  const ends = await Promise.all(
    sources.map(async ({ name, output, last_run }) => {
      try {
        const urls = await linksOf(name, output, most, signal)
        const links: Link[] = []
        for (const url of urls) links.push(await lookUp(base, url, signal))
        return { source: name, last_run, links, fault: null }
      } catch (thrown) {
        signal.throwIfAborted()
        if (!(thrown instanceof Fault)) throw thrown
        return { source: name, last_run, links: [], fault: thrown }
      }
    }),
  )
  const errors = ends.flatMap(({ source, fault }) => {
    if (!fault) return []
    const retryable = ['dependency_unavailable', 'rate_limit'].includes(fault.code)
    return [{ code: fault.code, message: fault.message, impact: 'LOW' as const, source, retryable }]
  })
  const named = (failed: boolean) =>
    ends.filter(({ fault }) => (fault !== null) === failed).map(({ source }) => source)
  const lines = ends.map(({ fault, ...line }) => ({ ...line, ok: fault === null }))
  const count = lines.reduce((sum, { links }) => sum + links.length, 0)
  const result = skillOk(`${count} links from ${named(false).length} of ${ends.length} sources`, {
    phases_completed: named(false),
    phases_failed: named(true),
    errors,
    data_freshness: Object.fromEntries(
      sources.map(({ name, output }) => [name, output.produced_at ?? '']),
    ),
    artifacts_produced: [{ type: 'link-titles', format: 'json', body: JSON.stringify(lines) }],
  })
  if (errors.length === 0) return result
  if (errors.length < ends.length) return { ...result, status: 'partial' }
  return { ...result, status: 'failed', artifacts_produced: [] }
}
