// Shows: a first plugin of a chain. It fetches what strangers wrote, keeps of it what can be trusted to be text, links and
// dates, and passes that on as an Output. Nothing is judged here; `feed-triage` hands that over.
import { join } from 'node:path'
import { warplineHome } from 'warpline/lib/paths'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { atomicWriteJson, readJsonOrNull } from 'warpline/unstable-fs'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { parseFeed } from './feed.ts'
import { sift, toSeen } from './seen.ts'
import { readBytes, toText } from './text.ts'

/** In bytes: nobody's feed is larger, and what is endless ends here. */
const FEED_LIMIT = 2_000_000

export const handler: CapabilityHandlerFn = async (manifest, args, signal) => {
  const failure = { phases_failed: [manifest.name] }
  const url = args.feed_url as string
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    return skillFailure('parse_error', 'input `feed_url` must be an http or https URL', failure)
  }
  const file = join('state', `${manifest.name}.json`)
  const path = join(warplineHome(), file)
  const seen = toSeen(await readJsonOrNull(path).catch(() => undefined))
  if (seen === null) {
    const message = `file \`${file}\` of the home is not the record that \`${manifest.name}\` keeps`
    return skillFailure('parse_error', message, failure)
  }

  let text: string | null
  try {
    const response = await fetch(url, { signal })
    if (!response.ok) {
      const message = `the feed answered with status ${response.status}`
      const busy = response.status === 429
      const code = busy ? 'rate_limit' : 'dependency_unavailable'
      return skillFailure(code, message, { ...failure, retryable: busy || response.status >= 500 })
    }
    const bytes = await readBytes(response, FEED_LIMIT)
    text = bytes && toText(bytes, response.headers.get('content-type'))
  } catch {
    signal.throwIfAborted()
    const message = 'the feed cannot be reached'
    return skillFailure('dependency_unavailable', message, { ...failure, retryable: true })
  }
  const entries = text === null ? null : parseFeed(text)
  if (entries === null) {
    return skillFailure('parse_error', 'what input `feed_url` leads to is no feed', failure)
  }
  const { seen: remembered, ...news } = sift(entries, seen)
  await atomicWriteJson(path, remembered)
  return skillOk(`${news.entries.length + news.omitted} of ${entries.length} entries are new`, {
    phases_completed: [manifest.name],
    data_freshness: { feed: new Date().toISOString() },
    artifacts_produced: [{ type: 'feed-entries', format: 'json', body: JSON.stringify(news) }],
  })
}
