// What an answer of the API means, and how two looks compare.
import type { SkillErrorCode } from 'warpline/schemas/skill-result'

const KEYS = ['stars', 'forks', 'open_issues'] as const
export type Counters = Record<(typeof KEYS)[number], number>
export type Snapshot = { repo: string; counters: Counters }
export type Refusal = { code: SkillErrorCode; message: string; retryable: boolean }

/** Owner and name, each of the characters that GitHub admits, so that neither can lead to another address. */
export function isRepo(text: string): boolean {
  return /^[A-Za-z0-9-]{1,39}\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/.test(text)
}

/** Why an answer cannot be used; null for one that can. Only what time mends is worth another attempt. */
export function refusalOf(status: number, quotaLeft: string | null): Refusal | null {
  if (status === 200) return null
  if (status === 429 || (status === 403 && quotaLeft === '0')) {
    // The quota comes back within the hour, which no wait between attempts lasts.
    return { code: 'rate_limit', message: 'the quota of the API is used up', retryable: false }
  }
  if (status === 404) {
    const message = 'there is no public repository of the name in input `repo`'
    return { code: 'data_missing', message, retryable: false }
  }
  const message = `the API answered with status ${status}`
  return { code: 'dependency_unavailable', message, retryable: status >= 500 }
}

/** The counters of an answer; null for another shape. */
export function toCounters(value: unknown): Counters | null {
  if (typeof value !== 'object' || value === null) return null
  const { stargazers_count, forks_count, open_issues_count } = value as Record<string, unknown>
  const found = [stargazers_count, forks_count, open_issues_count]
  if (!found.every((count) => Number.isSafeInteger(count))) return null
  return Object.fromEntries(KEYS.map((key, at) => [key, found[at]])) as Counters
}

/** The last look: none yet (`undefined`), or null for a file that this plugin did not write. */
export function toSnapshot(value: unknown): Snapshot | undefined | null {
  if (value === null) return undefined
  const { repo, counters } = (value ?? {}) as Record<string, unknown>
  if (typeof repo !== 'string' || typeof counters !== 'object' || counters === null) return null
  const known = KEYS.every((key) => Number.isSafeInteger((counters as Counters)[key]))
  return known ? { repo, counters: counters as Counters } : null
}

/** The change of every counter; null where there is nothing to compare with. */
export function deltaOf(before: Counters | undefined, now: Counters): Counters | null {
  if (before === undefined) return null
  return Object.fromEntries(KEYS.map((key) => [key, now[key] - before[key]])) as Counters
}
