// Which entries are new, and what is remembered of the others.
import { createHash } from 'node:crypto'
import type { Entry } from './feed.ts'

/** More than any feed shows at a time. */
const REMEMBERED = 1000
/** Keeps the Output below the size that an inline body may have. */
const PASSED_ON = 15

/** An entry as it is remembered: an id may be as long as its author likes. */
export function keyOf({ id }: Entry): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 16)
}

/** The record of the run before: nothing yet (`[]`), or null for a file that this plugin did not write. */
export function toSeen(value: unknown): string[] | null {
  if (value === null) return []
  const known = Array.isArray(value) && value.every((key) => /^[0-9a-f]{16}$/.test(String(key)))
  return known ? (value as string[]) : null
}

/** An undated entry counts as older than any date. */
function newestFirst(a: Entry, b: Entry): number {
  const [x, y] = [a.published ?? '', b.published ?? '']
  return x < y ? 1 : x > y ? -1 : 0
}

export function sift(entries: Entry[], seen: string[]) {
  const known = new Set(seen)
  const fresh = entries.filter((entry) => {
    const key = keyOf(entry)
    const isNew = !known.has(key)
    known.add(key)
    return isNew
  })
  const shown = fresh.sort(newestFirst).slice(0, PASSED_ON)
  return {
    entries: shown.map(({ title, link, published }) => ({ title, link, published })),
    omitted: fresh.length - shown.length,
    seen: [...known].slice(-REMEMBERED),
  }
}
