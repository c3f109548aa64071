// What may be filed, where it goes, and what the file says.
import { createHash } from 'node:crypto'

const TEXT_LIMIT = 20_000

/** The action typed after the plugin's name, and the inputs: the first that is wrong; null where none is. */
export function faultOf(action: unknown, text: string, tag: string): string | null {
  if (action !== undefined && action !== 'add') return 'the action must be `add`'
  if (text.trim() === '') return 'input `text` must not be blank'
  if (text.length > TEXT_LIMIT)
    return `input \`text\` must be at most ${TEXT_LIMIT} characters long`
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(tag)) {
    return 'input `tag` must be lower-case letters, digits and hyphens, a letter first'
  }
  return null
}

/** The same note typed twice is one note. */
export function noteName(text: string): string {
  return `${createHash('sha256').update(text.trim()).digest('hex').slice(0, 12)}.md`
}

export function noteText(text: string, tag: string, at: string): string {
  return `<!-- ${tag}, filed ${at} -->\n\n${text.trim()}\n`
}
