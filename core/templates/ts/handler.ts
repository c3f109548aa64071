import type { SkillResultInput } from 'warpline/schemas/skill-result'
import type { CapabilityHandlerFn } from 'warpline/unstable-capabilities'
import { skillFailure, skillOk } from 'warpline/unstable-result'
import { manifest as own } from './manifest.ts'

const DAY_MS = 86_400_000

/** The days from a moment to a date, both in UTC; null for a text that is no date. */
export function daysUntil(date: string, now: Date): number | null {
  const then = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date) : Number.NaN
  return Number.isNaN(then) ? null : Math.ceil((then - now.getTime()) / DAY_MS)
}

/** What is reported. It is told the time, so that a test can tell it as well. */
export function countdown(date: string, now: Date): SkillResultInput {
  const days = daysUntil(date, now)
  if (days === null) {
    // Names the input and the shape, never the value: a result ends up in logs.
    const message = 'input `date` must be a date, YYYY-MM-DD'
    return skillFailure('parse_error', message, { phases_failed: [own.name] })
  }
  return skillOk(`${days} days left`, {
    phases_completed: [own.name],
    data_freshness: { clock: now.toISOString() },
    artifacts_produced: [{ type: 'countdown', format: 'json', body: JSON.stringify({ days }) }],
  })
}

export const handler: CapabilityHandlerFn = async (_manifest, args, signal, _capabilities) => {
  signal.throwIfAborted() // and pass it on to whatever waits: fetch, readFile, timers
  return countdown(args.date as string, new Date())
}
