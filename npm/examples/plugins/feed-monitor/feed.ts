// Reads RSS 1.0, RSS 2.0 and Atom in one walk over the text. It knows no entity but the five of XML and those of
// numbers, follows nothing, and gives up on what is not well-formed.

export type Entry = { id: string; title: string; link: string | null; published: string | null }

const TITLE_LIMIT = 150
const LINK_LIMIT = 300
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const DATES = ['pubDate', 'published', 'updated', 'dc:date']

/** Text of the feed with its entities resolved; one that is unknown stays as it is. */
function decode(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,4});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return ENTITIES[name] ?? whole
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

/** Where a tag that begins at `from` ends; a `>` inside quotes does not end it. */
function endOfTag(xml: string, from: number): number {
  let quote = ''
  for (let at = from; at < xml.length; at += 1) {
    const sign = xml[at] as string
    if (quote !== '') quote = sign === quote ? '' : quote
    else if (sign === '"' || sign === "'") quote = sign
    else if (sign === '>') return at
  }
  return -1
}

/** What begins like this ends like that, and holds no tags. */
const SKIPPED = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
  ['<!', '>'],
] as const

type Fields = Map<string, string>

function toEntry(fields: Fields): Entry | null {
  const text = (name: string) => (fields.get(name) ?? '').replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  const title = [...text('title')].slice(0, TITLE_LIMIT).join('')
  const url = text('link')
  const link = /^https?:\/\//i.test(url) && url.length <= LINK_LIMIT ? url : null
  const id = text('guid') || text('id') || url || title
  const date = new Date(text(DATES.find((name) => fields.has(name)) ?? ''))
  const published = Number.isNaN(date.getTime()) ? null : date.toISOString()
  return id === '' ? null : { id, title, link, published }
}

/** The address of an Atom link; the one that leads to the entry itself has no `rel` or `alternate`. */
function alternate(attributes: string): string | undefined {
  const value = (name: string) =>
    new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`)
      .exec(attributes)
      ?.slice(1)
      .join('')
  return (value('rel') ?? 'alternate') === 'alternate' ? value('href') : undefined
}

/** The entries in the order of the feed; null for what is no feed. */
export function parseFeed(xml: string): Entry[] | null {
  const open: string[] = []
  const entries: Entry[] = []
  let fields: Fields | null = null
  let depth = 0 // of the entry
  let root: string | undefined
  const add = (text: string) => {
    const name = open[depth]
    if (fields && name !== undefined) fields.set(name, (fields.get(name) ?? '') + text)
  }
  let at = 0
  for (;;) {
    const tag = xml.indexOf('<', at)
    add(decode(xml.slice(at, tag === -1 ? undefined : tag)))
    if (tag === -1) break
    const skipped = SKIPPED.find(([begin]) => xml.startsWith(begin, tag))
    if (skipped) {
      const [begin, ending] = skipped
      const end = xml.indexOf(ending, tag + begin.length)
      if (end === -1) return null
      if (begin === '<![CDATA[') add(xml.slice(tag + begin.length, end))
      at = end + ending.length
      continue
    }
    const end = endOfTag(xml, tag)
    if (end === -1) return null
    at = end + 1
    const closing = xml[tag + 1] === '/'
    const inside = xml.slice(tag + (closing ? 2 : 1), end)
    const name = /^[^\s/]+/.exec(inside)?.[0] ?? ''
    if (closing) {
      if (open.pop() !== name) return null
      if (fields && open.length === depth - 1) {
        const entry = toEntry(fields)
        if (entry) entries.push(entry)
        fields = null
      }
      continue
    }
    root ??= name
    open.push(name)
    if (!fields && (name === 'item' || name === 'entry')) {
      fields = new Map()
      depth = open.length
    } else if (fields && name === 'link' && open.length === depth + 1) {
      const href = alternate(inside.slice(name.length))
      if (href !== undefined && !fields.get('link')) add(decode(href))
    }
    if (inside.endsWith('/')) open.pop()
  }
  const isFeed = open.length === 0 && ['rss', 'feed', 'rdf:RDF'].includes(root ?? '')
  return isFeed ? entries : null
}
