// What a note is called and what it says.

export type Breach = { limit: string; reading: number; since: string; since_run: string }

// Both become part of a file name, so neither may hold a separator or begin with a dot.
const LIMIT = /^[a-z][a-z0-9_]*$/
const RUN = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/

function isBreach(value: unknown): value is Breach {
  if (typeof value !== 'object' || value === null) return false
  const { limit, reading, since, since_run } = value as Record<string, unknown>
  return (
    typeof limit === 'string' &&
    LIMIT.test(limit) &&
    typeof reading === 'number' &&
    typeof since === 'string' &&
    !Number.isNaN(Date.parse(since)) &&
    typeof since_run === 'string' &&
    RUN.test(since_run)
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

/** The same for as long as a breach stands, so that a second run finds the note of the first. */
export function noteName({ limit, since_run }: Breach): string {
  return `${limit}-${since_run}.md`
}

export function noteText({ limit, reading, since, since_run }: Breach): string {
  return [
    `# ${limit}`,
    '',
    `- First seen: ${since}`,
    `- Seen by run: ${since_run}`,
    `- Reading when this note was written: ${reading}`,
    `- The limit: input \`${limit}\` of \`anomaly-watch\``,
    '',
    '## What was done',
    '',
    '',
  ].join('\n')
}
