// From the weeks of a roll-up to a few lines.

export type Week = { week: string; name: string; sum: number }

function isWeek(value: unknown): value is Week {
  if (typeof value !== 'object' || value === null) return false
  const { week, name, sum } = value as Record<string, unknown>
  return (
    typeof week === 'string' &&
    /^\d{4}-\d\d-\d\d$/.test(week) &&
    typeof name === 'string' &&
    /^[a-z][a-z0-9_.-]{0,63}$/.test(name) &&
    typeof sum === 'number'
  )
}

/** The weeks of a metrics-rollup Output body, newest first; null for any other text. */
export function toWeeks(body: string | undefined): Week[] | null {
  try {
    const { weeks } = JSON.parse(body ?? '') as { weeks?: unknown }
    return Array.isArray(weeks) && weeks.every(isWeek) ? weeks : null
  } catch {
    return null
  }
}

/** How a sum moved, in whole per cent; against nothing there is no share. */
export function moved(before: number | undefined, now: number): string {
  if (before === undefined) return 'no week before'
  if (before === now) return 'unchanged'
  if (before === 0) return 'from 0'
  const percent = Math.round(((now - before) / Math.abs(before)) * 100)
  return `${percent > 0 ? '+' : ''}${percent} %`
}

/** The newest week of each metric beside the one before it. */
export function summary(weeks: Week[]): string {
  const byName = new Map<string, Week[]>()
  for (const week of weeks) byName.set(week.name, [...(byName.get(week.name) ?? []), week])
  const lines = [...byName].map(([name, all]) => {
    const [now, before] = all
    return `- ${name}: ${now?.sum} in the week of ${now?.week} (${moved(before?.sum, now?.sum ?? 0)})`
  })
  return ['# Week by week', '', ...lines.sort(), ''].join('\n')
}
