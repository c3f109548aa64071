// The rules: which reading each limit watches, and what changed since the last look.

export type LimitName =
  | 'load_per_cpu_max'
  | 'memory_used_max_percent'
  | 'disk_used_max_percent'
  | 'uptime_min_seconds'
export type Bounds = Record<LimitName, number>
export type Current = Record<LimitName, number>
/** When a standing breach was first seen, and by which run. */
export type Since = { since: string; since_run: string }
/** The breaches that stood at the end of a run, by limit. */
export type Standing = Partial<Record<LimitName, Since>>
export type Breach = { limit: LimitName; reading: number } & Since
export type Report = { breached: Breach[]; newly_breached: LimitName[]; cleared: LimitName[] }

const LIMITS: readonly LimitName[] = [
  'load_per_cpu_max',
  'memory_used_max_percent',
  'disk_used_max_percent',
  'uptime_min_seconds',
]

/** A reading equal to its limit is within it. */
export function isBreached(limit: LimitName, reading: number, bound: number): boolean {
  return limit === 'uptime_min_seconds' ? reading < bound : reading > bound
}

/** A breach that stood before keeps its beginning, however often it is seen again. */
export function report(current: Current, bounds: Bounds, before: Standing, now: Since): Report {
  const breached = LIMITS.filter((limit) => isBreached(limit, current[limit], bounds[limit]))
  return {
    // The bounds stay out: they are configuration, and a report ends up in run logs.
    breached: breached.map((limit) => ({
      limit,
      reading: current[limit],
      ...(before[limit] ?? now),
    })),
    newly_breached: breached.filter((limit) => before[limit] === undefined),
    cleared: LIMITS.filter((limit) => before[limit] !== undefined && !breached.includes(limit)),
  }
}

/** What the next run compares with. */
export function standing({ breached }: Report): Standing {
  return Object.fromEntries(
    breached.map(({ limit, since, since_run }) => [limit, { since, since_run }]),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The four readings of a host-metrics Output body; null for any other text. */
export function toCurrent(body: string | undefined): Current | null {
  let value: unknown
  try {
    value = JSON.parse(body ?? '')
  } catch {
    return null
  }
  if (!isObject(value)) return null
  const part = (key: string): Record<string, unknown> => (isObject(value[key]) ? value[key] : {})
  const current: Record<LimitName, unknown> = {
    load_per_cpu_max: part('load').one_per_cpu,
    memory_used_max_percent: part('memory').used_percent,
    disk_used_max_percent: part('disk').used_percent,
    uptime_min_seconds: value.uptime_seconds,
  }
  return LIMITS.every((limit) => typeof current[limit] === 'number') ? (current as Current) : null
}

/** The record of the run before: nothing yet (`{}`), or null for a file this plugin did not write. */
export function toStanding(value: unknown): Standing | null {
  if (value === null) return {}
  if (!isObject(value)) return null
  const entries = Object.entries(value)
  const known = entries.every(
    ([limit, since]) =>
      (LIMITS as readonly string[]).includes(limit) &&
      isObject(since) &&
      typeof since.since === 'string' &&
      typeof since.since_run === 'string',
  )
  return known ? (Object.fromEntries(entries) as Standing) : null
}
