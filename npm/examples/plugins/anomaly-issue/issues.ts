// Which breaches have an issue already, and what a new issue says.

export type Breach = { limit: string; reading: number; since: string; since_run: string }
/** The address of each filed issue, by breach. */
export type Filed = Record<string, string>

function isBreach(value: unknown): value is Breach {
  if (typeof value !== 'object' || value === null) return false
  const { limit, reading, since, since_run } = value as Record<string, unknown>
  return (
    typeof limit === 'string' &&
    /^[a-z][a-z0-9_]{0,63}$/.test(limit) &&
    typeof reading === 'number' &&
    typeof since === 'string' &&
    !Number.isNaN(Date.parse(since)) &&
    typeof since_run === 'string' &&
    /^[A-Za-z0-9._-]{1,128}$/.test(since_run)
  )
}

/** The breaches of an anomaly-watch Output body; null for any other text. */
export function toBreaches(body: string | undefined): Breach[] | null {
  try {
    const { breached } = JSON.parse(body ?? '') as { breached?: unknown }
    return Array.isArray(breached) && breached.every(isBreach) ? breached : null
  } catch {
    return null
  }
}

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 500 && /^https?:\/\/[^\s,]+$/.test(value)
}

/** The record of the runs before: nothing yet (`{}`), or null for a file that this plugin did not write. */
export function toFiled(value: unknown): Filed | null {
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) return null
  return Object.values(value as object).every(isAddress) ? (value as Filed) : null
}

/** The same for as long as a breach stands, so that it is filed once. */
export function keyOf({ limit, since_run }: Breach): string {
  return `${limit}@${since_run}`
}

export function issueOf(breach: Breach): { title: string; body: string } {
  const lines = [
    `- Reading when it was filed: ${breach.reading}`,
    `- First seen: ${new Date(breach.since).toISOString()}, by run ${breach.since_run}`,
    '',
    `Filed by warpline for \`${keyOf(breach)}\`.`,
  ]
  return { title: `Limit breached: ${breach.limit}`, body: lines.join('\n') }
}
