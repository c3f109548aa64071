// One page out of what the three plugins before it left.
import { basename } from 'node:path'
import type { OutputRecord } from 'warpline/schemas/skill-result'

/** What the runtime tells about a dependency: its last Output, and what came of its last run. */
export type Upstream = { output: OutputRecord | null; run: string | null }
type Section = (output: OutputRecord) => string[] | null

function at(value: unknown, ...keys: string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<string, unknown>)[key]
        : undefined,
    value,
  )
}

function parse(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? '')
  } catch {
    return undefined
  }
}

export function duration(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  return `${days} d ${hours} h ${minutes} min`
}

/** Null where the Output is not what host-metrics produces. */
export function hostLines(output: OutputRecord): string[] | null {
  const body = parse(output.body)
  const [load, memory, disk, uptime] = [
    at(body, 'load', 'one_per_cpu'),
    at(body, 'memory', 'used_percent'),
    at(body, 'disk', 'used_percent'),
    at(body, 'uptime_seconds'),
  ]
  if (
    typeof load !== 'number' ||
    typeof memory !== 'number' ||
    typeof disk !== 'number' ||
    typeof uptime !== 'number'
  ) {
    return null
  }
  return [
    `- Load per processor: ${load}`,
    `- Memory used: ${memory} %`,
    `- Disk used: ${disk} %`,
    `- Up for: ${duration(uptime)}`,
  ]
}

/** Null where the Output is not what anomaly-watch produces. */
export function limitLines(output: OutputRecord): string[] | null {
  const body = parse(output.body)
  const [breached, cleared] = [at(body, 'breached'), at(body, 'cleared')]
  if (!Array.isArray(breached) || !Array.isArray(cleared)) return null
  const lines = [
    ...breached.map(
      (breach) =>
        `- Breached: ${String(at(breach, 'limit'))} (${String(at(breach, 'reading'))}), since ${String(at(breach, 'since'))}`,
    ),
    ...cleared.map((limit) => `- Cleared: ${String(limit)}`),
  ]
  return lines.length > 0 ? lines : ['- All within their limits']
}

/** Null where the Output is not what incident-note produces. */
export function noteLines(output: OutputRecord): string[] | null {
  return output.path === undefined ? null : [`- Latest: notes/${basename(output.path)}`]
}

const SECTIONS: readonly (readonly [name: string, title: string, lines: Section])[] = [
  ['host-metrics', 'Host', hostLines],
  ['anomaly-watch', 'Limits', limitLines],
  ['incident-note', 'Notes', noteLines],
]

function section(name: string, title: string, lines: Section, { output, run }: Upstream): string[] {
  const content =
    output === null ? [`no data from ${name}`] : (lines(output) ?? [`unreadable data from ${name}`])
  // A record stays when a later run produced none; saying how that run ended tells the reader how far to trust it.
  const ending = run === null || run === 'success' ? [] : ['', `Last run of ${name}: ${run}`]
  return [`## ${title}`, '', ...content, ...ending, '']
}

/** The page. A plugin nobody has data from is named, not left out. */
export function digest(upstream: (name: string) => Upstream): string {
  return [
    '# Daily digest',
    '',
    ...SECTIONS.flatMap(([name, title, lines]) => section(name, title, lines, upstream(name))),
  ].join('\n')
}
