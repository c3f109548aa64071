// The rules: what a row is, which rows are kept, and what a week of them comes to.

export type Row = { at: string; name: string; value: number }
export type Week = {
  /** Its Monday, in UTC. */
  week: string
  name: string
  count: number
  sum: number
  min: number
  max: number
  mean: number
}

const DAY_MS = 86_400_000
const NAME = /^[a-z][a-z0-9_.-]{0,63}$/
const AT = /^\d{4}-\d\d-\d\d(T([01]\d|2[0-3]):\d\d:\d\d(\.\d{3})?Z)?$/
/** Keeps the Output far below the size that an inline body may have. */
const LINES = 80

/** The instant as the runtime writes instants; null for anything else than a date or a UTC time. */
export function toInstant(text: unknown): string | null {
  if (typeof text !== 'string' || !AT.test(text)) return null
  const at = new Date(text)
  // A day that no month has would otherwise become one of the next month.
  if (Number.isNaN(at.getTime()) || !at.toISOString().startsWith(text.slice(0, 10))) return null
  return at.toISOString()
}

function toRow(value: unknown): Row | null {
  if (typeof value !== 'object' || value === null) return null
  const { at, name, value: number } = value as Record<string, unknown>
  const instant = toInstant(at)
  if (instant === null || typeof name !== 'string' || !NAME.test(name)) return null
  return typeof number === 'number' && Number.isFinite(number)
    ? { at: instant, name, value: number }
    : null
}

/** The rows of an array, or the number of the first item that is none, from 1; null for no array. */
export function toRows(value: unknown): Row[] | number | null {
  if (!Array.isArray(value)) return null
  const rows = value.map(toRow)
  const wrong = rows.indexOf(null)
  return wrong === -1 ? (rows as Row[]) : wrong + 1
}

/** One row for each moment and metric, the fresh one where both have it, none older than `days`. */
export function retain(kept: Row[], fresh: Row[], days: number, now: number): Row[] {
  const rows = new Map([...kept, ...fresh].map((row) => [`${row.at} ${row.name}`, row]))
  const oldest = now - days * DAY_MS
  return [...rows]
    .filter(([, { at }]) => Date.parse(at) >= oldest)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row)
}

/** A row for each of the last three weeks' days, to have something to look at before there are readings. */
export function sampleRows(now: number): Row[] {
  const today = Math.floor(now / DAY_MS)
  return Array.from({ length: 21 }, (_, index) => ({
    at: new Date((today - 20 + index) * DAY_MS).toISOString(),
    name: 'sample',
    value: 50 + index,
  }))
}

export function mondayOf(at: string): string {
  const day = Math.floor(Date.parse(at) / DAY_MS)
  // 1970 began on a Thursday, the fourth day of its week.
  return new Date((day - ((day + 3) % 7)) * DAY_MS).toISOString().slice(0, 10)
}

/** Two decimals are as exact as a mean is read. */
function mean(sum: number, count: number): number {
  return Math.floor((sum / count) * 100 + 0.5) / 100
}

/** Newest week first, metrics by name; what is beyond the limit is counted. */
export function rollUp(rows: Row[]): { weeks: Week[]; omitted: number } {
  const weeks = new Map<string, Week>()
  for (const { at, name, value } of rows) {
    const week = mondayOf(at)
    const sofar = weeks.get(`${week} ${name}`)
    const [count, sum] = [(sofar?.count ?? 0) + 1, (sofar?.sum ?? 0) + value]
    weeks.set(`${week} ${name}`, {
      week,
      name,
      count,
      sum,
      min: Math.min(sofar?.min ?? value, value),
      max: Math.max(sofar?.max ?? value, value),
      mean: mean(sum, count),
    })
  }
  const lines = [...weeks.values()].sort((a, b) =>
    a.week === b.week ? (a.name < b.name ? -1 : 1) : a.week < b.week ? 1 : -1,
  )
  return { weeks: lines.slice(0, LINES), omitted: Math.max(0, lines.length - LINES) }
}
