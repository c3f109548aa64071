// What of another plugin's Output is taken for entries.

export type Entry = { title: string; link: string | null; published: string | null }

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false
  const { title, link, published } = value as Record<string, unknown>
  return typeof title === 'string' && isTextOrNull(link) && isTextOrNull(published)
}

/** The entries of a feed-monitor Output body; null for any other text. */
export function toEntries(body: string | undefined): Entry[] | null {
  try {
    const { entries } = JSON.parse(body ?? '') as { entries?: unknown }
    // Only these members go on to a model: whatever else stood there, nobody has looked at.
    return Array.isArray(entries) && entries.every(isEntry)
      ? entries.map(({ title, link, published }) => ({ title, link, published }))
      : null
  } catch {
    return null
  }
}

export function taskOf(count: number): string {
  return `say what deserves attention among the new feed entries (${count}), and why`
}
