// Where links stand in what the sources leave, and what the service says about one.

export type Link = { url: string; title: string | null }

const TITLE_LIMIT = 100
const LINK_LIMIT = 300
const LINK = /https?:\/\/[^\s<>()[\]"'`]+/g

function isLink(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value)
}

function first(links: unknown[], most: number): string[] {
  const usable = links.filter(isLink).filter((link) => link.length <= LINK_LIMIT)
  return [...new Set(usable)].slice(0, most)
}

/** The links of a list of entries; null for any other text. */
export function linksOfEntries(body: string, most: number): string[] | null {
  try {
    const { entries } = JSON.parse(body) as { entries?: unknown }
    return Array.isArray(entries)
      ? first(
          entries.map((entry) => entry?.link),
          most,
        )
      : null
  } catch {
    return null
  }
}

/** The links of a text, without the full stop of the sentence that they end. */
export function linksOfText(text: string, most: number): string[] {
  return first(
    (text.match(LINK) ?? []).map((link) => link.replace(/[.,;:!?]+$/, '')),
    most,
  )
}

/** The title of an answer, on one line; null where it has none. */
export function titleOf(answer: unknown): string | null {
  const { title } = (answer ?? {}) as { title?: unknown }
  if (typeof title !== 'string') return null
  const line = title.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  return line === '' ? null : [...line].slice(0, TITLE_LIMIT).join('')
}
